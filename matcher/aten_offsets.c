// SPDX-License-Identifier: Apache-2.0
/* OffsetCalculators and TensorInfos: structs that say where elements lie. Declared in aten.h. */
#include "matcher/aten.h"

enum { DIVIDERS = 4, STRIDES = DIVIDERS + 12 * ATEN_MAX_DIMS };

/* Division by multiplication and shift, as ATen's IntDivider has it: its three numbers agree. */
static bool divider_fits(const uint8_t *p)
{
	const uint32_t divisor = aten_u32(p), magic = aten_u32(p + 4);
	unsigned shift = 0;

	if (divisor < 1 || divisor > INT32_MAX)
		return false;
	while ((uint64_t)1 << shift < divisor)
		shift++;
	return aten_u32(p + 8) == shift &&
	       magic == ((((uint64_t)1 << shift) - divisor) << 32) / divisor + 1;
}

static bool merges(const struct aten_box *b, unsigned tensors, const uint8_t *stride)
{
	if (!b->dims)
		return false;
	for (unsigned t = 0; t < tensors; t++)
		if (aten_u32(stride + 4 * t) != b->size[b->dims - 1] * b->stride[b->dims - 1][t])
			return false;
	return true;
}

bool aten_offsets(const uint8_t *p, unsigned tensors, int64_t n, struct aten_box *b)
{
	const uint32_t dims = aten_u32(p);
	int64_t all = 1;

	b->dims = 0;
	if (dims > ATEN_MAX_DIMS || tensors > ATEN_MAX_INPUTS + 2)
		return false;
	for (unsigned d = 0; d < dims; d++) {
		const uint8_t *divider = p + DIVIDERS + 12 * d;
		const uint8_t *stride = p + STRIDES + 4 * tensors * d;

		if (!divider_fits(divider))
			return false;
		all *= aten_u32(divider);
		if (all > INT32_MAX)
			return false;
		if (aten_u32(divider) == 1)
			continue;
		if (merges(b, tensors, stride)) {
			b->size[b->dims - 1] *= aten_u32(divider);
			continue;
		}
		b->size[b->dims] = aten_u32(divider);
		for (unsigned t = 0; t < tensors; t++)
			b->stride[b->dims][t] = aten_u32(stride + 4 * t);
		b->dims++;
	}
	/* Offsets are 32 bits wide; ATen splits what does not fit. */
	for (unsigned t = 0; t < tensors; t++) {
		int64_t last = 0;

		for (unsigned d = 0; d < b->dims; d++)
			last += (b->size[d] - 1) * b->stride[d][t];
		if (last > INT32_MAX)
			return false;
	}
	return all == n;
}

void aten_offsets_blank(struct op *op, const uint8_t *params, uint32_t offset, unsigned tensors)
{
	const uint32_t dims = aten_u32(params + offset), unused = ATEN_MAX_DIMS - dims;

	aten_blank(op, offset + DIVIDERS + 12 * dims, 12 * unused);
	aten_blank(op, offset + STRIDES + 4 * tensors * dims, 4 * tensors * unused);
	aten_shape(op, offset + DIVIDERS, 12 * dims);
	aten_shape(op, offset + STRIDES, 4 * tensors * dims);
}

bool aten_box_operand(const struct aten_box *b, unsigned t, enum role role, enum access access,
		      enum dtype type, uint64_t addr, struct op *op, bool *exact)
{
	const int64_t bytes = dtype_bytes(type);
	struct operand *o = &op->operand[op->noperand];
	int64_t last = 0;

	for (unsigned d = 0; d < b->dims; d++) {
		last += (b->size[d] - 1) * b->stride[d][t];
		if (b->stride[d][t] % bytes)
			return false;
	}
	if (!aten_dense(op, role, access, type, addr, 0, last / bytes + 1))
		return false;
	if (b->dims > OP_MAX_DIMS) {
		*exact = false;
		return true;
	}
	if (!b->dims)
		return true;
	o->ndim = (uint8_t)b->dims;
	for (unsigned d = 0; d < b->dims; d++) {
		o->size[b->dims - 1 - d] = b->size[d];
		o->stride[b->dims - 1 - d] = b->stride[d][t];
	}
	return true;
}

static int64_t read_word(const uint8_t *p, unsigned word)
{
	return word == 8 ? (int64_t)aten_u64(p) : aten_u32(p);
}

bool aten_tensor(struct op *op, const uint8_t *p, unsigned word, enum role role, enum access access,
		 enum dtype t, int along, int64_t length)
{
	const int32_t dims = (int32_t)aten_u32(p + 8 + 2 * ATEN_MAX_DIMS * word);
	struct operand *o = &op->operand[op->noperand];
	int64_t last = 0, bytes;

	if (dims < 1 || dims > OP_MAX_DIMS || along >= dims ||
	    !aten_dense(op, role, access, t, aten_u64(p), 0, 1))
		return false;
	o->ndim = (uint8_t)dims;
	for (int d = 0; d < dims; d++) {
		const uint8_t *size = p + 8 + word * (unsigned)d;

		o->size[d] = d == along ? length : read_word(size, word);
		o->stride[d] = read_word(size + ATEN_MAX_DIMS * word, word);
		if (o->size[d] < 1 || o->size[d] > INT32_MAX || o->stride[d] < 0 ||
		    __builtin_mul_overflow(o->stride[d], dtype_bytes(t), &o->stride[d]) ||
		    __builtin_mul_overflow(o->size[d] - 1, o->stride[d], &bytes) ||
		    __builtin_add_overflow(last, bytes, &last) || last > ATEN_MAX_BYTES)
			return false;
	}
	return true;
}
