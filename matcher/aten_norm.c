// SPDX-License-Identifier: Apache-2.0
/*
 * Layer norm and RMS norm, a block a row, rows dense, weights and bias of the rows' type:
 *
 *   vectorized_layer_norm_kernel<T, math[, RMS]>(int cols, math eps, x, weight, bias, mean, rstd,
 * y) RowwiseMomentsCUDAKernel<T, math[, RMS]>(long cols, math eps, x, mean, rstd)
 *   LayerNormForwardCUDAKernel<T, math[, RMS]>(long cols, x, mean, rstd, weight, bias, y)
 *
 * mean and rstd are of type math, one for each row. An RMS norm has neither mean nor bias. The last
 * two are the halves of one norm and `touch`: `copy` is the rstd that the first of them writes.
 */
#include "matcher/aten.h"

enum form { WHOLE, MOMENTS, APPLY };
enum { VECTOR = 4, WARP = 32, MAX_THREADS = 1024 };
enum { X, WEIGHT, BIAS, MEAN, RSTD, Y, NPOINTER };

struct norm {
	uint8_t form, type, math;
	bool rms;
};

/* Where each pointer is; 0: none there. eps and cols are elsewhere. */
static const uint8_t place[][NPOINTER] = {
	[WHOLE] = {8, 16, 24, 32, 40, 48},
	[MOMENTS] = {16, 0, 0, 24, 32, 0},
	[APPLY] = {8, 32, 40, 16, 24, 48},
};

static bool params_fit(const struct kernel *k, const struct norm *n)
{
	static const struct aten_param whole[] = {{0, 4},  {4, 4},  {8, 8},  {16, 8},
						  {24, 8}, {32, 8}, {40, 8}, {48, 8}};
	static const struct aten_param moments[] = {{0, 8}, {8, 4}, {16, 8}, {24, 8}, {32, 8}};
	static const struct aten_param apply[] = {{0, 8},  {8, 8},  {16, 8}, {24, 8},
						  {32, 8}, {40, 8}, {48, 8}};

	return n->form == WHOLE     ? aten_params_are(k, whole, 8)
	       : n->form == MOMENTS ? aten_params_are(k, moments, 5)
				    : aten_params_are(k, apply, 7);
}

static const void *knows(const struct kernel *k)
{
	char text[ATEN_NAME_MAX];
	struct aten_part name, base;
	struct norm n;

	if (strncmp(k->name, "_ZN2at6native", 13) ||
	    (!strstr(k->name, "vectorized_layer_norm_kernelI") &&
	     !strstr(k->name, "RowwiseMomentsCUDAKernelI") &&
	     !strstr(k->name, "LayerNormForwardCUDAKernelI")) ||
	    !aten_name_text(k->name, text, sizeof(text)))
		return NULL;
	memset(&n, 0, sizeof(n));
	name = aten_part(text);
	base = aten_part_base(name);
	if (aten_part_is(base, "vectorized_layer_norm_kernel"))
		n.form = WHOLE;
	else if (aten_part_is(base, "RowwiseMomentsCUDAKernel"))
		n.form = MOMENTS;
	else if (aten_part_is(base, "LayerNormForwardCUDAKernel"))
		n.form = APPLY;
	else
		return NULL;
	n.type = (uint8_t)aten_part_dtype(aten_part_argument(name, 0));
	n.math = (uint8_t)aten_part_dtype(aten_part_argument(name, 1));
	n.rms = aten_part_number(aten_part_argument(name, 2)) == 1;
	if (!n.type || n.math != DT_f32 || !params_fit(k, &n))
		return NULL;
	return aten_intern(&n, sizeof(n));
}

static bool add(struct op *op, const uint8_t *p, unsigned at, enum role role, enum access access,
		enum dtype t, int64_t rows, int64_t cols)
{
	if (!at || !aten_u64(p + at))
		return true; /* the kernel does without */
	aten_slot(op, at, 8, role);
	return aten_dense(op, role, access, t, aten_u64(p + at), rows, cols);
}

/* aten_reduce.h says what these mean for a norm. */
static void set_order(const struct launch *l, struct op *op)
{
	struct op_order *o = &op->order;

	o->width = (uint16_t)l->block[0];
	o->height = (uint16_t)l->block[1];
	o->vt = 1;
	o->vector = VECTOR;
	o->along_x = o->along_y = true;
	o->blocks = 1;
	o->mult[0] = 1;
	o->mult[1] = l->block[0];
	o->mult[2] = 0;
	o->step = l->block[0] * l->block[1];
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	const struct norm *n = data;
	const uint8_t *p = l->params, *at = place[n->form];
	const enum dtype t = (enum dtype)n->type, math = (enum dtype)n->math;
	const enum access moments = n->form == APPLY ? ACCESS_READ : ACCESS_WRITE;
	const int64_t rows = l->grid[0],
		      cols = n->form == WHOLE ? (int32_t)aten_u32(p) : (int64_t)aten_u64(p);
	const unsigned eps = n->form == WHOLE ? 4 : 8;

	if (l->grid[1] != 1 || l->grid[2] != 1 || cols < 1 || cols > INT32_MAX || rows < 1 ||
	    rows > INT32_MAX)
		return REASON_SHAPE;
	/* Rows in groups of four elements, by whole warps. */
	if (n->form == WHOLE && (cols % VECTOR || l->block[0] != WARP || l->block[1] < 1 ||
				 l->block[1] > MAX_THREADS / WARP || l->block[2] != 1))
		return REASON_SHAPE;
	/* What an RMS norm does not have is NULL, what each of them needs is there. */
	if (n->rms && (aten_u64(p + at[MEAN]) || (at[BIAS] && aten_u64(p + at[BIAS]))))
		return REASON_SHAPE;
	if ((!n->rms && !aten_u64(p + at[MEAN])) || !aten_u64(p + at[RSTD]) ||
	    !aten_u64(p + at[X]) || (n->form != MOMENTS && !aten_u64(p + at[Y])))
		return REASON_SHAPE;
	op->code = n->form != WHOLE ? OP_touch : n->rms ? OP_rmsnorm : OP_layernorm;
	op->compute = n->math;
	op->rows = rows;
	op->cols = cols;
	op->vetted = true;
	if (!add(op, p, at[Y], ROLE_out, ACCESS_WRITE, t, rows, cols) ||
	    !add(op, p, at[X], ROLE_in0, ACCESS_READ, t, rows, cols) ||
	    !add(op, p, at[WEIGHT], ROLE_weight, ACCESS_READ, t, 0, cols) ||
	    !add(op, p, at[BIAS], ROLE_bias, ACCESS_READ, t, 0, cols) ||
	    !add(op, p, at[MEAN], ROLE_mean, moments, math, 0, rows) ||
	    !add(op, p, at[RSTD], n->form == MOMENTS ? ROLE_copy : ROLE_rstd, moments, math, 0,
		 rows))
		return REASON_SHAPE;
	if (n->form == WHOLE)
		set_order(l, op);
	if (n->form != APPLY) {
		op->has_eps = aten_number(p + eps, math, &op->eps);
		aten_slot(op, eps, 4, ROLE_eps);
	}
	return REASON_NONE;
}

static uint64_t ops(const void *data)
{
	const struct norm *n = data;

	return (uint64_t)1 << (n->form != WHOLE ? OP_touch : n->rms ? OP_rmsnorm : OP_layernorm);
}

const struct decoder aten_norm_decoder = {"aten_norm", knows, decode, ops};
