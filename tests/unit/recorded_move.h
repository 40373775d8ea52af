/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording with memory laid out otherwise, as chance has it: operands lie on each other, or
 * across. The same ops still run in the same order, so what they shall leave is well defined.
 */
#ifndef AF_TESTS_UNIT_RECORDED_MOVE_H
#define AF_TESTS_UNIT_RECORDED_MOVE_H

#include "tests/unit/recorded_run.h"

static struct {
	struct graph_node node[NODES];
	bool as_row[NODES];
} move_from;

/* Does every node still do what it did, on memory that is there? */
static bool move_runs(void)
{
	for (unsigned i = 0; i < nnode; i++) {
		for (unsigned k = 0; has_op(&node[i]) && k < node[i].op.noperand; k++) {
			const struct operand *o = &node[i].op.operand[k];
			const struct range r = operand_range(o);
			bool inside = !is_there(o);

			for (unsigned a = 0; a < narea && !inside; a++) {
				const uint64_t lo = (uint64_t)(uintptr_t)arena + area[a].at;

				inside = r.lo >= lo &&
					 r.hi <= lo + area[a].range.hi - area[a].range.lo;
			}
			if (!inside)
				return false;
		}
		if (move_from.as_row[i] && !runs_as_row(&node[i]))
			return false;
	}
	return true;
}

static uint64_t move_address(void)
{
	for (;;) {
		const struct op *op = &node[draw() % nnode].op;
		const struct operand *o = &op->operand[draw() % OP_MAX_OPERANDS];

		if (o < op->operand + op->noperand && is_there(o))
			return o->addr;
	}
}

/* What lay at one address lies at that of something else, or near it. */
static void move_one(void)
{
	static struct graph_node before[NODES];
	const uint64_t from = move_address(),
		       to = move_address() + (draw() % 4 ? 0 : draw() % 64 * 64);

	memcpy(before, node, nnode * sizeof(*node));
	for (unsigned i = 0; i < nnode; i++)
		for (unsigned k = 0; has_op(&node[i]) && k < node[i].op.noperand; k++)
			if (node[i].op.operand[k].addr == from)
				node[i].op.operand[k].addr = to;
	if (!move_runs())
		memcpy(node, before, nnode * sizeof(*node));
}

/* How many cases: many, or as the environment says. */
static unsigned move_cases(unsigned usual)
{
	const char *said = getenv("RECORDED_CASES");

	return said ? (unsigned)atoi(said) : usual;
}

/* From here on the recording as it is now is what move_some begins with. */
static void move_keep(void)
{
	memcpy(move_from.node, node, nnode * sizeof(*node));
	memcpy(move_from.as_row, as_row, sizeof(as_row));
}

/* The name of the case. */
static const char *move_some(unsigned number)
{
	static char name[64];

	snprintf(name, sizeof(name), "other memory, case %u", number);
	seed = number;
	memcpy(node, move_from.node, nnode * sizeof(*node));
	for (uint64_t n = 1 + draw() % 8; n; n--)
		move_one();
	memcpy(as_row, move_from.as_row, sizeof(as_row));
	return name;
}

#endif
