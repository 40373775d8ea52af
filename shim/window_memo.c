/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short way. A program that decodes tokens makes the same launches with the same arguments over
 * and over. What was decided about a group whose members followed each other directly is
 * remembered: the launches byte by byte, and the fused launch. When its first launch comes again,
 * with nothing open anywhere, it is held without being decoded or shown to the planner; if exactly
 * the others follow, the fused launch is made at once. On anything else (another launch, a call,
 * the way out, another stream) the planner is shown the held launches as if they came now, and all
 * goes on from there: nothing is decided here that the planner did not decide for these very bytes.
 * A change of the program's memory, of the verdict or of the switches ends what is remembered.
 */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "matcher/decode.h"
#include "matcher/key.h"
#include "shim/memory.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/report.h"
#include "shim/window_launch.h"
#include "shim/window_state.h"

enum {
	SLOTS = 512,       /* remembered groups of a window; a power of two */
	PARAMS_MAX = 1024, /* bytes of parameters of all members */
};

struct memo {
	const struct pattern *pattern;
	struct verdict *verdict;
	struct site *site; /* of the first launch */
	uint64_t events;   /* memory_events() when it was decided */
	int64_t elements;  /* rows * cols */
	CUfunction function;
	struct fused_launch fused;
	struct launch launch[PATTERN_MAX_NODES]; /* params point into `params` */
	uint8_t params[];
};

static unsigned slot_of(const struct launch *l)
{
	uint64_t h = XXH3_64bits_withSeed(l->params, l->kernel->param_bytes,
					  (uint64_t)(uintptr_t)l->kernel);

	return (unsigned)(h ^ h >> 32) % SLOTS;
}

static bool same(const struct launch *a, const struct launch *b)
{
	return a->kernel == b->kernel && !memcmp(a->grid, b->grid, sizeof(a->grid)) &&
	       !memcmp(a->block, b->block, sizeof(a->block)) && a->shmem == b->shmem &&
	       a->attrs == b->attrs && a->priority == b->priority &&
	       !memcmp(a->params, b->params, a->kernel->param_bytes);
}

void window_remember(struct window *w, const struct group *g, struct verdict *v, CUfunction f,
		     const struct fused_launch *l)
{
	const struct launch *first = &g->member[0]->launch;
	struct site *s = verdict_site(key_noted(first, &g->member[0]->op));
	struct memo *m, **at;
	uint32_t bytes = 0;
	uint8_t *params;

	for (unsigned i = 0; i < g->pattern->nnode; i++) {
		bytes += g->member[i]->launch.kernel->param_bytes;
		if (g->member[i]->launch.index != first->index + i)
			return;
	}
	if (bytes > PARAMS_MAX || record_on || !s)
		return;
	if (!w->memo && !(w->memo = calloc(SLOTS, sizeof(struct memo *))))
		return;
	at = &w->memo[slot_of(first)];
	m = realloc(*at, sizeof(*m) + bytes);
	if (!m)
		return;
	*at = m;
	m->pattern = g->pattern;
	m->verdict = v;
	m->site = s;
	m->events = memory_events();
	m->elements = g->rows * g->cols;
	m->function = f;
	m->fused = *l;
	params = m->params;
	for (unsigned i = 0; i < g->pattern->nnode; i++) {
		m->launch[i] = g->member[i]->launch;
		bytes = m->launch[i].kernel->param_bytes;
		m->launch[i].params = memcpy(params, m->launch[i].params, bytes);
		params += bytes;
	}
}

void window_forget_all(struct window *w)
{
	for (unsigned i = 0; w->memo && i < SLOTS; i++)
		free(w->memo[i]);
	free(w->memo);
	w->memo = NULL;
}

void window_settle(struct window *w)
{
	struct memo *run = w->run;
	unsigned n = w->nrun;

	w->run = NULL;
	w->nrun = 0;
	for (unsigned i = 0; i < n; i++) {
		struct member m = {.launch = run->launch[i]};
		const struct member *one = &m;
		struct seq_out out;
		CUresult r;

		m.launch.index = w->run_index[i];
		decode_launch(&m.launch, &m.op);
		seq_launch(w->seq, &m.launch, &m.op, &out);
		r = window_submit(w, out.flush, out.nflush);
		if (!r && out.act != SEQ_HOLD)
			r = window_submit(w, &one, 1);
		w->pending = w->pending ? w->pending : r;
		w->want_check = false;
	}
}

static bool fresh(const struct window *w, const struct memo *m)
{
	return m->events == memory_events() &&
	       window_may_recall(w, m->verdict, m->site, m->elements);
}

static void hold(struct window *w, struct memo *m, uint64_t index)
{
	w->run = m;
	w->run_index[w->nrun++] = index;
	window_holds(w);
}

/* Lock held. */
static bool recall(struct window *w, const struct launch *l)
{
	struct memo *m = w->run;

	if (!w->used || w->pending)
		return false;
	if (!m) {
		if (!w->memo || w->nfree || w->check.arena || seq_waiting(w->seq))
			return false;
		m = w->memo[slot_of(l)];
		if (!m || !same(&m->launch[0], l) || !fresh(w, m))
			return false;
		hold(w, m, l->index);
		return true;
	}
	if (!same(&m->launch[w->nrun], l) || !fresh(w, m))
		return false;
	if (w->nrun + 1 < m->pattern->nnode) {
		hold(w, m, l->index);
		return true;
	}
	if (!window_send_fused(w, m->verdict, m->function, &m->fused))
		return false;
	w->run_index[w->nrun] = l->index;
	report_fused(m->pattern, w->run_index);
	w->run = NULL;
	w->nrun = 0;
	return true;
}

bool window_recall(const struct own_launch *own, struct launch *l, CUresult *r)
{
	unsigned watch = __atomic_load_n(&window_watch, __ATOMIC_ACQUIRE);
	struct window *w;
	bool done;

	if (watch > 1 || __atomic_load_n(&window_waiting, __ATOMIC_ACQUIRE) != watch || record_on)
		return false;
	w = window_here(own->stream, own->ptsz);
	if (!w || !w->memo || __atomic_load_n(&w->watched, __ATOMIC_ACQUIRE) != (watch == 1))
		return false;
	window_touch();
	pthread_mutex_lock(&w->lock);
	done = recall(w, l);
	if (w->used)
		window_update(w);
	pthread_mutex_unlock(&w->lock);
	*r = CUDA_SUCCESS;
	return done;
}
