// SPDX-License-Identifier: Apache-2.0
/*
 * ROLE[SIZE:STRIDE|SIZE:STRIDE|...]: operands that are no dense row of elements. Outermost
 * dimension first; strides in elements, 0 where the dimension is broadcast; without one the
 * dimension lies dense on those behind it that are not broadcast.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matcher/sig_table.h"

#define MAX_SPAN ((int64_t)1 << 44) /* elements */

static int parse_dim(struct sig *s, struct sig_dim *d, char *text, char *err, unsigned errsize)
{
	char *stride = strchr(text, ':');

	memset(d, 0, sizeof(*d));
	if (stride) {
		*stride++ = 0;
		d->strided = true;
		if (strcmp(stride, "0") && sig_expr_parse(s, &d->stride, stride, err, errsize))
			return -1;
	}
	return sig_expr_parse(s, &d->size, text, err, errsize);
}

int sig_box_parse(struct sig *s, struct sig_arg *a, char *text, char *err, unsigned errsize)
{
	if (!a->box)
		a->box = calloc(1, sizeof(*a->box));
	if (!a->box) {
		snprintf(err, errsize, "out of memory");
		return -1;
	}
	for (char *next; text; text = next) {
		next = strchr(text, '|');
		if (next)
			*next++ = 0;
		if (a->box->ndim == OP_MAX_DIMS) {
			snprintf(err, errsize, "expected at most %d dimensions", OP_MAX_DIMS);
			return -1;
		}
		if (parse_dim(s, &a->box->dim[a->box->ndim++], text, err, errsize))
			return -1;
	}
	return 0;
}

int sig_box_check(const struct sig *s, const struct sig_arg *a, const struct sig_operand *o,
		  char *err, unsigned errsize)
{
	const char *role = role_name((enum role)a->role);

	if (sig_form(s->code)->space != SPACE_ELEMENTS && s->code != OP_cat) {
		snprintf(err, errsize, "args: %s: %s takes no dimensions", role,
			 opcode_name(s->code));
		return -1;
	}
	/* What a strided store leaves as it was would have to be said, too. */
	for (unsigned i = 0; i < a->box->ndim; i++)
		if (a->box->dim[i].strided && (o->access & ACCESS_WRITE || a->inout)) {
			snprintf(err, errsize, "args: %s is written: it takes no strides", role);
			return -1;
		}
	return 0;
}

bool sig_box_place(const struct sig_box *box, const struct launch *l, const struct sig_values *v,
		   struct operand *o, int64_t *count)
{
	const int64_t bytes = dtype_bytes(o->dtype);
	int64_t dense = 1, span = 0, reach;

	*count = 1;
	o->ndim = (uint8_t)box->ndim;
	for (unsigned i = box->ndim; i-- > 0;) {
		const struct sig_dim *d = &box->dim[i];
		int64_t stride = d->strided ? 0 : dense;

		if (!sig_expr_value(&d->size, l, v, &o->size[i]) ||
		    (d->stride.nterm && !sig_expr_value(&d->stride, l, v, &stride)) ||
		    __builtin_mul_overflow(*count, o->size[i], count) || *count > MAX_SPAN ||
		    __builtin_mul_overflow(o->size[i], stride, &reach) ||
		    __builtin_add_overflow(span, reach, &span) || span > MAX_SPAN)
			return false;
		o->stride[i] = stride * bytes;
		if (stride)
			dense = reach;
	}
	return true;
}

static int64_t count_of(const struct operand *o)
{
	int64_t n = 1;

	for (unsigned i = 0; i < o->ndim; i++)
		n *= o->size[i]; /* each is within MAX_SPAN */
	return n;
}

/* One behind the other, in rows of these sizes. */
static void reshape(struct operand *o, const struct operand *like)
{
	int64_t stride = dtype_bytes(o->dtype);

	o->ndim = like->ndim;
	for (unsigned i = o->ndim; i-- > 0;) {
		o->size[i] = like->size[i];
		o->stride[i] = stride;
		stride *= o->size[i];
	}
}

bool sig_box_agree(struct op *op)
{
	const struct operand *box = NULL;

	for (unsigned i = 0; i < op->noperand; i++)
		if (op->operand[i].ndim > 1)
			box = &op->operand[i];
	if (!box || sig_form(op->code)->space != SPACE_ELEMENTS)
		return true;
	if (count_of(box) != op->cols)
		return false;
	for (unsigned i = 0; i < op->noperand; i++) {
		struct operand *o = &op->operand[i];

		if (o->ndim == 1 && o->size[0] == op->cols)
			reshape(o, box);
		else if (o->ndim != box->ndim ||
			 memcmp(o->size, box->size, box->ndim * sizeof(o->size[0])))
			return false;
	}
	return true;
}
