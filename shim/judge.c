// SPDX-License-Identifier: Apache-2.0
#include "shim/judge.h"

#include "fused/gen.h"
#include "matcher/row_pick.h"
#include "shim/generated.h"
#include "shim/kernels.h"
#include "shim/outlook.h"
#include "shim/probe_parent.h"
#include "shim/process.h"
#include "shim/serve.h"
#include "shim/standin_pattern.h"

/* All parts are asked for, or none is the verdict's. */
static void ask(const struct group *g, const struct ours *o, struct verdict *v)
{
	struct generated *image[GEN_PARTS] = {NULL};
	struct gen_parts p;

	if (__atomic_load_n(&v->image[0], __ATOMIC_ACQUIRE) || standin_parts(g, v, &p))
		return;
	for (unsigned i = 0; i < p.n; i++)
		if (!(image[i] = generated_get(&p.row[i], o, g->pattern->name)))
			return;
	for (unsigned i = GEN_PARTS; i-- > 0;)
		__atomic_store_n(&v->image[i], image[i], __ATOMIC_RELEASE);
}

static const char *why_not(const struct verdict *v)
{
	const char *why = "";

	if (!v->image[0])
		return "the process has as many generated kernels as it may";
	for (unsigned i = 0; i < GEN_PARTS && v->image[i] && !*why; i++)
		why = generated_why(v->image[i]);
	return why;
}

/* The kernels of a chain whose picks are settled. They come from other threads, later. */
static enum reason image(const struct group *g, const struct ours *o, struct verdict *v)
{
	ask(g, o, v);
	switch (standin_there(v, o)) {
	case STANDIN_LATER:
		for (unsigned i = 0; i < GEN_PARTS && v->image[i]; i++)
			generated_met(v->image[i]);
		return REASON_NO_VERDICT;
	case STANDIN_NEVER:
		verdict_reject(v, REASON_NOT_COMPILED, why_not(v), false);
		return REASON_NOT_COMPILED;
	case STANDIN_MADE:
		break;
	}
	return REASON_NONE;
}

/*
 * A pattern's, where a generated kernel was found to be the better one. What is checked shall be
 * what stands in later; the kernel by hand may be worse than none.
 */
static enum reason preferred(const struct group *g, const struct ours *o, const struct verdict *v,
			     int state)
{
	const bool only = v->choice.kernel == CHOICE_ONLY_GENERATED;

	switch (standin_generated(g, v, o)) {
	case STANDIN_LATER:
		return only || state == VERDICT_CHECKING ? REASON_NO_VERDICT : REASON_NONE;
	case STANDIN_NEVER:
		return only ? REASON_NOT_PROFITABLE : REASON_NONE;
	default:
		return REASON_NONE;
	}
}

/* Nothing is known of the verdict's group yet. */
static void begin(const struct group *g, const struct ours *o, struct verdict *v)
{
	const char *why = g->row ? gen_cannot_parts(g->row, &o->limits) : NULL;
	struct gen_parts p;

	if (why) {
		verdict_reject(v, REASON_NO_KERNEL, why, false);
	} else if (v->family || !probe_can(g)) { /* a signature's word alone is not enough */
		if (v->known)
			verdict_planned(v, g);
		else if (v->family) /* nor will it be known: there is nothing to search */
			verdict_reject(v, REASON_NO_KERNEL,
				       row_pick_torch
					       ? "an operation of it has more than one arithmetic"
					       : "an operation of it has more than one arithmetic, "
						 "or is a sum of a PyTorch before 2.11 or unknown",
				       false);
	} else if (process.config.opt.probe) {
		verdict_probe(v, g, o);
		/* Should the probe agree, its kernel is what the planner thinks it is: compiled
		 * meanwhile, where there are processors for it. */
		if (v->known && verdict_state(v) == VERDICT_PROBING && serve_children() > 1 &&
		    !gen_split(g->row, &p))
			for (unsigned i = 0; i < p.n; i++)
				generated_get(&p.row[i], o, g->pattern->name);
	}
}

static enum reason answer(const struct group *g, const struct ours *o, struct verdict **v)
{
	int state;

	*v = NULL;
	if (g->row ? !process.config.opt.generated : !fused_can(g))
		return REASON_NO_KERNEL;
	if (o->cc < FUSED_LEAST_CC)
		return REASON_OLD_GPU;
	if (!o->ready || !(*v = verdict_of(g, o)))
		return REASON_NO_VERDICT;
	state = verdict_state(*v);
	if (state != VERDICT_REJECTED)
		kernels_promise(g->member[0]->launch.kernel);
	if (verdict_slower(*v, g->rows))
		return REASON_NOT_PROFITABLE;
	switch (state) {
	case VERDICT_NEW:
		begin(g, o, *v);
		if (verdict_state(*v) < VERDICT_CHECKING)
			return REASON_NO_VERDICT;
		if (verdict_state(*v) == VERDICT_REJECTED)
			return (*v)->why;
		break;
	case VERDICT_PROBING:
		__atomic_fetch_add(&(*v)->wanted, 1, __ATOMIC_RELAXED);
		return REASON_NO_VERDICT;
	case VERDICT_REJECTED:
		return (*v)->why;
	}
	return g->row ? image(g, o, *v) : preferred(g, o, *v, state);
}

enum reason judge(const struct group *g, const struct ours *o, struct verdict **v)
{
	const struct launch *first = &g->member[0]->launch,
			    *last = &g->member[group_size(g) - 1]->launch;
	const enum reason why = answer(g, o, v);

	if (*v && verdict_state(*v) != VERDICT_REJECTED && why != REASON_NOT_PROFITABLE)
		outlook_promise(first->look, last->index - first->index, why != REASON_NONE);
	return why;
}

bool judge_wants_check_of(const struct verdict *v, int64_t rows)
{
	const struct options *o = &process.config.opt;
	int state = verdict_state(v);

	if (state == VERDICT_USABLE)
		return (v->due && rows >= v->due) || o->verify == VERIFY_ALWAYS ||
		       (o->verify == VERIFY_SAMPLE &&
			v->unchecked >= (unsigned long)o->sample_every);
	return state == VERDICT_CHECKING;
}

bool judge_wants_check(const struct verdict *v)
{
	return judge_wants_check_of(v, INT64_MAX);
}

bool judge_vet(struct verdict *v)
{
	const uint64_t now = verdict_unvetted() + 1;
	bool news = false;

	if (__atomic_exchange_n(&v->vetted, now, __ATOMIC_RELAXED) == now)
		return false;
	for (unsigned i = 0; i < v->nmember; i++)
		news |= verdict_vet(v->site[i], v->image_of[i]);
	if (verdict_state(v) == VERDICT_USABLE)
		return news;
	for (unsigned i = 0; i < v->nmember; i++) /* another thread rejects it just now */
		verdict_unvet(v->site[i], v->image_of[i]);
	return false;
}
