// SPDX-License-Identifier: Apache-2.0
/* opcode.def as data: which operands an opcode has. */
#include "matcher/sig_table.h"

#define ROW(role, access, shape, may) {ROLE_##role, access, SHAPE_##shape, may},
#define READ(role, shape) ROW(role, ACCESS_READ, shape, false)
#define WRITE(role, shape) ROW(role, ACCESS_WRITE, shape, false)
#define MAY_READ(role, shape) ROW(role, ACCESS_READ, shape, true)
#define MAY_WRITE(role, shape) ROW(role, ACCESS_WRITE, shape, true)
#define MAY_BOTH(role, shape) ROW(role, ACCESS_READ | ACCESS_WRITE, shape, true)

static const struct sig_form form[OP_COUNT] = {
#define OPCODE(name, space, formula, operands)                                                     \
	[OP_##name] = {SPACE_##space, {operands{ROLE_NONE, 0, 0, false}}},
#include "matcher/opcode.def"
#undef OPCODE
};

const struct sig_form *sig_form(enum opcode code)
{
	return &form[code];
}

const struct sig_operand *sig_form_operand(enum opcode code, enum role role)
{
	for (const struct sig_operand *o = form[code].operand; o->role; o++)
		if (o->role == role)
			return o;
	return NULL;
}
