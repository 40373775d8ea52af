// SPDX-License-Identifier: Apache-2.0
/* Live checks on a way, which need not be left for them. Declared in window_memo.h. */
#include <stdlib.h>

#include "matcher/decode.h"
#include "matcher/row_build.h"
#include "shim/report.h"
#include "shim/window_chain.h"
#include "shim/window_memo.h"

/* What a check needs that a way does not remember. */
struct again {
	struct group group;
	struct member member[GROUP_MAX_MEMBERS];
	struct row row;
};

static bool add(struct again *g, const struct launch *l)
{
	struct member *m = &g->member[g->group.nmember];

	if (!l->kernel->decoder || !l->params)
		return false;
	m->launch = *l;
	op_opaque(&m->op);
	decode_launch(&m->launch, &m->op);
	g->group.member[g->group.nmember++] = m;
	return m->op.code != OP_opaque;
}

/* The group of these members, as the planner made it, if that is what its verdict says. */
static bool build(const struct window *w, struct again *g, const struct whole *x)
{
	struct row_member m[GROUP_MAX_MEMBERS];
	const unsigned n = g->group.nmember;

	for (unsigned i = 0; i < n; i++) {
		m[i].op = &g->member[i].op;
		row_pick_known(m[i].op, &g->member[i].launch, &m[i].pick);
	}
	g->group.pattern = x->verdict->pattern;
	g->group.row = &g->row;
	g->group.judged = x->verdict;
	for (int late = 0; late < 2; late++) {
		if (row_build_roughly(&g->row, m, n, late))
			continue;
		row_canon(&g->row);
		g->group.rows = row_rows(&g->row);
		g->group.cols = g->row.cols;
		if (g->group.rows == x->rows && verdict_of(&g->group, w->ours) == x->verdict)
			return true;
	}
	return false;
}

bool memo_check(struct window *w, const struct act *a, const struct launch *own)
{
	struct whole *x = a->whole;
	struct again *g = calloc(1, sizeof(*g));
	CUresult r = CUDA_SUCCESS;
	bool made = g, begun;

	for (unsigned i = 0; i < a->n && made; i++)
		made = add(g, &w->memo->run[a->held[i]]);
	if (made && a->n < x->verdict->nmember)
		made = add(g, own);
	made = made && g->group.nmember == x->verdict->nmember && build(w, g, x);
	x->elsewhere = g && !made;
	begun = made && window_chain_check(w, &g->group, x->verdict, &r);
	if (begun) {
		report_group(&g->group, OUTCOME_CHECKED, REASON_NO_VERDICT);
		w->pending = r;
	}
	free(g);
	return begun;
}
