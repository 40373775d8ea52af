/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for ops that add up along them, or look for the greatest. */
#include <stdlib.h>
#include <string.h>

#include "shim/probe_child_chain.h"
#include "shim/probe_child_source.h"

/* Each element with its opposite, so that what is left of the sum is what rounding left of it; some
 * elements are 0, in whose place the mean shows alone. */
static void cancel(struct source *s, double *x, int64_t n)
{
	const int spread = s->b->type == DT_f16 ? 8 : 20;

	for (int64_t i = 0; i + 1 < n; i += 2) {
		x[i] = below(s, 8) ? gauss(s) * ldexp(1, (int)below(s, spread)) : 0;
		x[i] = stored(s->b->type, x[i]);
		x[i + 1] = -x[i];
	}
	if (n % 2)
		x[n - 1] = 0;
	for (int64_t i = n - 1; i > 0; i--) {
		int64_t j = below(s, i + 1);
		double v = x[i];

		x[i] = x[j];
		x[j] = v;
	}
}

/* Sums without rounding in any order, and a mean of 0 whatever it is divided by. */
static void balance(double *x, int64_t n)
{
	for (int64_t i = 0; i + 1 < n; i += 2)
		x[i + 1] = -x[i];
	if (n % 2)
		x[n - 1] = 0;
}

/* Two elements that count: their exponentials add up alike in every order. */
static void two(struct source *s, double *x, int64_t n)
{
	const double least = s->b->type == DT_f16 ? -65504 : -0x1p100;
	const int64_t a = below(s, n), b = below(s, n);

	for (int64_t i = 0; i < n; i++)
		x[i] = least;
	x[a] = gauss(s);
	x[b] = x[a] - unit(s) * (double)(1 + below(s, 16));
}

static void shape_row(struct source *s, const struct op *op, double *x)
{
	const enum probe_family f = s->b->family;
	const int64_t n = op->cols;

	if (op->code == OP_softmax) {
		if (f == PROBE_FAMILY_exact)
			two(s, x, n);
		for (int64_t i = 0; i < n; i++)
			if (f == PROBE_FAMILY_wide || f == PROBE_FAMILY_epsilon)
				x[i] = gauss(s) * (f == PROBE_FAMILY_wide ? 1 : 12);
			else if (f == PROBE_FAMILY_tiny || f == PROBE_FAMILY_underflow)
				x[i] = -(85 + 20 * unit(s)); /* beside 0: subnormal, or nothing */
		if (f == PROBE_FAMILY_tiny || f == PROBE_FAMILY_underflow)
			x[below(s, n)] = 0;
		return;
	}
	if (op->code == OP_layernorm && (f == PROBE_FAMILY_exact || f == PROBE_FAMILY_extreme))
		balance(x, n);
	else if (op->code != OP_rmsnorm && f == PROBE_FAMILY_epsilon)
		cancel(s, x, n);
}

/* The mean of a row and what its distances are multiplied by. */
static void norm_of(const struct op *op, const double *x, double *mean, double *scale)
{
	double m = 0, var = 0;

	for (int64_t i = 0; i < op->cols; i++)
		m += x[i] / (double)op->cols;
	for (int64_t i = 0; i < op->cols; i++)
		var += (x[i] - m) * (x[i] - m) / (double)op->cols;
	*mean = m;
	*scale = 1 / sqrt(var + op->eps);
}

/*
 * A result of 16 bits hides the last places of what it is made of. A weight with which the product
 * is close to a number of that type, and a bias that takes that number away, leave them to be seen;
 * where there is no bias, a product close to the middle of two such numbers.
 */
static void tune(enum dtype t, double v, bool has_bias, double *w, double *b)
{
	double best = INFINITY, from = *w;

	if (v == 0 || !isfinite(v))
		return;
	for (int i = 0; i < 128; i++) {
		double by = stored(t, copysign(1 + i / 128.0, from)), product = by * v,
		       unit = ldexp(1, ilogb(product) - digits(t) + 1), near = stored(t, product),
		       off;

		off = fabs(product - near) / unit;
		if (!has_bias)
			off = fabs(off - 0.5);
		if (off >= best || near == product)
			continue;
		best = off;
		*w = by;
		*b = -near;
	}
}

/* Weight and bias for what rows the op has. */
static void put_columns(const struct probe *p, const struct op *op, struct source *s,
			const struct probe_batch *b, const double *x, int64_t rows, char *image)
{
	const struct operand *w = op_operand(op, ROLE_weight), *bias = op_operand(op, ROLE_bias),
			     *out = op_operand(op, ROLE_out);
	bool tuned = op->code == OP_layernorm && w && dtype_bytes((enum dtype)out->dtype) < 4 &&
		     probe_family_normal(b->family);
	double mean[32], scale[32]; /* more rows no batch has */

	for (int64_t r = 0; tuned && r < rows; r++)
		norm_of(op, x + r * op->cols, &mean[r], &scale[r]);
	for (int64_t c = 0; c < op->cols; c++) {
		double by = w ? probe_load((enum dtype)w->dtype, b->w, c) : 1,
		       plus = below(s, 4) ? gauss(s) : 0; /* 0 shows what it is added to */

		if (tuned && c % 4)
			tune((enum dtype)out->dtype,
			     (x[c % rows * op->cols + c] - mean[c % rows]) * scale[c % rows],
			     bias != NULL, &by, &plus);
		if (w)
			probe_store((enum dtype)w->dtype, probe_chain_element(p, w, image, c), 0,
				    by);
		if (bias)
			probe_store((enum dtype)bias->dtype, probe_chain_element(p, bias, image, c),
				    0, plus);
	}
}

void probe_chain_fill_row_op(const struct probe *p, const struct probe_member *m,
			     enum probe_family f, uint64_t number, char *image)
{
	const struct op *op = &m->run.op;
	const struct operand *in = op_operand(op, ROLE_in0), *w = op_operand(op, ROLE_weight);
	const enum dtype t = (enum dtype)in->dtype, wt = w ? (enum dtype)w->dtype : t;
	/* A batch holds no more; the others repeat it. */
	const int64_t most = probe_batch_rows(t, op->cols),
		      rows = op->rows < most ? op->rows : most;
	double *x = malloc((size_t)(rows * op->cols) * sizeof(*x));
	struct probe_batch b;
	struct source s = {.b = &b, .state = number * 0x2545f4914f6cdd1du + 77 * (uint64_t)f + 1};

	if (!probe_batch_init(&b, t, wt, rows, op->cols, op->has_eps ? op->eps : 1e-5) || !x) {
		probe_batch_free(&b);
		free(x);
		return;
	}
	b.hint = p->tools->hint;
	probe_batch_fill(&b, f, number);
	for (int64_t i = 0; i < rows * op->cols; i++)
		x[i] = stored(t, probe_load(t, b.a, i) + probe_load(t, b.b, i));
	for (int64_t r = 0; r < rows; r++)
		shape_row(&s, op, x + r * op->cols);
	for (int64_t i = 0; i < op->rows * op->cols; i++)
		probe_store(t, probe_chain_element(p, in, image, i), 0, x[i % (rows * op->cols)]);
	put_columns(p, op, &s, &b, x, rows, image);
	probe_batch_free(&b);
	free(x);
}
