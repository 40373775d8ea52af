/* SPDX-License-Identifier: Apache-2.0 */
/* What a member's op can be: spellings and orders, each kind of arithmetic once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shim/probe_child_chain.h"

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/*
 * Welford's states, as a hash: joining b onto a is not joining a onto b, and an element that comes
 * to a state is not a state of one element that is joined.
 */
static uint64_t join(uint64_t a, uint64_t b)
{
	return a && b ? mix(mix(a) * 3 + mix(b)) | 1 : a | b;
}

static uint64_t come(uint64_t a, int64_t i)
{
	return mix(mix(a) * 5 + (uint64_t)i + 1) | 1;
}

#define NODE uint64_t
#define NODE_ZERO 0
#define ADD(a, b) join(a, b)
#define SQUARE(i) come(0, i)
#define FUSE(a, i) come(a, i)
#define ORDER_CTX const void *
#define ORDER_QUALIFIER
#define ORDER_FN welford
#include "fused/order.inc"

static uint64_t welford_tree(struct fields f, int64_t cols)
{
	uint64_t sum[2048];

	f.fma = FIELD_fma_YES;
	return welford(&f, cols, NULL, sum);
}

static bool only_type(const struct op *op, enum dtype t)
{
	for (unsigned i = 0; i < op->noperand; i++)
		if (op->operand[i].dtype != t)
			return false;
	return true;
}

/* Where does the fused multiply-add of a sum make no difference? There are no products, or exact
 * ones. */
static bool exact_products(const struct op *op)
{
	const struct operand *in = op_operand(op, ROLE_in0);

	if (op->code != OP_rmsnorm)
		return op->code != OP_layernorm;
	return in->dtype == DT_f16 || (in->dtype == DT_bf16 && op->eps > 1e-18);
}

/* The orders that fused/candidate.h knows, for this op's rows and the member's block. */
static unsigned orders(const struct probe *p, const struct op *op, struct candidate *list)
{
	struct group g = {.pattern = &pattern_add_rmsnorm, .cols = op->cols, .rows = op->rows};

	/* The norm is the second; products of halves are exact. */
	g.member[0] = g.member[1] = p->asked.member[0];
	g.bound[ADD_RMSNORM_A].dtype = exact_products(op) ? DT_f16 : DT_f32;
	return candidate_orders(&g, list, CANDIDATE_MAX_ORDERS);
}

static void put_order(struct pick_space *s, const struct fields *f, uint16_t fast)
{
	s->order[s->norder++] = (struct eval_order){*f, fast};
}

/* Welford's updates have no parts and one state a thread. */
static void put_welford(struct pick_space *s, const struct candidate *list, unsigned n)
{
	uint64_t *tree = calloc(n, sizeof(*tree));
	unsigned ntree = 0;

	for (unsigned i = 0; tree && i < n; i++) {
		struct fields f;
		bool seen = false;

		if (candidate_unpack(list[i].code, &f) || f.acc || f.part || f.fma)
			continue;
		tree[ntree] = welford_tree(f, s->op->cols);
		for (unsigned k = 0; k < ntree; k++)
			seen |= tree[k] == tree[ntree];
		if (seen)
			continue;
		ntree++;
		for (uint16_t half = 0; half < 4; half++) {
			f.fma = half & 1 ? FIELD_fma_NO : FIELD_fma_YES;
			put_order(s, &f, half >> 1);
		}
	}
	free(tree);
}

static bool put_orders(struct probe *p, struct pick_space *s)
{
	const bool layernorm = s->op->code == OP_layernorm;
	struct candidate *list = malloc(CANDIDATE_MAX_ORDERS * sizeof(*list));
	unsigned n = list ? orders(p, s->op, list) : 0;

	s->order = calloc(5 * (n + 1), sizeof(*s->order));
	for (unsigned i = 0; s->order && i < n; i++) {
		struct fields f;

		if (!candidate_unpack(list[i].code, &f))
			put_order(s, &f, 0);
	}
	s->nwelford = s->norder;
	if (s->order && layernorm)
		put_welford(s, list, n);
	free(list);
	return n && s->order;
}

static bool put_spelling(struct pick_space *s, const struct row_spelling *how, uint64_t *seen)
{
	struct row_member m = {.op = s->op, .pick.spelling = *how};
	struct eval_program *to = &s->program[s->nspelling];
	struct row r;
	uint64_t h;

	m.pick.order = row_order_usual(32);
	if (row_build(&r, &m, 1))
		return false;
	if (eval_pack(&r, to))
		s->data = false;
	h = row_hash(&r);
	for (unsigned i = 0; i < r.nimm; i++)
		h = mix(h + r.imm[i]);
	for (unsigned i = 0; i < s->nspelling; i++)
		if (seen[i] == h && !memcmp(to, &s->program[i], sizeof(*to)))
			return true;
	seen[s->nspelling] = h;
	s->spelling[s->nspelling++] = *how;
	return true;
}

bool pick_space_open(struct probe *p, struct pick_space *s)
{
	const struct op *op = &p->member[0].run.op;
	unsigned n = row_pick_count(op);
	uint64_t *seen = calloc(n, sizeof(*seen));
	bool ok = seen != NULL;

	*s = (struct pick_space){.op = op, .data = true};
	s->spelling = calloc(n, sizeof(*s->spelling));
	s->program = calloc(n, sizeof(*s->program));
	ok = ok && s->spelling && s->program;
	for (unsigned i = 0; ok && i < n; i++) {
		struct row_spelling how;

		row_pick_spelling(op, i, &how);
		put_spelling(s, &how, seen);
	}
	free(seen);
	if (ok && !row_pick_reduces(op)) {
		s->order = calloc(1, sizeof(*s->order));
		s->norder = s->nwelford = 1;
		ok = s->order != NULL;
	} else if (ok) {
		ok = put_orders(p, s);
	}
	if (!ok)
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	return s->nspelling || probe_fail(p, REASON_SHAPE, "%s cannot be said as a row program",
					  opcode_name(op->code));
}

void pick_space_close(struct pick_space *s)
{
	free(s->spelling);
	free(s->program);
	free(s->order);
	memset(s, 0, sizeof(*s));
}

struct row_pick pick_of(const struct pick_space *s, uint32_t pair)
{
	struct row_pick pick = {.order = eval_row_order(&s->order[pair >> 16]),
				.spelling = s->spelling[pair & 0xffff]};

	if (!row_pick_reduces(s->op))
		pick.order = (struct row_order){0};
	return pick;
}

/* Is x * v + w the same with one rounding and with two? The product is exact, or too large next to
 * w; or nothing is added. */
static bool exact_scale(double v, double w)
{
	int e;

	return w == 0 || (fabs(frexp(v, &e)) == 0.5 && fabs(w) > 0x1p-100 && fabs(w) < 0x1p100);
}

/* Brings fields that cannot matter to their first value; see space.c for those of norms. */
static void canonical(const struct op *op, struct row_spelling *f)
{
	const bool halves = only_type(op, DT_f16);

	/* No number of halves, nor what small floats lead to, is subnormal and seen in a half. */
	if (halves)
		f->ftz = PICK_ftz_NO;
	if (f->mean == PICK_mean_DIVFAST)
		f->mean = PICK_mean_MUL;
	if (f->mean == PICK_mean_FMAFAST)
		f->mean = PICK_mean_FMA;
	if (op->has_eps && op->eps == 0 && f->mean == PICK_mean_AFTER)
		f->mean = PICK_mean_DIV;
	if ((!op->has_eps || op->eps == 0) && f->mean == PICK_mean_FMA)
		f->mean = PICK_mean_MUL;
	if (!(op->cols & (op->cols - 1)) && f->mean < PICK_mean_AFTER)
		f->mean = PICK_mean_DIV;
	if (op->code == OP_rmsnorm && halves && f->round == PICK_round_SCALE && !op->plus_one)
		f->product = PICK_product_XS_W;
	/* A divisor between 1 and the number of columns. */
	if (op->code == OP_softmax && (f->div == PICK_div_FULL || f->div == PICK_div_RCPFAST))
		f->div = PICK_div_FAST;
	if (f->ftz && f->div == PICK_div_RCPFAST)
		f->div = PICK_div_FAST;
	/* x/2 * (1 + t): halving either is exact where 1 + t is not 1, and rounds once where it is.
	 */
	if (f->half == PICK_half_CDF)
		f->half = PICK_half_FIRST;
	/* A NaN makes all of the row NaN by the sum. */
	if (op->code == OP_softmax)
		f->extreme = PICK_extreme_FMAX;
	/* What is flushed is nothing next to the number that is added. */
	if (op->code == OP_scale && op->nscalar > 1 && fabs(op->scalar[1]) > 0x1p-90 &&
	    fabs(op->scalar[0]) < 0x1p10)
		f->ftz = PICK_ftz_NO;
	if ((op->code == OP_scale && op->nscalar > 1 &&
	     exact_scale(op->scalar[0], op->scalar[1])) ||
	    (op->code == OP_add && op->nscalar == 1 && fabs(op->scalar[0]) == 1))
		f->contract = PICK_contract_YES;
}

bool pick_same_counts(const struct pick_space *s, uint32_t a, uint32_t b)
{
	struct eval_order o = s->order[a >> 16];

	o.fast = s->order[b >> 16].fast;
	return (a & 0xffff) == (b & 0xffff) && pick_welford(s, a & 0xffff) &&
	       !memcmp(&o, &s->order[b >> 16], sizeof(o));
}

bool pick_same(const struct pick_space *s, uint32_t a, uint32_t b)
{
	struct row_spelling x = s->spelling[a & 0xffff], y = s->spelling[b & 0xffff];
	const struct eval_order *o = &s->order[a >> 16], *q = &s->order[b >> 16];
	const int64_t cols = s->op->cols;

	canonical(s->op, &x);
	canonical(s->op, &y);
	if (memcmp(&x, &y, sizeof(x)))
		return false;
	if (a >> 16 == b >> 16)
		return true;
	if (pick_welford(s, a & 0xffff))
		return o->fast == q->fast && o->f.fma == q->f.fma &&
		       welford_tree(o->f, cols) == welford_tree(q->f, cols);
	return candidate_tree(&o->f, cols, exact_products(s->op)) ==
	       candidate_tree(&q->f, cols, exact_products(s->op));
}
