// SPDX-License-Identifier: Apache-2.0
/*
 * Differential test of the planner: random sequences of launches on a small memory, with much
 * aliasing, are executed in program order and as planned. At every barrier and at the end the
 * memories must be equal, and every launch must have run exactly once.
 */
#include "unit.h"

#include <stdbool.h>

#include "matcher/seq.h"
#include "ops.h"

enum { WORDS = 64, STEPS = 40, CASES = 20000, NPATTERN = 5 };

/* Memory, in elements of 4 bytes; address 0x1000 + 4 * index. */
struct memory {
	uint32_t word[WORDS];
};
#define BASE 0x1000u

static uint64_t state;

static uint32_t rnd(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 20) % n);
}

static uint32_t *at(struct memory *m, const struct operand *o, int64_t r, int64_t c)
{
	uint64_t addr = o->addr + (uint64_t)c * 4;

	if (o->ndim == 2)
		addr += (uint64_t)(r * o->stride[0]);
	else if (r)
		addr += (uint64_t)(r * o->size[0] * 4);
	assert_true(addr >= BASE && addr < BASE + 4 * WORDS);
	return &m->word[(addr - BASE) / 4];
}

static uint32_t add(uint32_t a, uint32_t b)
{
	return (a + b) * 2654435761u + 1;
}

static uint32_t norm(uint32_t x, uint32_t row, uint32_t w)
{
	return (x ^ (row * 2246822519u)) + w * 3266489917u;
}

/* The program's kernels: all reads, then all writes. */
static void run_op(struct memory *m, const struct op *op, uint64_t index)
{
	const struct operand *out = op_operand(op, ROLE_out), *x = op_operand(op, ROLE_in0),
			     *y = op_operand(op, ROLE_in1), *w = op_operand(op, ROLE_weight);
	struct memory before = *m;

	if (op->code == OP_opaque) {
		for (unsigned i = 0; i < 6; i++) {
			uint32_t h = (uint32_t)(index * 40503u + i * 2654435761u);

			m->word[h % WORDS] =
				before.word[(h >> 8) % WORDS] * 31 + before.word[(h >> 16) % WORDS];
		}
		return;
	}
	for (int64_t r = 0; r < op->rows; r++) {
		uint32_t row = 0;

		for (int64_t c = 0; c < op->cols; c++)
			row = row * 31 + *at(&before, x, r, c);
		for (int64_t c = 0; c < op->cols; c++)
			*at(m, out, r, c) =
				op->code == OP_add
					? add(*at(&before, x, r, c), *at(&before, y, r, c))
					: norm(*at(&before, x, r, c), row, *at(&before, w, 0, c));
	}
}

static uint32_t *slot(struct memory *m, const struct group *g, unsigned id, int64_t r, int64_t c)
{
	const struct bound *b = &g->bound[id];
	uint64_t addr = b->addr + (uint64_t)(r * b->pitch + c * 4);

	assert_true(addr >= BASE && addr < BASE + 4 * WORDS);
	return &m->word[(addr - BASE) / 4];
}

/* What the fused kernel may do at worst: rows in any order, their two phases interleaved. */
static void run_add_rmsnorm(struct memory *m, const struct group *g)
{
	uint32_t sum[4][16], phase[4] = {0}, left = 2 * (uint32_t)g->rows;

	assert_true(g->rows <= 4 && g->cols <= 16);
	while (left) {
		int64_t r = rnd((uint32_t)g->rows);
		uint32_t row = 0;

		if (phase[r] == 2)
			continue;
		left--;
		if (!phase[r]++) {
			for (int64_t k = 0; k < g->cols; k++) {
				int64_t c = r & 1 ? g->cols - 1 - k : k;

				sum[r][c] = add(*slot(m, g, ADD_RMSNORM_A, r, c),
						*slot(m, g, ADD_RMSNORM_B, r, c));
				if (g->bound[ADD_RMSNORM_SUM].use & BOUND_WRITE)
					*slot(m, g, ADD_RMSNORM_SUM, r, c) = sum[r][c];
			}
			continue;
		}
		for (int64_t c = 0; c < g->cols; c++)
			row = row * 31 + sum[r][c];
		for (int64_t c = 0; c < g->cols; c++)
			*slot(m, g, ADD_RMSNORM_OUT, r, c) =
				norm(sum[r][c], row, *slot(m, g, ADD_RMSNORM_W, 0, c));
	}
}

/* Patterns that only the order of launches matters to: their members run one after the other. */
static enum reason bind_any(struct group *g)
{
	return REASON_NONE;
}

static const struct pattern chain3 = {"chain3",
				      3,
				      2,
				      {OP_add, OP_add, OP_rmsnorm},
				      {{0, ROLE_out, 1, ROLE_in0}, {1, ROLE_out, 2, ROLE_in0}},
				      bind_any};
static const struct pattern by_weight = {
	"by_weight", 2, 1, {OP_add, OP_rmsnorm}, {{0, ROLE_out, 1, ROLE_weight}}, bind_any};
static const struct pattern apart = {"apart",        2,       0, {OP_rmsnorm, OP_rmsnorm},
				     {{0, 0, 0, 0}}, bind_any};
static const struct pattern chain4 = {
	"chain4",
	4,
	3,
	{OP_add, OP_rmsnorm, OP_add, OP_rmsnorm},
	{{0, ROLE_out, 1, ROLE_in0}, {1, ROLE_out, 2, ROLE_in0}, {2, ROLE_out, 3, ROLE_in0}},
	bind_any};
static const struct pattern *const all_patterns[NPATTERN] = {&pattern_add_rmsnorm, &chain3,
							     &by_weight, &apart, &chain4};

static uint64_t fused[NPATTERN], rejected[REASON_COUNT];

struct run {
	struct memory program, planned;
	uint8_t ran[STEPS];
	unsigned held;
};

static bool may_hold(void *arg, const struct member *m, const struct pattern *p, uint8_t node)
{
	return rnd(10) > 0;
}

static enum reason memory_kind(void *arg, struct range r, const struct launch *l, int surviving)
{
	return rnd(50) ? REASON_NONE : REASON_NOT_DEVICE_MEMORY;
}

static bool enabled(void *arg, const struct pattern *p)
{
	return rnd(40) > 0;
}

static enum reason verdict(void *arg, struct group *g, bool all_held)
{
	return rnd(6) ? REASON_NONE : REASON_NO_VERDICT;
}

static void done(void *arg, const struct group *g, enum reason why)
{
	rejected[why]++;
	for (unsigned i = 0; i < NPATTERN; i++)
		fused[i] += !why && g->pattern == all_patterns[i];
}

static void run_planned(struct run *r, const struct launch *l, const struct op *op)
{
	assert_int_equal(r->ran[l->index]++, 0);
	run_op(&r->planned, op, l->index);
}

static void run_flush(struct run *r, const struct seq_out *out)
{
	for (unsigned i = 0; i < out->nflush; i++) {
		if (i)
			assert_true(out->flush[i - 1]->launch.index < out->flush[i]->launch.index);
		run_planned(r, &out->flush[i]->launch, &out->flush[i]->op);
		r->held--;
	}
}

static void run_fused(struct run *r, const struct group *g)
{
	unsigned n = g->pattern->nnode;

	r->held -= n - 1;
	if (g->pattern != &pattern_add_rmsnorm || !rnd(10)) { /* or the fused launch failed */
		for (unsigned i = 0; i < n; i++)
			run_planned(r, &g->member[i]->launch, &g->member[i]->op);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(r->ran[g->member[i]->launch.index]++, 0);
	run_add_rmsnorm(&r->planned, g);
}

/* An address on a grid of 4 elements, now and then off it. */
static uint64_t address(void)
{
	return BASE + 4 * (4 * rnd(8) + (rnd(6) ? 0 : rnd(4)));
}

static void make_pitched(struct op *op)
{
	for (unsigned i = 0; i < op->noperand; i++)
		if (op->operand[i].ndim == 2 && !rnd(3))
			op->operand[i].stride[0] = op->cols * 4 + 4 * rnd(3);
}

static struct op random_op(const struct op *last_add, const struct op *last)
{
	int64_t rows = 1 + rnd(3), cols = 1 + rnd(5);
	uint64_t in;
	struct op op;

	if (!rnd(12))
		return ops_opaque();
	if (rnd(2)) {
		in = last->noperand && !rnd(3) ? last->operand[0].addr : address();
		op = ops_add(DT_f32, rnd(3) ? address() : in, rnd(4) ? in : address(),
			     rnd(4) ? address() : in, rows * cols);
	} else if (last_add->noperand && rnd(3)) { /* the norm of what was added */
		int64_t n = last_add->cols;

		rows = n % rows ? 1 : rows;
		op = ops_norm(DT_f32, rnd(4) ? address() : last_add->operand[rnd(3)].addr,
			      last_add->operand[0].addr,
			      rnd(6) ? address() : last_add->operand[0].addr, rows, n / rows);
	} else {
		op = ops_norm(DT_f32, address(), address(), address(), rows, cols);
		make_pitched(&op);
	}
	op.vetted = rnd(8) > 0;
	return op;
}

static void one_case(uint64_t seed)
{
	struct seq_policy policy = {.may_hold = may_hold,
				    .memory = memory_kind,
				    .enabled = enabled,
				    .verdict = verdict,
				    .done = done};
	const struct pattern *pattern[NPATTERN];
	struct op last_add = {0}, last = {0};
	struct run r = {.held = 0};
	struct seq_out out;
	struct seq *s;

	state = seed * 0x9e3779b97f4a7c15u + 1;
	pattern[policy.npattern++] = all_patterns[0];
	for (unsigned i = 1; i < NPATTERN; i++)
		if (rnd(2))
			pattern[policy.npattern++] = all_patterns[i];
	policy.pattern = pattern;
	s = seq_new(&policy);
	assert_non_null(s);
	for (unsigned i = 0; i < WORDS; i++)
		r.program.word[i] = r.planned.word[i] = rnd(UINT32_MAX);
	for (uint64_t i = 0; i < STEPS; i++) {
		struct op op = random_op(&last_add, &last);
		struct launch l = ops_launch(op.code, i);

		l.attrs = rnd(25) ? 0 : 1u << rnd(5);
		if (op.code != OP_opaque)
			last = op;
		if (op.code == OP_add)
			last_add = op;
		run_op(&r.program, &op, i);
		seq_launch(s, &l, &op, &out);
		run_flush(&r, &out);
		if (out.act == SEQ_HOLD)
			r.held++;
		else if (out.act == SEQ_PASS)
			run_planned(&r, &l, &op);
		else
			run_fused(&r, out.group);
		assert_int_equal(r.held, seq_held(s));
		if (!rnd(10))
			seq_forget(s, (struct range){BASE, BASE + 4 * rnd(WORDS)});
		if (rnd(20) && i + 1 < STEPS)
			continue;
		seq_barrier(s, REASON_BARRIER, &out);
		run_flush(&r, &out);
		assert_int_equal(seq_held(s), 0);
		assert_int_equal(seq_open(s), 0);
		if (memcmp(&r.program, &r.planned, sizeof(r.program)))
			fail_msg("seed %llu: memory differs after launch %llu",
				 (unsigned long long)seed, (unsigned long long)i);
	}
	for (unsigned i = 0; i < STEPS; i++)
		assert_int_equal(r.ran[i], 1);
	seq_free(s);
}

static void test_random(void **arg)
{
	static const enum reason reached[] = {REASON_UNKNOWN_KERNEL, REASON_INPUT_OVERWRITTEN,
					      REASON_OUTPUT_READ,    REASON_OUTPUT_OVERWRITTEN,
					      REASON_OVERLAP,        REASON_NOT_DEVICE_MEMORY,
					      REASON_BARRIER,        REASON_NO_VERDICT,
					      REASON_ATTRIBUTES,     REASON_SHAPE,
					      REASON_DISABLED,       REASON_UNPREDICTED};
	const char *only = getenv("AF_SEED");

	if (only) {
		one_case(strtoull(only, NULL, 0));
		return;
	}
	for (uint64_t seed = 1; seed <= CASES; seed++)
		one_case(seed);
	/* The cases must reach what they are there for. */
	for (unsigned i = 0; i < NPATTERN; i++)
		if (fused[i] < CASES / 100)
			fail_msg("%s: only %llu groups fused", all_patterns[i]->name,
				 (unsigned long long)fused[i]);
	for (unsigned i = 0; i < sizeof(reached) / sizeof(reached[0]); i++)
		if (rejected[reached[i]] < CASES / 1000)
			fail_msg("%s: only %llu groups", reason_word(reached[i]),
				 (unsigned long long)rejected[reached[i]]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_random),
};
UNIT_MAIN(tests)
