/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a silu -> mul candidate and the parameter of the kernels, as host code fills it. */
#ifndef AF_FUSED_SILU_MUL_H
#define AF_FUSED_SILU_MUL_H

#include <stdint.h>

struct silu_fields {
#define FIELD(name, bits) uint16_t name;
#define VALUE(field, value, token)
#include "fused/silu.def"
#undef FIELD
#undef VALUE
};

/* Values as enumerators: SILU_exp_FULL, and so on. */
enum {
#define FIELD(name, bits) SILU_##name##_start_, SILU_##name##_reset_ = -1,
#define VALUE(field, value, token) SILU_##field##_##value,
#include "fused/silu.def"
#undef FIELD
#undef VALUE
};

enum { SILU_GATE, SILU_UP, SILU_ACT, SILU_OUT, SILU_OPERANDS };
enum { SILU_THREADS = 256, SILU_CHUNKS = 2 }; /* of a block; of 16 bytes, of a thread at a time */
/* Up to so many chunks: each thread one, few threads a block, so that all processors have some. */
enum { SILU_FEW = 16384, SILU_FEW_THREADS = 64 };

struct silu_mul_args {
	uint64_t addr[SILU_OPERANDS]; /* ACT: 0 if it is not to be stored */
	int64_t pitch[SILU_OPERANDS]; /* bytes between rows; 0: every row reads the same */
	uint8_t width[SILU_OPERANDS]; /* bytes of one access, 2 to 16: divides addr and pitch */
	int64_t rows, cols;           /* dense operands are one row */
	int64_t chunks;               /* of a row, the last one perhaps not whole */
	int32_t each;                 /* chunks that a thread takes at a time: 1 or SILU_CHUNKS */
	struct silu_fields f;
};

#ifdef __CUDACC__
#define SILU_FN static __host__ __device__ inline
#else
#define SILU_FN static inline
#endif
/* Spellings that have a loop of their own: in float; with exp, sum and quotient of the 16-bit type.
 */
SILU_FN int silu_usual(const struct silu_fields *f)
{
	return f->exp != SILU_exp_NATIVE && !f->rounde && !f->roundd && !f->roundq &&
	       (f->div == SILU_div_DIV || f->div == SILU_div_DIVFAST || f->div == SILU_div_RCP ||
		f->div == SILU_div_RCPFAST);
}
SILU_FN int silu_native(const struct silu_fields *f)
{
	return f->exp == SILU_exp_NATIVE && f->roundd && f->div == SILU_div_NATIVE;
}

#endif
