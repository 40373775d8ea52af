// SPDX-License-Identifier: Apache-2.0
/*
 * cublasLt::splitKreduce_kernel<32, 16, int, in, ...>(struct of 60 bytes, 20 pointers): D = the sum
 * of the parts that a product split along K left in a workspace, + bias. Read off recorded
 * launches, as in nvjet.c; batches, epilogues other than a bias and pointers in unknown places are
 * opaque.
 */
#include "matcher/aten.h"

/* Words of the struct. */
enum { ALPHA, BETA, ROWS, COLS, LD, BATCHES = 8, STRIDE, PARTS, ZERO, EPILOGUE = 14, WORDS };
enum { STRUCT_BYTES = 4 * WORDS, FIRST = 64, POINTERS = 20 };
/* Of the pointers; the ones for alpha and beta are the host's. */
enum { WORK, C, MIDDLE, D, ALPHA_AT, BETA_AT, BIAS, BIAS_AGAIN = 8 };
enum { NO_EPILOGUE = 1, EPILOGUE_BIAS = 4 };

struct splitk {
	uint8_t in, out;
};

static const void *knows(const struct kernel *k)
{
	char text[ATEN_NAME_MAX];
	struct aten_part name;
	struct aten_param param[1 + POINTERS] = {{0, STRUCT_BYTES}};
	struct splitk s;

	if (strncmp(k->name, "_ZN8cublasLt19splitKreduce_kernelI", 34) ||
	    !aten_name_text(k->name, text, sizeof(text)))
		return NULL;
	memset(&s, 0, sizeof(s));
	name = aten_part(text);
	for (unsigned i = 0; i < POINTERS; i++)
		param[1 + i] = (struct aten_param){FIRST + 8 * i, 8};
	s.in = (uint8_t)aten_part_dtype(aten_part_argument(name, 3));
	s.out = (uint8_t)aten_part_dtype(aten_part_argument(name, 4));
	if (!s.in || !s.out || aten_part_number(aten_part_argument(name, 0)) != 32 ||
	    aten_part_number(aten_part_argument(name, 1)) != 16 ||
	    !aten_part_is(aten_part_argument(name, 2), "int") ||
	    !aten_params_are(k, param, 1 + POINTERS))
		return NULL;
	return aten_intern(&s, sizeof(s));
}

static bool pointers_fit(const uint64_t at[], uint32_t epilogue)
{
	const bool bias = epilogue == EPILOGUE_BIAS;

	if ((epilogue != NO_EPILOGUE && !bias) || (at[BIAS] != 0) != bias || at[C] != at[D] ||
	    (at[MIDDLE] != at[WORK] && at[MIDDLE] != at[D]) ||
	    (at[BIAS_AGAIN] && at[BIAS_AGAIN] != at[BIAS]))
		return false;
	for (unsigned i = BIAS + 1; i < POINTERS; i++)
		if (i != BIAS_AGAIN && at[i])
			return false;
	return true;
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	const struct splitk *s = data;
	uint32_t w[WORDS];
	uint64_t at[POINTERS];
	int64_t m, n, all;

	memcpy(w, l->params, sizeof(w));
	memcpy(at, l->params + FIRST, sizeof(at));
	m = w[ROWS];
	n = w[COLS];
	if (m < 1 || n < 1 || __builtin_mul_overflow(m, n, &all) || all > INT32_MAX ||
	    w[STRIDE] != all || w[BATCHES] != 1 || w[PARTS] < 1 || w[PARTS] > 4096 || w[ZERO] ||
	    w[ZERO + 1] || w[ZERO + 2] || !pointers_fit(at, w[EPILOGUE]))
		return REASON_SHAPE;
	for (unsigned i = LD; i < BATCHES; i++)
		if (w[i] != m)
			return REASON_SHAPE;
	if (l->grid[0] != (m + 31) / 32 || l->grid[1] != (n + 15) / 16 || l->grid[2] != 1 ||
	    l->block[0] != 32 || l->block[1] != 16 || l->block[2] != 1)
		return REASON_SHAPE;
	op->code = OP_touch;
	op->rows = n;
	op->cols = m;
	op->vetted = true;
	if (!aten_dense(op, ROLE_out, ACCESS_WRITE, (enum dtype)s->out, at[D], n, m) ||
	    !aten_dense(op, ROLE_scratch, ACCESS_READ, (enum dtype)s->in, at[WORK], 0,
			all * w[PARTS]) ||
	    !aten_dense(op, ROLE_scratch, ACCESS_WRITE, (enum dtype)s->in, at[WORK], 0,
			all * w[PARTS]) ||
	    /* beta: 0, or -0 */
	    (w[BETA] << 1 &&
	     !aten_dense(op, ROLE_out, ACCESS_READ, (enum dtype)s->out, at[D], n, m)) ||
	    (at[BIAS] && !aten_dense(op, ROLE_bias, ACCESS_READ, DT_u8, at[BIAS], 0, 4 * m)))
		return REASON_SHAPE;
	return REASON_NONE;
}

static uint64_t ops(const void *data)
{
	return (uint64_t)1 << OP_touch;
}

const struct decoder splitk_decoder = {"splitk", knows, decode, ops};
