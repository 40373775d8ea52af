/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each operation of opcode.def makes of its inputs, in double precision, and whether a run
 * left just that. Bytes are not compared: how a kernel rounds is the verdicts' affair, what it
 * computes is ours.
 */
#include <string.h>

#include "shim/probe_child_infer_run.h"
#include "shim/probe_child_source.h"

struct input {
	const char *at; /* NULL: there is none */
	enum dtype t;
};

struct work {
	struct infer *i;
	const struct op *op;
	struct input in0, in1, weight, bias;
	double eps;
	double mean, scale, top;  /* of the row at hand */
	double slope, shift, fit; /* of OP_scale */
	bool finite;              /* so is all of the row */
};

static struct input input(const struct infer *i, const struct op *op, enum role role,
			  const char *before)
{
	struct input in = {NULL, DT_NONE};

	for (unsigned k = 0; k < op->noperand; k++) {
		const struct operand *o = &op->operand[k];

		if (o->role == role && o->access & ACCESS_READ)
			in = (struct input){before + (o->addr - i->arena), (enum dtype)o->dtype};
	}
	return in;
}

static double get(const struct input *in, int64_t k)
{
	return probe_load(in->t, in->at, k);
}

/* What a row's elements are multiplied by, and the like. */
static void row(struct work *w, int64_t r)
{
	int64_t cols = w->op->cols;
	double sum = 0, squares = 0, top = -INFINITY;

	w->finite = true;
	for (int64_t c = 0; c < cols; c++) {
		double x = get(&w->in0, r * cols + c);

		w->finite &= isfinite(x) && fabs(x) < 1e17;
		sum += x;
		squares += x * x;
		top = x > top ? x : top;
	}
	w->mean = sum / (double)cols;
	w->top = top;
	switch (w->op->code) {
	case OP_rmsnorm:
		w->scale = 1 / sqrt(squares / (double)cols + w->eps);
		break;
	case OP_layernorm:
		squares = 0;
		for (int64_t c = 0; c < cols; c++)
			squares += pow(get(&w->in0, r * cols + c) - w->mean, 2);
		w->scale = 1 / sqrt(squares / (double)cols + w->eps);
		break;
	case OP_softmax:
		sum = 0;
		for (int64_t c = 0; c < cols; c++)
			sum += exp(get(&w->in0, r * cols + c) - top);
		w->scale = 1 / sum;
		break;
	default:
		w->scale = 1;
	}
}

static double silu(double x)
{
	return x < -700 ? 0 : x / (1 + exp(-x));
}

/* Where exp(-x) may be infinite in the type, or too large for a fast division, 0 is as good an
 * answer: what silu's result may be off by. */
static double silu_slack(enum dtype t, double x)
{
	return x < (t == DT_f16 ? -10.9 : -80) ? fabs(silu(x)) : 0;
}

/* The element, and how large the numbers are that it is the sum or difference of. */
static double element(const struct work *w, int64_t k, int64_t c, double *size)
{
	double x = get(&w->in0, k), y = w->in1.at ? get(&w->in1, k) : 0, v;

	*size = fabs(x);
	switch (w->op->code) {
	case OP_add:
		return x + y;
	case OP_mul:
		return x * y;
	case OP_silu:
		*size += 1e5 * silu_slack(w->in0.t, x);
		return silu(x);
	case OP_silu_mul:
		*size = fabs(x * y) + 1e5 * silu_slack(w->in0.t, x) * fabs(y);
		return silu(x) * y;
	case OP_gelu_tanh:
		return x / 2 * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
	case OP_gelu_erf:
		return x / 2 * (1 + erf(x * 0.7071067811865476));
	case OP_relu:
		return x > 0 ? x : 0;
	case OP_copy:
		return x;
	case OP_scale:
		*size = fabs(w->slope * x) + w->fit;
		return w->slope * x + w->shift;
	case OP_bias_add:
		return x + get(&w->bias, c);
	case OP_softmax:
		return exp(x - w->top) * w->scale;
	case OP_rmsnorm:
	case OP_layernorm:
		v = w->op->code == OP_layernorm ? (x - w->mean) * w->scale : x * w->scale;
		*size = fabs(x) * w->scale;
		if (w->op->code == OP_layernorm) /* the mean is as exact as the row is large */
			*size += fabs(w->mean) * w->scale + 1;
		if (w->weight.at) {
			double g = get(&w->weight, c) + w->op->plus_one;

			v *= g;
			*size *= fabs(g) + w->op->plus_one;
		}
		return w->bias.at ? v + get(&w->bias, c) : v;
	default:
		return NAN;
	}
}

static double left(const struct operand *out, const char *after, int64_t k)
{
	return probe_load((enum dtype)out->dtype, after, k);
}

/* The line through zero and the element farthest from it; if the other end is not on it, the line
 * through both. */
static void line(struct work *w, const struct operand *out, const char *after, int64_t n)
{
	double most = out->dtype == DT_f32 ? 1e-5 : 2.4e-2, a, b;
	int64_t lo = -1, hi = -1, far;

	for (int64_t k = 0; k < n; k++) {
		double x = get(&w->in0, k);

		if (!isfinite(x) || fabs(x) > 1e4)
			continue;
		lo = lo < 0 || x < get(&w->in0, lo) ? k : lo;
		hi = hi < 0 || x > get(&w->in0, hi) ? k : hi;
	}
	if (lo < 0)
		lo = hi = 0;
	a = get(&w->in0, lo);
	b = get(&w->in0, hi);
	far = fabs(a) > fabs(b) ? lo : hi;
	w->slope = left(out, after, far) / get(&w->in0, far);
	w->shift = 0;
	far = lo + hi - far;
	if (fabs(w->slope * get(&w->in0, far) - left(out, after, far)) <=
	    most * fabs(left(out, after, far)))
		return;
	w->slope = (left(out, after, hi) - left(out, after, lo)) / (b - a);
	w->shift = left(out, after, hi) - w->slope * b;
	w->fit = fabs(left(out, after, hi)) + fabs(left(out, after, lo));
}

/* One norm of one row multiplies it by a number, too; but by another one than the next row. */
static bool same_line(struct work *w, const struct operand *out, const char *after)
{
	double most = out->dtype == DT_f32 ? 1e-4 : 3e-2;
	struct infer *i = w->i;

	line(w, out, after, w->op->rows * w->op->cols);
	if (!isfinite(w->slope) || !isfinite(w->shift))
		return false;
	if (i->line_known)
		return fabs(w->slope - i->slope) <= most * fabs(i->slope) &&
		       fabs(w->shift - i->shift) <= most * (fabs(i->shift) + w->fit);
	i->slope = w->slope;
	i->shift = w->shift;
	i->line_known = true;
	return true;
}

/* A few units in the last place; what half a unit of an intermediate result may make of it. */
static bool close_to(enum dtype t, double got, double want, double size, bool loose)
{
	double unit = t == DT_f32   ? 1e-5
		      : t == DT_f16 ? 3e-3
				    : 2.4e-2,
	       least = t == DT_f16 ? 1.2e-7 : 3e-38, most = t == DT_f16 ? 65504 : 3.38e38;

	if (loose)
		unit = t == DT_f32 ? 2e-2 : 2 * unit + 2e-2;
	if (isnan(want))
		return isnan(got);
	if (fabs(want) > most) /* infinite, or the largest there is */
		return got * want > 0 && fabs(got) >= 0.99 * most;
	return fabs(got - want) <= unit * fabs(want) + (loose ? 1e-3 : 1e-5) * size + least;
}

/* Results that depend on how a kernel treats what is not finite are nobody's claim. */
static bool says_nothing(const struct work *w, int64_t k)
{
	double x = get(&w->in0, k), y = w->in1.at ? get(&w->in1, k) : 0;

	if (w->op->code == OP_add || w->op->code == OP_mul)
		return false;
	return !isfinite(x) || !isfinite(y) || fabs(x) > 1e17 || fabs(y) > 1e17;
}

static bool outputs(struct work *w, const struct operand *out, const char *after, bool loose)
{
	int64_t rows = w->op->rows, cols = w->op->cols;
	bool by_row = infer_by_rows(w->op->code);
	double size;

	if (w->op->code == OP_scale && !same_line(w, out, after))
		return false;
	for (int64_t r = 0; r < rows; r++) {
		if (by_row)
			row(w, r);
		if (by_row && !w->finite)
			continue;
		for (int64_t c = 0; c < cols; c++) {
			int64_t k = r * cols + c;
			double want = element(w, k, c, &size);

			if (!says_nothing(w, k) &&
			    !close_to((enum dtype)out->dtype,
				      probe_load((enum dtype)out->dtype, after, k), want, size,
				      loose))
				return false;
		}
	}
	return true;
}

/* Every byte but the output's is as it was. */
static bool nothing_else(const struct infer *i, size_t from, size_t to, const char *before,
			 const char *after)
{
	for (unsigned k = 0; k < i->nregion; k++) {
		size_t lo = i->region[k].at - INFER_GUARD,
		       hi = i->region[k].at + i->region[k].window;

		if (from >= hi || to <= lo) {
			if (memcmp(before + lo, after + lo, hi - lo))
				return false;
		} else if (to > hi || memcmp(before + lo, after + lo, from - lo) ||
			   memcmp(before + to, after + to, hi - to)) {
			return false;
		}
	}
	return true;
}

bool infer_agrees(struct infer *i, const struct op *op, const char *before, const char *after,
		  double eps, bool loose)
{
	const struct operand *out = op_operand(op, ROLE_out);
	struct work w = {.i = i, .op = op, .eps = eps};
	size_t at;

	if (!out)
		return false;
	w.in0 = input(i, op, ROLE_in0, before);
	w.in1 = input(i, op, ROLE_in1, before);
	w.weight = input(i, op, ROLE_weight, before);
	w.bias = input(i, op, ROLE_bias, before);
	if (!w.in0.at)
		return false;
	at = out->addr - i->arena;
	if (i->where)
		return nothing_else(i, at, at + operand_bytes(out), before, after);
	return (i->part || nothing_else(i, at, at + operand_bytes(out), before, after)) &&
	       outputs(&w, out, after + at, loose);
}
