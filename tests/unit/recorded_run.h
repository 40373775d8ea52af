/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a recording's ops (recorded.h) one by one, or groups of them as what stands in for them.
 * Arithmetic that nobody knows is a function of every byte that is read, which is all that matters:
 * whoever reads something else leaves something else.
 */
#ifndef AF_TESTS_UNIT_RECORDED_RUN_H
#define AF_TESTS_UNIT_RECORDED_RUN_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "matcher/dead.h"
#include "tests/unit/recorded.h"
#include "tests/unit/row_interp.h"

static uint64_t seed;
static uint64_t had[NODES]; /* a hash of what each op read when all ran one by one */
static bool one_by_one;     /* that is what happens now */
static unsigned strange;    /* ops that read something else than then */
static bool grouped[NODES]; /* is in a group, sooner or later */

static uint64_t draw(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 20;
}

/* Each run of adjacent bytes of a box, broadcast dimensions once. */
static void each_run(const struct operand *o, void (*see)(uint8_t *run, size_t n, uint64_t *arg),
		     uint64_t *arg)
{
	int64_t run = dtype_bytes((enum dtype)o->dtype), at[OP_MAX_DIMS] = {0}, d = o->ndim - 1;

	for (int i = 0; i < o->ndim; i++)
		if (!o->size[i])
			return;
	while (d >= 0 && (o->stride[d] == run || o->size[d] == 1))
		run *= o->size[d--];
	for (;;) {
		uint64_t addr = o->addr;
		int64_t i;

		for (i = 0; i <= d; i++)
			addr += (uint64_t)(at[i] * o->stride[i]);
		see((uint8_t *)(uintptr_t)addr, (size_t)run, arg);
		for (i = d; i >= 0; i--) {
			if (o->stride[i] && ++at[i] < o->size[i])
				break;
			at[i] = 0;
		}
		if (i < 0)
			return;
	}
}

static void take(uint8_t *run, size_t n, uint64_t *sum)
{
	*sum = XXH3_64bits_withSeed(run, n, *sum);
}

static uint64_t hash_of_read(const struct op *op)
{
	uint64_t sum = op->code;

	for (unsigned i = 0; i < op->noperand; i++) {
		const struct operand *o = &op->operand[i];

		if (!(o->access & ACCESS_READ))
			continue;
		if (is_there(o))
			each_run(o, take, &sum);
		else
			sum = sum * 31 + o->addr;
	}
	return sum;
}

/* A number of about 1: bf16, or two of them, an f32. */
static uint16_t number(uint64_t from)
{
	return (uint16_t)(0x3f80 ^ (from >> 40 & 0x807f));
}

static void leave(uint8_t *run, size_t n, uint64_t *sum)
{
	for (size_t i = 0; i < n; i += 2) {
		const uint16_t v = number(*sum = *sum * 6364136223846793005u + 1);

		memcpy(run + i, &v, n - i < 2 ? 1 : 2);
	}
}

/* Of what is written in place, some stays. */
static void leave_some(uint8_t *run, size_t n, uint64_t *sum)
{
	for (size_t i = 0; i < n; i += 64, *sum = *sum * 31 + i)
		if (*sum >> 33 & 1)
			leave(run + i, n - i < 64 ? n - i : 64, sum);
}

static bool in_place(const struct op *op, const struct operand *to)
{
	for (unsigned i = 0; i < op->noperand; i++)
		if (op->operand[i].access & ACCESS_READ && operand_same(&op->operand[i], to))
			return true;
	return false;
}

static void run_touch(const struct op *op, uint64_t sum)
{
	for (unsigned i = 0; i < op->noperand; i++) {
		const struct operand *o = &op->operand[i];

		if (o->access & ACCESS_WRITE)
			each_run(o, in_place(op, o) ? leave_some : leave, &sum);
	}
}

/* What may touch anything sees all memory, and leaves something here and there. */
static uint64_t hash_of_all(void)
{
	uint64_t sum = 1;

	for (unsigned i = 0; i < narea; i++)
		take(arena + area[i].at, area[i].range.hi - area[i].range.lo, &sum);
	return sum;
}

static void run_opaque(uint64_t sum)
{
	for (unsigned i = 0; i < narea; i++)
		for (uint64_t k = 0; k < area[i].range.hi - area[i].range.lo; k += 9973 * 2)
			leave(arena + area[i].at + k, 2, &sum);
}

static void run_row(const struct row *r)
{
	assert_int_equal(row_check(r), REASON_NONE);
	assert_true(row_interp(r, draw()));
}

static void compare_read(unsigned i, uint64_t sum)
{
	if (one_by_one)
		had[i] = sum;
	if (sum == had[i])
		return;
	if (!strange++)
		fprintf(stderr, "# node %u (%s) reads something else than it shall\n", i,
			opcode_name(node[i].op.code));
}

static void run_alone(unsigned i)
{
	static struct row r;
	struct row_member one = {.op = &node[i].op};
	uint64_t sum;

	if (node[i].kind == GRAPH_EMPTY)
		return;
	sum = has_op(&node[i]) ? hash_of_read(&node[i].op) : hash_of_all();
	compare_read(i, sum);
	if (!has_op(&node[i])) {
		run_opaque(sum);
	} else if (as_row[i]) {
		row_pick_known(&node[i].op, &node[i].launch, &one.pick);
		assert_int_equal(row_build(&r, &one, 1), REASON_NONE);
		run_row(&r);
	} else {
		run_touch(&node[i].op, sum);
	}
}

/* A pattern's group as a row program, without what a kernel by hand does not store. */
static enum reason row_of_pattern(const struct group *g, struct row *r)
{
	struct row_member member[GROUP_MAX_MEMBERS];
	enum reason why;

	for (unsigned i = 0; i < group_size(g); i++) {
		member[i].op = &g->member[i]->op;
		row_pick_known(member[i].op, &g->member[i]->launch, &member[i].pick);
	}
	why = row_build(r, member, group_size(g));
	for (unsigned k = 0; !why && k < r->nstmt; k++)
		for (unsigned i = 0; i < g->nbound; i++)
			if (r->stmt[k].code == ROW_STORE && g->dropped >> i & 1 &&
			    r->operand[r->stmt[k].at].addr == g->bound[i].addr)
				r->stmt[k].flags |= ROW_DEAD;
	if (!why)
		row_canon(r);
	return why;
}

/* What stands in for a group: one row program, or two. */
struct instead {
	bool late;
	struct row first, second;
};

/* NONE, or why nothing can. */
static enum reason instead_make(struct instead *to, const struct group *g)
{
	static struct row r;
	enum reason why = REASON_NONE;

	if (g->row) {
		row_copy(&r, g->row);
		if (g->dropped)
			dead_row(g, &r);
	} else {
		why = row_of_pattern(g, &r);
	}
	if (why)
		return why;
	to->late = row_is_late(&r);
	if (to->late)
		return row_split(&r, &to->first, &to->second);
	row_copy(&to->first, &r);
	return row_check(&r);
}

static void instead_run(const struct instead *s)
{
	run_row(&s->first);
	if (s->late)
		run_row(&s->second);
}

static void fill(void)
{
	uint64_t sum = 99;

	for (unsigned i = 0; i < narea; i++)
		leave(arena + area[i].at, area[i].range.hi - area[i].range.lo, &sum);
}

/* Every byte, and everything that was read on the way. */
static void compare(const char *what)
{
	uint64_t bad = 0;

	for (unsigned i = 0; i < narea; i++) {
		const uint8_t *is = arena + area[i].at, *shall = wanted + area[i].at;
		const size_t n = area[i].range.hi - area[i].range.lo;

		for (size_t k = 0; memcmp(is, shall, n) && k < n; k++)
			bad += is[k] != shall[k];
	}
	if (bad || strange)
		fail_msg("%s: %llu other bytes, %u ops that read something else", what,
			 (unsigned long long)bad, strange);
}

/* For planners: nothing stands against anything. */
static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	return REASON_NONE;
}

static bool enabled(void *arg, const struct pattern *p)
{
	return true;
}

static void run_one_by_one(const unsigned *order)
{
	fill();
	strange = 0;
	one_by_one = true;
	for (unsigned i = 0; i < nnode; i++)
		run_alone(order ? order[i] : i);
	one_by_one = false;
	for (unsigned i = 0; i < narea; i++)
		memcpy(wanted + area[i].at, arena + area[i].at,
		       area[i].range.hi - area[i].range.lo);
}

/* All in their order. What no group ever has is any function of what it reads: that takes less
 * time. */
static void run_members(const unsigned *order)
{
	for (unsigned i = 0; i < nnode; i++)
		as_row[i] &= grouped[i];
	run_one_by_one(order);
}

#endif
