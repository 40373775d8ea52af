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

/* How far v, in [1/4, 2), is from the middle of two numbers of that many digits, in units of their
 * distance. */
static double off_middle(int p, double v)
{
	double u = v * (double)(1 << (v >= 1 ? p - 1 : v >= 0.5 ? p : p + 1));

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

static double scale_of(const struct source *s)
{
	double ss = 0;

	for (int64_t i = 0; i < s->b->cols; i++)
		ss += s->x[i] * s->x[i];
	return 1 / sqrt(ss / (double)s->b->cols + s->b->eps);
}

/* The closest pairs of the row on either side; the worse of the two sides' best. */
static double find_pairs(struct source *s, struct pair below_middle[PAIRS],
			 struct pair above[PAIRS])
{
	struct probe_batch *b = s->b;
	double scale = scale_of(s);
	int64_t n = b->cols < ELEMENTS ? b->cols : ELEMENTS, first = below(s, b->cols);
	int e, p = digits(b->type);
	char seen[256] = {0}; /* leading digits met */

	for (unsigned k = 0; k < PAIRS; k++)
		below_middle[k] = above[k] = (struct pair){.off = 1, .at = -1};
	if (!isfinite(scale) || scale == 0)
		return 1;
	scale = frexp(scale, &e);
	for (int64_t i = 0; i < n; i++) {
		struct pair q = {.at = (first + i) % b->cols};
		double x = frexp(fabs(s->x[q.at]), &e);

		if (x == 0 || !isfinite(x) || (b->type == DT_bf16 && seen[(int)(x * 256)]++))
			continue;
		for (int m = 0; m < WEIGHTS; m++) {
			q.w = b->weight_type == DT_bf16
				      ? 1 + (double)m / WEIGHTS
				      : stored(b->weight_type, 1 + (m + unit(s)) / WEIGHTS);
			q.off = off_middle(p, x * scale * q.w);
			if (fabs(q.off) < 0.01)
				keep_pair(q.off < 0 ? below_middle : above, q);
		}
	}
	return fmax(fabs(below_middle[0].off), fabs(above[0].off));
}

/*
 * Changes a few elements so that the scale comes to lie where one element of the row, with some
 * weight, gives the middle of two numbers: scales next to each other then round differently. Or
 * where the element without weight does, or the scale itself, for spellings that round those.
 */
static void aim(struct source *s)
{
	enum { PIECES = 6, GOALS = 256 };
	struct probe_batch *b = s->b;
	int64_t at[PIECES], n = b->cols / 4 < PIECES ? b->cols / 4 : PIECES;
	double base = 0, goal = 0;
	int p = digits(b->type), e, what = (int)below(s, 3);

	for (int64_t k = 0; k < n; k++)
		at[k] = k * (b->cols / n) + below(s, b->cols / n);
	for (int64_t k = 0; k < n; k++)
		s->x[at[k]] = 0;
	for (int64_t i = 0; i < b->cols; i++)
		base += s->x[i] * s->x[i];
	for (int i = 0; n && i < GOALS; i++) {
		double x = what == 2 ? 1 : fabs(s->x[below(s, b->cols)]);
		double w =
			what ? 1 : stored(b->weight_type, 1 + (double)below(s, WEIGHTS) / WEIGHTS);
		double v = x * w / sqrt(base / (double)b->cols + b->eps), unit_of_v, ss;

		if (x == 0)
			continue;
		/* The next middle below v wants a smaller scale: a larger sum. */
		frexp(v, &e);
		unit_of_v = ldexp(1, e - p);
		v = (floor(v / unit_of_v - 0.5) + 0.5) * unit_of_v;
		ss = (pow(x * w / v, 2) - b->eps) * (double)b->cols;
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
	int tries = b->type == DT_bf16 && b->family == PROBE_FAMILY_exact ? 12 : 2;

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
		probe_store(b->weight_type, b->w, c, p.w * sign(s));
	}
}
