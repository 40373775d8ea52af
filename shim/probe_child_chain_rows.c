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

static void shape_row(struct source *s, const struct op *op, double *x, int64_t row)
{
	const enum probe_family f = s->b->family;
	const int64_t n = op->cols;

	if (op->code == OP_softmax) {
		if (f == PROBE_FAMILY_exact)
			two(s, x, n);
		for (int64_t i = 0; i < n && (f == PROBE_FAMILY_wide || f == PROBE_FAMILY_epsilon);
		     i++)
			x[i] = gauss(s) * (f == PROBE_FAMILY_wide ? 1 : 12);
		return;
	}
	if (op->code == OP_layernorm && (f == PROBE_FAMILY_exact || f == PROBE_FAMILY_extreme))
		balance(x, n);
	else if (op->code != OP_rmsnorm && f == PROBE_FAMILY_wide && row % 2)
		cancel(s, x, n);
}

static void put_columns(const struct probe *p, const struct operand *o, struct source *s,
			const struct probe_batch *b, char *image)
{
	const enum dtype t = (enum dtype)o->dtype;

	for (int64_t i = 0; i < probe_chain_elements(o); i++) {
		char *at = probe_chain_element(p, o, image, i);

		if (o->role == ROLE_weight)
			memcpy(at, b->w + i % b->cols * dtype_bytes(t), dtype_bytes(t));
		else /* where a bias is 0, what it is added to is seen to the last bit */
			probe_store(t, at, 0, below(s, 4) ? gauss(s) : 0);
	}
}

void probe_chain_fill_row_op(const struct probe *p, const struct probe_member *m,
			     enum probe_family f, uint64_t number, char *image)
{
	const struct op *op = &m->run.op;
	const struct operand *in = op_operand(op, ROLE_in0), *w = op_operand(op, ROLE_weight);
	const enum dtype t = (enum dtype)in->dtype, wt = w ? (enum dtype)w->dtype : t;
	const int64_t most = probe_batch_rows(t, op->cols), rows = op->rows < most ? op->rows : most;
	double *x = malloc((size_t)op->cols * sizeof(*x));
	struct probe_batch b;
	struct source s = {.b = &b, .state = number * 0x2545f4914f6cdd1du + 77 * (uint64_t)f + 1};

	if (!probe_batch_init(&b, t, wt, rows, op->cols, op->has_eps ? op->eps : 1e-5) || !x) {
		probe_batch_free(&b);
		free(x);
		return;
	}
	probe_batch_fill(&b, f, number);
	for (int64_t r = 0; r < op->rows; r++) {
		const int64_t from = r % rows * op->cols; /* a batch holds no more */

		for (int64_t c = 0; c < op->cols; c++)
			x[c] = stored(t, probe_load(t, b.a, from + c) + probe_load(t, b.b, from + c));
		shape_row(&s, op, x, r + (int64_t)number);
		for (int64_t c = 0; c < op->cols; c++)
			probe_store(t, probe_chain_element(p, in, image, r * op->cols + c), 0,
				    x[c]);
	}
	for (unsigned i = 0; i < op->noperand; i++)
		if (op->operand[i].access & ACCESS_READ && op->operand[i].role != ROLE_in0)
			put_columns(p, &op->operand[i], &s, &b, image);
	probe_batch_free(&b);
	free(x);
}
