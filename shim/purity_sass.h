/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The little that purity needs to know of machine code, sm_70 to sm_120 (16 bytes an instruction).
 * Opcodes were read off ptxas 13.0's code by nvdisasm; the purity test compiles each kind anew.
 */
#ifndef AF_SHIM_PURITY_SASS_H
#define AF_SHIM_PURITY_SASS_H

#include <stddef.h>
#include <stdint.h>

enum sass_use {
	SASS_NOTHING,
	SASS_CONSTANT,         /* reads constant bank `bank` at `offset` */
	SASS_CONSTANT_INDEXED, /* reads it at an offset from a register */
	SASS_ATOMIC,           /* on integers */
	SASS_ATOMIC_FLOAT,     /* on floating-point numbers, or compare-and-swap */
	SASS_TEXTURE,          /* texture or surface */
	SASS_CLOCK,            /* reads a clock or which processor it runs on */
	SASS_CALL_POINTER,     /* calls through a register */
};

struct sass {
	enum sass_use use;
	unsigned bank, offset;
};

/* What one instruction (two 64-bit words) does. */
struct sass sass_decode(const uint64_t instruction[2]);

#endif
