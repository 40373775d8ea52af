/* SPDX-License-Identifier: Apache-2.0 */
/* The launch of a generated kernel. Declared in gen.h. */
#include <string.h>

#include "fused/gen_write.h"

/* As struct PARAMS of the text has it. */
static unsigned fill(const struct gen *g, uint64_t *out)
{
	const struct row *r = g->r;
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
	for (unsigned i = 0; g->partial && i < r->noperand; i++) {
		out[n++] = row_operand_kept_whole(&r->operand[i]) ? 0 : r->operand[i].keep.lo;
		out[n++] =
			row_operand_kept_whole(&r->operand[i]) ? UINT64_MAX : r->operand[i].keep.hi;
	}
	return n;
}
_Static_assert(ROW_MAX_OPERANDS *(4 + (int)ROW_MAX_DIMS) + (int)ROW_MAX_DIMS + 2 +
			       (int)ROW_MAX_IMM <=
		       (int)GEN_PARAMS,
	       "parameters have no room");

static int64_t up(int64_t n, int64_t by)
{
	return (n + by - 1) / by;
}

int gen_launch(const struct row *r, const struct fused_device *d, struct gen_launch *l)
{
	enum { MAX_BLOCKS = 0x7fffffff }; /* kernels step over rows and chunks by the grid */
	struct gen_shape shape[GEN_KERNELS];
	int64_t rows = row_rows(r), blocks;
	struct gen_shape *s = shape;
	struct gen g;
	unsigned n;

	if (gen_plan(&g, r, d->max_shmem))
		return -1;
	memset(l, 0, offsetof(struct gen_launch, params));
	n = gen_shapes(&g, d->max_shmem, shape);
	if (g.form == GEN_FLAT) {
		blocks = up(up(rows, g.vec), s->threads * gen_ahead(&g));
	} else if (g.form == GEN_CELLS) {
		blocks = up(rows * up(r->cols, g.vec), s->threads);
	} else {
		if (n > 1 && rows >= 2 * (int64_t)d->sm_count)
			s = &shape[1];
		blocks = s->warp ? up(rows, s->threads / 32) : rows;
		l->shmem = g.group_bytes * (s->warp ? s->threads / 32 : 1);
	}
	l->grid[0] = (unsigned)(blocks < 1 ? 1 : blocks > MAX_BLOCKS ? MAX_BLOCKS : blocks);
	l->block[0] = s->threads;
	l->grid[1] = l->grid[2] = l->block[1] = l->block[2] = 1;
	gen_kernel_name(l->kernel, &g, s->suffix);
	l->param_bytes = 8 * fill(&g, l->params);
	return 0;
}
