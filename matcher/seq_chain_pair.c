// SPDX-License-Identifier: Apache-2.0
/* Siblings: launches alike that ended alone, and that one kernel does together. */
#include "matcher/seq_chain_state.h"

enum { SIBLINGS_BYTES = 4 << 20 /* that move more are slower than a launch is long */ };

static bool alike(const struct op *a, const struct op *b)
{
	const struct operand *x = op_operand(a, ROLE_out), *y = op_operand(b, ROLE_out);

	return a->code == b->code && a->rows == b->rows && a->cols == b->cols &&
	       a->noperand == b->noperand && x && y && x->dtype == y->dtype;
}

void chains_pair(struct seq *s)
{
	struct chains *c = s->chains;
	struct seq_member *m[CHAINS_LONE];
	uint64_t traffic;

	c->pairing = false;
	while (c->nlone) {
		unsigned n = 0, kept = 0;

		/* In program order. */
		for (unsigned i = 0; i < c->nlone && n < GROUP_MAX_MEMBERS; i++) {
			unsigned at = n;

			if (!alike(&c->lone[0]->m.op, &c->lone[i]->m.op))
				continue;
			for (; at && m[at - 1]->m.launch.index > c->lone[i]->m.launch.index; at--)
				m[at] = m[at - 1];
			m[at] = c->lone[i];
			n++;
		}
		if (n > 1 && c->nended < CHAINS_ENDED && chain_in_order(s, m, n) &&
		    !chain_build(&c->row, &traffic, m, n, false) && traffic <= SIBLINGS_BYTES) {
			row_canon(&c->row);
			chain_report(s, &c->row, m, n, true);
		}
		for (unsigned i = 0; i < c->nlone; i++) {
			bool used = false;

			for (unsigned k = 0; k < n; k++)
				used |= m[k] == c->lone[i];
			if (used)
				member_drop(s, c->lone[i]);
			else
				c->lone[kept++] = c->lone[i];
		}
		c->nlone = kept;
	}
}
