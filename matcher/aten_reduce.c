// SPDX-License-Identifier: Apache-2.0
/*
 * reduce_kernel<T, V, ReduceOp<in, ops, unsigned int, out, vt, vector>>(ReduceOp): one struct by
 * value, {ops, identity, configuration, offsets within a row (of the input), offsets of the rows
 * (of output and input), src, dst[2], buffers of what several blocks share, flags}. Where the parts
 * lie follows from the sizes of ops and identity, and the whole must be as large as that makes it.
 */
#include "matcher/aten_reduce.h"

#include "matcher/aten.h"

/* ReduceConfig: 16 words. */
enum config {
	ELEMENT_SIZE,
	NUM_INPUTS,
	NUM_OUTPUTS,
	STEP_INPUT,
	STEP_OUTPUT,
	CTAS,
	INPUT_MULT,
	OUTPUT_MULT = INPUT_MULT + 3,
	BLOCK_WIDTH = OUTPUT_MULT + 2,
	BLOCK_HEIGHT,
	NUM_THREADS,
	VECTORIZE, /* a bool: one byte */
	OUTPUT_VECTOR,
	CONFIG_WORDS,
};
/* Behind the offsets. */
enum {
	SRC = 0,
	DST = 8,
	ACC_BUF = 24,
	CTA_BUF = 32,
	SEMAPHORES = 40,
	BASE_IDX = 48,
	FLAGS = 56,
	END = 64
};
enum { MAX_THREADS = 512 };

struct reduce {
	uint8_t code, in, out, compute; /* enum dtype; compute: DT_NONE if the values are pairs */
	uint8_t value_bytes, vt, vector;
	bool has_factor; /* a float at 0 */
	uint16_t config, row, rows, tail, bytes;
};

/* Of ops: its opcode, its size, and the type that it works in. */
static bool parse_ops(struct aten_part ops, struct reduce *r, uint32_t *bytes)
{
	struct aten_part base = aten_part_base(ops), inner = aten_part_argument(ops, 1);

	*bytes = 1;
	r->code = OP_touch;
	if (aten_part_is(base, "MeanOps")) {
		r->code = OP_mean;
		r->compute = (uint8_t)aten_part_dtype(aten_part_argument(ops, 1));
		r->has_factor = true;
		*bytes = 4;
		return r->compute == DT_f32 && aten_part_is(aten_part_argument(ops, 2), "float");
	}
	if (aten_part_is(base, "ArgMaxOps") || aten_part_is(base, "ArgMinOps")) {
		r->value_bytes = 16; /* a number and an index */
		return dtype_bytes(aten_part_dtype(aten_part_argument(ops, 0))) != 0;
	}
	if (!aten_part_is(base, "func_wrapper_t"))
		return false;
	base = aten_part_base(inner);
	if (aten_part_lambda(inner)) {
		r->compute = (uint8_t)aten_part_dtype(aten_part_parameter(inner, 0));
		if (aten_part_is(base, "sum_functor"))
			r->code = OP_sum;
	} else {
		r->compute = (uint8_t)aten_part_dtype(aten_part_argument(inner, 0));
		if (aten_part_is(base, "MaxNanFunctor"))
			r->code = OP_amax;
		else if (!aten_part_is(base, "MinNanFunctor"))
			return false;
	}
	return r->compute != DT_NONE;
}

static const void *knows(const struct kernel *k)
{
	char text[ATEN_NAME_MAX];
	struct aten_part name, op;
	struct aten_param param = {0, 0};
	struct reduce r;
	uint32_t bytes, align;
	int vt, vector;

	if (strncmp(k->name, "_ZN2at6native13reduce_kernelI", 29) ||
	    !aten_name_text(k->name, text, sizeof(text)))
		return NULL;
	memset(&r, 0, sizeof(r));
	name = aten_part(text);
	op = aten_part_argument(name, 2);
	if (!aten_part_is(aten_part_base(op), "ReduceOp") ||
	    !aten_part_is(aten_part_argument(op, 2), "unsigned int") ||
	    !parse_ops(aten_part_argument(op, 1), &r, &bytes))
		return NULL;
	r.in = (uint8_t)aten_part_dtype(aten_part_argument(op, 0));
	r.out = (uint8_t)aten_part_dtype(aten_part_argument(op, 3));
	vt = aten_part_number(aten_part_argument(op, 4));
	/* Older versions load as many elements at once as they have accumulators. */
	vector = aten_part_argument(op, 5).len ? aten_part_number(aten_part_argument(op, 5)) : vt;
	if (!r.in || !r.out || vt < 1 || vt > 16 || vector < 1 || vector > 16)
		return NULL;
	r.vt = (uint8_t)vt;
	r.vector = (uint8_t)vector;
	if (!r.value_bytes)
		r.value_bytes = (uint8_t)dtype_bytes((enum dtype)r.compute);
	align = r.value_bytes > 8 ? 8 : r.value_bytes;
	r.config = (uint16_t)aten_align(aten_align(bytes, align) + r.value_bytes, 4);
	r.row = (uint16_t)(r.config + 4 * CONFIG_WORDS);
	r.rows = (uint16_t)(r.row + aten_offsets_bytes(1));
	r.tail = (uint16_t)aten_align(r.rows + aten_offsets_bytes(2), 8);
	r.bytes = (uint16_t)(r.tail + END);
	param.bytes = r.bytes;
	return aten_params_are(k, &param, 1) ? aten_intern(&r, sizeof(r)) : NULL;
}

static bool is_bool(uint32_t mult)
{
	return mult != 0;
}

/* Do the configuration's numbers agree with each other and with the launch? */
static bool config_fits(const struct reduce *r, const struct launch *l, const uint32_t c[])
{
	const uint32_t width = c[BLOCK_WIDTH], height = c[BLOCK_HEIGHT], ovec = c[OUTPUT_VECTOR];
	const bool x = is_bool(c[INPUT_MULT]), y = is_bool(c[INPUT_MULT + 1]),
		   grid = is_bool(c[INPUT_MULT + 2]);
	const uint64_t threads = (uint64_t)width * height;
	uint64_t step = 1, rows = 1, shared = 0;

	for (unsigned i = 0; i < CONFIG_WORDS; i++)
		if (i != VECTORIZE && c[i] > INT32_MAX)
			return false;
	if (c[ELEMENT_SIZE] != r->value_bytes || !c[NUM_INPUTS] || !c[NUM_OUTPUTS] || threads < 1 ||
	    threads > MAX_THREADS || c[NUM_THREADS] != threads || !c[CTAS] ||
	    (ovec != 1 && ovec != 2 && ovec != 4) || c[NUM_OUTPUTS] % ovec)
		return false;
	/* Each kind of parallelism goes to elements of a row or to rows; what is split first varies
	 * fastest. */
	if (x ? c[INPUT_MULT] != step : c[OUTPUT_MULT] != (width > 1 ? rows : c[OUTPUT_MULT]))
		return false;
	*(x ? &step : &rows) *= width;
	if (y && c[INPUT_MULT + 1] != step)
		return false;
	if (!y && c[OUTPUT_MULT + 1] != rows && height > 1)
		return false;
	*(y ? &step : &rows) *= height;
	if (grid && c[INPUT_MULT + 2] != step)
		return false;
	if (grid != (c[CTAS] > 1))
		return false;
	step *= c[CTAS];
	if (c[STEP_INPUT] != step || c[STEP_OUTPUT] != rows)
		return false;
	if (y || (x && width > 32))
		shared = (uint64_t)r->value_bytes * threads * ovec;
	return l->block[0] == width && l->block[1] == height && l->block[2] == 1 &&
	       l->grid[0] == (c[NUM_OUTPUTS] / ovec + rows - 1) / rows && l->grid[1] == c[CTAS] &&
	       l->grid[2] == 1 && l->shmem == shared;
}

/* What several blocks share: room for their values, and counters. */
static bool shared_memory(const struct reduce *r, const uint32_t c[], const uint8_t *tail,
			  const struct launch *l, struct op *op)
{
	uint64_t bytes = (uint64_t)r->value_bytes * c[NUM_OUTPUTS] * c[CTAS];
	const uint64_t at[2] = {aten_u64(tail + CTA_BUF), aten_u64(tail + SEMAPHORES)};

	if (c[CTAS] == 1)
		return true;
	if (!c[INPUT_MULT])
		bytes *= (uint64_t)c[BLOCK_WIDTH] * c[OUTPUT_VECTOR];
	if (bytes > INT32_MAX)
		return false;
	for (unsigned i = 0; i < 2; i++)
		for (unsigned access = ACCESS_READ; access <= ACCESS_WRITE; access++)
			if (!aten_dense(op, ROLE_scratch, (enum access)access, i ? DT_i32 : DT_u8,
					at[i], 0, i ? l->grid[0] : (int64_t)bytes))
				return false;
	return true;
}

/* Out has the dimensions of `rows`, in0 those and then those of `row`. */
static bool operands(const struct reduce *r, const uint8_t *p, const struct aten_box *row,
		     const struct aten_box *rows, struct op *op)
{
	struct aten_box in; /* large: not zeroed */
	bool exact = true;

	in.dims = 0;
	if (row->dims + rows->dims > ATEN_MAX_DIMS)
		return false;
	for (unsigned d = 0; d < row->dims; d++, in.dims++) {
		in.size[in.dims] = row->size[d];
		in.stride[in.dims][0] = row->stride[d][0];
	}
	for (unsigned d = 0; d < rows->dims; d++, in.dims++) {
		if (!rows->stride[d][0])
			return false;
		in.size[in.dims] = rows->size[d];
		in.stride[in.dims][0] = rows->stride[d][1];
	}
	if (!aten_box_operand(rows, 0, ROLE_out, ACCESS_WRITE, (enum dtype)r->out,
			      aten_u64(p + r->tail + DST), op, &exact) ||
	    !aten_box_operand(&in, 0, ROLE_in0, ACCESS_READ, (enum dtype)r->in,
			      aten_u64(p + r->tail + SRC), op, &exact))
		return false;
	if (exact)
		return true;
	op->code = OP_touch;
	op->operand[op->noperand] = op->operand[0];
	op->operand[op->noperand++].access = ACCESS_READ;
	return true;
}

static void set_order(const struct reduce *r, const uint32_t c[], bool vectorized, struct op *op)
{
	struct op_order *o = &op->order;

	o->width = (uint16_t)c[BLOCK_WIDTH];
	o->height = (uint16_t)c[BLOCK_HEIGHT];
	o->vt = vectorized ? r->vector : r->vt;
	o->vector = vectorized ? r->vector : 0;
	o->along_x = c[INPUT_MULT] != 0;
	o->along_y = c[INPUT_MULT + 1] != 0;
	o->blocks = c[CTAS];
	memcpy(o->mult, c + INPUT_MULT, sizeof(o->mult));
	o->step = c[STEP_INPUT];
}

/* Identity, unused offsets and what they leave of the launch to say: nothing that the op does not.
 */
static void blank(const struct reduce *r, const uint8_t *p, struct op *op)
{
	uint32_t first = r->has_factor ? 4 : 0;

	aten_slot(op, r->tail + SRC, 8, ROLE_in0);
	aten_slot(op, r->tail + DST, 8, ROLE_out);
	aten_blank(op, first, r->config - first);
	aten_blank(op, r->config + 4 * VECTORIZE + 1, 3);
	aten_shape(op, r->config + 4 * NUM_OUTPUTS, 4);
	aten_offsets_blank(op, p, r->row, 1);
	aten_offsets_blank(op, p, r->rows, 2);
	aten_blank(op, r->rows + aten_offsets_bytes(2), r->tail - r->rows - aten_offsets_bytes(2));
	aten_blank(op, r->tail + DST + 8, ACC_BUF - DST - 8);
	if (aten_u32(p + r->config + 4 * CTAS) == 1)
		aten_blank(op, r->tail + CTA_BUF, BASE_IDX - CTA_BUF);
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	const struct reduce *r = data;
	const uint8_t *p = l->params, *tail = p + r->tail;
	struct aten_box row, rows;
	uint32_t c[CONFIG_WORDS];
	bool vectorized;

	memcpy(c, p + r->config, sizeof(c));
	vectorized = (uint8_t)c[VECTORIZE] != 0;
	/* Not accumulating onto what is there, and done in one launch. */
	if ((uint8_t)c[VECTORIZE] > 1 || tail[FLAGS] || tail[FLAGS + 1] != 1 ||
	    aten_u32(tail + FLAGS + 4) != 1 || aten_u64(tail + ACC_BUF) ||
	    aten_u64(tail + BASE_IDX) || !config_fits(r, l, c))
		return REASON_SHAPE;
	if (!aten_offsets(p + r->row, 1, c[NUM_INPUTS], &row) ||
	    !aten_offsets(p + r->rows, 2, c[NUM_OUTPUTS], &rows))
		return REASON_SHAPE;
	op->code = (enum opcode)r->code;
	op->compute = r->compute;
	op->rows = c[NUM_OUTPUTS];
	op->cols = c[NUM_INPUTS];
	op->vetted = true;
	if (!operands(r, p, &row, &rows, op) || !shared_memory(r, c, tail, l, op))
		return REASON_SHAPE;
	if (r->has_factor && op->code == OP_mean && aten_number(p, DT_f32, &op->scalar[0]))
		op->nscalar = 1;
	if (op->code != OP_touch)
		set_order(r, c, vectorized, op);
	blank(r, p, op);
	return REASON_NONE;
}

static uint64_t ops(const void *data)
{
	return (uint64_t)1 << ((const struct reduce *)data)->code | (uint64_t)1 << OP_touch;
}

const struct decoder aten_reduce_decoder = {"aten_reduce", knows, decode, ops};
