// SPDX-License-Identifier: Apache-2.0
#include "matcher/op.h"

#include <string.h>

static const struct {
	const char *name;
	unsigned bytes;
} dtype_row[DT_COUNT] = {
	{"none", 0},
#define DTYPE(name, bytes) {#name, bytes},
#include "matcher/dtype.def"
#undef DTYPE
};

static const char *const opcode_row[OP_COUNT] = {
#define OPCODE(name, space, formula, operands) #name,
#include "matcher/opcode.def"
#undef OPCODE
};

static const struct {
	const char *name;
	enum role_kind kind;
} role_row[ROLE_COUNT] = {
	{"none", ROLE_KIND_NONE},
#define ROLE(name, kind) {#name, ROLE_KIND_##kind},
#include "matcher/role.def"
#undef ROLE
};

const char *dtype_name(enum dtype t)
{
	return (unsigned)t < DT_COUNT ? dtype_row[t].name : "?";
}

enum dtype dtype_parse(const char *name)
{
	for (unsigned i = 1; i < DT_COUNT; i++)
		if (!strcmp(name, dtype_row[i].name))
			return (enum dtype)i;
	return DT_NONE;
}

unsigned dtype_bytes(enum dtype t)
{
	return (unsigned)t < DT_COUNT ? dtype_row[t].bytes : 0;
}

const char *opcode_name(enum opcode c)
{
	return (unsigned)c < OP_COUNT ? opcode_row[c] : "?";
}

int opcode_parse(const char *name)
{
	for (int i = 0; i < OP_COUNT; i++)
		if (!strcmp(name, opcode_row[i]))
			return i;
	return -1;
}

const char *role_name(enum role r)
{
	return (unsigned)r < ROLE_COUNT ? role_row[r].name : "?";
}

enum role role_parse(const char *name)
{
	for (unsigned i = 1; i < ROLE_COUNT; i++)
		if (!strcmp(name, role_row[i].name))
			return (enum role)i;
	return ROLE_NONE;
}

enum role_kind role_kind(enum role r)
{
	return (unsigned)r < ROLE_COUNT ? role_row[r].kind : ROLE_KIND_NONE;
}

const struct operand *op_operand(const struct op *op, enum role role)
{
	for (unsigned i = 0; i < op->noperand; i++)
		if (op->operand[i].role == role)
			return &op->operand[i];
	return NULL;
}

void op_copy(struct op *to, const struct op *from)
{
	memcpy(to, from, offsetof(struct op, operand));
	memcpy(to->operand, from->operand, from->noperand * sizeof(from->operand[0]));
	memcpy(to->slot, from->slot, from->nslot * sizeof(from->slot[0]));
}

static bool order_same(const struct op_order *a, const struct op_order *b)
{
	return a->width == b->width &&
	       (!a->width ||
		(a->height == b->height && a->vt == b->vt && a->vector == b->vector &&
		 a->along_x == b->along_x && a->along_y == b->along_y && a->blocks == b->blocks &&
		 a->step == b->step && !memcmp(a->mult, b->mult, sizeof(a->mult))));
}

bool op_same(const struct op *a, const struct op *b)
{
	if (a->code != b->code || a->vetted != b->vetted || a->noperand != b->noperand ||
	    a->nslot != b->nslot || a->rows != b->rows || a->cols != b->cols ||
	    a->has_eps != b->has_eps || (a->has_eps && memcmp(&a->eps, &b->eps, sizeof(a->eps))) ||
	    a->plus_one != b->plus_one || a->nscalar != b->nscalar || a->compute != b->compute ||
	    memcmp(a->scalar, b->scalar, sizeof(a->scalar)) || !order_same(&a->order, &b->order))
		return false;
	for (unsigned i = 0; i < a->nslot; i++)
		if (a->slot[i].offset != b->slot[i].offset ||
		    a->slot[i].bytes != b->slot[i].bytes || a->slot[i].role != b->slot[i].role)
			return false;
	for (unsigned i = 0; i < a->noperand; i++)
		if (!operand_same(&a->operand[i], &b->operand[i]) ||
		    a->operand[i].role != b->operand[i].role ||
		    a->operand[i].access != b->operand[i].access)
			return false;
	return true;
}
