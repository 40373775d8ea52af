/* SPDX-License-Identifier: Apache-2.0 */
/* Models (models.h) in small, on real memory: their launches one by one, or in groups as one. */
#ifndef AF_TESTS_UNIT_MODELS_MEMORY_H
#define AF_TESTS_UNIT_MODELS_MEMORY_H

#include "unit.h"

#include "matcher/group.h"
#include "matcher/row_build.h"
#include "tests/unit/models.h"
#include "tests/unit/row_interp.h"

enum { ARENA = 8 << 20, MOST = 1024 };

static _Alignas(512) uint8_t arena[ARENA], wanted[ARENA];
static struct op op[MOST];
static bool ran[MOST];
static unsigned nop, fused, late, some, holes;

static void note(const struct op *o)
{
	assert_true(nop < MOST);
	op[nop++] = *o;
}

static uint64_t seed;

static uint64_t draw(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return seed >> 20;
}

/* A kernel of which is known what it touches: what it writes depends on all that it reads. */
static void touch(const struct op *o)
{
	uint64_t sum = 17;

	for (unsigned i = 1; i < o->noperand; i++) {
		const struct range r = operand_range(&o->operand[i]);

		for (uint64_t a = r.lo; a < r.hi; a++)
			sum = sum * 31 + *(uint8_t *)(uintptr_t)a;
	}
	for (struct range r = operand_range(&o->operand[0]); r.lo < r.hi; r.lo += 2) {
		/* About 1, of either 16-bit type; of two, about 1 in f32. */
		const uint16_t v = o->operand[0].dtype == DT_f16 ? 0x3c00 : 0x3f80;

		sum = sum * 6364136223846793005u + 1;
		*(uint16_t *)(uintptr_t)r.lo = (uint16_t)(v ^ (sum >> 40 & 0x807f));
	}
}

/* As the planner takes it: the usual spelling, 256 threads. */
static void alone(unsigned i)
{
	static struct row r;
	struct row_member one = {.op = &op[i]};

	assert_false(ran[i]);
	ran[i] = true;
	if (op[i].code == OP_opaque) {
		for (unsigned k = i; k < ARENA; k += 9973)
			arena[k] = (uint8_t)(arena[k] & 0x7f) ^ 1;
		return;
	}
	if (op[i].code == OP_touch) {
		touch(&op[i]);
		return;
	}
	row_pick_spelling(&op[i], 0, &one.pick.spelling);
	one.pick.order = row_order_usual(256);
	assert_int_equal(row_build(&r, &one, 1), REASON_NONE);
	assert_true(row_interp(&r, draw()));
}

/* One kernel, or two where stores have to wait. */
static void together(const struct group *g)
{
	static struct row first, second;

	for (unsigned k = 0; k < group_size(g); k++) {
		const uint64_t i = g->member[k]->launch.index;

		assert_false(ran[i]);
		ran[i] = true;
	}
	fused++;
	for (unsigned k = 0; k < g->row->noperand; k++) {
		const struct row_operand *o = &g->row->operand[k];

		holes += o->nhole > 0;
		for (unsigned d = 0; d < g->row->ndim; d++)
			some += o->most[d] > 0;
	}
	if (!row_is_late(g->row)) {
		assert_true(row_interp(g->row, draw()));
		return;
	}
	late++;
	assert_int_equal(row_split(g->row, &first, &second), REASON_NONE);
	assert_true(row_interp(&first, draw()));
	assert_true(row_interp(&second, draw()));
}

/* Numbers of about 1. */
static void fill(void)
{
	for (unsigned i = 0; i < ARENA; i += 2) {
		const uint16_t v = low == DT_f16 ? 0x3c00 : 0x3f80;

		*(uint16_t *)(arena + i) = (uint16_t)(v ^ (draw() & 0x807f));
	}
}

static void one(const struct model *m, void (*planned)(void))
{
	const uint64_t begin = seed;

	nop = 0;
	model_run(m, 16, (uint64_t)(uintptr_t)arena, ARENA, note);
	memset(ran, 0, sizeof(ran));
	fill();
	for (unsigned i = 0; i < nop; i++)
		alone(i);
	memcpy(wanted, arena, ARENA);
	memset(ran, 0, sizeof(ran));
	seed = begin;
	fill();
	planned();
	for (unsigned i = 0; i < nop; i++)
		assert_true(ran[i]);
	for (unsigned i = 0; i < ARENA; i++)
		if (arena[i] != wanted[i])
			fail_msg("%s, %s, %d x %d: another byte at %u", m->name, dtype_name(low),
				 batch, length, i);
}

#endif
