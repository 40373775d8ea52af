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
#include "shim/probe_request.h"
#include "shim/process.h"
#include "shim/spawn.h"
#include "shim/worker.h"

enum { ANSWER_MAX = 4096, GRACE_SECONDS = 5 };

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
	char *end = strchr(answer, '\n'), *word, *detail;
	enum reason why;

	if (end)
		*end = '\0';
	if (!strncmp(answer, "candidate ", 10) && end) {
		verdict_probed(v, answer + 10);
		return;
	}
	if (strncmp(answer, "reason ", 7) || !end) {
		char text[96];

		snprintf(text, sizeof(text),
			 status == -1          ? "the probe could not be started"
			 : status == -2        ? "the probe took too long"
			 : WIFSIGNALED(status) ? "the probe died by signal %d"
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

static void run(struct worker_job *wj)
{
	struct job *j = (struct job *)wj;
	char path[4096], (*file)[4096] = calloc(GROUP_MAX_MEMBERS, sizeof(*file)),
			 answer[ANSWER_MAX];
	char *argv[] = {path, (char *)"probe", NULL}, **env = child_environment(), *text = NULL;
	uint64_t offset[GROUP_MAX_MEMBERS];
	int fd[GROUP_MAX_MEMBERS], keep[GROUP_MAX_MEMBERS], status = -1;
	unsigned nkeep = 0, n = group_size(&j->group);
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	bool ok = file && env && f && !child_command(path, sizeof(path));

	for (unsigned i = 0; i < n; i++) {
		struct kernel_rec *rec = (struct kernel_rec *)j->member[i].launch.kernel;

		fd[i] = ok ? images_file(rec->image, file[i], sizeof(*file), &offset[i]) : -1;
		if (fd[i] >= 0)
			keep[nkeep++] = fd[i];
		ok &= fd[i] != -2;
	}
	if (ok)
		probe_request(f, j->verdict, &j->group, j->device, file, offset);
	if (f)
		fclose(f);
	if (ok) {
		log_debug("probe: %s", text);
		status = spawn_run(path, argv, env, text, len, keep, nkeep, log_level < LOG_INFO,
				   (int)process.config.opt.probe_seconds + GRACE_SECONDS, answer,
				   sizeof(answer));
		take_answer(j->verdict, answer, status);
	} else {
		log_warn_once("the autofuse command was not found beside libautofuse.so; without "
			      "it nothing can be proven (AUTOFUSE_PROBE_COMMAND)");
		verdict_reject(j->verdict, REASON_NO_VERDICT, "the probe could not be started",
			       false);
	}
	for (unsigned i = 0; i < nkeep; i++)
		close(keep[i]);
	free(text);
	free(env);
	free(file);
	free(j);
}

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
