// SPDX-License-Identifier: Apache-2.0
#include "matcher/graph_memory.h"

#include <string.h>

static bool within(int64_t v, int64_t most)
{
	return v >= 0 && v <= most;
}

bool graph_box_sane(const struct graph_box *b)
{
	const int64_t one = 1;

	return within(b->bytes, one << 40) && within(b->rows, one << 31) &&
	       within(b->pitch, one << 31) && within(b->slices, one << 14) &&
	       within(b->slice, one << 46);
}

static void add(struct op *op, enum role role, enum access access, const struct graph_box *b)
{
	struct operand *o = &op->operand[op->noperand];

	if (!b->bytes)
		return;
	op->noperand++;
	operand_dense(o, role, access, DT_u8, b->addr, b->rows, b->bytes);
	o->ndim = 3;
	memcpy(o->size, (int64_t[]){b->slices, b->rows, b->bytes}, 3 * sizeof(*o->size));
	memcpy(o->stride, (int64_t[]){b->slice, b->pitch, 1}, 3 * sizeof(*o->stride));
}

void graph_memory(struct graph_node *n, const struct graph_box *to, const struct graph_box *from)
{
	n->kind = GRAPH_OTHER;
	/* What is said to touch nothing would be a node that nobody puts into a graph. */
	if (!graph_box_sane(to) || !graph_box_sane(from) || !to->bytes || !to->rows ||
	    !to->slices || (from->bytes && (!from->rows || !from->slices)))
		return;
	n->kind = GRAPH_MEMORY;
	memset(&n->op, 0, sizeof(n->op));
	n->op.code = from->bytes ? OP_copy : OP_fill;
	n->op.vetted = true;
	add(&n->op, ROLE_out, ACCESS_WRITE, to);
	add(&n->op, ROLE_in0, ACCESS_READ, from);
}
