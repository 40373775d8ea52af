/* SPDX-License-Identifier: Apache-2.0 */
/* What the members of a chain are given to read, and where they may write. */
#include <stdlib.h>
#include <string.h>

#include "shim/probe_child_chain.h"
#include "shim/probe_child_source.h"

static int64_t size_of(const struct operand *o, unsigned d)
{
	return o->stride[d] ? o->size[d] : o->size[d] > 0;
}

int64_t probe_chain_elements(const struct operand *o)
{
	int64_t n = 1;

	for (unsigned d = 0; d < o->ndim; d++)
		n *= size_of(o, d);
	return n;
}

char *probe_chain_element(const struct probe *p, const struct operand *o, void *image, int64_t i)
{
	char *at = (char *)image + (o->addr - p->arena);

	for (unsigned d = o->ndim; d-- > 0;) {
		int64_t n = size_of(o, d);

		at += i % n * o->stride[d];
		i /= n;
	}
	return at;
}

static bool is_float(enum dtype t)
{
	return t == DT_f32 || t == DT_f16 || t == DT_bf16;
}

/* Integers of all sizes and of few, numbers of other types by chance. */
static void put_other(struct source *s, enum dtype t, char *at)
{
	static const int64_t odd[] = {0, 1, -1, 2, INT8_MIN, INT8_MAX, INT32_MIN, INT32_MAX};
	const unsigned bytes = dtype_bytes(t);
	int64_t v = below(s, 3) ? odd[below(s, 8)] : (int64_t)next(s);
	double d = gauss(s);

	if (t == DT_bool)
		v = (int64_t)(next(s) & 1);
	if (t == DT_e4m3 || t == DT_e5m2)
		v = (int64_t)next(s);
	if (t == DT_f64)
		memcpy(at, &d, 8);
	else
		memcpy(at, &v, bytes); /* least significant byte first */
}

/* An operand of an op where each element stands for itself: first factors, or what they meet. */
static void fill_elements(const struct probe *p, const struct operand *o, enum probe_family f,
			  uint64_t number, char *image)
{
	const enum dtype t = (enum dtype)o->dtype;
	const int64_t n = probe_chain_elements(o);
	struct source s = {.state = number * 0x9e3779b97f4a7c15u + o->role};
	struct probe_batch b;

	if (!is_float(t)) {
		for (int64_t i = 0; i < n; i++)
			put_other(&s, t, probe_chain_element(p, o, image, i));
		return;
	}
	if (!probe_batch_init(&b, t, t, 1, n, 0)) {
		probe_batch_free(&b);
		return;
	}
	b.silu = true;
	b.family = f;
	probe_batch_fill(&b, f, number + (o->role == ROLE_in2 ? 1000003 : 0));
	for (int64_t i = 0; i < n; i++)
		memcpy(probe_chain_element(p, o, image, i),
		       (o->role == ROLE_in0 ? b.a : b.b) + i * dtype_bytes(t), dtype_bytes(t));
	probe_batch_free(&b);
}

static bool along_rows(enum opcode c)
{
	return c == OP_rmsnorm || c == OP_layernorm || c == OP_softmax || c == OP_sum ||
	       c == OP_mean || c == OP_amax;
}

void probe_chain_fill_op(const struct probe *p, const struct probe_member *m, enum probe_family f,
			 uint64_t number, char *image)
{
	const struct op *op = &m->run.op;
	const struct operand *in = op_operand(op, ROLE_in0);

	if (along_rows(op->code) && in && is_float((enum dtype)in->dtype) &&
	    probe_chain_elements(in) == op->rows * op->cols) {
		probe_chain_fill_row_op(p, m, f, number, image);
		return;
	}
	for (unsigned i = 0; i < op->noperand; i++)
		if (op->operand[i].access & ACCESS_READ)
			fill_elements(p, &op->operand[i], f, number, image);
}

void probe_chain_fill(const struct probe *p, enum probe_family f, uint64_t number, uint64_t garbage,
		      char *image)
{
	for (size_t i = 0; i + 8 <= p->arena_bytes; i += 8) {
		garbage = garbage * 6364136223846793005u + 1442695040888963407u;
		memcpy(image + i, &garbage, 8);
	}
	/* What two read is the earlier one's. */
	for (unsigned i = p->nmember; i-- > 0;)
		probe_chain_fill_op(p, &p->member[i], f, number, image);
}

void probe_chain_written(const struct probe *p, bool *map)
{
	for (unsigned i = 0; i < p->nmember; i++) {
		const struct op *op = &p->member[i].run.op;

		for (unsigned k = 0; k < op->noperand; k++) {
			const struct operand *o = &op->operand[k];

			for (int64_t e = 0; o->access & ACCESS_WRITE && e < probe_chain_elements(o);
			     e++)
				memset(probe_chain_element(p, o, map, e), true,
				       dtype_bytes((enum dtype)o->dtype));
		}
	}
}
