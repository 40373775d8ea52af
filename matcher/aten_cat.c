// SPDX-License-Identifier: Apache-2.0
/*
 * Concatenation: CatArrayBatchedCopy[_contig|_aligned16_contig|_alignedK_contig|_vectorized]<
 * OpaqueType<bytes>, unsigned int, dims, most, strides[, ...]>(out, inputs, shape of out, int
 * along, unsigned step). Each row of the grid (y) copies one input. `inputs` by value: for each of
 * `most` its address, its offset and its size along the dimension, its number of elements, whether
 * it is dense; and for each of `strides` {size[4], stride[4]}, of those that are not.
 *
 * Elements are known by their size only: i8, i16, i32 and i64 stand for any type of that size. The
 * vectorized form has the concatenated dimension and those behind it as one, the last, and counts
 * out in units of 16 bytes.
 */
#include "matcher/aten.h"

enum { MAX_DIMS = 4, SHAPE_BYTES = 32, VECTOR = 16, MAX_EXACT = 3, MAX_TOUCHED = 6 };

struct cat {
	uint8_t type, bytes, dims, vectorized;
	uint16_t most, shape, along, step;
	bool strided; /* has shapes of inputs */
};

static enum dtype opaque_type(int bytes)
{
	return bytes == 1   ? DT_i8
	       : bytes == 2 ? DT_i16
	       : bytes == 4 ? DT_i32
	       : bytes == 8 ? DT_i64
			    : DT_NONE;
}

static const void *knows(const struct kernel *k)
{
	char text[ATEN_NAME_MAX];
	struct aten_part name, base, type;
	struct aten_param param[5] = {{0, 8}, {8, 0}, {0, SHAPE_BYTES}, {0, 4}, {0, 4}};
	int bytes, dims, most, strides;
	struct cat c;

	if (!strstr(k->name, "CatArrayBatchedCopy") || strncmp(k->name, "_ZN2at6native", 13) ||
	    !aten_name_text(k->name, text, sizeof(text)))
		return NULL;
	memset(&c, 0, sizeof(c));
	name = aten_part(text);
	base = aten_part_base(name);
	type = aten_part_argument(name, 0);
	bytes = aten_part_number(aten_part_argument(type, 0));
	dims = aten_part_number(aten_part_argument(name, 2));
	most = aten_part_number(aten_part_argument(name, 3));
	strides = aten_part_number(aten_part_argument(name, 4));
	c.type = (uint8_t)opaque_type(bytes);
	if (!aten_part_starts(base, "CatArrayBatchedCopy") ||
	    !aten_part_is(aten_part_base(type), "OpaqueType") || !c.type ||
	    !aten_part_is(aten_part_argument(name, 1), "unsigned int") || dims < 1 ||
	    dims > MAX_DIMS || most < 1 || most > 256 || strides < 1 || strides > most)
		return NULL;
	c.vectorized = aten_part_is(base, "CatArrayBatchedCopy_vectorized");
	c.bytes = (uint8_t)bytes;
	c.dims = (uint8_t)dims;
	c.most = (uint16_t)most;
	c.strided = strides == most;
	param[1].bytes = aten_align((uint32_t)(8 * most + 12 * most + most), 4) +
			 (uint32_t)strides * SHAPE_BYTES;
	param[1].bytes = aten_align(param[1].bytes, 8);
	param[2].offset = 8 + param[1].bytes;
	param[3].offset = param[2].offset + SHAPE_BYTES;
	param[4].offset = param[3].offset + 4;
	c.shape = (uint16_t)param[2].offset;
	c.along = (uint16_t)param[3].offset;
	c.step = (uint16_t)param[4].offset;
	return aten_params_are(k, param, 5) ? aten_intern(&c, sizeof(c)) : NULL;
}

/* A box of `dims` dimensions in elements; false if it is not plausible. */
static bool set_box(struct operand *o, const struct cat *c, const int64_t size[],
		    const int64_t stride[])
{
	int64_t last = 0;

	o->ndim = c->dims;
	for (unsigned d = 0; d < c->dims; d++) {
		if (size[d] < 1 || stride[d] < 0 || size[d] > INT32_MAX)
			return false;
		o->size[d] = size[d];
		o->stride[d] = stride[d] * c->bytes;
		last += (size[d] - 1) * stride[d];
	}
	return last <= UINT32_MAX;
}

static void read_words(const uint8_t *p, unsigned n, int64_t unit, int64_t to[])
{
	for (unsigned i = 0; i < n; i++)
		to[i] = (int64_t)aten_u32(p + 4 * i) * unit;
}

/* Input i of the launch: where it begins in the concatenated dimension, and how long it is. */
struct input {
	uint64_t addr;
	int64_t offset, length, elements;
	bool dense;
};

static struct input read_input(const struct cat *c, const uint8_t *inputs, unsigned i)
{
	const uint8_t *words = inputs + 8 * c->most;

	return (struct input){aten_u64(inputs + 8 * i), aten_u32(words + 4 * i),
			      aten_u32(words + 4 * c->most + 4 * i),
			      aten_u32(words + 8 * c->most + 4 * i), words[12 * c->most + i] != 0};
}

static bool add_input(const struct cat *c, const uint8_t *inputs, unsigned i,
		      const struct input *in, const int64_t out_size[], unsigned along,
		      int64_t length, enum role role, struct op *op)
{
	const uint8_t *shape = inputs + aten_align(21u * c->most, 4) + SHAPE_BYTES * i;
	struct operand *o = &op->operand[op->noperand];
	int64_t size[MAX_DIMS], stride[MAX_DIMS], all = 1;

	for (unsigned d = c->dims; d--;) {
		size[d] = d == along ? length : out_size[d];
		stride[d] = all;
		all *= size[d];
		if (all > INT32_MAX)
			return false;
	}
	if (all != in->elements ||
	    !aten_dense(op, role, ACCESS_READ, (enum dtype)c->type, in->addr, 0, all))
		return false;
	if (!in->dense) {
		int64_t said[MAX_DIMS];

		if (!c->strided)
			return false;
		read_words(shape, c->dims, 1, said);
		read_words(shape + 16, c->dims, 1, stride);
		for (unsigned d = 0; d < c->dims; d++)
			if (said[d] != size[d])
				return false;
	}
	return set_box(o, c, size, stride);
}

/* What is said of inputs beyond the last, and shapes that nobody needs: what the stack held. */
static void blank(const struct cat *c, const uint8_t *p, uint32_t n, struct op *op)
{
	const uint32_t words = 8 + 8u * c->most, unused = c->most - n,
		       shapes = 8 + aten_align(21u * c->most, 4), flags = 8 + 20u * c->most;
	uint32_t shaped = c->strided ? n : 0;

	while (shaped && p[flags + shaped - 1])
		shaped--;
	aten_blank(op, 8 + 8 * n, 8 * unused);
	for (unsigned i = 0; i < 3; i++)
		aten_blank(op, words + 4 * (i * c->most + n), 4 * unused);
	aten_blank(op, flags + n, shapes - flags - n);
	aten_blank(op, shapes + SHAPE_BYTES * shaped, c->shape - shapes - SHAPE_BYTES * shaped);
	for (unsigned i = 0; i < 2; i++)
		aten_blank(op, c->shape + 16 * i + 4u * c->dims, 4u * (MAX_DIMS - c->dims));
	for (unsigned i = 0; i < 3; i++)
		aten_shape(op, words + 4 * i * c->most, 4 * n);
	for (unsigned i = 0; i < shaped; i++)
		aten_shape(op, shapes + SHAPE_BYTES * i, SHAPE_BYTES);
	for (unsigned i = 0; i < 2; i++)
		aten_shape(op, c->shape + 16 * i, 4u * c->dims);
	aten_shape(op, c->step, 4);
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	const struct cat *c = data;
	const uint8_t *p = l->params, *inputs = p + 8;
	const uint32_t n = l->grid[1], along = aten_u32(p + c->along), step = aten_u32(p + c->step);
	const int64_t unit = c->vectorized ? VECTOR / c->bytes : 1;
	int64_t size[MAX_DIMS], stride[MAX_DIMS], end = 0, scale = 1;
	unsigned used = 0;
	bool first = false;

	if (along >= c->dims || !n || n > c->most || l->grid[2] != 1 || l->block[1] != 1 ||
	    l->block[2] != 1)
		return REASON_SHAPE;
	read_words(p + c->shape, c->dims, 1, size);
	read_words(p + c->shape + 16, c->dims, unit, stride);
	stride[c->dims - 1] /= unit;
	size[c->dims - 1] *= unit;
	/* The offsets are in elements of the dimension that the program concatenated along. */
	if (c->vectorized && along == c->dims - 1u)
		scale = step;
	else if (c->vectorized || (int64_t)step != stride[along])
		return REASON_SHAPE;
	if (!aten_dense(op, ROLE_out, ACCESS_WRITE, (enum dtype)c->type, aten_u64(p), 0, 1) ||
	    !set_box(&op->operand[0], c, size, stride))
		return REASON_SHAPE;
	op->code = OP_cat;
	op->vetted = true;
	aten_slot(op, 0, 8, ROLE_out);
	for (unsigned i = 0; i < n; i++) {
		struct input in = read_input(c, inputs, i);

		if (!in.elements)
			continue; /* an empty tensor */
		if (used == MAX_TOUCHED)
			return REASON_SHAPE;
		if (!used)
			first = in.offset == 0;
		else if (in.offset * scale != end)
			return REASON_SHAPE;
		end = (in.offset + in.length) * scale;
		if (!add_input(c, inputs, i, &in, size, along, in.length * scale,
			       (enum role)(ROLE_in0 + (used < MAX_EXACT ? used : MAX_EXACT - 1)),
			       op))
			return REASON_SHAPE;
		aten_slot(op, 8 + 8 * i, 8, op->operand[op->noperand - 1].role);
		used++;
	}
	if (!used || end > size[along])
		return REASON_SHAPE;
	op->rows = 1;
	op->cols = 1;
	for (unsigned d = 0; d < c->dims; d++)
		if (__builtin_mul_overflow(op->cols, size[d], &op->cols) || op->cols > INT32_MAX)
			return REASON_SHAPE;
	/* Some of several launches, or too many inputs for the roles that there are. */
	if (!first || end != size[along] || used > MAX_EXACT) {
		op->code = OP_touch;
		if (op->noperand == OP_MAX_OPERANDS)
			return REASON_SHAPE;
		op->operand[op->noperand] = op->operand[0];
		op->operand[op->noperand++].access = ACCESS_READ;
	}
	blank(c, p, n, op);
	return REASON_NONE;
}

static uint64_t ops(const void *data)
{
	return (uint64_t)1 << OP_cat | (uint64_t)1 << OP_touch;
}

const struct decoder aten_cat_decoder = {"aten_cat", knows, decode, ops};
