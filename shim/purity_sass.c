/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/purity_sass.h"

/* The low nine bits of an instruction say what it does, the next three where operands come from. */
enum {
	OP_LDC = 0x182,
	OP_LDCU = 0x1ac, /* sm_100 on */
	OP_S2R = 0x119,
	OP_CS2R = 0x005,
	OP_S2UR = 0x1c3,
	OP_BAR = 0x11d, /* its barrier's number lies where others have a constant's bank */
	OP_CALL_ABS = 0x143,
	OP_CALL_REL = 0x144,
	OP_ATOM = 0x18a,
	OP_ATOM_CAS = 0x18b,
	OP_ATOMS = 0x18c,
	OP_ATOMS_CAS = 0x18d,
	OP_RED = 0x18e,
	OP_ATOM_FLOAT =
		0x1a2, /* sm_90 on, as the next and REDG_FLOAT; before, a type field says so */
	OP_ATOMG_FLOAT = 0x1a3,
	OP_REDG_FLOAT = 0x1a6,
	OP_ATOMG = 0x1a8,
	OP_ATOMG_CAS = 0x1a9,
	OP_TEX_FIRST = 0x160, /* TEX, TLD4, TLD, TXD, TXQ, ... */
	OP_TEX_LAST = 0x16f,
	OP_SUATOM_FIRST = 0x194,
	OP_SUATOM_LAST = 0x195,
	OP_SULD = 0x199,
	OP_SURED = 0x19b,
	OP_SUST = 0x19d,
	OP_SURED_B = 0x19f,

	SR_VIRTUAL_SMID = 0x43,
	SR_CLOCK_FIRST = 0x50, /* clock and global timer, low and high */
	SR_CLOCK_LAST = 0x53,

	FORM_REGISTER = 0x2,
	FORM_CONSTANT_C = 0x6, /* operand c is in a constant bank */
	FORM_IMMEDIATE = 0x8,
	FORM_CONSTANT_B = 0xa, /* operand b */
	RZ = 0xff,
};

/* Atomics on global memory name their type: 3 is f32, 4 f16x2, 6 f64, 7 bf16x2. */
static enum sass_use atomic(uint64_t high)
{
	unsigned type = high >> 9 & 7;

	return type == 3 || type == 4 || type >= 6 ? SASS_ATOMIC_FLOAT : SASS_ATOMIC;
}

/* Special registers that tell where or when the code runs. */
static enum sass_use special(uint64_t high)
{
	unsigned id = high >> 8 & 0xff;

	return id == SR_VIRTUAL_SMID || (id >= SR_CLOCK_FIRST && id <= SR_CLOCK_LAST)
		       ? SASS_CLOCK
		       : SASS_NOTHING;
}

static struct sass constant(uint64_t low, unsigned op)
{
	struct sass s = {.use = SASS_CONSTANT, .bank = low >> 54 & 31};

	s.offset = op == OP_LDCU ? low >> 37 & 0x1ffff : low >> 38 & 0xffff;
	if ((op == OP_LDC || op == OP_LDCU) && (low >> 24 & 0xff) != RZ)
		s.use = SASS_CONSTANT_INDEXED;
	return s;
}

struct sass sass_decode(const uint64_t instruction[2])
{
	uint64_t low = instruction[0];
	unsigned op = low & 0x1ff, form = low >> 8 & 0xe;
	struct sass s = {.use = SASS_NOTHING};

	switch (op) {
	case OP_BAR:
		return s;
	case OP_S2R:
	case OP_CS2R:
	case OP_S2UR:
		s.use = form == FORM_IMMEDIATE ? special(instruction[1]) : SASS_NOTHING;
		return s;
	case OP_CALL_ABS:
	case OP_CALL_REL:
		s.use = form == FORM_REGISTER ? SASS_CALL_POINTER : SASS_NOTHING;
		return s;
	case OP_ATOM:
	case OP_ATOMG:
	case OP_RED:
		s.use = atomic(instruction[1]);
		return s;
	case OP_ATOMS:
		s.use = SASS_ATOMIC;
		return s;
	case OP_ATOM_CAS:
	case OP_ATOMS_CAS:
	case OP_ATOM_FLOAT:
	case OP_ATOMG_FLOAT:
	case OP_REDG_FLOAT:
	case OP_ATOMG_CAS:
		s.use = SASS_ATOMIC_FLOAT;
		return s;
	case OP_SULD:
	case OP_SURED:
	case OP_SURED_B:
	case OP_SUST:
		s.use = SASS_TEXTURE;
		return s;
	}
	if ((op >= OP_TEX_FIRST && op <= OP_TEX_LAST) || op == OP_SUATOM_FIRST ||
	    op == OP_SUATOM_LAST)
		s.use = SASS_TEXTURE;
	else if (form == FORM_CONSTANT_B || form == FORM_CONSTANT_C)
		s = constant(low, op);
	return s;
}
