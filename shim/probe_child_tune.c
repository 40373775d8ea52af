/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 16-bit results hide an error of the scale in its last place from nearly all elements: bf16 has
 * but 8,000 products of element and weight, up to a power of two. Here rows are bent, and elements
 * and weights paired, such that some results lie next to the middle of two representable numbers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shim/probe_child_source.h"

/* A pair of element and weight whose result lies close to where it is rounded the other way. */
struct pair {
	double off; /* from the middle, in units; its sign says on which side */
	double w;
	int64_t at;
};
enum { PAIRS = TUNED_COLUMNS / 2, WEIGHTS = 128, ELEMENTS = 256 };

/* How far v, in [1/2, 1), is from the middle of two numbers of that many digits, in units of their
 * distance. */
static double off_middle(int p, double v)
{
	double u = v * (double)(1 << p);

	return u - (double)(int64_t)u - 0.5;
}

/* Keeps the PAIRS closest of one side, the closest first. */
static void keep_pair(struct pair *list, struct pair p)
{
	unsigned k = PAIRS;

	for (unsigned i = 0; i < PAIRS; i++)
		if (list[i].off == p.off) /* the same digits again */
			return;
	while (k && fabs(p.off) < fabs(list[k - 1].off)) {
		if (k < PAIRS)
			list[k] = list[k - 1];
		k--;
	}
	if (k < PAIRS)
		list[k] = p;
}

/*
 * The arithmetic that rows are bent for, b->hint, without float's roundings: how the scale follows
 * from the sum of squares, and which number is rounded to the type last or first.
 */
static double scale_of(const struct probe_batch *b, double ss)
{
	double n = (double)b->cols;

	return 1 / sqrt(b->hint.mean == FIELD_mean_AFTER ? (ss + b->eps) / n : ss / n + b->eps);
}

static double sum_for(const struct probe_batch *b, double scale)
{
	double y = pow(scale, -2);

	return b->hint.mean == FIELD_mean_AFTER ? y * (double)b->cols - b->eps
						: (y - b->eps) * (double)b->cols;
}

static bool rounds_scale(const struct probe_batch *b)
{
	return b->hint.round == FIELD_round_SCALE || b->hint.round == FIELD_round_BOTH;
}

static double result_of(const struct probe_batch *b, double x, double scale, double w)
{
	bool first = b->hint.round == FIELD_round_FIRST || b->hint.round == FIELD_round_BOTH;

	if (b->hint.weight == FIELD_weight_ONEPLUS)
		w = 1 + w;
	if (first && b->hint.product == FIELD_product_XW_S)
		return stored(b->type, x * w) * scale;
	return first ? x * scale : x * scale * w;
}

static double squares_of(const struct source *s)
{
	double ss = 0;

	for (int64_t i = 0; i < s->b->cols; i++)
		ss += s->x[i] * s->x[i];
	return ss;
}

/* Weight number m of WEIGHTS: for bf16 every number of [1, 2). Where 1 is added to it, smaller by
 * some powers of two, so that the sum has many digits. */
static double weight(struct source *s, int64_t m)
{
	double w = s->b->weight_type == DT_bf16 ? 1 + (double)m / WEIGHTS
						: 1 + ((double)m + unit(s)) / WEIGHTS;

	if (s->b->hint.weight == FIELD_weight_ONEPLUS)
		w = ldexp(w, -(int)below(s, 13));
	return stored(s->b->weight_type, w);
}

/* The closest pairs of the row on either side; the worse of the two sides' best. */
static double find_pairs(struct source *s, struct pair below_middle[PAIRS],
			 struct pair above[PAIRS])
{
	struct probe_batch *b = s->b;
	double scale = scale_of(b, squares_of(s));
	int64_t n = b->cols < ELEMENTS ? b->cols : ELEMENTS, first = below(s, b->cols);
	int e, p = digits(b->type);
	char seen[256] = {0}; /* leading digits met */

	for (unsigned k = 0; k < PAIRS; k++)
		below_middle[k] = above[k] = (struct pair){.off = 1, .at = -1};
	if (!isfinite(scale) || scale == 0)
		return 1;
	if (rounds_scale(b))
		scale = stored(b->type, scale);
	scale = frexp(scale, &e);
	for (int64_t i = 0; i < n; i++) {
		struct pair q = {.at = (first + i) % b->cols};
		double x = frexp(fabs(s->x[q.at]), &e);

		if (x == 0 || !isfinite(x) || (b->type == DT_bf16 && seen[(int)(x * 256)]++))
			continue;
		for (int m = 0; m < WEIGHTS; m++) {
			q.w = weight(s, m);
			q.off = off_middle(p, frexp(result_of(b, x, scale, q.w), &e));
			if (fabs(q.off) < 0.01)
				keep_pair(q.off < 0 ? below_middle : above, q);
		}
	}
	return fmax(fabs(below_middle[0].off), fabs(above[0].off));
}

/*
 * Changes a few elements so that the scale comes to lie where one element of the row, with some
 * weight, gives the middle of two numbers: scales next to each other then round differently. Where
 * the scale is rounded itself, often where that is at its middle.
 */
static void aim(struct source *s)
{
	enum { PIECES = 8, GOALS = 256 };
	struct probe_batch *b = s->b;
	int64_t at[PIECES], n = b->cols < 24 && below(s, 2) ? b->cols - 1 : b->cols / 4;
	double base, scale, goal = 0;
	int p = digits(b->type), e;
	bool itself = rounds_scale(b) && below(s, 3);
	double edge = (below(s, 2) ? 0.5 : -0.5) + (unit(s) - 0.5) / 4 +
		      (below(s, 2) ? (double)below(s, 7) - 3 : 0);

	n = n < PIECES ? n : PIECES;
	for (int64_t k = 0; k < n; k++)
		at[k] = k * (b->cols / n) + below(s, b->cols / n);
	for (int64_t k = 0; k < n; k++)
		s->x[at[k]] = 0;
	base = squares_of(s);
	scale = scale_of(b, base);
	for (int i = 0; n && i < GOALS; i++) {
		double x = fabs(s->x[below(s, b->cols)]), v, unit_of_v, ss;

		v = itself ? scale : result_of(b, x, scale, weight(s, below(s, WEIGHTS)));
		if (v == 0 || !isfinite(v))
			continue;
		/* The next middle below v wants a smaller scale: a larger sum. */
		frexp(v, &e);
		unit_of_v = ldexp(1, e - p);
		ss = (floor(v / unit_of_v - 0.5) + 0.5) * unit_of_v;
		/* A middle of the type's numbers is a float: aim where that float begins or ends,
		 * or as far from there as the kernel's sum may be from the true one. */
		if (itself)
			ss += ldexp(edge, e - 24);
		ss = sum_for(b, scale * ss / v);
		if (ss > base && (goal == 0 || ss < goal))
			goal = ss;
	}
	source_pieces(s, at, n, goal > 0 ? goal - base + s->grid * s->grid / 2 : base / 64);
}

/*
 * For 16-bit types: rows whose scale lies close to where some element's result is rounded the other
 * way, and the weights for it. Columns are the row's own (rows of a batch share the weights: column
 * c is row c % rows's).
 */
void source_tune(struct source *s, int64_t row)
{
	struct probe_batch *b = s->b;
	struct pair below_middle[PAIRS], above[PAIRS];
	double *best = malloc((size_t)b->cols * sizeof(*best)), closest = 2;
	int tries = b->cols < 64                                            ? 24
		    : b->type == DT_bf16 && b->family == PROBE_FAMILY_exact ? 12
									    : 2;

	for (int i = 0; best && i < tries; i++) {
		double off;

		if (i)
			source_choose(s, row);
		aim(s);
		off = find_pairs(s, below_middle, above);
		if (off < closest) {
			closest = off;
			memcpy(best, s->x, (size_t)b->cols * sizeof(*best));
		}
	}
	if (best)
		memcpy(s->x, best, (size_t)b->cols * sizeof(*best));
	free(best);
	find_pairs(s, below_middle, above);
	for (int64_t k = 0, c = row % b->rows; k < 2 * PAIRS && c < b->cols; k++, c += b->rows) {
		struct pair *list = k % 2 ? above : below_middle, p = list[k / 2];
		double x;

		if (p.at < 0)
			continue;
		x = s->x[c];
		s->x[c] = s->x[p.at];
		s->x[p.at] = x;
		/* What was at c is elsewhere now. */
		for (unsigned i = 0; i < PAIRS; i++) {
			below_middle[i].at = below_middle[i].at == c ? p.at : below_middle[i].at;
			above[i].at = above[i].at == c ? p.at : above[i].at;
		}
		/* 1 + w is not as large for -w. */
		probe_store(b->weight_type, b->w, c,
			    b->hint.weight == FIELD_weight_ONEPLUS ? p.w : p.w * sign(s));
	}
}
