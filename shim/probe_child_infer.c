/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to infer a signature, and their answers. */
#include "shim/probe_child_infer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/probe.h"
#include "shim/probe_child_infer_run.h"
#include "shim/probe_child_request.h"
#include "shim/purity.h"

static bool bad(struct infer *i, const char *what)
{
	return probe_fail(i->p, REASON_NO_VERDICT, "request: bad or missing %s", what);
}

/* "room": bytes that each parameter points to, 0 for what is no pointer. */
static bool arguments(struct infer *i, json_t *room)
{
	const struct kernel *k = &i->p->member[0].kernel;
	struct infer_facts *f = &i->f;

	if (k->nparam > INFER_ARGS || k->param_bytes > INFER_PARAM_BYTES ||
	    json_array_size(room) != k->nparam)
		return bad(i, "room");
	f->narg = k->nparam;
	for (unsigned a = 0; a < f->narg; a++) {
		struct infer_arg *arg = &f->arg[a];
		int32_t narrow;

		arg->offset = k->param[a].offset;
		arg->bytes = k->param[a].bytes;
		i->room[a] = (uint64_t)json_integer_value(json_array_get(room, a));
		arg->pointer = i->room[a] > 0;
		if (arg->pointer && arg->bytes != 8)
			return bad(i, "room");
		if (arg->bytes == 8) {
			memcpy(&arg->value, i->launch[0].params + arg->offset, 8);
		} else if (arg->bytes == 4) {
			memcpy(&narrow, i->launch[0].params + arg->offset, 4);
			arg->value = narrow;
		}
	}
	return true;
}

static bool launches(struct infer *i, json_t *more)
{
	const struct probe_member *m = &i->p->member[0];
	struct infer_launch *l = &i->launch[0];
	size_t n;

	memcpy(l->grid, m->m.launch.grid, sizeof(l->grid));
	memcpy(l->block, m->m.launch.block, sizeof(l->block));
	memcpy(i->f.grid, l->grid, sizeof(l->grid));
	memcpy(i->f.block, l->block, sizeof(l->block));
	l->shmem = m->m.launch.shmem;
	if (m->kernel.param_bytes > INFER_PARAM_BYTES)
		return bad(i, "params");
	memcpy(l->params, m->params[0], m->kernel.param_bytes);
	for (i->nlaunch = 1; i->nlaunch < INFER_LAUNCHES; i->nlaunch++) {
		json_t *j = json_array_get(more, i->nlaunch - 1);

		if (!j)
			break;
		l = &i->launch[i->nlaunch];
		l->shmem = (uint32_t)json_integer_value(json_object_get(j, "shmem"));
		if (!probe_request_triple(i->p, j, "grid", l->grid) ||
		    !probe_request_triple(i->p, j, "block", l->block) ||
		    !probe_request_params(i->p, j, l->params, sizeof(l->params), &n))
			return false;
	}
	return true;
}

bool infer_request_parse(struct infer *i, json_t *request)
{
	struct probe *p = i->p;
	json_t *j = json_object_get(request, "infer");

	p->device = (int)json_integer_value(json_object_get(request, "device"));
	p->seconds = (long)json_integer_value(json_object_get(request, "seconds"));
	p->nmember = 1;
	return probe_request_kernel(p, j, &p->member[0]) &&
	       launches(i, json_object_get(j, "more")) && arguments(i, json_object_get(j, "room"));
}

static bool pure(struct infer *i)
{
	const struct probe_member *m = &i->p->member[0];
	struct purity found;

	purity_check(m->image->bytes, m->image->size, i->p->cc, m->kernel.name, &found);
	return !found.why || probe_fail(i->p, found.why, "it %s", found.detail);
}

/* The device's memory goes with the process. */
static void done(struct infer *i)
{
	free(i->before);
	free(i->after);
	free(i->first[0]);
	free(i->first[1]);
	free(i);
}

/* What a process that tries says. Shared with it, so that it is there if the process is not. */
struct outcome {
	bool over, ok;
	unsigned trying; /* the run that it is in the middle of, from 1; 0: none that may fault */
	enum reason why;
	char detail[sizeof(((struct probe *)0)->detail)];
	char section[INFER_TEXT];
};

static void attempt(struct probe *p, json_t *request, const struct infer_faults *faults,
		    struct outcome *o)
{
	struct infer *i = calloc(1, sizeof(*i));

	if (!i) {
		probe_fail(p, REASON_NO_VERDICT, "out of memory");
	} else {
		i->p = p;
		i->faults = faults;
		i->trying = &o->trying;
		o->ok = infer_request_parse(i, request) && probe_device_open_theirs(p) && pure(i) &&
			infer_arena_open(i) && infer_traffic(i) && infer_search(i);
		if (o->ok)
			snprintf(o->section, sizeof(o->section), "%s", i->section);
		else if (i->why[0])
			probe_fail(p, REASON_NO_VERDICT, "%s", i->why);
		done(i);
	}
	o->why = p->why;
	snprintf(o->detail, sizeof(o->detail), "%s", p->detail);
	o->over = true;
}

/* In a process of its own: a kernel that faults takes the context with it. */
static bool apart(struct probe *p, json_t *request, const struct infer_faults *faults,
		  struct outcome *o)
{
	pid_t parent = getpid(), child;
	int status;

	memset(o, 0, sizeof(*o));
	child = fork();
	if (child < 0)
		return probe_fail(p, REASON_NO_VERDICT, "no process can be started");
	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGBUS, SIG_DFL);
		signal(SIGABRT, SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			attempt(p, request, faults, o);
		_exit(0);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return true;
}

/* A run at sizes of ours may fault where the recorded ones do not (rows that are read in fours): it
 * does not hold then, and everything is done again without it. */
bool infer_answer(struct probe *p, json_t *request, char *section, size_t size)
{
	struct infer_faults faults = {0};
	struct outcome *o =
		mmap(NULL, sizeof(*o), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool ok = false;

	if (o == MAP_FAILED)
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	while (apart(p, request, &faults, o) && o->trying && faults.n < INFER_FAULTS)
		faults.run[faults.n++] = o->trying;
	if (!o->over)
		probe_fail(p, REASON_NO_VERDICT, INFER_WILD);
	else if (!o->ok)
		probe_fail(p, o->why, "%s", o->detail);
	ok = !p->why;
	if (ok)
		snprintf(section, size, "%s", o->section);
	munmap(o, sizeof(*o));
	return ok;
}
