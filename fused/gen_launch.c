/* SPDX-License-Identifier: Apache-2.0 */
/* The launch of a generated kernel. Declared in gen.h. */
#include <string.h>

#include "fused/gen_write.h"

/* As struct PARAMS of the text has it. */
static unsigned fill(const struct gen_recipe *p, const struct row *r, uint64_t *out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->noperand; i++)
		out[n++] = r->operand[i].addr;
	for (unsigned i = 0; i < r->noperand; i++)
		for (unsigned d = 0; d < r->ndim; d++)
			out[n++] = (uint64_t)r->operand[i].stride[d];
	for (unsigned i = 0; i < r->noperand; i++)
		out[n++] = (uint64_t)r->operand[i].step;
	for (unsigned d = 0; d < r->ndim; d++)
		out[n++] = (uint64_t)r->size[d];
	out[n++] = (uint64_t)row_rows(r);
	out[n++] = (uint64_t)r->cols;
	for (unsigned i = 0; i < r->nimm; i++)
		out[n++] = r->imm[i];
	if (!r->nimm)
		out[n++] = 0;
	for (unsigned i = 0; p->partial && i < r->noperand; i++) {
		struct range run[ROW_MAX_HOLES + 1] = {{0, UINT64_MAX}};

		if (!row_operand_kept_whole(&r->operand[i]))
			row_operand_kept(&r->operand[i], run);
		for (unsigned k = 0; k <= ROW_MAX_HOLES; k++) {
			out[n++] = run[k].lo;
			out[n++] = run[k].hi;
		}
	}
	for (unsigned i = 0; p->some && i < r->noperand; i++)
		for (unsigned d = 0; d < r->ndim; d++)
			out[n++] = (uint64_t)(r->operand[i].most[d] ? r->operand[i].most[d]
								    : r->size[d]);
	return n;
}
_Static_assert(ROW_MAX_OPERANDS *(4 + 2 * ((int)ROW_MAX_DIMS + (int)ROW_MAX_HOLES)) +
			       (int)ROW_MAX_DIMS + 2 + (int)ROW_MAX_IMM <=
		       (int)GEN_PARAMS,
	       "parameters have no room");

static int64_t up(int64_t n, int64_t by)
{
	return (n + by - 1) / by;
}

int gen_prepare(const struct row *r, const struct fused_device *d, struct gen_recipe *p)
{
	struct gen_shape shape[GEN_KERNELS];
	struct gen g;

	if (gen_plan(&g, r, d->max_shmem))
		return -1;
	memset(p, 0, sizeof(*p));
	p->n = gen_shapes(&g, d->max_shmem, shape);
	p->flat = g.form == GEN_FLAT;
	p->partial = g.partial;
	p->some = g.some;
	for (unsigned i = 0; i < p->n; i++) {
		gen_kernel_name(p->kernel[i], &g, shape[i].suffix);
		p->shape[i].threads = shape[i].threads;
		p->shape[i].vec = shape[i].vec;
		p->shape[i].each = shape[i].each;
		if (g.form == GEN_FLAT || g.form == GEN_CELLS)
			continue;
		p->shape[i].rows = shape[i].warp ? shape[i].threads / 32 : 1;
		p->shape[i].shmem = g.group_bytes * (unsigned)p->shape[i].rows;
	}
	return 0;
}

static int64_t chunk_blocks(const struct gen_recipe *p, unsigned i, const struct row *r,
			    int64_t rows)
{
	const unsigned threads = p->shape[i].threads, vec = p->shape[i].vec;

	if (p->flat)
		return up(up(rows, vec), (int64_t)threads * p->shape[i].each);
	return up(rows * up(r->cols, vec), threads);
}

void gen_launch_by(const struct gen_recipe *p, const struct row *r, const struct fused_device *d,
		   struct gen_launch *l)
{
	enum { MAX_BLOCKS = 0x7fffffff }; /* kernels step over rows and chunks by the grid */
	int64_t rows = row_rows(r), blocks;
	unsigned i;

	if (p->shape[0].rows) {
		i = p->n > 1 && rows >= 2 * (int64_t)d->sm_count;
		blocks = up(rows, p->shape[i].rows);
	} else {
		/* Small chunks as long as a few blocks of them fill the processors. */
		blocks = chunk_blocks(p, 0, r, rows);
		i = p->n > 1 && blocks > 8 * (int64_t)d->sm_count;
		if (i)
			blocks = chunk_blocks(p, i, r, rows);
	}
	memcpy(l->kernel, p->kernel[i], sizeof(l->kernel));
	l->grid[0] = (unsigned)(blocks < 1 ? 1 : blocks > MAX_BLOCKS ? MAX_BLOCKS : blocks);
	l->block[0] = p->shape[i].threads;
	l->grid[1] = l->grid[2] = l->block[1] = l->block[2] = 1;
	l->shmem = p->shape[i].shmem;
	l->param_bytes = 8 * fill(p, r, l->params);
}

int gen_launch(const struct row *r, const struct fused_device *d, struct gen_launch *l)
{
	struct gen_recipe p;

	if (gen_prepare(r, d, &p))
		return -1;
	gen_launch_by(&p, r, d, l);
	return 0;
}
