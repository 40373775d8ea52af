/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/probe_parent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/log.h"
#include "shim/child.h"
#include "shim/kernels.h"
#include "shim/probe.h"
#include "shim/probe_request.h"
#include "shim/process.h"
#include "shim/serve.h"
#include "shim/worker.h"

enum { ANSWER_MAX = 4096, GRACE_SECONDS = 5, SECONDS_MOST = 24 * 3600 };

_Static_assert((int)SERVE_FDS >= (int)GROUP_MAX_MEMBERS, "one for each image");

static __thread struct serve child; /* of this thread of the worker's */

struct job {
	struct worker_job job;
	struct verdict *verdict;
	int device;
	struct group group; /* deep copy: members and their parameters follow */
	struct member member[GROUP_MAX_MEMBERS];
	uint8_t params[];
};

/* "candidate NAME" or "reason WORD detail". */
static void take_answer(struct verdict *v, char *answer, int status)
{
	char *word, *detail;
	enum reason why;

	if (!strncmp(answer, "candidate ", 10)) {
		verdict_probed(v, answer + 10);
		return;
	}
	if (strncmp(answer, "reason ", 7)) {
		char text[96];

		snprintf(text, sizeof(text),
			 status == SERVE_FAILED ? "the probe could not be started"
			 : status == SERVE_LATE ? "the probe took too long"
			 : WIFSIGNALED(status)  ? "the probe died by signal %d"
						: "the probe ended with status %d and no answer",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		verdict_reject(v, REASON_NO_VERDICT, text, false);
		return;
	}
	word = answer + 7;
	detail = strchr(word, ' ');
	if (detail)
		*detail++ = '\0';
	why = reason_parse(word);
	if (why == REASON_NOT_COMPILED)
		log_warn_once("no kernel is generated: %s", detail ? detail : word);
	/* The child has written the cache itself. */
	verdict_reject(v, why < REASON_COUNT && why != REASON_NONE ? why : REASON_NO_VERDICT,
		       detail ? detail : word, false);
}

static const struct image *image_of(const struct job *j, unsigned i)
{
	return ((const struct kernel_rec *)j->member[i].launch.kernel)->image;
}

/* The members' images as files, those of copies as descriptors that ride along. */
static bool open_images(const struct job *j, char (*file)[4096], uint64_t *offset,
			struct serve_request *r, int *fd)
{
	bool ok = true;

	for (unsigned i = 0; ok && i < group_size(&j->group); i++) {
		const struct image *img = image_of(j, i);
		unsigned same = 0;
		int one;

		while (same < i && image_of(j, same) != img)
			same++;
		if (same < i) {
			memcpy(file[i], file[same], sizeof(*file));
			offset[i] = offset[same];
			continue;
		}
		one = images_file(img, file[i], sizeof(*file), &offset[i]);
		if (one >= 0) {
			snprintf(file[i], sizeof(*file), PROBE_PASSED "%u", r->nfd);
			fd[r->nfd++] = one;
		}
		ok = one != -2;
	}
	return ok;
}

static bool paced(void)
{
	return process.config.opt.probe_share < 100;
}

/* Until the child is killed: its sleeping (probe_child_pace.c) is counted in, and that it waits for
 * another process's probe of the same kernels. */
static int patience(void)
{
	const struct options *o = &process.config.opt;
	long s = 2L * o->probe_seconds + GRACE_SECONDS;

	if (paced())
		s = s < SECONDS_MOST ? s * 100 / (o->probe_share > 0 ? o->probe_share : 1) : s;
	return (int)(s < SECONDS_MOST ? s : SECONDS_MOST);
}

static void run(struct worker_job *wj)
{
	struct job *j = (struct job *)wj;
	char(*file)[4096] = calloc(GROUP_MAX_MEMBERS, sizeof(*file)), answer[ANSWER_MAX] = "";
	char path[4096], *text = NULL;
	uint64_t offset[GROUP_MAX_MEMBERS];
	int fd[GROUP_MAX_MEMBERS], status;
	struct serve_request r = {
		.kind = SERVE_PROBE, .device = j->device, .fd = fd, .seconds = patience()};
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	bool ok = file && f && !child_command(path, sizeof(path)) &&
		  open_images(j, file, offset, &r, fd);

	if (ok)
		probe_request(f, j->verdict, &j->group, j->device, file, offset);
	if (f)
		fclose(f);
	if (ok && text) {
		log_debug("probe: %s", text);
		r.text = text;
		r.bytes = len;
		status = serve_ask(&child, &r, answer, sizeof(answer));
		take_answer(j->verdict, answer, status);
	} else {
		log_warn_once("the autofuse command was not found beside libautofuse.so; without "
			      "it nothing can be proven (AUTOFUSE_PROBE_COMMAND)");
		verdict_reject(j->verdict, REASON_NO_VERDICT, "the probe could not be started",
			       false);
	}
	for (unsigned i = 0; i < r.nfd; i++)
		close(fd[i]);
	free(text);
	free(file);
	free(j);
}

/* Each child has a context on the device: fewer of these; one that mostly sleeps does for all. */
static unsigned threads(void)
{
	unsigned n = paced() ? 1 : serve_children() / 2;

	return n < 1 ? 1 : n;
}

static void rest(void)
{
	serve_end(&child);
}

struct worker worker_probe = {.name = "autofuse-probe",
			      .lock = PTHREAD_MUTEX_INITIALIZER,
			      .more = PTHREAD_COND_INITIALIZER,
			      .most = threads,
			      .patience = 2,
			      .rest = rest};

int probe_start(struct verdict *v, const struct group *g, const struct ours *o)
{
	unsigned n = group_size(g);
	size_t bytes = 0, at = 0;
	struct job *j;

	for (unsigned i = 0; i < n; i++)
		bytes += g->member[i]->launch.kernel->param_bytes;
	j = calloc(1, sizeof(*j) + bytes);
	if (!j)
		return -1;
	j->job.run = run;
	j->job.weight = &v->wanted;
	j->verdict = v;
	j->device = o->device;
	j->group = *g;
	for (unsigned i = 0; i < n; i++) {
		size_t len = g->member[i]->launch.kernel->param_bytes;

		j->member[i] = *g->member[i];
		memcpy(j->params + at, g->member[i]->launch.params, len);
		j->member[i].launch.params = j->params + at;
		j->group.member[i] = &j->member[i];
		at += len;
	}
	if (!worker_post(&worker_probe, &j->job))
		return 0;
	free(j);
	return -1;
}
