/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers and the row at hand, for the files that make synthetic inputs. */
#ifndef AF_SHIM_PROBE_CHILD_SOURCE_H
#define AF_SHIM_PROBE_CHILD_SOURCE_H

#include <math.h>

#include "shim/probe_child_inputs.h"

enum { TUNED_COLUMNS = 16 }; /* that a row is tuned by */

struct source {
	struct probe_batch *b;
	uint64_t state;
	double *x;         /* sums of the row at hand */
	double grid, most; /* an integer row: what they are multiples of, and the largest; or 0 */
};

static inline uint64_t next(struct source *s)
{
	uint64_t x = s->state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* In [0, 1), and an integer in [0, n). */
static inline double unit(struct source *s)
{
	return (double)(next(s) >> 11) * 0x1p-53;
}
static inline int64_t below(struct source *s, int64_t n)
{
	return (int64_t)(next(s) % (uint64_t)n);
}
static inline double sign(struct source *s)
{
	return next(s) & 1 ? -1 : 1;
}
static inline double gauss(struct source *s)
{
	return sqrt(-2 * log(1 - unit(s))) * cos(6.283185307179586 * unit(s));
}

/* v as the element type holds it. */
static inline double stored(enum dtype t, double v)
{
	char bits[4];

	probe_store(t, bits, 0, v);
	return probe_load(t, bits, 0);
}

static inline int digits(enum dtype t)
{
	return t == DT_f32 ? 24 : t == DT_f16 ? 11 : 8;
}

/* Sums of the row of that number, by the batch's family (probe_child_inputs.c). */
void source_choose(struct source *s, int64_t row);
/* Fills the given columns with ever smaller pieces whose squares add up to `left`, rounded down. */
void source_pieces(struct source *s, const int64_t *at, int64_t n, double left);
/* For 16-bit types: the row's sums and weights again, such that results lie near where they are
 * rounded the other way (probe_child_tune.c). */
void source_tune(struct source *s, int64_t row);

#endif
