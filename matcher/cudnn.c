// SPDX-License-Identifier: Apache-2.0
/*
 * cuDNN's attention for short queries, cudnn_generated_fort_native_sdpa_sm80_flash_fprop_...: out =
 * softmax(scale * q k + mask) v. Read off recorded launches (cuDNN 9 as PyTorch 2.11 calls it, with
 * and without a mask). All sizes and strides are in the parameters, and must agree with each other:
 * {int batch, heads of q, of k, of v, queries, keys, size, size of v, ...}, then addresses, each
 * with {long dimensions, size[12], stride[12]}, those of k transposed. Its other kernels (for long
 * queries, of the backward pass) have workspaces whose size does not show: they are opaque.
 *
 * Elements are known to have two bytes; of the mask, at most four.
 */
#include "matcher/aten.h"

enum { DIMS = 4, MAX_DIMS = 12, DESCRIPTOR = 8 + 16 * MAX_DIMS, ELEMENT = 2, MASK_ELEMENT = 4 };
enum { BATCH, Q_HEADS, K_HEADS, V_HEADS, QUERIES, KEYS, SIZE, V_SIZE, WORDS };

struct attention {
	bool mask;
};

static const void *knows(const struct kernel *k)
{
	static const char name[] = "cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_";
	static const struct aten_param param[] = {
		{0, 40},           {40, 8},           {48, DESCRIPTOR}, {248, 8},
		{256, DESCRIPTOR}, {456, 4},          {464, 8},         {472, DESCRIPTOR},
		{672, 8},          {680, DESCRIPTOR}, {880, 8},         {888, DESCRIPTOR},
	};
	static const struct attention with = {true}, without = {false};

	if (strncmp(k->name, name, sizeof(name) - 1))
		return NULL;
	return aten_params_are(k, param, 10)   ? &without
	       : aten_params_are(k, param, 12) ? &with
					       : NULL;
}

/* The tensor whose address is at p: are these its sizes? Where `broadcast`, 1 will do. */
static bool read_tensor(const uint8_t *p, const int64_t size[DIMS], bool broadcast,
			int64_t stride[DIMS], int64_t *last)
{
	*last = 0;
	if (aten_u64(p + 8) != DIMS)
		return false;
	for (unsigned d = 0; d < DIMS; d++) {
		int64_t n = (int64_t)aten_u64(p + 16 + 8 * d), end;

		stride[d] = (int64_t)aten_u64(p + 16 + 8 * MAX_DIMS + 8 * d);
		if (broadcast && n == 1)
			stride[d] = 0;
		else if (n != size[d] || stride[d] < 0 ||
			 __builtin_mul_overflow(n - 1, stride[d], &end) || end > ATEN_MAX_BYTES / 8)
			return false;
		else
			*last += end;
	}
	return true;
}

static bool add_tensor(struct op *op, const uint8_t *p, const int64_t size[DIMS], enum role role,
		       enum access access)
{
	struct operand *o = &op->operand[op->noperand];
	int64_t stride[DIMS], last;

	if (!read_tensor(p, size, false, stride, &last) ||
	    !aten_dense(op, role, access, DT_i16, aten_u64(p), 0, last + 1))
		return false;
	o->ndim = DIMS;
	for (unsigned d = 0; d < DIMS; d++) {
		if (access == ACCESS_WRITE && size[d] > 1 && !stride[d])
			return false;
		o->size[d] = size[d];
		o->stride[d] = size[d] > 1 ? stride[d] * ELEMENT : 0;
	}
	return true;
}

static bool add_mask(struct op *op, const uint8_t *p, const int64_t size[DIMS])
{
	int64_t stride[DIMS], last;

	return read_tensor(p, size, true, stride, &last) &&
	       aten_dense(op, ROLE_bias, ACCESS_READ, DT_u8, aten_u64(p), 0,
			  (last + 1) * MASK_ELEMENT);
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	const struct attention *a = data;
	const uint8_t *p = l->params;
	const unsigned v_at = a->mask ? 672 : 464, out_at = a->mask ? 880 : 672;
	int64_t w[WORDS];

	for (unsigned i = 0; i < WORDS; i++) {
		w[i] = (int32_t)aten_u32(p + 4 * i);
		if (w[i] < 1)
			return REASON_SHAPE;
	}
	/* A block takes a head of q, or all those of one head of k. */
	if (l->grid[2] != w[BATCH] || (l->grid[1] != w[Q_HEADS] && l->grid[1] != w[K_HEADS]) ||
	    w[Q_HEADS] % w[K_HEADS])
		return REASON_SHAPE;
	op->code = OP_touch;
	op->vetted = true;
	op->rows = w[QUERIES];
	op->cols = w[V_SIZE];
	if (!add_tensor(op, p + out_at, (int64_t[]){w[BATCH], w[Q_HEADS], w[QUERIES], w[V_SIZE]},
			ROLE_out, ACCESS_WRITE) ||
	    !add_tensor(op, p + 40, (int64_t[]){w[BATCH], w[Q_HEADS], w[QUERIES], w[SIZE]},
			ROLE_in0, ACCESS_READ) ||
	    !add_tensor(op, p + 248, (int64_t[]){w[BATCH], w[K_HEADS], w[SIZE], w[KEYS]}, ROLE_in1,
			ACCESS_READ) ||
	    !add_tensor(op, p + v_at, (int64_t[]){w[BATCH], w[V_HEADS], w[KEYS], w[V_SIZE]},
			ROLE_in2, ACCESS_READ))
		return REASON_SHAPE;
	if (a->mask &&
	    !add_mask(op, p + 464, (int64_t[]){w[BATCH], w[Q_HEADS], w[QUERIES], w[KEYS]}))
		return REASON_SHAPE;
	return REASON_NONE;
}

static uint64_t ops(const void *data)
{
	return (uint64_t)1 << OP_touch;
}

const struct decoder cudnn_decoder = {"cudnn", knows, decode, ops};
