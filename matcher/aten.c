// SPDX-License-Identifier: Apache-2.0
#include "matcher/aten.h"

#include <stdlib.h>

struct interned {
	struct interned *next;
	size_t size;
	uint64_t data[];
};

static struct interned *interned;

static const void *find(const struct interned *i, const void *data, size_t size)
{
	for (; i; i = i->next)
		if (i->size == size && !memcmp(i->data, data, size))
			return i->data;
	return NULL;
}

const void *aten_intern(const void *data, size_t size)
{
	struct interned *head = __atomic_load_n(&interned, __ATOMIC_ACQUIRE), *mine;
	const void *there = find(head, data, size);

	if (there)
		return there;
	mine = malloc(sizeof(*mine) + size);
	if (!mine)
		return NULL;
	mine->size = size;
	memcpy(mine->data, data, size);
	mine->next = head;
	/* Two threads may both put it there, once each: no harm. */
	while (!__atomic_compare_exchange_n(&interned, &mine->next, mine, false, __ATOMIC_RELEASE,
					    __ATOMIC_ACQUIRE))
		;
	return mine->data;
}

bool aten_params_are(const struct kernel *k, const struct aten_param *p, unsigned n)
{
	if (k->nparam != n)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (k->param[i].offset != p[i].offset || k->param[i].bytes != p[i].bytes)
			return false;
	return k->param_bytes >= p[n - 1].offset + p[n - 1].bytes;
}

static double from_half(uint16_t h)
{
	const uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, m = h & 1023;
	uint32_t bits = sign | (exponent + 112) << 23 | m << 13;
	float f;

	if (!exponent)
		return (sign ? -1. : 1.) * m * 0x1p-24;
	if (exponent == 31)
		bits = sign | 0x7f800000 | m << 13;
	memcpy(&f, &bits, 4);
	return f;
}

bool aten_number(const uint8_t *p, enum dtype t, double *v)
{
	uint16_t h;
	uint32_t bits;
	int64_t i;
	float f;

	switch (t) {
	case DT_f32:
		memcpy(&f, p, 4);
		*v = f;
		return true;
	case DT_f64:
		memcpy(v, p, 8);
		return true;
	case DT_bf16:
		memcpy(&h, p, 2);
		bits = (uint32_t)h << 16;
		memcpy(&f, &bits, 4);
		*v = f;
		return true;
	case DT_f16:
		memcpy(&h, p, 2);
		*v = from_half(h);
		return true;
	case DT_i64:
		memcpy(&i, p, 8);
		*v = (double)i;
		return i >= -((int64_t)1 << 53) && i <= (int64_t)1 << 53;
	case DT_i32:
		*v = (int32_t)aten_u32(p);
		return true;
	case DT_i16:
		memcpy(&h, p, 2);
		*v = (int16_t)h;
		return true;
	case DT_i8:
		*v = (int8_t)*p;
		return true;
	case DT_u8:
		*v = *p;
		return true;
	case DT_bool:
		*v = *p != 0;
		return *p <= 1;
	default:
		return false;
	}
}

enum dtype aten_scalar_type(uint8_t t)
{
	static const uint8_t row[] = {
		[0] = DT_u8,    [1] = DT_i8,    [2] = DT_i16,   [3] = DT_i32,
		[4] = DT_i64,   [5] = DT_f16,   [6] = DT_f32,   [7] = DT_f64,
		[11] = DT_bool, [15] = DT_bf16, [23] = DT_e5m2, [24] = DT_e4m3,
	};

	return t < sizeof(row) ? (enum dtype)row[t] : DT_NONE;
}

enum dtype aten_math(enum dtype t)
{
	return t == DT_f16 || t == DT_bf16 ? DT_f32 : t;
}

bool aten_plausible(uint64_t addr, enum dtype t)
{
	return addr >= 4096 && addr < (uint64_t)1 << 56 && t && addr % dtype_bytes(t) == 0;
}

bool aten_dense(struct op *op, enum role role, enum access access, enum dtype t, uint64_t addr,
		int64_t rows, int64_t cols)
{
	int64_t bytes;

	if (op->noperand == OP_MAX_OPERANDS || !aten_plausible(addr, t) ||
	    __builtin_mul_overflow(rows ? rows : 1, cols * dtype_bytes(t), &bytes) || bytes < 1 ||
	    bytes > ATEN_MAX_BYTES)
		return false;
	operand_dense(&op->operand[op->noperand++], role, access, t, addr, rows, cols);
	return true;
}

bool aten_pitch(struct op *op, int64_t pitch)
{
	struct operand *o = &op->operand[op->noperand - 1];
	int64_t bytes;

	if (pitch < o->size[1] * o->stride[1] ||
	    __builtin_mul_overflow(o->size[0], pitch, &bytes) || bytes > ATEN_MAX_BYTES)
		return false;
	o->stride[0] = pitch;
	return true;
}

void aten_slot(struct op *op, uint32_t offset, uint16_t bytes, enum role role)
{
	if (op->nslot < OP_MAX_SLOTS)
		op->slot[op->nslot++] = (struct slot){(uint16_t)offset, bytes, (uint8_t)role};
}

void aten_blank(struct op *op, uint32_t offset, uint32_t bytes)
{
	if (bytes && bytes <= UINT16_MAX)
		aten_slot(op, offset, (uint16_t)bytes, ROLE_NONE);
}

void aten_shape(struct op *op, uint32_t offset, uint32_t bytes)
{
	if (bytes && bytes <= UINT16_MAX)
		aten_slot(op, offset, (uint16_t)bytes, ROLE_SHAPE);
}

bool aten_grid_is(const struct launch *l, int64_t n, int64_t each)
{
	return each > 0 && l->grid[1] == 1 && l->grid[2] == 1 &&
	       l->grid[0] == (n + each - 1) / each;
}
