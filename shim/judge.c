// SPDX-License-Identifier: Apache-2.0
#include "shim/judge.h"

#include "shim/kernels.h"
#include "shim/process.h"

enum reason judge(const struct group *g, const struct ours *o, struct verdict **v)
{
	int state;

	*v = NULL;
	if (!fused_can(g))
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
		if (process.config.opt.probe)
			verdict_probe(*v, g, o);
		return REASON_NO_VERDICT;
	case VERDICT_PROBING:
		return REASON_NO_VERDICT;
	case VERDICT_REJECTED:
		return (*v)->why;
	}
	return REASON_NONE;
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

bool judge_vet(const struct verdict *v)
{
	bool news = false;

	for (unsigned i = 0; i < v->pattern->nnode; i++) {
		struct site *s = verdict_site(v->site[i]);

		news |= s && !s->vetted;
		if (s)
			s->vetted = true;
	}
	return news;
}
