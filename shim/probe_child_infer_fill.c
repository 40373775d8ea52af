/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of the types that a guess says the operands have. */
#include <float.h>

#include "shim/probe_child_infer_run.h"
#include "shim/probe_child_source.h"

enum { PERIOD = 16381 }; /* elements, of long operands; prime, so that rows differ */

/* The largest number, and binades that products of two stay within. */
static double largest(enum dtype t)
{
	return t == DT_f16 ? 65504 : t == DT_bf16 ? 0x1.fep127 : FLT_MAX;
}

static double wide(struct source *s, enum dtype t, bool rows)
{
	double span = t == DT_f16 ? 12 : rows ? 24 : 60;

	if (below(s, 16) == 0)
		return sign(s) * 0.0;
	return sign(s) * (1 + unit(s)) * exp2(span * (unit(s) - 0.5));
}

static double special(struct source *s, enum dtype t, bool tame)
{
	static const double v[] = {0, -0.0, 1, -1, 20, -20, 100, -100, INFINITY, -INFINITY, NAN};

	if (below(s, 3) == 0)
		return gauss(s);
	if (below(s, 8) == 0 && !tame)
		return sign(s) * largest(t) * (0.5 + 0.5 * unit(s));
	return v[below(s, tame ? 8 : 11)];
}

static double value(struct source *s, const struct operand *o, bool rows, int64_t row,
		    enum infer_family family)
{
	enum dtype t = (enum dtype)o->dtype;
	bool tiny = family == INFER_TINY || family == INFER_TINIER;

	if (tiny && o->role == ROLE_bias)
		return 0;
	if (tiny && o->role == ROLE_in0)
		return sign(s) * (1 + unit(s)) *
		       (t == DT_f16            ? 0x1p-10
			: family == INFER_TINY ? 0x1p-14
					       : 0x1p-24);
	if (tiny) /* weights far from 0, also when 1 is added */
		return (1 + unit(s)) * 0.75;
	switch (family) {
	case INFER_ONE_SIDED:
		return 0.5 + unit(s);
	case INFER_SPIKES:
		return o->role != ROLE_in0 ? gauss(s) : sign(s) * (1 + unit(s)) * 0x1p-9;
	case INFER_WIDE:
		return wide(s, t, rows);
	case INFER_SPECIAL:
		/* Most rows stay finite, or nothing could be compared. */
		return special(s, t, rows && (o->role != ROLE_in0 || row % 4 != 3));
	default:
		return gauss(s);
	}
}

/* Spikes of each row: somewhere, or first, or last. */
static void spikes(struct source *s, enum dtype t, char *at, int64_t rows, int64_t cols)
{
	for (int64_t r = 0; r < rows; r++) {
		int64_t c[] = {0, cols - 1, below(s, cols), below(s, cols)};
		unsigned from = (unsigned)below(s, 4), n = 1 + (unsigned)below(s, 3);

		for (unsigned k = from; k < from + n; k++)
			probe_store(t, at, r * cols + c[k % 4], sign(s) * (1 + 7 * unit(s)));
	}
}

void infer_fill(struct infer *i, const struct op *op, enum infer_family family)
{
	struct source s = {.state = ++i->seed * 0x9e3779b97f4a7c15u};
	bool rows = infer_by_rows(op->code);

	infer_arena_garbage(i);
	for (unsigned k = 0; k < op->noperand; k++) {
		const struct operand *o = &op->operand[k];
		char *at = i->before + (o->addr - i->arena);
		int64_t n = 1;
		size_t bytes;

		if (!(o->access & ACCESS_READ))
			continue;
		for (unsigned d = 0; d < o->ndim; d++)
			n *= o->size[d];
		for (int64_t e = 0; e < n && e < PERIOD; e++)
			probe_store((enum dtype)o->dtype, at, e,
				    value(&s, o, rows, e / op->cols, family));
		bytes = dtype_bytes((enum dtype)o->dtype);
		infer_repeat(at, PERIOD * bytes, (size_t)n * bytes);
		if (family == INFER_SPIKES && o->role == ROLE_in0)
			spikes(&s, (enum dtype)o->dtype, at, n / op->cols, op->cols);
	}
}
