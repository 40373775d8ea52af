// SPDX-License-Identifier: Apache-2.0
#include "fused/candidate_row.h"

#include <string.h>

#include "fused/candidate_say.h"

uint8_t say3(struct row *r, enum row_code c, enum dtype t, uint8_t flags, uint8_t a, uint8_t b,
	     uint8_t d)
{
	r->stmt[r->nstmt] = (struct row_stmt){
		.code = (uint8_t)c, .type = (uint8_t)t, .flags = flags, .arg = {a, b, d}};
	return r->nstmt++;
}

uint8_t say2(struct row *r, enum row_code c, enum dtype t, uint8_t flags, uint8_t a, uint8_t b)
{
	return say3(r, c, t, flags, a, b, ROW_NONE);
}

uint8_t say1(struct row *r, enum row_code c, enum dtype t, uint8_t flags, uint8_t a)
{
	return say3(r, c, t, flags, a, ROW_NONE, ROW_NONE);
}

static uint8_t number(struct row *r, enum dtype t, uint64_t bits)
{
	const uint8_t v = say1(r, ROW_CONST, t, 0, ROW_NONE);

	r->stmt[v].at = r->nimm;
	r->imm[r->nimm++] = bits;
	return v;
}

uint8_t say_f32(struct row *r, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return number(r, DT_f32, bits);
}

uint8_t say_f64(struct row *r, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return number(r, DT_f64, bits);
}

uint8_t say_cast(struct row *r, enum dtype t, uint8_t a)
{
	return r->stmt[a].type == t ? a : say1(r, ROW_CAST, t, 0, a);
}

uint8_t say_rounded(struct row *r, enum dtype t, bool yes, uint8_t a)
{
	return yes ? say_cast(r, DT_f32, say_cast(r, t, a)) : a;
}

uint8_t say_load(struct row *r, unsigned operand)
{
	const uint8_t v = say1(r, ROW_LOAD, (enum dtype)r->operand[operand].dtype, 0, ROW_NONE);

	r->stmt[v].at = (uint8_t)operand;
	r->operand[operand].use |= ROW_READ;
	return v;
}

void say_store(struct row *r, unsigned operand, uint8_t value)
{
	const uint8_t v = say1(r, ROW_STORE, (enum dtype)r->operand[operand].dtype, 0, value);

	r->stmt[v].at = (uint8_t)operand;
	r->operand[operand].use |= ROW_WRITE;
}

/* Are a group's elements one run, in every slot? Then rows mean nothing. */
static bool is_run(const struct group *g)
{
	for (unsigned i = 0; i < g->nbound; i++)
		if (g->rows > 1 &&
		    g->bound[i].pitch != g->cols * dtype_bytes((enum dtype)g->bound[i].dtype))
			return false;
	return g->pattern == &pattern_silu_mul;
}

/* Where a slot lies, in rows and columns as the program has them. */
static void box(const struct group *g, const struct bound *b, bool run, struct row_operand *o)
{
	const int64_t bytes = dtype_bytes((enum dtype)b->dtype);
	const bool flat = run || g->cols == 1;

	o->addr = b->addr;
	o->stride[0] = run ? bytes : b->pitch;
	o->step = flat ? 0 : bytes;
	o->width = flat ? 1 : g->cols;
	o->dtype = b->dtype;
}

static bool same_box(const struct row *r, const struct row_operand *x, const struct row_operand *y)
{
	return x->addr == y->addr && x->dtype == y->dtype &&
	       (r->size[0] == 1 || x->stride[0] == y->stride[0]);
}

/* Slots in the same place are one operand. */
static void operands(const struct group *g, struct row *r, uint8_t *of)
{
	const bool run = is_run(g);

	memset(r, 0, sizeof(*r));
	r->ndim = 1;
	r->nmember = (uint8_t)group_size(g);
	r->size[0] = run ? g->rows * g->cols : g->rows;
	r->cols = run ? 1 : g->cols;
	for (unsigned i = 0; i < g->nbound; i++) {
		struct row_operand o = {0};

		box(g, &g->bound[i], run, &o);
		for (of[i] = 0; of[i] < r->noperand; of[i]++)
			if (same_box(r, &r->operand[of[i]], &o))
				break;
		if (of[i] == r->noperand)
			r->operand[r->noperand++] = o;
	}
}

static bool say_add_rmsnorm(const struct group *g, const struct candidate *c, const uint8_t *of,
			    struct row *r)
{
	const enum dtype t = (enum dtype)g->bound[ADD_RMSNORM_A].dtype;
	struct fields f;
	uint8_t a, b, x, w;

	/* Of one column nothing is a row. */
	if (candidate_unpack(c->code, &f) || g->cols < 2)
		return false;
	a = say_cast(r, DT_f32, say_load(r, of[ADD_RMSNORM_A]));
	b = say_cast(r, DT_f32, say_load(r, of[ADD_RMSNORM_B]));
	w = say_cast(r, DT_f32, say_load(r, of[ADD_RMSNORM_W]));
	x = say_cast(r, t, say2(r, ROW_ADD, DT_f32, f.addftz ? ROW_FTZ : 0, a, b));
	if (g->bound[ADD_RMSNORM_SUM].use & BOUND_WRITE)
		say_store(r, of[ADD_RMSNORM_SUM], x);
	x = say_norm(r, t, &f, g->cols, candidate_eps(g, c), say_cast(r, DT_f32, x), w);
	say_store(r, of[ADD_RMSNORM_OUT], say_cast(r, t, x));
	return true;
}

static bool say_silu_mul(const struct group *g, const struct candidate *c, const uint8_t *of,
			 struct row *r)
{
	const enum dtype t = (enum dtype)g->bound[SILU_MUL_GATE].dtype;
	struct silu_fields f;
	uint8_t up, act, v;

	if (candidate_unpack_silu(c->code, &f))
		return false;
	act = say_silu(r, t, &f, say_load(r, of[SILU_MUL_GATE]));
	if (act == ROW_NONE)
		return false;
	up = say_cast(r, DT_f32, say_load(r, of[SILU_MUL_UP]));
	act = say_cast(r, t, act);
	if (g->bound[SILU_MUL_SILU].use & BOUND_WRITE)
		say_store(r, of[SILU_MUL_SILU], act);
	v = say2(r, ROW_MUL, DT_f32, f.mulftz ? ROW_FTZ : 0, say_cast(r, DT_f32, act), up);
	say_store(r, of[SILU_MUL_OUT], say_cast(r, t, v));
	return true;
}

enum reason candidate_row(const struct group *g, const struct candidate *c, struct row *r)
{
	uint8_t of[GROUP_MAX_OPERANDS];
	bool said;

	if (!fused_can(g) || g->rows < 1 || g->cols < 1)
		return REASON_SHAPE;
	operands(g, r, of);
	said = g->pattern == &pattern_silu_mul ? say_silu_mul(g, c, of, r)
					       : say_add_rmsnorm(g, c, of, r);
	if (!said)
		return REASON_SHAPE;
	row_spans(r);
	row_canon(r);
	return row_check(r);
}
