/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/standin.h"

#include <string.h>

#include "config/log.h"
#include "matcher/dead.h"
#include "matcher/row_build.h"
#include "shim/generated.h"
#include "shim/standin_pattern.h"

void standin_begin(struct standin *to)
{
	to->n = to->param_bytes = 0;
	to->generated = to->provisional = false;
}

static void add(struct standin *to, CUfunction f, const unsigned *grid, const unsigned *block,
		unsigned shmem, const void *params, unsigned bytes)
{
	struct standin_kernel *k = &to->kernel[to->n++];

	k->function = f;
	memcpy(k->grid, grid, sizeof(k->grid));
	memcpy(k->block, block, sizeof(k->block));
	k->shmem = shmem;
	k->at = (to->param_bytes + 15) / 16 * 16;
	memcpy(to->params + k->at, params, bytes);
	to->param_bytes = k->at + bytes;
}

void standin_add(struct standin *to, CUfunction f, const struct gen_launch *l)
{
	add(to, f, l->grid, l->block, l->shmem, l->params, l->param_bytes);
}
_Static_assert(GEN_PARAMS % 2 == 0, "parameters of the next one are aligned");

bool standin_ours(const struct fused_launch *l, const struct ours *o, struct standin *to)
{
	const CUfunction f = ours_function(o, l->kernel);

	standin_begin(to);
	if (f)
		add(to, f, l->grid, l->block, l->shmem, l->params, l->param_bytes);
	return f;
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

int standin_parts(const struct group *g, const struct verdict *v, struct gen_parts *to)
{
	struct row r;

	return standin_row(g, v, &r) ? -1 : gen_split(&r, to);
}

static enum standin_answer there(struct generated *i, const struct ours *o)
{
	switch (i ? generated_state(i, o) : GENERATED_FAILED) {
	case GENERATED_READY:
		return STANDIN_MADE;
	case GENERATED_FAILED:
		return STANDIN_NEVER;
	default:
		return STANDIN_LATER;
	}
}

enum standin_answer standin_there(const struct verdict *v, const struct ours *o)
{
	struct generated *first = __atomic_load_n(&v->image[0], __ATOMIC_ACQUIRE);
	enum standin_answer one = there(first, o), two;

	if (one == STANDIN_NEVER || !v->image[1])
		return one;
	two = there(v->image[1], o);
	return two == STANDIN_MADE ? one : two;
}

/* One more kernel. Each is asked for, so that none waits for the one before. */
static enum standin_answer launch(struct generated *i, const struct row *r, const struct ours *o,
				  struct standin *to)
{
	struct gen_launch l;
	CUfunction f;

	if (!i || !generated_launch(i, r, o, &l, &f)) {
		const enum standin_answer a = there(i, o);

		return a == STANDIN_MADE ? STANDIN_LATER : a; /* it has just come */
	}
	standin_add(to, f, &l);
	return STANDIN_MADE;
}

enum standin_answer standin_of_parts(const struct gen_parts *p, const struct group *g,
				     const struct verdict *v, const struct ours *o,
				     struct standin *to)
{
	enum standin_answer all = STANDIN_MADE;

	standin_begin(to);
	for (unsigned k = 0; k < p->n; k++) {
		struct generated *i =
			g->dropped ? generated_get(&p->row[k], o, v->pattern->name) : v->image[k];
		enum standin_answer a = STANDIN_NEVER;

		if (i && (p->n == 1 || generated_fits(i, &p->row[k])))
			a = launch(i, &p->row[k], o, to);
		if (a == STANDIN_NEVER || all == STANDIN_MADE)
			all = a;
	}
	return all;
}

static enum standin_answer of_chain(const struct group *g, const struct verdict *v,
				    const struct ours *o, struct standin *to)
{
	struct gen_parts p;

	if (v->as_planned && !g->dropped && !row_is_late(g->row)) {
		standin_begin(to);
		return launch(v->image[0], g->row, o, to);
	}
	return standin_parts(g, v, &p) ? STANDIN_NEVER : standin_of_parts(&p, g, v, o, to);
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
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; i < s->n && !r; i++) {
		const struct standin_kernel *k = &s->kernel[i];
		void *params[] = {(void *)(s->params + k->at)};

		r = real.cuLaunchKernel(k->function, k->grid[0], k->grid[1], k->grid[2],
					k->block[0], k->block[1], k->block[2], k->shmem, stream,
					params, NULL);
		if (r && i)
			log_info("the second kernel for a group was refused (error %d): the "
				 "group's own launches go out behind the first",
				 (int)r);
	}
	return r;
}

void standin_node(const struct standin *s, unsigned k, const struct ours *o,
		  CUDA_KERNEL_NODE_PARAMS *p, void **params)
{
	const struct standin_kernel *one = &s->kernel[k];

	*params = (void *)(s->params + one->at);
	*p = (CUDA_KERNEL_NODE_PARAMS){.func = one->function,
				       .gridDimX = one->grid[0],
				       .gridDimY = one->grid[1],
				       .gridDimZ = one->grid[2],
				       .blockDimX = one->block[0],
				       .blockDimY = one->block[1],
				       .blockDimZ = one->block[2],
				       .sharedMemBytes = one->shmem,
				       .kernelParams = params,
				       .ctx = o->ctx};
}
