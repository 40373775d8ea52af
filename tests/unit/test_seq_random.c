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

enum { WORDS = 64, STEPS = 40, CASES = 20000, NPATTERN = 6 };

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

static uint32_t silu(uint32_t x)
{
	return (x ^ x >> 13) * 2246822519u + 7;
}

static uint32_t mul(uint32_t a, uint32_t b) /* either way round */
{
	return (a ^ 0x9e3779b9u) * (b ^ 0x9e3779b9u) + 3;
}

static uint32_t norm(uint32_t x, uint32_t row, uint32_t w)
{
	return (x ^ (row * 2246822519u)) + w * 3266489917u;
}

/* Element i of an operand of an elementwise op, which may have gaps between rows. */
static uint32_t *nth(struct memory *m, const struct operand *o, int64_t i)
{
	return o->ndim == 2 ? at(m, o, i / o->size[1], i % o->size[1]) : at(m, o, 0, i);
}

static uint32_t element(struct memory *m, const struct op *op, int64_t i)
{
	const struct operand *y = op_operand(op, ROLE_in1);
	uint32_t a = *nth(m, op_operand(op, ROLE_in0), i);

	if (op->code == OP_silu)
		return silu(a);
	return op->code == OP_add ? add(a, *nth(m, y, i)) : mul(a, *nth(m, y, i));
}

/* The program's kernels: all reads, then all writes. */
static void run_op(struct memory *m, const struct op *op, uint64_t index)
{
	const struct operand *out = op_operand(op, ROLE_out), *x = op_operand(op, ROLE_in0),
			     *w = op_operand(op, ROLE_weight), *copy = op_operand(op, ROLE_copy);
	struct memory before = *m;

	if (op->code == OP_opaque) {
		for (unsigned i = 0; i < 6; i++) {
			uint32_t h = (uint32_t)(index * 40503u + i * 2654435761u);

			m->word[h % WORDS] =
				before.word[(h >> 8) % WORDS] * 31 + before.word[(h >> 16) % WORDS];
		}
		return;
	}
	for (int64_t i = 0; op->code != OP_rmsnorm && i < op->cols; i++)
		*nth(m, out, i) = element(&before, op, i);
	for (int64_t r = 0; op->code == OP_rmsnorm && r < op->rows; r++) {
		uint32_t row = 0;

		for (int64_t c = 0; c < op->cols; c++)
			row = row * 31 + *at(&before, x, r, c);
		for (int64_t c = 0; c < op->cols; c++)
			*at(m, out, r, c) = norm(*at(&before, x, r, c), row, *at(&before, w, 0, c));
		for (int64_t c = 0; copy && c < op->cols; c++)
			*at(m, copy, r, c) = *at(&before, x, r, c);
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

/* Likewise: elements in any order, each read from both factors before it is stored. */
static void run_silu_mul(struct memory *m, const struct group *g)
{
	uint32_t gate[16], up[16], phase[16] = {0}, n = (uint32_t)(g->rows * g->cols), left = 2 * n;

	assert_true(n <= 16);
	while (left) {
		uint32_t i = rnd(n);
		int64_t r = i / g->cols, c = i % g->cols;

		if (phase[i] == 2)
			continue;
		left--;
		if (!phase[i]++) {
			gate[i] = *slot(m, g, SILU_MUL_GATE, r, c);
			up[i] = *slot(m, g, SILU_MUL_UP, r, c);
			continue;
		}
		if (g->bound[SILU_MUL_SILU].use & BOUND_WRITE)
			*slot(m, g, SILU_MUL_SILU, r, c) = silu(gate[i]);
		*slot(m, g, SILU_MUL_OUT, r, c) = mul(silu(gate[i]), up[i]);
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
				      bind_any,
				      OP_opaque,
				      false,
				      0};
static const struct pattern by_weight = {
	"by_weight", 2,     1, {OP_add, OP_rmsnorm}, {{0, ROLE_out, 1, ROLE_weight}}, bind_any,
	OP_opaque,   false, 0};
static const struct pattern apart = {
	"apart", 2, 0, {OP_rmsnorm, OP_rmsnorm}, {{0, 0, 0, 0}}, bind_any, OP_opaque, false, 0};
static const struct pattern chain4 = {
	"chain4",
	4,
	3,
	{OP_add, OP_rmsnorm, OP_add, OP_rmsnorm},
	{{0, ROLE_out, 1, ROLE_in0}, {1, ROLE_out, 2, ROLE_in0}, {2, ROLE_out, 3, ROLE_in0}},
	bind_any,
	OP_opaque,
	false,
	0};
static const struct pattern *const all_patterns[NPATTERN] = {
	&pattern_add_rmsnorm, &pattern_silu_mul, &chain3, &by_weight, &apart, &chain4};

/* Of the fused, `crossed` have launches of others between their members. */
static uint64_t fused[NPATTERN], crossed[NPATTERN], dead, pitched, copies, rejected[REASON_COUNT];

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
	for (unsigned i = 0; i < NPATTERN && !why; i++) {
		unsigned last = g->pattern->nnode - 1u;

		if (g->pattern != all_patterns[i])
			continue;
		fused[i]++;
		crossed[i] += g->member[last]->launch.index - g->member[0]->launch.index > last;
	}
	copies += !why && g->pattern == &pattern_add_rmsnorm &&
		  op_operand(&g->member[1]->op, ROLE_copy);
	if (!why && g->pattern == &pattern_silu_mul) {
		dead += g->bound[SILU_MUL_SILU].use == BOUND_DEAD;
		pitched += g->cols > 1;
	}
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
	const bool known = g->pattern == &pattern_add_rmsnorm || g->pattern == &pattern_silu_mul;
	unsigned n = g->pattern->nnode;

	r->held -= n - 1;
	if (!known || !rnd(10)) { /* or the fused launch failed */
		for (unsigned i = 0; i < n; i++)
			run_planned(r, &g->member[i]->launch, &g->member[i]->op);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(r->ran[g->member[i]->launch.index]++, 0);
	if (g->pattern == &pattern_silu_mul)
		run_silu_mul(&r->planned, g);
	else
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

/* Gives an elementwise op's operand the same gaps that `like` has, or others, or none. */
static void make_gaps(struct op *op, int64_t rows, const struct operand *like)
{
	for (unsigned i = 0; i < op->noperand; i++) {
		struct operand *o = &op->operand[i];
		int64_t pitch = 4 * (op->cols / rows) + 4 * rnd(3);

		if (op->cols % rows)
			continue;
		if (like && like->ndim == 2 && like->addr == o->addr)
			pitch = like->stride[0];
		else if (rnd(2))
			continue;
		operand_dense(o, (enum role)o->role, (enum access)o->access, DT_f32, o->addr, rows,
			      op->cols / rows);
		o->stride[0] = pitch;
	}
}

/* A silu, or the product of what the last one left with something, mostly. */
static struct op random_gate(const struct op *last_silu, int64_t rows, int64_t cols)
{
	uint64_t gate = address(), up = address();
	const struct operand *left = &last_silu->operand[0];
	struct op op;

	if (!last_silu->noperand || !rnd(2)) {
		op = ops_silu(DT_f32, rnd(3) ? address() : gate, gate, rows * cols);
		if (!rnd(4))
			make_gaps(&op, rows, NULL);
		return op;
	}
	gate = left->addr;
	if (!rnd(6))
		up = last_silu->operand[1].addr;
	op = ops_mul(DT_f32,
		     rnd(3)   ? address()
		     : rnd(2) ? gate
			      : up,
		     rnd(2) ? gate : up, rnd(8) ? up : gate, last_silu->cols);
	if (op.operand[1].addr == up)
		op.operand[2].addr = gate;
	if (left->ndim == 2)
		make_gaps(&op, left->size[0], left);
	return op;
}

static struct op random_op(const struct op *last_add, const struct op *last_silu,
			   const struct op *last)
{
	int64_t rows = 1 + rnd(3), cols = 1 + rnd(5);
	uint64_t in;
	struct op op;

	if (!rnd(12))
		return ops_opaque();
	if (!rnd(3)) {
		op = random_gate(last_silu, rows, cols);
	} else if (rnd(2)) {
		in = last->noperand && !rnd(3) ? last->operand[0].addr : address();
		op = ops_add(DT_f32, rnd(3) ? address() : in, rnd(4) ? in : address(),
			     rnd(4) ? address() : in, rows * cols);
	} else if (last_add->noperand && rnd(3)) { /* the norm of what was added */
		int64_t n = last_add->cols;

		rows = n % rows ? 1 : rows;
		op = ops_norm(DT_f32, rnd(4) ? address() : last_add->operand[rnd(3)].addr,
			      last_add->operand[0].addr,
			      rnd(6) ? address() : last_add->operand[0].addr, rows, n / rows);
		if (!rnd(4)) { /* in place, with what it read beside it; or any copy */
			if (rnd(3))
				op.operand[0].addr = op.operand[1].addr;
			operand_dense(&op.operand[op.noperand++], ROLE_copy, ACCESS_WRITE, DT_f32,
				      rnd(3) ? last_add->operand[rnd(3)].addr : address(), rows,
				      n / rows);
		}
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
	struct op last_add = {0}, last_silu = {0}, last = {0};
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
		struct op op = random_op(&last_add, &last_silu, &last);
		struct launch l = ops_launch(op.code, i);

		l.attrs = rnd(25) ? 0 : 1u << rnd(5);
		if (op.code != OP_opaque)
			last = op;
		if (op.code == OP_add)
			last_add = op;
		if (op.code == OP_silu)
			last_silu = op;
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
					      REASON_DISABLED,       REASON_UNPREDICTED,
					      REASON_UNPROVEN_KERNEL};
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
	for (unsigned i = 0; i < 2; i++)
		if (crossed[i] < CASES / 100)
			fail_msg("%s: only %llu groups with launches between",
				 all_patterns[i]->name, (unsigned long long)crossed[i]);
	if (copies < CASES / 1000)
		fail_msg("norms with a copy: only %llu", (unsigned long long)copies);
	if (dead < CASES / 100 || pitched < CASES / 1000)
		fail_msg("silu_mul: only %llu in place, %llu with gaps", (unsigned long long)dead,
			 (unsigned long long)pitched);
	for (unsigned i = 0; i < sizeof(reached) / sizeof(reached[0]); i++)
		if (rejected[reached[i]] < CASES / 1000)
			fail_msg("%s: only %llu groups", reason_word(reached[i]),
				 (unsigned long long)rejected[reached[i]]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_random),
};
UNIT_MAIN(tests)
