/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members at another number of rows than the program has: their extents, operands and grids.
 * Memory is the arena's business.
 */
#include <string.h>

#include "shim/probe_child.h"

enum {
	/* Numbers of elements that leave the same remainder go the same way through kernels that
	 * take several at a time. */
	LIKE = 32,
};

static bool set_slot(uint8_t *params, const struct slot *s, int64_t v)
{
	if (v < 1 || (s->bytes < 8 && v > INT32_MAX))
		return false;
	memcpy(params + s->offset, &v, s->bytes);
	return true;
}

static int64_t get_slot(const uint8_t *params, const struct slot *s)
{
	int64_t v = 0;

	memcpy(&v, params + s->offset, s->bytes);
	return v;
}

/* The columns that an argument of an elementwise member gives, which are not the group's; else 1.
 */
static int64_t inner(const struct probe_member *pm)
{
	for (unsigned i = 0; i < pm->m.op.nslot; i++)
		if (pm->m.op.slot[i].role == ROLE_cols)
			return get_slot(pm->params[0], &pm->m.op.slot[i]);
	return 1;
}

static bool set_extents(const struct group *asked, struct probe_member *pm, int64_t rows)
{
	int64_t all = asked->rows * asked->cols, now = rows * asked->cols, cols = inner(pm);

	for (unsigned i = 0; i < pm->run.op.nslot; i++) {
		const struct slot *s = &pm->run.op.slot[i];
		int64_t v = get_slot(pm->params[0], s);

		if (role_kind((enum role)s->role) != ROLE_KIND_EXTENT || s->role == ROLE_cols)
			continue;
		if (v == all)
			v = now;
		else if (v == asked->rows && s->role == ROLE_rows)
			v = rows;
		else if (s->role == ROLE_rows && cols > 0 && v == all / cols && now % cols == 0)
			v = now / cols;
		else
			return false;
		if (!set_slot(pm->params[1], s, v))
			return false;
	}
	return true;
}

/* Has it one element for each row? */
static bool per_row(const struct op *op, const struct operand *o)
{
	return o->role == ROLE_mean || o->role == ROLE_rstd ||
	       (o->role == ROLE_out &&
		(op->code == OP_sum || op->code == OP_mean || op->code == OP_amax));
}

static bool set_operands(const struct group *asked, struct op *op, int64_t rows)
{
	int64_t all = asked->rows * asked->cols;

	for (unsigned i = 0; i < op->noperand; i++) {
		struct operand *o = &op->operand[i];

		if (o->ndim == 1 && o->size[0] == all)
			o->size[0] = rows * asked->cols;
		else if (o->ndim == 1 && o->size[0] == asked->rows && per_row(op, o))
			o->size[0] = rows;
		else if (o->ndim == 2 && o->size[0] == asked->rows)
			o->size[0] = rows;
		else if (o->ndim != 1 || o->size[0] != asked->cols)
			return false;
	}
	if (op->rows == asked->rows)
		op->rows = rows;
	else if (op->rows == 1 && op->cols == all)
		op->cols = rows * asked->cols;
	else
		return false;
	return true;
}

/* The grid by the rule that the program's follows, or as many times as large. */
static bool set_grid(const struct probe *p, struct probe_member *pm, int64_t rows)
{
	struct launch *l = &pm->run.launch;
	int64_t x = l->grid[0] * (rows / p->asked.rows);
	char rule[48];

	if (p->scale == PROBE_SCALE_GRID && rows > p->asked.rows) {
		l->grid[0] = (uint32_t)x;
		return rows % p->asked.rows == 0 && x > 0 && x <= INT32_MAX;
	}
	key_grid_rule(&pm->m.launch, &pm->m.op, rule);
	return key_grid_apply(rule, &pm->run.op, l->block, l->grid);
}

bool probe_rows_set(struct probe *p, int64_t rows)
{
	for (unsigned i = 0; i < p->nmember; i++) {
		struct probe_member *m = &p->member[i];

		m->run = m->m;
		memcpy(m->params[1], m->params[0], sizeof(m->params[1]));
		m->run.launch.params = m->params[1];
		if (rows != p->asked.rows &&
		    (!set_extents(&p->asked, m, rows) ||
		     !set_operands(&p->asked, &m->run.op, rows) || !set_grid(p, m, rows)))
			return false;
	}
	return true;
}

int64_t probe_rows_near(const struct probe *p, int64_t rows)
{
	int64_t unit = 1, like = LIKE, n, have, all;

	for (unsigned i = 0; i < p->nmember && p->asked.cols == 1; i++)
		if (p->asked.rows % inner(&p->member[i]) == 0 && unit < inner(&p->member[i]))
			unit = inner(&p->member[i]);
	if (p->scale == PROBE_SCALE_GRID)
		unit = p->asked.rows;
	for (all = unit * p->asked.cols; like > 1 && all % 2 == 0; all /= 2)
		like /= 2;
	have = p->asked.rows / unit;
	n = (rows + unit - 1) / unit;
	return (n + ((have - n) % like + like) % like) * unit;
}
