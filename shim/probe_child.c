/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/probe_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/log.h"
#include "shim/cache.h"
#include "shim/probe.h"
#include "shim/probe_child_chain.h"
#include "shim/probe_child_infer_run.h"
#include "shim/probe_child_request.h"
#include "shim/serve_child.h"

enum { REQUEST_MAX = 1 << 20, ANSWER_MAX = 4096, LOCK_LOOK_MS = 50 };

bool probe_fail(struct probe *p, enum reason why, const char *fmt, ...)
{
	va_list ap;

	if (p->why)
		return false;
	p->why = why;
	va_start(ap, fmt);
	vsnprintf(p->detail, sizeof(p->detail), fmt, ap);
	va_end(ap);
	return false;
}

static int answer_fd;
static bool inferring; /* a kernel that nobody knows runs on data that mean nothing to it */

/* The child is stuck, or a kernel or the driver took it down: still an answer. */
static void on_signal(int sig)
{
	static const char late[] = "reason no-verdict the probe took too long\nlate\n";
	static const char died[] = "reason no-verdict the probe crashed\n";
	static const char wild[] = "reason no-verdict " INFER_WILD "\n";
	ssize_t n = sig == SIGALRM ? write(answer_fd, late, sizeof(late) - 1)
		    : inferring    ? write(answer_fd, wild, sizeof(wild) - 1)
				   : write(answer_fd, died, sizeof(died) - 1);

	_exit(n > 0 ? 0 : 1);
}

static void catch_signals(long seconds)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	struct sigaction a = {.sa_handler = on_signal};

	sigaction(SIGALRM, &a, NULL);
	for (unsigned i = 0; i < sizeof(fatal) / sizeof(*fatal); i++)
		sigaction(fatal[i], &a, NULL);
	signal(SIGPIPE, SIG_IGN);
	alarm((unsigned)(seconds > 0 ? seconds : 60));
}

static char *read_all(int fd)
{
	char *text = malloc(REQUEST_MAX + 1);
	size_t have = 0;
	ssize_t n;

	while (text && have < REQUEST_MAX && (n = read(fd, text + have, REQUEST_MAX - have)) > 0)
		have += (size_t)n;
	if (text)
		text[have] = '\0';
	return text;
}

/* Waits for whoever has it, as long as that takes: he has an alarm of his own, and may pause
 * (probe_child_pace.c). -1, or 0: locked, or -2: the program that asked is gone. */
static int lock_file(int fd, int program)
{
	struct pollfd gone = {program, POLLRDHUP, 0};

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -1;
		if (poll(&gone, 1, LOCK_LOOK_MS) > 0)
			return -2;
	}
	return 0;
}

/* One process at a time probes a key; the others wait and find its record. Returns the lock's file,
 * -1 or -2, as lock_file (program: its socket, or -1); path is filled for unlock. */
static int lock_key(const struct probe *p, int program, char *path, size_t size)
{
	struct stat there, held;
	int fd = -1, got;

	if (!cache_dir() || (size_t)snprintf(path, size, "%s/probe-%016llx%016llx", cache_dir(),
					     (unsigned long long)p->key.hash[0],
					     (unsigned long long)p->key.hash[1]) >= size)
		return -1;
	for (;;) {
		fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0 || (got = lock_file(fd, program)) == -1)
			break;
		if (got) {
			close(fd);
			return got;
		}
		/* The file may have been removed by the holder that we waited for. */
		if (!fstat(fd, &held) && !stat(path, &there) && held.st_ino == there.st_ino)
			return fd;
		close(fd);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static void unlock_key(int fd, const char *path)
{
	if (fd < 0)
		return;
	unlink(path);
	close(fd);
}

/* Options for tests ask what would come out; that is not the key's verdict. */
static bool experiment(const struct probe *p)
{
	return p->inputs[0] || p->candidates[0];
}

/* Takes another process's answer for the key from the cache. */
static bool known(struct probe *p)
{
	struct cache_record r;

	if (experiment(p) || !cache_find(p->key, &r))
		return false;
	if (r.kind != CACHE_REJECT)
		return p->chain ? probe_chain_parse(p, r.candidate)
				: !choice_parse(r.candidate, &p->winner, &p->choice);
	if (r.why == REASON_CRASHED)
		return false;
	probe_fail(p, r.why, "%s", r.detail);
	return true;
}

static void keep(const struct probe *p)
{
	int64_t rows = p->proven_rows < p->asked.rows ? p->proven_rows : p->asked.rows;
	struct cache_record r = {.key = p->key, .why = p->why, .rows = rows};

	for (unsigned i = 0; i < p->nmember; i++)
		r.site[i] = key_site(&p->member[i].m.launch, &p->member[i].m.op);
	r.kind = p->why ? CACHE_REJECT : CACHE_PROBED;
	if (!p->why && !p->chain)
		choice_text(&p->winner, &p->choice, r.candidate);
	if (!p->why && p->chain && probe_chain_name(p, r.candidate, sizeof(r.candidate)) < 0)
		return;
	snprintf(r.detail, sizeof(r.detail), "%s", p->why ? p->detail : p->asked.pattern->name);
	cache_put(&r);
}

static void probe(struct probe *p)
{
	if (p->chain) {
		probe_chain(p);
	} else if (probe_device_open(p) && probe_purity(p) && probe_arena_open(p) &&
		   probe_behaviour(p) && probe_scale(p) && probe_search(p) && probe_unscale(p) &&
		   probe_confirm(p)) {
		probe_lap("the search");
		probe_generated(p);
		probe_lap("a generated kernel");
		probe_time(p);
	}
	probe_lap("the rest");
}

static void answer(struct probe *p, int out)
{
	char line[ANSWER_MAX], name[ANSWER_MAX - 64] = "";
	int n;

	if (p->chain && !p->why && probe_chain_name(p, name, sizeof(name)) < 0) {
		p->why = REASON_NO_VERDICT;
		snprintf(p->detail, sizeof(p->detail), "the picks take too much room");
	}
	if (!p->chain)
		choice_text(&p->winner, &p->choice, name);
	n = p->why ? snprintf(line, sizeof(line), "reason %s %s\n", reason_word(p->why), p->detail)
		   : snprintf(line, sizeof(line), "candidate %s%s\n", name,
			      p->slower ? " slower" : "");
	if (write(out, line, (size_t)n) != n)
		log_debug("probe: nobody took the answer");
}

/* A verdict is asked for. */
static void prove(struct probe *p, json_t *request, int in, int out)
{
	char path[4200];
	int lock;

	if (probe_request_parse(p, request)) {
		if (p->passed)
			probe_pace(in, p->share);
		cache_open(p->cache, fused_build_id());
		alarm(0);
		lock = lock_key(p, p->passed ? in : -1, path, sizeof(path));
		alarm((unsigned)(p->seconds > 0 ? p->seconds : 60));
		if (lock == -2) {
			probe_fail(p, REASON_NO_VERDICT, "the program is over");
		} else if (!known(p)) {
			probe(p);
			/* A broken machine, or one without a compiler, says nothing about the
			 * kernels. */
			if (!experiment(p) && p->why != REASON_NOT_COMPILED &&
			    (p->why != REASON_NO_VERDICT || p->lasting))
				keep(p);
		}
		unlock_key(lock, path);
	}
	answer(p, out);
}

/* A signature is asked for. */
static void infer(struct probe *p, json_t *request, int out)
{
	char section[INFER_TEXT];

	inferring = true;
	alarm((unsigned)json_integer_value(json_object_get(request, "seconds")));
	if (!infer_answer(p, request, section, sizeof(section)))
		answer(p, out);
	else if (dprintf(out, "section\n%s", section) < 0)
		log_debug("probe: nobody took the answer");
}

static struct probe *begin(int out)
{
	static struct probe_tools tools;
	static struct probe p = {.tools = &tools};
	const char *level = getenv("AUTOFUSE_LOG");

	answer_fd = out;
	if (level && !strcmp(level, "debug"))
		log_level = LOG_DEBUG;
	probe_lap(NULL);
	return &p;
}

int probe_child_main(int in, int out)
{
	struct probe *p = begin(out);
	char *text = read_all(in);
	json_error_t err;
	json_t *request = text ? json_loads(text, 0, &err) : NULL;

	free(text);
	catch_signals(0);
	if (json_object_get(request, "infer"))
		infer(p, request, out);
	else
		prove(p, request, in, out);
	json_decref(request);
	return 0;
}

int probe_child_serve(int in, int out)
{
	struct serve_in next = {0};
	struct probe *p = begin(serve_begin(out));
	bool more = true;

	while (more && serve_next(&next, in)) {
		json_error_t err;
		json_t *request = json_loads(next.text, 0, &err);

		probe_lap(NULL);
		catch_signals(0);
		p->passed = next.fd;
		p->npassed = next.nfd;
		prove(p, request, in, answer_fd);
		probe_pace_say();
		json_decref(request);
		/* Who fails here without a fault of its kernels' is heard in another process. */
		more = (!p->why || p->why != REASON_NO_VERDICT || p->lasting) &&
		       next.asked < SERVE_REQUESTS && probe_device_next(p);
		alarm(0);
		serve_more(answer_fd, !more);
	}
	return 0;
}
