/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epsilon of a norm: on rows so small that it decides, the factor that a row was multiplied by
 * tells what was added to the mean of squares.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shim/probe_child_infer_run.h"
#include "shim/probe_child_inputs.h"

enum { SAMPLES = 2048 };

static int less(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static const char *input(const struct infer *i, const struct op *op, enum role role, enum dtype *t)
{
	for (unsigned k = 0; k < op->noperand; k++)
		if (op->operand[k].role == role && op->operand[k].access & ACCESS_READ) {
			*t = (enum dtype)op->operand[k].dtype;
			return i->before + (op->operand[k].addr - i->arena);
		}
	return NULL;
}

/* From the first row of the last run. *square: what eps was added to. False: no such number. */
static bool from_row(const struct infer *i, const struct op *op, double *eps, double *square)
{
	const struct operand *out = op_operand(op, ROLE_out);
	const char *after = i->after + (out->addr - i->arena);
	enum dtype tx = DT_NONE, tw = DT_NONE;
	const char *x = input(i, op, ROLE_in0, &tx), *w = input(i, op, ROLE_weight, &tw);
	double sum = 0, mean = 0, s[SAMPLES];
	unsigned n = 0;

	for (int64_t c = 0; c < op->cols && op->code == OP_layernorm; c++)
		mean += probe_load(tx, x, c) / (double)op->cols;
	for (int64_t c = 0; c < op->cols; c++) {
		double v = probe_load(tx, x, c) - mean, g = w ? probe_load(tw, w, c) : 1;

		sum += v * v;
		g += op->plus_one;
		if (n < SAMPLES && v * g != 0)
			s[n++] = probe_load((enum dtype)out->dtype, after, c) / (v * g);
	}
	if (!n)
		return false;
	qsort(s, n, sizeof(*s), less);
	*square = sum / (double)op->cols;
	*eps = 1 / (s[n / 2] * s[n / 2]) - *square;
	return isfinite(*eps);
}

/* What the kernel adds when it is launched so; 0: less than shows. */
static bool measure(struct infer *i, const struct infer_guess *g, const struct infer_launch *l,
		    double *eps)
{
	char section[INFER_TEXT];
	double square;
	struct op op;

	if (!infer_section(&i->f, g, l->params, section, sizeof(section)) ||
	    !infer_decode(i, section, l, &op))
		return false;
	for (int family = INFER_TINY; family <= INFER_TINIER; family++) {
		infer_fill(i, &op, (enum infer_family)family);
		if (!infer_arena_run(i, l, false) || !from_row(i, &op, eps, &square))
			return false;
		if (*eps > square / 8)
			return true;
	}
	*eps = 0;
	return true;
}

static double precision(enum dtype t)
{
	return t == DT_f32 ? 1e-3 : 2e-2;
}

static bool about(double a, double b, enum dtype t)
{
	return fabs(a - b) <= precision(t) * fabs(b);
}

/* The number that people write. */
static bool usual(double eps, enum dtype t, double *exact)
{
	static const double digit[] = {1, 2, 2.5, 3, 4, 5, 6, 7, 8, 9};

	if (about(FLT_EPSILON, eps, t)) {
		*exact = FLT_EPSILON;
		return true;
	}
	for (int e = -14; e <= -1; e++)
		for (unsigned d = 0; d < sizeof(digit) / sizeof(*digit); d++)
			if (about(digit[d] * pow(10, e), eps, t)) {
				char text[32];

				snprintf(text, sizeof(text), "%ge%d", digit[d], e);
				*exact = strtod(text, NULL);
				return true;
			}
	return false;
}

/* Does eps follow the argument, to numbers far apart? */
static bool follows(struct infer *i, const struct infer_guess *g, const struct infer_arg *a)
{
	static const double to[] = {0.0625, 3e-4};
	double eps;

	for (unsigned k = 0; k < 2; k++) {
		struct infer_launch l = i->launch[0];

		infer_set_real(a, l.params, to[k]);
		if (!measure(i, g, &l, &eps) || !about(eps, to[k], g->type))
			return false;
	}
	return true;
}

bool infer_eps(struct infer *i, struct infer_guess *g)
{
	double eps, exact;

	if (!measure(i, g, &i->launch[0], &eps))
		return false;
	for (unsigned a = 0; a < i->f.narg; a++) {
		const struct infer_arg *arg = &i->f.arg[a];
		double v;
		struct infer_guess with = *g;

		with.eps_arg = (int)a;
		if (infer_real(arg, i->launch[0].params, &v) && v > 0 && v <= 1 &&
		    about(eps, v, g->type) && follows(i, &with, arg)) {
			g->eps_arg = (int)a;
			g->eps = v;
			return true;
		}
	}
	g->eps_known = usual(eps, g->type, &exact);
	g->eps = g->eps_known ? exact : eps;
	return true;
}
