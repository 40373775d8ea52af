// SPDX-License-Identifier: Apache-2.0
/*
 * triu_tril_kernel<T, int or long, UPPER, elements a thread, IN_PLACE>(out, in, long, long, int or
 * long), both tensors by value as TensorInfo and of one shape. In place only the zeroed half is
 * written: out counts as read, too.
 */
#include "matcher/aten.h"

struct triangle {
	uint8_t type, word;
};

static const void *knows(const struct kernel *k)
{
	char text[ATEN_NAME_MAX];
	struct aten_part name;
	struct triangle t;
	uint32_t tensor;

	if (strncmp(k->name, "_ZN2at6native16triu_tril_kernelI", 32) ||
	    !aten_name_text(k->name, text, sizeof(text)))
		return NULL;
	memset(&t, 0, sizeof(t));
	name = aten_part(text);
	t.type = (uint8_t)aten_part_dtype(aten_part_argument(name, 0));
	t.word = (uint8_t)dtype_bytes(aten_part_dtype(aten_part_argument(name, 1)));
	if (!t.type || (t.word != 4 && t.word != 8))
		return NULL;
	tensor = aten_tensor_bytes(t.word);
	const struct aten_param param[] = {{0, tensor},
					   {tensor, tensor},
					   {2 * tensor, 8},
					   {2 * tensor + 8, 8},
					   {2 * tensor + 16, t.word}};
	return aten_params_are(k, param, 5) ? aten_intern(&t, sizeof(t)) : NULL;
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	const struct triangle *t = data;
	const enum dtype type = (enum dtype)t->type;
	const uint32_t tensor = aten_tensor_bytes(t->word);
	const struct operand *out = &op->operand[0], *in = &op->operand[2];

	op->code = OP_touch;
	op->vetted = true;
	op->rows = op->cols = 1;
	if (!aten_tensor(op, l->params, t->word, ROLE_out, ACCESS_WRITE, type, -1, 0) ||
	    !aten_tensor(op, l->params, t->word, ROLE_out, ACCESS_READ, type, -1, 0) ||
	    !aten_tensor(op, l->params + tensor, t->word, ROLE_in0, ACCESS_READ, type, -1, 0) ||
	    in->ndim != out->ndim || in->ndim < 2)
		return REASON_SHAPE;
	for (unsigned d = 0; d < in->ndim; d++) {
		if (in->size[d] != out->size[d] ||
		    __builtin_mul_overflow(op->rows, d + 1 < in->ndim ? in->size[d] : 1, &op->rows))
			return REASON_SHAPE;
		op->cols = in->size[d];
	}
	return REASON_NONE;
}

static uint64_t ops(const void *data)
{
	return (uint64_t)1 << OP_touch;
}

const struct decoder aten_triangle_decoder = {"aten_triangle", knows, decode, ops};
