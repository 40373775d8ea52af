// SPDX-License-Identifier: Apache-2.0
/* Strided boxes: views, ranges, overlap. Declared in op.h. */
#include "matcher/op.h"

/* dtype_bytes without the call: this file is where the planner spends its time. */
static const uint8_t size_of[DT_COUNT] = {
	0,
#define DTYPE(name, bytes) bytes,
#include "matcher/dtype.def"
#undef DTYPE
};

/*
 * A box without the dimensions that say nothing: size 1 dropped, neighbours that lie one behind
 * the other merged. Two boxes list the same addresses in the same order iff these are equal.
 */
struct box {
	unsigned ndim; /* 0: one element */
	int64_t size[OP_MAX_DIMS], stride[OP_MAX_DIMS];
	bool empty;
};

static inline struct box box_of(const struct operand *o)
{
	struct box b;

	b.ndim = 0;
	b.empty = false;
	for (unsigned i = 0; i < o->ndim; i++) {
		if (o->size[i] == 0)
			b.empty = true;
		if (o->size[i] == 1)
			continue;
		if (b.ndim && b.stride[b.ndim - 1] == o->size[i] * o->stride[i]) {
			b.size[b.ndim - 1] *= o->size[i];
			b.stride[b.ndim - 1] = o->stride[i];
			continue;
		}
		b.size[b.ndim] = o->size[i];
		b.stride[b.ndim++] = o->stride[i];
	}
	return b;
}

void operand_dense(struct operand *o, enum role role, enum access access, enum dtype t,
		   uint64_t addr, int64_t rows, int64_t cols)
{
	int64_t bytes = size_of[t];

	o->addr = addr;
	o->dtype = (uint8_t)t;
	o->role = (uint8_t)role;
	o->access = (uint8_t)access;
	if (!rows) {
		o->ndim = 1;
		o->size[0] = cols;
		o->stride[0] = bytes;
		return;
	}
	o->ndim = 2;
	o->size[0] = rows;
	o->stride[0] = cols * bytes;
	o->size[1] = cols;
	o->stride[1] = bytes;
}

bool operand_rows(const struct operand *o, int64_t rows, int64_t cols, int64_t *pitch)
{
	const int64_t bytes = size_of[o->dtype], dense = cols * bytes;
	const struct box b = box_of(o);

	if (b.empty || rows < 1 || cols < 1)
		return false;
	*pitch = dense;
	switch (b.ndim) {
	case 0:
		if (cols != 1)
			return false;
		*pitch = rows == 1 ? dense : 0;
		return true;
	case 1:
		if (b.stride[0] == bytes && b.size[0] == rows * cols)
			return true;
		if (b.stride[0] == bytes && b.size[0] == cols) {
			*pitch = 0; /* one row for all */
			return true;
		}
		*pitch = b.stride[0];
		return cols == 1 && b.size[0] == rows;
	case 2:
		*pitch = b.stride[0];
		return b.size[0] == rows && b.size[1] == cols && b.stride[1] == bytes;
	default:
		return false;
	}
}

struct range operand_range(const struct operand *o)
{
	struct range r = {o->addr, o->addr};
	uint64_t lo = 0, hi = size_of[o->dtype];

	for (unsigned i = 0; i < o->ndim; i++) {
		int64_t span;

		if (o->size[i] == 0)
			return r;
		span = (o->size[i] - 1) * o->stride[i];
		if (span < 0)
			lo += (uint64_t)-span;
		else
			hi += (uint64_t)span;
	}
	r.lo -= lo;
	r.hi += hi;
	return r;
}

/* Where the order of elements does not matter: dimensions by their strides, the widest first. */
static inline struct box area_of(const struct operand *o)
{
	struct operand sorted;
	unsigned i = 1;

	while (i < o->ndim && o->stride[i - 1] >= o->stride[i])
		i++;
	if (i >= o->ndim)
		return box_of(o);
	sorted = *o;
	for (; i < o->ndim; i++) {
		const int64_t size = o->size[i], stride = o->stride[i];
		unsigned k = i;

		for (; k > 0 && sorted.stride[k - 1] < stride; k--) {
			sorted.size[k] = sorted.size[k - 1];
			sorted.stride[k] = sorted.stride[k - 1];
		}
		sorted.size[k] = size;
		sorted.stride[k] = stride;
	}
	return box_of(&sorted);
}

bool operand_runs(const struct operand *o, int64_t *run, int64_t *pitch, int64_t *n)
{
	const int64_t bytes = size_of[o->dtype];
	const struct box b = area_of(o);
	bool inner = b.ndim && b.stride[b.ndim - 1] == bytes;
	unsigned outer = b.ndim - (inner ? 1 : 0);

	*run = inner ? b.size[b.ndim - 1] * bytes : bytes;
	*pitch = outer ? b.stride[0] : 0;
	*n = outer && *pitch ? b.size[0] : 1;
	return outer <= 1 && *pitch >= 0;
}

bool operand_overlap(const struct operand *a, const struct operand *b)
{
	int64_t run_a, run_b, pitch_a, pitch_b, n, shift;

	/* Mostly they are far from each other. */
	if (!range_overlap(operand_range(a), operand_range(b)))
		return false;
	/* Columns of one table: equal pitch, and the runs never meet. A single run has any pitch.
	 */
	if (!operand_runs(a, &run_a, &pitch_a, &n) || !operand_runs(b, &run_b, &pitch_b, &n))
		return true;
	if (!pitch_a)
		pitch_a = pitch_b;
	if (!pitch_b)
		pitch_b = pitch_a;
	if (pitch_a != pitch_b || !pitch_a)
		return true;
	shift = (int64_t)(b->addr - a->addr) % pitch_a;
	if (shift < 0)
		shift += pitch_a;
	return shift < run_a || shift + run_b > pitch_a;
}

bool operand_same(const struct operand *a, const struct operand *b)
{
	const struct box x = box_of(a), y = box_of(b);

	if (a->addr != b->addr || a->dtype != b->dtype || x.ndim != y.ndim || x.empty || y.empty)
		return false;
	for (unsigned i = 0; i < x.ndim; i++)
		if (x.size[i] != y.size[i] || x.stride[i] != y.stride[i])
			return false;
	return true;
}

bool operand_covers(const struct operand *o, struct range r)
{
	const struct range mine = operand_range(o);
	int64_t run, pitch, n;

	return operand_runs(o, &run, &pitch, &n) && !pitch && (uint64_t)run == mine.hi - mine.lo &&
	       mine.lo <= r.lo && r.hi <= mine.hi;
}

uint64_t operand_bytes(const struct operand *o)
{
	uint64_t bytes = size_of[o->dtype];

	for (unsigned i = 0; i < o->ndim; i++)
		if (o->stride[i] || !o->size[i])
			bytes *= (uint64_t)o->size[i];
	return bytes;
}
