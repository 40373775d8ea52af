// SPDX-License-Identifier: Apache-2.0
/* What a functor's bytes add to its name. Declared in aten.h. */
#include "matcher/aten.h"

uint64_t aten_function_ops(const struct aten_function *f)
{
	uint64_t set = (uint64_t)1 << f->code | (uint64_t)1 << OP_touch;

	if (f->choose == ATEN_ALPHA)
		set |= (uint64_t)1 << OP_sub;
	if (f->choose == ATEN_EQUAL)
		set |= (uint64_t)1 << OP_unequal;
	if (f->choose == ATEN_COMPARE)
		set |= (uint64_t)1 << OP_less_equal;
	return set;
}

static void swap_sides(struct op *op)
{
	for (unsigned i = 0; i < op->noperand; i++) {
		uint8_t *role = &op->operand[i].role;

		if (*role == ROLE_in0 || *role == ROLE_in1)
			*role = *role == ROLE_in0 ? ROLE_in1 : ROLE_in0;
	}
}

enum reason aten_function_apply(const struct aten_function *f, const uint8_t *functor,
				struct op *op)
{
	bool exact = true;
	uint32_t which;

	op->code = (enum opcode)f->code;
	op->compute = f->compute;
	op->nscalar = f->nscalar;
	for (unsigned i = 0; i < f->nscalar; i++)
		exact &= aten_number(functor + f->scalar[i].at, (enum dtype)f->scalar[i].dtype,
				     &op->scalar[i]);
	switch (f->choose) {
	case ATEN_ALPHA:
		if (op->scalar[0] == 1 || op->scalar[0] == -1) {
			op->code = op->scalar[0] == 1 ? OP_add : OP_sub;
			op->nscalar = 0;
			op->scalar[0] = 1;
		}
		break;
	case ATEN_EQUAL:
		which = aten_u32(functor);
		if (which > 1)
			return REASON_SHAPE;
		op->code = which ? OP_unequal : OP_equal;
		break;
	case ATEN_COMPARE:
		which = aten_u32(functor);
		if (which > 3)
			return REASON_SHAPE;
		op->code = which == 0 || which == 2 ? OP_less_equal : OP_less;
		if (which < 2)
			swap_sides(op);
		break;
	case ATEN_CUBE:
		op->nscalar = 1;
		op->scalar[0] = 3;
		break;
	case ATEN_CLAMP:
		for (uint32_t i = 0; i < f->limits; i++)
			if (functor[i])
				op->code = OP_touch;
		break;
	default:
		break;
	}
	if (!exact) {
		op->code = OP_touch;
		op->nscalar = 0;
	}
	return REASON_NONE;
}

void aten_function_blank(const struct aten_function *f, uint32_t offset, uint32_t bytes,
			 struct op *op)
{
	uint32_t at = f->choose == ATEN_EQUAL || f->choose == ATEN_COMPARE ? 4 : 0;

	if (!f->exact || op->code == OP_touch)
		return;
	if (f->choose == ATEN_CLAMP)
		at = f->limits; /* all zero, as apply saw */
	for (unsigned i = 0; i < f->nscalar; i++) {
		aten_blank(op, offset + at, f->scalar[i].at - at);
		at = f->scalar[i].at + dtype_bytes((enum dtype)f->scalar[i].dtype);
	}
	aten_blank(op, offset + at, bytes - at);
}
