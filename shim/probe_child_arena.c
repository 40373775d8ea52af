/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena: buffers in place of the program's, with the same overlaps, distances within them and
 * alignment, and room on both sides of each, so that what a kernel does beyond its operands shows.
 */
#include <string.h>

#include "shim/probe_child.h"

enum {
	GUARD = 4096,               /* bytes on either side of a region */
	ALIGN = 512,                /* addresses keep their remainder by this */
	ELEMENTS_SOFTGPU = 1 << 14, /* rows * cols to run at once, about */
	ELEMENTS = 1 << 19,
	ELEMENTS_MAX = 1 << 25, /* more are not probed at all */
};

static void set_slot(uint8_t *params, const struct slot *s, uint64_t v)
{
	memcpy(params + s->offset, &v, s->bytes);
}

/* Makes the extents of one member those of `rows` rows. False if it is not clear how. */
static bool set_rows(const struct group *asked, struct probe_member *pm, int64_t rows)
{
	struct member *m = &pm->run;
	int64_t all = asked->rows * asked->cols;
	char rule[48];

	for (unsigned i = 0; i < m->op.nslot; i++) {
		const struct slot *s = &m->op.slot[i];
		int64_t v = 0;

		if (role_kind((enum role)s->role) != ROLE_KIND_EXTENT || s->role == ROLE_cols)
			continue;
		memcpy(&v, pm->params[0] + s->offset, s->bytes);
		if (v == all)
			v = rows * asked->cols;
		else if (v == asked->rows && s->role == ROLE_rows)
			v = rows;
		else
			return false;
		set_slot(pm->params[1], s, (uint64_t)v);
	}
	for (unsigned i = 0; i < m->op.noperand; i++) {
		struct operand *o = &m->op.operand[i];

		if (o->ndim == 1 && o->size[0] == all)
			o->size[0] = rows * asked->cols;
		else if (o->ndim == 2 && o->size[0] == asked->rows)
			o->size[0] = rows;
		else if (o->ndim != 1 || o->size[0] != asked->cols)
			return false;
	}
	if (m->op.rows == asked->rows)
		m->op.rows = rows;
	else if (m->op.rows == 1 && m->op.cols == all)
		m->op.cols = rows * asked->cols;
	else
		return false;
	key_grid_rule(&pm->m.launch, &pm->m.op, rule);
	return key_grid_apply(rule, &m->op, m->launch.block, m->launch.grid);
}

static bool prepare(struct probe *p, int64_t rows)
{
	for (unsigned i = 0; i < p->nmember; i++) {
		struct probe_member *m = &p->member[i];

		m->run = m->m;
		memcpy(m->params[1], m->params[0], sizeof(m->params[1]));
		m->run.launch.params = m->params[1];
		if (rows != p->asked.rows && !set_rows(&p->asked, m, rows))
			return false;
	}
	return true;
}

/* Adds a range of the program's memory; what overlaps becomes one region. */
static void add_region(struct probe *p, struct range r)
{
	if (r.lo == r.hi)
		return;
	for (unsigned i = 0; i < p->nregion; i++) {
		struct range q = p->region[i].program;

		if (!range_overlap(q, r))
			continue;
		r.lo = q.lo < r.lo ? q.lo : r.lo;
		r.hi = q.hi > r.hi ? q.hi : r.hi;
		p->region[i] = p->region[--p->nregion];
		i = (unsigned)-1; /* larger now: look again */
	}
	if (p->nregion < PROBE_REGIONS)
		p->region[p->nregion++].program = r;
}

/* Where an address of the program is in the arena. */
static uint64_t translate(const struct probe *p, uint64_t addr)
{
	for (unsigned i = 0; i < p->nregion; i++)
		if (addr >= p->region[i].program.lo && addr < p->region[i].program.hi)
			return p->arena + p->region[i].at + (addr - p->region[i].program.lo);
	return 0;
}

static void place(struct probe *p)
{
	size_t at = 0;

	p->nregion = 0;
	for (unsigned i = 0; i < p->nmember; i++)
		for (unsigned k = 0; k < p->member[i].run.op.noperand; k++)
			add_region(p, operand_range(&p->member[i].run.op.operand[k]));
	for (unsigned i = 0; i < p->nregion; i++) {
		struct range r = p->region[i].program;

		at = (at + GUARD + ALIGN - 1) / ALIGN * ALIGN + r.lo % ALIGN;
		p->region[i].at = at;
		at += (size_t)(r.hi - r.lo);
	}
	p->arena_bytes = (at + GUARD + ALIGN - 1) / ALIGN * ALIGN;
}

/* Rewrites the members' operands and parameters to the arena's addresses. */
static void move(struct probe *p)
{
	for (unsigned i = 0; i < p->nmember; i++) {
		struct member *m = &p->member[i].run;

		for (unsigned k = 0; k < m->op.noperand; k++)
			m->op.operand[k].addr = translate(p, m->op.operand[k].addr);
		for (unsigned k = 0; k < m->op.nslot; k++) {
			const struct slot *s = &m->op.slot[k];
			const struct operand *o = op_operand(&m->op, (enum role)s->role);

			if (role_kind((enum role)s->role) == ROLE_KIND_OPERAND && o &&
			    s->bytes == 8)
				set_slot(p->member[i].params[1], s, o->addr);
		}
	}
}

bool probe_arena_open(struct probe *p)
{
	int64_t want = (p->softgpu ? ELEMENTS_SOFTGPU : ELEMENTS) / p->asked.cols, rows;
	enum reason why;

	rows = want < 1 ? 1 : want > p->asked.rows ? p->asked.rows : want;
	if (!prepare(p, rows)) {
		rows = p->asked.rows;
		prepare(p, rows);
	}
	if (rows > ELEMENTS_MAX / p->asked.cols && rows > 1)
		return probe_fail(
			p, REASON_NO_VERDICT,
			"too many rows to probe at once, and the grid does not follow them");
	place(p);
	if (!probe_ok(p, p->cu.cuMemAlloc_v2(&p->arena, p->arena_bytes), "cuMemAlloc"))
		return false;
	move(p);
	p->group = p->asked;
	for (unsigned i = 0; i < p->nmember; i++)
		p->group.member[i] = &p->member[i].run;
	why = p->group.pattern->bind(&p->group);
	if (why || p->group.rows != rows || p->group.cols != p->asked.cols)
		return probe_fail(p, why ? why : REASON_SHAPE,
				  "the members do not form the pattern");
	return true;
}

bool probe_arena_launch(struct probe *p)
{
	for (unsigned i = 0; i < p->nmember; i++) {
		struct probe_member *m = &p->member[i];
		const struct launch *l = &m->run.launch;
		void *params[256];

		if (m->kernel.nparam > sizeof(params) / sizeof(*params))
			return probe_fail(p, REASON_NO_VERDICT, "too many parameters");
		for (uint32_t k = 0; k < m->kernel.nparam; k++)
			params[k] = m->params[1] + m->kernel.param[k].offset;
		if (!probe_ok(p,
			      p->cu.cuLaunchKernel(m->function, l->grid[0], l->grid[1], l->grid[2],
						   l->block[0], l->block[1], l->block[2], l->shmem,
						   p->stream, params, NULL),
			      m->kernel.name))
			return false;
	}
	return true;
}

bool probe_arena_run(struct probe *p)
{
	if (!probe_arena_launch(p))
		return false;
	if (probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "the program's kernels"))
		return true;
	/* They fault on memory of ours, as with a pointer that no signature names; they always
	 * will. */
	p->lasting = true;
	return false;
}

bool probe_arena_upload(struct probe *p, const void *image)
{
	return probe_ok(p, p->cu.cuMemcpyHtoDAsync_v2(p->arena, image, p->arena_bytes, p->stream),
			"upload") &&
	       probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "upload");
}

bool probe_arena_download(struct probe *p, void *image)
{
	return probe_ok(p, p->cu.cuMemcpyDtoHAsync_v2(image, p->arena, p->arena_bytes, p->stream),
			"download") &&
	       probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "download");
}

bool probe_arena_cycle(struct probe *p, const void *from, void *to)
{
	return probe_arena_upload(p, from) && probe_arena_run(p) && probe_arena_download(p, to);
}

char *probe_arena_row(const struct probe *p, void *image, unsigned slot, int64_t r)
{
	const struct bound *b = &p->group.bound[slot];

	return (char *)image + (b->addr - p->arena) + r * b->pitch;
}
