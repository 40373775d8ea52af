/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena: buffers in place of the program's, with the same overlaps, distances within them and
 * alignment, and room on both sides of each, so that what a kernel does beyond its operands shows.
 */
#include <stdio.h>
#include <string.h>

#include "shim/probe_child.h"

enum {
	GUARD = 4096,               /* bytes on either side of a region */
	ALIGN = 512,                /* addresses keep their remainder by this */
	ELEMENTS_SOFTGPU = 1 << 14, /* rows * cols to run at once, about */
	ELEMENTS = 1 << 19,
	ELEMENTS_SILU = 1 << 15,  /* where each stands for itself */
	ELEMENTS_CHAIN = 1 << 16, /* all there are of 16 bits */
	ELEMENTS_MAX = 1 << 25,   /* more are not probed at all */
	MORE_BYTES = 256 << 20,   /* of an arena with more rows than the program has */
};

static void set_slot(uint8_t *params, const struct slot *s, uint64_t v)
{
	memcpy(params + s->offset, &v, s->bytes);
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

/* Bytes from a region's start to the end of what is launched in it. */
static size_t span(const struct probe *p, struct range region)
{
	uint64_t hi = region.lo;

	for (unsigned i = 0; i < p->nmember; i++)
		for (unsigned k = 0; k < p->member[i].run.op.noperand; k++) {
			const struct operand *o = &p->member[i].run.op.operand[k];
			struct range r = operand_range(o);

			if (o->addr >= region.lo && o->addr < region.hi && r.hi > hi)
				hi = r.hi;
		}
	return (size_t)(hi - region.lo);
}

/* More rows than the program has make what lies apart there overlap: what is one region then shows
 * at its own number of rows. */
static void place(struct probe *p, bool more)
{
	size_t at = 0;

	p->nregion = 0;
	for (unsigned i = 0; i < p->nmember; i++) {
		const struct op *op = more ? &p->member[i].m.op : &p->member[i].run.op;

		for (unsigned k = 0; k < op->noperand; k++)
			add_region(p, operand_range(&op->operand[k]));
	}
	for (unsigned i = 0; i < p->nregion; i++) {
		at = (at + GUARD + ALIGN - 1) / ALIGN * ALIGN + p->region[i].program.lo % ALIGN;
		p->region[i].at = at;
		at += span(p, p->region[i].program);
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

enum probe_sized probe_arena_size(struct probe *p, int64_t rows)
{
	bool more = rows > p->asked.rows;
	enum reason why;
	CUresult rc;

	if (p->arena)
		p->cu.cuMemFree_v2(p->arena);
	p->arena = 0;
	if (!probe_rows_set(p, rows))
		return PROBE_SIZED_NEVER;
	place(p, more);
	if (more && p->arena_bytes > MORE_BYTES)
		return PROBE_SIZED_TOO_LARGE;
	rc = p->cu.cuMemAlloc_v2(&p->arena, p->arena_bytes);
	if (rc == CUDA_ERROR_OUT_OF_MEMORY && more)
		return PROBE_SIZED_TOO_LARGE;
	if (!probe_ok(p, rc, "cuMemAlloc"))
		return PROBE_SIZED_FAILED;
	move(p);
	p->group = p->asked;
	for (unsigned i = 0; i < p->nmember; i++)
		p->group.member[i] = &p->member[i].run;
	p->group.rows = rows;
	if (p->chain)
		return PROBE_SIZED;
	why = p->group.pattern->bind(&p->group);
	if (!why && p->group.rows == rows && p->group.cols == p->asked.cols)
		return PROBE_SIZED;
	probe_fail(p, why ? why : REASON_SHAPE, "the members do not form the pattern");
	return PROBE_SIZED_FAILED;
}

bool probe_arena_open(struct probe *p)
{
	int64_t most = p->softgpu                              ? ELEMENTS_SOFTGPU
		       : p->chain                              ? ELEMENTS_CHAIN
		       : p->asked.pattern == &pattern_silu_mul ? ELEMENTS_SILU
							       : ELEMENTS;
	int64_t want = most / p->asked.cols, rows;

	rows = want < 1 ? 1 : want > p->asked.rows ? p->asked.rows : want;
	if (!probe_rows_set(p, rows))
		rows = p->asked.rows;
	if (rows > ELEMENTS_MAX / p->asked.cols && rows > 1)
		return probe_fail(
			p, REASON_NO_VERDICT,
			"too many rows to probe at once, and the grid does not follow them");
	p->plain_rows = rows;
	return probe_arena_size(p, rows) == PROBE_SIZED;
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
	char what[96] = "the program's kernels";

	if (p->group.rows > p->asked.rows)
		snprintf(what, sizeof(what), "the program's kernels, with %lld elements for %lld",
			 (long long)(p->group.rows * p->group.cols),
			 (long long)(p->asked.rows * p->asked.cols));
	if (!probe_arena_launch(p))
		return false;
	if (probe_ok(p, p->cu.cuStreamSynchronize(p->stream), what))
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
