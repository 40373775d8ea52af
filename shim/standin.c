/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/standin.h"

#include <string.h>

#include "matcher/dead.h"
#include "matcher/row_build.h"
#include "shim/generated.h"
#include "shim/standin_pattern.h"

static void from_fused(struct standin *to, const struct fused_launch *l)
{
	memcpy(to->grid, l->grid, sizeof(to->grid));
	memcpy(to->block, l->block, sizeof(to->block));
	to->shmem = l->shmem;
	to->param_bytes = l->param_bytes;
	memcpy(to->params, l->params, l->param_bytes);
}

bool standin_ours(const struct fused_launch *l, const struct ours *o, struct standin *to)
{
	to->generated = to->provisional = false;
	to->function = ours_function(o, l->kernel);
	if (to->function)
		from_fused(to, l);
	return to->function;
}

int standin_row(const struct group *g, const struct verdict *v, struct row *to)
{
	struct row_member m[GROUP_MAX_MEMBERS];
	const unsigned n = group_size(g);

	for (unsigned i = 0; i < n && !v->as_planned; i++) {
		m[i].op = &g->member[i]->op;
		if (row_pick_unpack(v->pick[i], &m[i].pick))
			return -1;
	}
	if (v->as_planned)
		row_copy(to, g->row);
	else if (row_build(to, m, n))
		return -1;
	if (g->dropped)
		dead_row(g, to);
	return 0;
}

void standin_from_gen(struct standin *to, const struct gen_launch *l)
{
	memcpy(to->grid, l->grid, sizeof(to->grid));
	memcpy(to->block, l->block, sizeof(to->block));
	to->shmem = l->shmem;
	to->param_bytes = l->param_bytes;
	memcpy(to->params, l->params, l->param_bytes);
}

static enum standin_answer launch(struct generated *i, const struct row *r, const struct ours *o,
				  struct standin *to)
{
	struct gen_launch l;

	if (!i)
		return STANDIN_NEVER;
	if (!generated_launch(i, r, o, &l, &to->function))
		return generated_state(i, o) == GENERATED_FAILED ? STANDIN_NEVER : STANDIN_LATER;
	to->generated = to->provisional = false; /* there is no other */
	standin_from_gen(to, &l);
	return STANDIN_MADE;
}

enum standin_answer standin_of_row(const struct row *r, const struct group *g,
				   const struct verdict *v, const struct ours *o,
				   struct standin *to)
{
	return launch(g->dropped ? generated_get(r, o, v->pattern->name) : v->image, r, o, to);
}

static enum standin_answer of_chain(const struct group *g, const struct verdict *v,
				    const struct ours *o, struct standin *to)
{
	struct row r;

	if (v->as_planned && !g->dropped)
		return launch(v->image, g->row, o, to);
	return standin_row(g, v, &r) ? STANDIN_NEVER : standin_of_row(&r, g, v, o, to);
}

enum standin_answer standin_make_part(const struct group *g, int64_t rows, const struct verdict *v,
				      const struct ours *o, struct standin *to)
{
	return g->row ? of_chain(g, v, o, to) : standin_of_pattern(g, rows, v, o, to);
}

enum standin_answer standin_make(const struct group *g, const struct verdict *v,
				 const struct ours *o, struct standin *to)
{
	return standin_make_part(g, g->rows, v, o, to);
}

CUresult standin_send(const struct standin *s, CUstream stream)
{
	void *params[] = {(void *)s->params};

	return real.cuLaunchKernel(s->function, s->grid[0], s->grid[1], s->grid[2], s->block[0],
				   s->block[1], s->block[2], s->shmem, stream, params, NULL);
}

void standin_node(const struct standin *s, const struct ours *o, CUDA_KERNEL_NODE_PARAMS *p,
		  void **params)
{
	*params = (void *)s->params;
	*p = (CUDA_KERNEL_NODE_PARAMS){.func = s->function,
				       .gridDimX = s->grid[0],
				       .gridDimY = s->grid[1],
				       .gridDimZ = s->grid[2],
				       .blockDimX = s->block[0],
				       .blockDimY = s->block[1],
				       .blockDimZ = s->block[2],
				       .sharedMemBytes = s->shmem,
				       .kernelParams = params,
				       .ctx = o->ctx};
}
