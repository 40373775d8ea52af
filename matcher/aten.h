/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the decoders of PyTorch's kernels share. They know a kernel by the stable parts of its name
 * (aten_name.h) and by the offsets and sizes of its parameters, which must be exactly those of the
 * layouts that are known; each launch must then agree with itself: sizes, strides, alignment, grid.
 * Facts about layouts and formulas: PyTorch's public sources, 2.4 to 2.11, and recorded launches.
 */
#ifndef AF_MATCHER_ATEN_H
#define AF_MATCHER_ATEN_H

#include <string.h>

#include "matcher/aten_name.h"
#include "matcher/decode.h"

enum {
	ATEN_MAX_INPUTS = 3,
	ATEN_MAX_DIMS = 25, /* of TensorIterator */
};

#define ATEN_MAX_BYTES ((int64_t)1 << 47) /* more than any device has */

/*
 * One copy of `size` bytes for all kernels with the same contents, never freed: their number is
 * bounded by that of different kernels' kinds. NULL if memory is out. Thread-safe.
 */
const void *aten_intern(const void *data, size_t size);

/* Parameter i lies at that offset and is so large; and there are exactly n of them. */
struct aten_param {
	uint32_t offset, bytes;
};
bool aten_params_are(const struct kernel *k, const struct aten_param *p, unsigned n);

static inline uint32_t aten_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

static inline uint64_t aten_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

/* A number of type t as a double; false if that does not hold it exactly. */
bool aten_number(const uint8_t *p, enum dtype t, double *v);
/* The type that c10::ScalarType says; DT_NONE for those that no decoder handles. */
enum dtype aten_scalar_type(uint8_t t);
/* What PyTorch computes in for elements of that type: f32 for 16-bit floats. */
enum dtype aten_math(enum dtype t);
static inline uint32_t aten_align(uint32_t at, uint32_t to)
{
	return (at + to - 1) / to * to;
}

/* Can an operand be there at all? Not NULL, aligned, and in the range of device addresses. */
bool aten_plausible(uint64_t addr, enum dtype t);

/* Operands and slots; false if there is no room, or if address or size are not plausible. cols is
 * less than 2^48. aten_pitch sets the bytes between rows of the last operand, a 2-d one. */
bool aten_dense(struct op *op, enum role role, enum access access, enum dtype t, uint64_t addr,
		int64_t rows, int64_t cols);
bool aten_pitch(struct op *op, int64_t pitch);
void aten_slot(struct op *op, uint32_t offset, uint16_t bytes, enum role role);
/* Bytes that mean nothing (padding, unused entries), as decode does not look at them: no key, no
 * site and no remembered group depends on them. */
void aten_blank(struct op *op, uint32_t offset, uint32_t bytes);
/* Sizes and strides that the op has said: no key depends on them, so that what is known of a kernel
 * is known of it at other sizes, too; sites and ways do. */
void aten_shape(struct op *op, uint32_t offset, uint32_t bytes);

/* blocks of `each` that cover n: is it the grid's x, and y and z 1? */
bool aten_grid_is(const struct launch *l, int64_t n, int64_t each);

/*
 * An OffsetCalculator of ATen's by value: element i of a tensor lies where mixed-radix digits of i,
 * the first dimension fastest, times strides in bytes say. dims @0, from 4 on 25 divisors of 12
 * bytes {divisor, magic, shift}, then 25 times one stride for each tensor. Only `dims` of them are
 * written. Dimensions of size 1 are left out, and neighbours merged where all tensors allow it.
 */
struct aten_box {
	unsigned dims;
	int64_t size[ATEN_MAX_DIMS], stride[ATEN_MAX_DIMS][ATEN_MAX_INPUTS + 2];
};
static inline uint32_t aten_offsets_bytes(unsigned tensors)
{
	return 4 + 12 * ATEN_MAX_DIMS + 4 * ATEN_MAX_DIMS * tensors;
}
/* False unless it is one of n elements. Reads aten_offsets_bytes(tensors) bytes. */
bool aten_offsets(const uint8_t *p, unsigned tensors, int64_t n, struct aten_box *box);
/* What of an OffsetCalculator at that offset of the parameters is not in use. */
void aten_offsets_blank(struct op *op, const uint8_t *params, uint32_t offset, unsigned tensors);
/*
 * Adds tensor t of the box as an operand. Where it has too many dimensions, all from its first to
 * its last byte: *exact is set to false, and whoever writes it must say that it also reads it.
 */
bool aten_box_operand(const struct aten_box *box, unsigned t, enum role role, enum access access,
		      enum dtype type, uint64_t addr, struct op *op, bool *exact);

/*
 * A TensorInfo of ATen's by value: {address, size[25], stride[25], int dims}, sizes and strides in
 * elements and of 4 or 8 bytes. Adds it as an operand; dimension `along` has `length` elements
 * whatever the struct says (-1: none). Reads aten_tensor_bytes(word) bytes.
 */
static inline uint32_t aten_tensor_bytes(unsigned word)
{
	return aten_align(8 + 2 * ATEN_MAX_DIMS * word + 4, 8);
}
bool aten_tensor(struct op *op, const uint8_t *p, unsigned word, enum role role, enum access access,
		 enum dtype t, int along, int64_t length);

/*
 * What a functor makes of its arguments. dtype[0] is its result, dtype[1 + i] its argument i, which
 * becomes the operand of that role. Scalars lie in the functor. How the opcode follows from the
 * functor's bytes where the name leaves it open, `choose` says.
 */
enum aten_choose {
	ATEN_AS_NAMED,
	ATEN_ALPHA,   /* add or sub, by the alpha in scalar 0 */
	ATEN_EQUAL,   /* the first int: 0 ==, 1 != */
	ATEN_COMPARE, /* the first int: >=, >, <=, < */
	ATEN_CLAMP,   /* all zero: relu, else something */
	ATEN_CUBE,    /* no bytes: to the power of 3 */
};

struct aten_function {
	uint8_t code, choose, compute;
	uint8_t nin, nscalar, exact; /* exact: bytes must be the functor's size */
	uint8_t dtype[1 + ATEN_MAX_INPUTS], role[ATEN_MAX_INPUTS];
	struct {
		uint8_t at, dtype;
	} scalar[OP_MAX_SCALARS];
	uint16_t bytes;      /* size of the functor */
	uint8_t alternative; /* another size that it can have, or 0 */
	uint8_t align;
	uint8_t limits; /* ATEN_CLAMP: what is read ends here */
};

/* Zeroes and fills *f by the functor's name. */
bool aten_function_parse(struct aten_part functor, struct aten_function *f);
/* The opcodes it may give. */
uint64_t aten_function_ops(const struct aten_function *f);
/* Sets code, compute and scalars of *op by the functor's bytes; operands must be there, and may
 * change roles. */
enum reason aten_function_apply(const struct aten_function *f, const uint8_t *functor,
				struct op *op);
/* What of the functor's bytes, at that offset of the parameters, says no more than the op does. */
void aten_function_blank(const struct aten_function *f, uint32_t offset, uint32_t bytes,
			 struct op *op);

#endif
