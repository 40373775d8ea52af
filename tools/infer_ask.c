// SPDX-License-Identifier: Apache-2.0
/* One kernel, one child process: what the kernel does there cannot harm the others. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config/log.h"
#include "shim/probe.h"
#include "tools/infer.h"

enum { ANSWER = 4096, GRACE = 5 };

static json_t *hex(const uint8_t *p, uint32_t bytes)
{
	char text[2 * INFER_BYTES + 1];

	for (uint32_t i = 0; i < bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", p[i]);
	text[2 * bytes] = 0;
	return json_string(text);
}

static json_t *launch_of(const struct infer_kernel *k, const struct infer_seen *s)
{
	return json_pack("{s:[I,I,I], s:[I,I,I], s:I, s:o}", "grid", (json_int_t)s->grid[0],
			 (json_int_t)s->grid[1], (json_int_t)s->grid[2], "block",
			 (json_int_t)s->block[0], (json_int_t)s->block[1], (json_int_t)s->block[2],
			 "shmem", (json_int_t)s->shmem, "params", hex(s->params, k->param_bytes));
}

static char *request(const struct infer_kernel *k)
{
	json_t *j = launch_of(k, &k->seen[0]), *param = json_array(), *room = json_array(),
	       *more = json_array(), *all;
	char *text;

	for (uint32_t i = 0; i < k->nparam; i++) {
		json_array_append_new(param, json_pack("[I,I]", (json_int_t)k->param[i].offset,
						       (json_int_t)k->param[i].bytes));
		json_array_append_new(room, json_integer((json_int_t)k->room[i]));
	}
	for (unsigned i = 1; i < k->nseen; i++)
		json_array_append_new(more, launch_of(k, &k->seen[i]));
	json_object_set_new(j, "name", json_string(k->name));
	json_object_set_new(j, "hash", json_string("00000000000000000000000000000000"));
	json_object_set_new(j, "image",
			    json_pack("{s:s, s:I, s:I}", "file", k->file, "offset",
				      (json_int_t)k->offset, "bytes", (json_int_t)k->bytes));
	json_object_set_new(j, "param", param);
	json_object_set_new(j, "room", room);
	json_object_set_new(j, "more", more);
	all = json_pack("{s:o, s:i, s:i}", "infer", j, "device", k->device < 0 ? 0 : k->device,
			"seconds", INFER_SECONDS);
	text = all ? json_dumps(all, JSON_COMPACT) : NULL;
	json_decref(all);
	return text;
}

/* In the child: a plain program of its own, whatever this command set for the traced one. */
static void become_probe(int in, int out)
{
	static const char *const dropped[] = {"LD_PRELOAD",
					      "LD_AUDIT",
					      "AUTOFUSE_RECORD",
					      "AUTOFUSE_REPORT",
					      "AUTOFUSE_TIMES",
					      "AUTOFUSE_IMAGES",
					      "AUTOFUSE_CONTROL",
					      "CUDA_INJECTION64_PATH",
					      "NVTX_INJECTION64_PATH",
					      "CUDA_LAUNCH_BLOCKING"};

	for (unsigned i = 0; i < sizeof(dropped) / sizeof(*dropped); i++)
		unsetenv(dropped[i]);
	signal(SIGPIPE, SIG_DFL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	if (log_level < LOG_INFO) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		if (null >= 0)
			dup2(null, STDERR_FILENO);
	}
	execl("/proc/self/exe", "autofuse", "probe", (char *)NULL);
	_exit(EXIT_FAILURE);
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Everything until the child closes its end, or time is up. */
static void read_answer(int fd, char *answer)
{
	long long end = now() + 1000LL * (INFER_SECONDS + GRACE), left;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t have = 0;
	ssize_t n = 1;

	while (n > 0 && have < ANSWER - 1 && (left = end - now()) > 0 &&
	       poll(&p, 1, (int)left) != 0) {
		n = read(fd, answer + have, ANSWER - 1 - have);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			have += (size_t)n;
	}
	answer[have] = 0;
}

bool infer_start(struct infer_asked *a, struct infer_kernel *k)
{
	int to[2], from[2];
	char *text = request(k);
	size_t len = text ? strlen(text) : 0;

	*a = (struct infer_asked){.kernel = k, .fd = -1};
	if (!text || pipe2(to, O_CLOEXEC)) {
		free(text);
		return false;
	}
	if (pipe2(from, O_CLOEXEC)) {
		close(to[0]);
		close(to[1]);
		free(text);
		return false;
	}
	log_debug("infer: %s", text);
	signal(SIGPIPE, SIG_IGN); /* it may be gone before it is asked */
	a->pid = fork();
	if (!a->pid)
		become_probe(to[0], from[1]);
	close(to[0]);
	close(from[1]);
	if (a->pid > 0 && write(to[1], text, len) != (ssize_t)len) /* a pipe holds a request */
		log_debug("infer: it did not take its request");
	signal(SIGPIPE, SIG_DFL);
	close(to[1]);
	free(text);
	if (a->pid > 0)
		a->fd = from[0];
	else
		close(from[0]);
	return a->pid > 0;
}

void infer_finish(struct infer_asked *a)
{
	struct infer_kernel *k = a->kernel;
	char answer[ANSWER], *why;
	int status = -1;

	read_answer(a->fd, answer);
	close(a->fd);
	kill(a->pid, SIGKILL); /* it has answered, or never will */
	waitpid(a->pid, &status, 0);
	if (!strncmp(answer, "section\n", 8)) {
		k->section = strdup(answer + 8);
		return;
	}
	answer[strcspn(answer, "\n")] = 0;
	why = strncmp(answer, "reason ", 7) ? NULL : strchr(answer + 7, ' ');
	if (why)
		snprintf(k->reason, sizeof(k->reason), "%.250s", why + 1);
	else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		snprintf(k->reason, sizeof(k->reason), INFER_WILD " (%s)",
			 strsignal(WTERMSIG(status)));
	else
		snprintf(k->reason, sizeof(k->reason), "the probe gave no answer in time");
}
