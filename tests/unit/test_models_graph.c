// SPDX-License-Identifier: Apache-2.0
/*
 * The same models in small, on real memory: all launches as they come, against what the planner
 * makes of them, chains as one. Every byte of memory must be the same in the end.
 */
#include "unit.h"

#include "matcher/row_build.h"
#include "matcher/dead.h"
#include "matcher/graph_plan.h"
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

static struct group kept[MOST];
static struct row kept_row[MOST];
static struct member kept_member[MOST][GROUP_MAX_MEMBERS];
static int group_of[MOST];
static unsigned nkept, dropped;

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	return REASON_NONE;
}

static bool enabled(void *arg, const struct pattern *p)
{
	return true;
}

static enum reason verdict(void *arg, struct group *g, const unsigned *node,
			   const struct graph_dead *dead)
{
	struct group *k = &kept[nkept];

	if (!g->row)
		return REASON_NO_KERNEL;
	dead_apply(g, dead->slots);
	*k = *g;
	kept_row[nkept] = *g->row;
	k->row = &kept_row[nkept];
	for (unsigned i = 0; i < group_size(g); i++) {
		kept_member[nkept][i] = *g->member[i];
		k->member[i] = &kept_member[nkept][i];
		group_of[node[i]] = (int)nkept;
	}
	dropped += dead_count(g);
	nkept++;
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, const unsigned *node, enum reason why)
{
}

static void planned(void)
{
	static struct graph_node node[MOST];
	static struct dag_edge edge[MOST];
	static struct kernel k = {.name = (char *)"any"};
	const struct graph_policy policy = {.stores = STORES_PROVEN,
					    .memory = memory,
					    .enabled = enabled,
					    .verdict = verdict,
					    .done = done,
					    .chains = true,
					    .larger = draw() % 2};
	struct dag d;
	const char *why;

	nkept = 0;
	for (unsigned i = 0; i < nop; i++) {
		group_of[i] = -1;
		node[i] = (struct graph_node){
			.kind = GRAPH_KERNEL,
			.op = op[i],
			.launch = {
				.kernel = &k, .grid = {1, 1, 1}, .block = {256, 1, 1}, .index = i}};
		node[i].op.vetted = op[i].code != OP_opaque;
		edge[i] = (struct dag_edge){i, i + 1};
	}
	assert_int_equal(dag_make(&d, nop, edge, nop - 1, &why), 0);
	assert_int_equal(graph_plan(&policy, node, &d), 0);
	dag_free(&d);
	for (unsigned i = 0; i < nop; i++) {
		struct group *g = group_of[i] >= 0 ? &kept[group_of[i]] : NULL;
		if (!g) {
			alone(i);
		} else if (g->member[group_size(g) - 1]->launch.index == i) {
			static struct row lean;
			row_copy(&lean, g->row);
			if (g->dropped)
				dead_row(g, &lean);
			if (row_is_late(g->row)) {
				for (unsigned m = 0; m < group_size(g); m++)
					alone((unsigned)g->member[m]->launch.index);
				continue;
			}
			g->row = &lean;
			together(g);
		}
	}
}

/* Numbers of about 1. */
static void fill(void)
{
	for (unsigned i = 0; i < ARENA; i += 2) {
		const uint16_t v = low == DT_f16 ? 0x3c00 : 0x3f80;

		*(uint16_t *)(arena + i) = (uint16_t)(v ^ (draw() & 0x807f));
	}
}

static void one(const struct model *m)
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

static void test_bytes(void **arg)
{
	static const enum dtype type[] = {DT_bf16, DT_f16, DT_f32};
	static const int shape[][2] = {{32, 1}, {2, 3}, {1, 1}, {4, 1}, {8, 1}, {16, 1}};

	for (unsigned i = 0; i < sizeof(model) / sizeof(model[0]); i++)
		for (unsigned t = 0; t < 3; t++)
			for (unsigned s = 0; s < sizeof(shape) / sizeof(shape[0]); s++) {
				low = type[t];
				batch = shape[s][0];
				length = shape[s][1];
				one(&model[i]);
			}
	fprintf(stderr,
		"# %u chains, %u of them with late stores; operands: %u of some rows, %u with "
		"holes\n",
		fused, late, some, holes);
	fprintf(stderr, "# %u stores dropped\n", dropped);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes)};

UNIT_MAIN(tests)
