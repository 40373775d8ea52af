// SPDX-License-Identifier: Apache-2.0
/* Ops that move and choose elements, or change their sign, as statements. */
#include "matcher/row_emit.h"

/* An operand that is chosen, not computed with: as it is where the types allow it. */
static uint8_t chosen(struct emit *e, enum role role, enum dtype out)
{
	const struct operand *o = op_operand(e->op, role);

	if (o && o->dtype == out)
		return emit_raw(e, role);
	return emit_cast(e, out, emit_in(e, role));
}

static uint8_t truth(struct emit *e, uint8_t v)
{
	return emit_cast(e, DT_bool, v);
}

void emit_where(struct emit *e)
{
	const struct operand *out = op_operand(e->op, ROLE_out);
	const enum dtype t = (enum dtype)out->dtype;
	const uint8_t cond = truth(e, emit_raw(e, ROLE_cond));

	emit_write(e, out,
		   emit3(e, ROW_SELECT, t, cond, chosen(e, ROLE_in0, t), chosen(e, ROLE_in1, t)));
}

void emit_copy(struct emit *e)
{
	const struct operand *out = op_operand(e->op, ROLE_out);

	emit_write(e, out, emit_cast(e, (enum dtype)out->dtype, emit_raw(e, ROLE_in0)));
}

void emit_sign(struct emit *e, enum row_code code)
{
	const struct operand *out = op_operand(e->op, ROLE_out), *in = op_operand(e->op, ROLE_in0);

	if (in && in->dtype == out->dtype && e->pick->spelling.sign == PICK_sign_BITS)
		emit_write(e, out, emit1(e, code, (enum dtype)in->dtype, emit_raw(e, ROLE_in0)));
	else
		emit_out(e, ROLE_out, emit1(e, code, e->math, emit_in(e, ROLE_in0)));
}

/*
 * What is only moved has any type of its size in the op that moves it; here it has the one that
 * another member takes it for.
 */
static enum dtype moved_type(const struct emit *e)
{
	const struct op *op = e->op;

	for (unsigned i = 0; i < op->noperand; i++)
		for (unsigned m = 0; m < e->nall; m++)
			for (unsigned k = 0; k < e->all[m].op->noperand; k++) {
				const struct operand *mine = &op->operand[i],
						     *o = &e->all[m].op->operand[k];

				if (o->addr == mine->addr && o->dtype != mine->dtype &&
				    dtype_bytes(o->dtype) == dtype_bytes(mine->dtype))
					return (enum dtype)o->dtype;
			}
	return (enum dtype)op->operand[0].dtype;
}

static struct operand moved(const struct operand *o, enum dtype t)
{
	struct operand as = *o;

	as.dtype = (uint8_t)t;
	return as;
}

void emit_cat(struct emit *e)
{
	const struct operand *out = op_operand(e->op, ROLE_out);
	static const enum role role[] = {ROLE_in0, ROLE_in1, ROLE_in2};
	const enum dtype t = moved_type(e);
	struct operand as;
	int64_t at = 0;
	uint8_t all = 0;

	for (unsigned i = 0; i < 3; i++) {
		const struct operand *o = op_operand(e->op, role[i]);
		uint8_t v;

		if (!o)
			continue;
		if (o->dtype != out->dtype)
			emit_fail(e, REASON_SHAPE);
		as = moved(o, t);
		v = emit_read(e, &as);
		if (at && !e->why)
			v = emit_shift(e, ROW_SHIFT, t, v, ROW_NONE, -at);
		all = at ? emit_shift(e, ROW_CAT, t, all, v, at) : v;
		at += o->size[o->ndim - 1];
	}
	if (at != out->size[out->ndim - 1])
		emit_fail(e, REASON_SHAPE);
	as = moved(out, t);
	emit_write(e, &as, all);
}
