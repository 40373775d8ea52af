/* SPDX-License-Identifier: Apache-2.0 */
/* The space of candidates of a group, and which of them are the same arithmetic. */
#include "fused/candidate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEDUP_COLS = 4096 }; /* rows up to this long: trees are compared while listing */

/* What sources say where the signature does not know. */
static const double usual_eps[] = {1e-5, 1e-6, 1e-8, 1e-12};
enum { NUSUAL = sizeof(usual_eps) / sizeof(*usual_eps) };

double candidate_eps(const struct group *g, const struct candidate *c)
{
	char text[32];

	if (g->has_eps)
		return g->eps;
	for (unsigned i = 0; i < NUSUAL; i++)
		if (c->eps == (float)usual_eps[i])
			return usual_eps[i];
	for (int digits = 1; digits <= 9; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, (double)c->eps);
		if (strtof(text, NULL) == c->eps)
			break;
	}
	return strtod(text, NULL);
}

/* No square of an element is rounded, and none that underflows can matter beside eps. */
static bool exact_squares(const struct group *g, double eps)
{
	enum dtype t = g->bound[ADD_RMSNORM_A].dtype;

	return t == DT_f16 || (t == DT_bf16 && eps > 1e-18);
}

struct list {
	const struct group *g;
	struct candidate *out;
	uint64_t *tree; /* of each listed order, or NULL */
	unsigned n, max;
};

static void put(struct list *l, const struct fields *f)
{
	uint64_t tree = 0;

	if (l->n == l->max)
		return;
	if (l->tree) {
		tree = candidate_tree(f, l->g->cols, exact_squares(l->g, 1));
		for (unsigned i = 0; i < l->n; i++)
			if (l->tree[i] == tree)
				return;
		l->tree[l->n] = tree;
	}
	l->out[l->n++] = (struct candidate){.code = candidate_pack(f)};
}

/* The ways in which the threads' sums may come together. */
static void put_trees(struct list *l, struct fields f)
{
	unsigned t = f.threads;
	bool pow2 = !(t & (t - 1));

	if (t == 1) {
		put(l, &f);
		return;
	}
	if (t <= 32 && pow2)
		for (f.warp = FIELD_warp_DESC; f.warp <= FIELD_warp_ASC; f.warp++)
			put(l, &f);
	for (f.warp = FIELD_warp_DESC; t > 32 && t % 32 == 0 && f.warp <= FIELD_warp_ASC; f.warp++)
		for (f.block = FIELD_block_FIRSTDESC; f.block <= FIELD_block_SERIAL; f.block++)
			put(l, &f);
	f.warp = FIELD_warp_DESC;
	f.block = FIELD_block_HALVING;
	if (t > 32 && pow2)
		put(l, &f);
	f.block = FIELD_block_ALL;
	put(l, &f);
}

static void put_fma(struct list *l, struct fields f)
{
	put_trees(l, f);
	f.fma = FIELD_fma_NO;
	if (!exact_squares(l->g, 1))
		put_trees(l, f);
}

/* Several accumulators: how they come together, where the rest goes. */
static void put_accumulators(struct list *l, struct fields f)
{
	for (f.tail = FIELD_tail_TURN; f.tail <= FIELD_tail_AFTER; f.tail++)
		for (f.comb = FIELD_comb_ORDER; f.comb <= FIELD_comb_HALVES; f.comb++)
			if (f.acc > FIELD_acc_2 || f.comb == FIELD_comb_ORDER)
				put_fma(l, f);
}

/* Parts of several elements, each added up by itself. */
static void put_parts(struct list *l, struct fields f)
{
	for (f.inner = FIELD_inner_SWAP; f.inner <= FIELD_inner_PAIRS; f.inner++) {
		if (f.inner == FIELD_inner_PAIRS && f.part < FIELD_part_4)
			continue;
		put_fma(l, f);
	}
}

static void put_walks(struct list *l, unsigned threads)
{
	struct fields f = {.threads = (uint16_t)threads};

	put_fma(l, f);
	for (f.vec = FIELD_vec_4; f.vec; f.vec = f.vec == FIELD_vec_4   ? FIELD_vec_2
						 : f.vec == FIELD_vec_2 ? FIELD_vec_8
									: FIELD_vec_1) {
		put_fma(l, f);
		for (f.part = f.vec; f.part; f.part--)
			put_parts(l, f);
		for (f.acc = f.vec; f.acc; f.acc--)
			put_accumulators(l, f);
	}
	f = (struct fields){.threads = (uint16_t)threads};
	for (f.acc = FIELD_acc_2; f.acc <= FIELD_acc_8; f.acc++)
		put_accumulators(l, f);
	f = (struct fields){.threads = (uint16_t)threads, .walk = FIELD_walk_CONTIGUOUS};
	put_fma(l, f);
	for (f.vec = f.part = FIELD_part_2; f.part <= FIELD_part_8; f.vec = ++f.part)
		put_parts(l, f);
	f.vec = f.part = FIELD_part_1;
	for (f.acc = FIELD_acc_2; f.acc <= FIELD_acc_8; f.acc++)
		put_accumulators(l, f);
}

unsigned candidate_orders(const struct group *g, struct candidate *out, unsigned max)
{
	const uint32_t *block = g->member[group_size(g) - 1]->launch.block;
	unsigned all = block[0] * block[1] * block[2];
	/* A row may be the block's, a line of the block's, a warp's, or one thread's. */
	unsigned threads[] = {all, block[0], 32, 1};
	struct list l = {.g = g, .out = out, .max = max};

	if (g->pattern == &pattern_silu_mul) { /* elements have no order */
		out[0] = (struct candidate){0};
		return max > 0;
	}
	if (g->cols <= DEDUP_COLS)
		l.tree = malloc(max * sizeof(*l.tree));
	for (unsigned i = 0; i < 4; i++) {
		bool seen = threads[i] > 1024 || (threads[i] == 32 && all % 32);

		for (unsigned j = 0; j < i; j++)
			seen |= threads[j] == threads[i];
		if (!seen)
			put_walks(&l, threads[i]);
	}
	free(l.tree);
	return l.n;
}

static void put_spelling(struct list *l, struct fields f, float eps)
{
	if (l->n < l->max)
		l->out[l->n++] = (struct candidate){candidate_pack(&f), eps};
}

/* Roundings to a 16-bit type, weight forms, and flushing. */
static void put_variants(struct list *l, struct fields f, float eps)
{
	enum dtype t = l->g->bound[ADD_RMSNORM_A].dtype;
	unsigned rounds = t == DT_f32 ? FIELD_round_NONE : FIELD_round_BOTH;
	unsigned flush = t == DT_f16 ? 0 : 1; /* no float made from halves is subnormal */

	for (f.round = 0; f.round <= rounds; f.round++) {
		bool first = f.round == FIELD_round_FIRST || f.round == FIELD_round_BOTH;
		bool scale = f.round == FIELD_round_SCALE || f.round == FIELD_round_BOTH;

		if ((first && f.product == FIELD_product_X_SW) ||
		    (scale && f.root >= FIELD_root_XDIV))
			continue;
		for (f.weight = 0; f.weight <= FIELD_weight_ONEPLUS; f.weight++)
			for (f.ftz = 0; f.ftz <= flush; f.ftz++)
				for (f.addftz = 0; f.addftz <= flush; f.addftz++)
					put_spelling(l, f, eps);
	}
}

static void put_eps(struct list *l, float eps)
{
	struct candidate c = {.eps = eps};
	double d = candidate_eps(l->g, &c);
	struct fields f = {0};

	for (f.mean = FIELD_mean_DIV; f.mean <= FIELD_mean_AFTER; f.mean++)
		for (f.epsd = FIELD_epsd_FLOAT; f.epsd <= FIELD_epsd_DOUBLE; f.epsd++) {
			if (f.epsd && ((double)(float)d == d || f.mean >= FIELD_mean_FMA))
				continue;
			for (f.root = FIELD_root_RSQRT; f.root <= FIELD_root_XDIVFAST; f.root++)
				for (f.product = 0; f.product <= FIELD_product_XW_S; f.product++)
					put_variants(l, f, eps);
		}
}

unsigned candidate_spellings(const struct group *g, struct candidate *out, unsigned max)
{
	struct list l = {.g = g, .out = out, .max = max};

	if (g->pattern == &pattern_silu_mul)
		return candidate_silus(g, out, max);
	if (g->has_eps)
		put_eps(&l, 0);
	else
		for (unsigned i = 0; i < NUSUAL; i++)
			put_eps(&l, (float)usual_eps[i]);
	return l.n;
}

/* Brings fields that cannot matter for this group to their first value. */
static void canonical(const struct group *g, double eps, struct fields *f)
{
	enum dtype t = g->bound[ADD_RMSNORM_A].dtype;

	if (t == DT_f32)
		f->round = FIELD_round_NONE;
	if (t == DT_f16)
		f->ftz = f->addftz = 0;
	/* Two halves' product is exact in float and three halves' is rounded once, in any order. */
	if (t == DT_f16 && g->bound[ADD_RMSNORM_W].dtype == DT_f16 &&
	    f->round == FIELD_round_SCALE && f->weight == FIELD_weight_PLAIN)
		f->product = FIELD_product_XS_W;
	if (eps == 0 && f->mean == FIELD_mean_AFTER)
		f->mean = FIELD_mean_DIV;
	/* Where the approximate reciprocal of n is the rounded one, these are the same; where it is
	 * not, nearly every row tells them apart, so a search cannot end with both. */
	if (f->mean == FIELD_mean_DIVFAST)
		f->mean = FIELD_mean_MUL;
	if (f->mean == FIELD_mean_FMAFAST)
		f->mean = FIELD_mean_FMA;
	if (eps == 0 && f->mean == FIELD_mean_FMA)
		f->mean = FIELD_mean_MUL;
	/* Dividing by a power of two is exact, however it is spelled. */
	if (!(g->cols & (g->cols - 1)) && f->mean < FIELD_mean_AFTER)
		f->mean = FIELD_mean_DIV;
	if ((double)(float)eps == eps)
		f->epsd = FIELD_epsd_FLOAT;
}

bool candidate_same(const struct group *g, const struct candidate *a, const struct candidate *b)
{
	double eps = candidate_eps(g, a);
	struct fields fa, fb;
	bool exact = exact_squares(g, eps);

	if (g->pattern == &pattern_silu_mul)
		return candidate_same_silu(g, a, b);
	if (candidate_unpack(a->code, &fa) || candidate_unpack(b->code, &fb) ||
	    eps != candidate_eps(g, b))
		return false;
	canonical(g, eps, &fa);
	canonical(g, eps, &fb);
#define FIELD(name, bits)                                                                          \
	if (offsetof(struct fields, name) >= offsetof(struct fields, mean) && fa.name != fb.name)  \
		return false;
#define VALUE(field, value, token)
#include "fused/candidate.def"
#undef FIELD
#undef VALUE
	return candidate_tree(&fa, g->cols, exact) == candidate_tree(&fb, g->cols, exact);
}
