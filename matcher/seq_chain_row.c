// SPDX-License-Identifier: Apache-2.0
/* What members of a chain come to together: a row program, its traffic, an order. */
#include "matcher/row_build.h"
#include "matcher/seq_chain_state.h"

enum {
	/* Beyond these, two kernels do better than one that spills: values of a column alive at
	 * once, times a row is gone over, bytes of a row kept between two times (shared memory of a
	 * block). */
	MOST_LIVE = 48,
	MOST_PASSES = 5,
	MOST_STAGED = 96 << 10,
};

enum reason chain_build(struct row *r, uint64_t *traffic, struct seq_member *const *member,
			unsigned n, bool late)
{
	struct row_member m[GROUP_MAX_MEMBERS];
	struct row_cost cost;
	enum reason why;

	for (unsigned i = 0; i < n; i++) {
		m[i].op = &member[i]->m.op;
		row_pick_known(m[i].op, &member[i]->m.launch, &m[i].pick);
	}
	why = row_build_roughly(r, m, n, late);
	if (why && (why != REASON_OVERLAP || r->nmember != n))
		return REASON_SHAPE; /* whatever comes */
	row_cost_at_once(r, &cost);
	*traffic = cost.read + cost.written;
	if (cost.live > MOST_LIVE || cost.passes > MOST_PASSES ||
	    (uint64_t)cost.stage * (uint64_t)r->cols > MOST_STAGED)
		return REASON_NOT_PROFITABLE;
	return why;
}

uint64_t chain_traffic_of(const struct op *op)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < op->noperand; i++)
		bytes += operand_bytes(&op->operand[i]);
	return bytes;
}

bool chain_in_order(const struct seq *s, struct seq_member *const *m, unsigned n)
{
	for (unsigned i = 1; i < n && s->policy.follows; i++)
		if (!s->policy.follows(s->policy.arg, &m[i - 1]->m.launch, &m[i]->m.launch))
			return false;
	return true;
}
