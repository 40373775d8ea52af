// SPDX-License-Identifier: Apache-2.0
/*
 * Children that answer one request after the other, and the threads that ask them. The child is
 * this program again: what it does with a request is said in it.
 */
#include "unit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "config/log.h"
#include "shim/check.h"
#include "shim/graph.h"
#include "shim/process.h"
#include "shim/serve_child.h"
#include "shim/worker.h"

/* What the rest of the library would be. */
struct process process;
struct driver real;

bool guard_enter(void)
{
	return true;
}
bool check_poll(void)
{
	return false;
}
bool graph_poll(void)
{
	return false;
}

/* In a file that both sides map: how many requests are under way. */
struct shared {
	unsigned now, most;
};
static struct shared *shared;

static void enter(void)
{
	unsigned n = __atomic_add_fetch(&shared->now, 1, __ATOMIC_SEQ_CST);
	unsigned most = __atomic_load_n(&shared->most, __ATOMIC_SEQ_CST);

	while (n > most && !__atomic_compare_exchange_n(&shared->most, &most, n, false,
							__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	usleep(20000);
	__atomic_sub_fetch(&shared->now, 1, __ATOMIC_SEQ_CST);
}

/* One request. True: another may come. */
static bool fake(const struct serve_in *in, int out)
{
	const char *text = in->text;
	char line[200] = "", said[100] = "";
	bool more = true;

	if (!strcmp(text, "die") || (!strcmp(text, "die later") && in->asked > 1))
		raise(SIGKILL);
	if (!strcmp(text, "hang"))
		sleep(60);
	if (!strcmp(text, "slow"))
		enter();
	if (!strcmp(text, "print"))
		puts("candidate of a library");
	if (!strcmp(text, "file") && in->nfd == 2 &&
	    pread(in->fd[1], said, sizeof(said) - 1, 0) < 0)
		said[0] = '\0';
	if (!strcmp(text, "fail") || (!strcmp(text, "fail later") && in->asked > 1)) {
		snprintf(line, sizeof(line), "reason no-verdict it failed\n");
		more = false;
	} else {
		snprintf(line, sizeof(line), "candidate %d %u %zu %d %s\n", (int)getpid(),
			 in->asked, in->bytes, getpriority(PRIO_PROCESS, 0), said);
	}
	fflush(stdout);
	serve_write(out, line, strlen(line));
	serve_more(out, !more);
	return more;
}

static int child(void)
{
	struct serve_in in = {0};
	int out = serve_begin(1);

	while (serve_next(&in, 0))
		if (!fake(&in, out))
			break;
	return 0;
}

static struct serve to;
static char answer[300];
static int pid, nth, nice_of;
static size_t bytes;

static int ask_as(const struct serve_request *r)
{
	int status = serve_ask(&to, r, answer, sizeof(answer));

	pid = nth = -1;
	if (!status)
		sscanf(answer, "candidate %d %d %zu %d", &pid, &nth, &bytes, &nice_of);
	return status;
}

static int ask(const char *text)
{
	return ask_as(&(struct serve_request){
		.kind = SERVE_PROBE, .text = text, .bytes = strlen(text), .seconds = 20});
}

static int nothing_left(void **arg)
{
	serve_end(&to);
	/* Only ours: all of them were waited for. */
	return waitpid(-1, NULL, __WALL | WNOHANG) == -1 ? 0 : -1;
}

static void many_one_child(void **arg)
{
	int first;

	assert_int_equal(ask("a"), 0);
	first = pid;
	assert_int_not_equal(first, getpid());
	for (int i = 2; i <= 200; i++) {
		assert_int_equal(ask("b"), 0);
		assert_int_equal(pid, first);
		assert_int_equal(nth, i);
	}
	assert_true(nice_of > getpriority(PRIO_PROCESS, 0));
}

static void large(void **arg)
{
	const size_t n = 5 << 20;
	char *text = malloc(n + 1);

	memset(text, 'x', n);
	text[n] = '\0';
	assert_int_equal(ask(text), 0);
	assert_int_equal(bytes, n);
	free(text);
}

/* A library that prints is not taken for the answer. */
static void printed(void **arg)
{
	unit_stderr_begin();
	assert_int_equal(ask("print"), 0);
	unit_stderr_end();
	assert_true(pid > 0);
}

static void dies(void **arg)
{
	int first, status;

	assert_int_equal(ask("a"), 0);
	first = pid;
	status = ask("die");
	assert_true(status > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_string_equal(answer, "");
	assert_int_equal(ask("a"), 0);
	assert_int_not_equal(pid, first);
	assert_int_equal(nth, 1);
}

/* What others left behind is nobody's fault: a new child is asked, and no request is lost. */
static void dies_of_others(void **arg)
{
	for (int i = 0; i < 8; i++) {
		assert_int_equal(ask(i % 2 ? "die later" : "fail later"), 0);
		assert_int_equal(nth, 1);
		assert_int_equal(ask("a"), 0);
		assert_int_equal(nth, 2);
	}
}

static void fails(void **arg)
{
	assert_int_equal(ask("a"), 0);
	assert_int_equal(ask("fail"), 0);
	assert_string_equal(answer, "reason no-verdict it failed");
	assert_int_equal(ask("a"), 0);
	assert_int_equal(nth, 1);
}

static void hangs(void **arg)
{
	struct serve_request r = {.kind = SERVE_PROBE, .text = "hang", .bytes = 4, .seconds = 1};

	assert_int_equal(ask("a"), 0);
	assert_int_equal(ask_as(&r), SERVE_LATE);
	assert_int_equal(ask("a"), 0);
	assert_int_equal(nth, 1);
}

static void descriptors(void **arg)
{
	FILE *f[2] = {tmpfile(), tmpfile()};
	int fd[2] = {fileno(f[0]), fileno(f[1])};
	struct serve_request r = {
		.kind = SERVE_PROBE, .text = "file", .bytes = 4, .seconds = 20, .fd = fd, .nfd = 2};

	assert_int_equal(write(fd[1], "passed on", 9), 9);
	for (int i = 0; i < 100; i++) { /* none of them stays */
		assert_int_equal(ask_as(&r), 0);
		assert_non_null(strstr(answer, " passed on"));
	}
	assert_int_equal(nth, 100);
	fclose(f[0]);
	fclose(f[1]);
}

static void other_device(void **arg)
{
	struct serve_request r = {
		.kind = SERVE_PROBE, .text = "a", .bytes = 1, .seconds = 20, .device = 1};
	int first;

	assert_int_equal(ask("a"), 0);
	first = pid;
	assert_int_equal(ask_as(&r), 0);
	assert_int_not_equal(pid, first);
	assert_int_equal(nth, 1);
}

/* The program closes what it does not know, and opens something of its own there. */
static void closed(void **arg)
{
	int pair[2], first;
	char c;

	assert_int_equal(ask("a"), 0);
	first = pid;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	assert_int_equal(dup2(pair[0], to.fd), to.fd);
	assert_int_equal(ask("a"), 0);
	assert_int_not_equal(pid, first);
	assert_int_equal(read(pair[1], &c, 1), -1); /* nothing came, and nobody closed it */
	assert_int_equal(write(pair[1], "x", 1), 1);
	close(pair[0]);
	close(pair[1]);
}

static void no_command(void **arg)
{
	char *command = process.config.opt.probe_command;

	process.config.opt.probe_command = (char *)"/nonexistent";
	assert_int_equal(ask("a"), SERVE_FAILED);
	process.config.opt.probe_command = (char *)"/bin/false";
	assert_true(ask("a") > 0);
	process.config.opt.probe_command = command;
	assert_int_equal(ask("a"), 0);
}

/* Threads of a worker, each with its child. */
enum { JOBS = 24 };
static __thread struct serve mine;
static unsigned finished, children, order[JOBS];

static unsigned eight(void)
{
	return 8;
}

static void rest(void)
{
	serve_end(&mine);
}

static struct worker pool = {.name = "pool",
			     .lock = PTHREAD_MUTEX_INITIALIZER,
			     .more = PTHREAD_COND_INITIALIZER,
			     .most = eight,
			     .rest = rest},
		     single = {.name = "single",
			       .lock = PTHREAD_MUTEX_INITIALIZER,
			       .more = PTHREAD_COND_INITIALIZER};

struct one {
	struct worker_job job;
	unsigned weight, number;
	enum serve_kind kind;
};

static void run_asking(struct worker_job *job)
{
	struct one *o = (struct one *)job;
	struct serve_request r = {.kind = o->kind, .text = "slow", .bytes = 4, .seconds = 20};
	char line[300];

	if (!mine.pid)
		__atomic_add_fetch(&children, 1, __ATOMIC_SEQ_CST);
	if (!serve_ask(&mine, &r, line, sizeof(line)) && !strncmp(line, "candidate ", 10))
		__atomic_add_fetch(&finished, 1, __ATOMIC_SEQ_CST);
}

static unsigned finish(unsigned n)
{
	for (int i = 0; i < 2000 && __atomic_load_n(&finished, __ATOMIC_SEQ_CST) < n; i++)
		usleep(10000);
	return __atomic_load_n(&finished, __ATOMIC_SEQ_CST);
}

static void bound(void **arg)
{
	static struct one job[JOBS];
	unsigned most = serve_children() < 2 ? 2 : serve_children();

	finished = children = 0;
	for (unsigned i = 0; i < JOBS; i++) {
		job[i].job.run = run_asking;
		job[i].kind = i % 2 ? SERVE_PROBE : SERVE_COMPILE;
		assert_int_equal(worker_post(&pool, &job[i].job), 0);
	}
	assert_int_equal(finish(JOBS), JOBS);
	/* One of each kind where there is one processor; else a part of them. */
	assert_in_range(shared->most, 2, most);
	assert_in_range(children, 2, 8);
	/* Threads that have nothing to do let their children go. */
	for (int i = 0; i < 500 && waitpid(-1, NULL, __WALL | WNOHANG) != -1; i++)
		usleep(10000);
	assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
}

static bool begun, posted;

static void run_noting(struct worker_job *job)
{
	struct one *o = (struct one *)job;

	/* The first one keeps the thread until the others are there. */
	__atomic_store_n(&begun, true, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&posted, __ATOMIC_SEQ_CST))
		usleep(1000);
	order[__atomic_fetch_add(&finished, 1, __ATOMIC_SEQ_CST)] = o->number;
}

/* What is met most goes first, else what came first. */
static void weights(void **arg)
{
	static const unsigned weight[] = {0, 3, 7, 0, 7, 9}, want[] = {0, 5, 2, 4, 1, 3};
	static struct one job[6];

	finished = 0;
	for (unsigned i = 0; i < 6; i++) {
		job[i].job.run = run_noting;
		job[i].job.weight = i == 3 ? NULL : &job[i].weight;
		job[i].weight = weight[i];
		job[i].number = i;
		assert_int_equal(worker_post(&single, &job[i].job), 0);
		while (!__atomic_load_n(&begun, __ATOMIC_SEQ_CST))
			usleep(1000);
	}
	__atomic_store_n(&posted, true, __ATOMIC_SEQ_CST);
	assert_int_equal(finish(6), 6);
	assert_memory_equal(order, want, sizeof(want));
	finished = 0; /* and the list is whole again */
	job[1].number = 1;
	assert_int_equal(worker_post(&single, &job[1].job), 0);
	assert_int_equal(finish(1), 1);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(many_one_child, nothing_left),
		cmocka_unit_test_teardown(large, nothing_left),
		cmocka_unit_test_teardown(printed, nothing_left),
		cmocka_unit_test_teardown(dies, nothing_left),
		cmocka_unit_test_teardown(dies_of_others, nothing_left),
		cmocka_unit_test_teardown(fails, nothing_left),
		cmocka_unit_test_teardown(hangs, nothing_left),
		cmocka_unit_test_teardown(descriptors, nothing_left),
		cmocka_unit_test_teardown(other_device, nothing_left),
		cmocka_unit_test_teardown(closed, nothing_left),
		cmocka_unit_test_teardown(no_command, nothing_left),
		cmocka_unit_test(bound),
		cmocka_unit_test(weights),
	};
	static char self[4000], memory[60];
	const char *name = getenv("SERVE_SHARED");
	int fd;

	if (argc > 2 && !strcmp(argv[2], "serve")) {
		fd = shm_open(name ? name : "", O_RDWR, 0600);
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		return child();
	}
	snprintf(memory, sizeof(memory), "/autofuse-test-serve-%d", (int)getpid());
	setenv("SERVE_SHARED", memory, 1);
	fd = shm_open(memory, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*shared)) ||
	    readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	process.config.opt.probe_command = self;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	fd = cmocka_run_group_tests(tests, NULL, NULL);
	shm_unlink(memory);
	return fd;
}
