// SPDX-License-Identifier: Apache-2.0
#include "tests/apps/eager_work.h"

#include <stdlib.h>
#include <string.h>

#include "matcher/decode.h"
#include "matcher/row_build.h"
#include "tests/apps/eager_memory.h"
#include "tests/softgpu/engine.h"
#include "tests/unit/row_interp.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { KERNELS = 256, LAUNCHES = 4096, SAMPLED = 1 << 14, PARAMS = 4096 };

static struct softgpu_kernel made[KERNELS];
static const struct kernel *kernel[KERNELS];
static unsigned nkernel;
static struct launch launch[LAUNCHES]; /* one of each kernel, grid and block */
static unsigned nlaunch;

/* What it writes depends on what it reads, on most of it where that is much. */
static void touch(const struct op *op)
{
	uint64_t sum = op->noperand;

	for (unsigned i = 0; i < op->noperand; i++) {
		const struct range r = operand_range(&op->operand[i]);
		const uint64_t n = r.hi - r.lo;

		if (op->operand[i].access == ACCESS_READ)
			sum = XXH3_64bits_withSeed((const void *)(uintptr_t)r.lo,
						   n < SAMPLED ? n : SAMPLED, sum);
	}
	for (unsigned i = 0; i < op->noperand; i++) {
		const struct operand *o = &op->operand[i];
		struct range r = operand_range(o);

		if (o->access != ACCESS_WRITE)
			continue;
		for (; r.lo < r.hi; r.lo += dtype_bytes((enum dtype)o->dtype)) {
			sum = sum * 6364136223846793005u + 1442695040888963407u;
			memory_number((enum dtype)o->dtype, sum, (uint8_t *)(uintptr_t)r.lo);
		}
	}
}

static const struct launch *like(const struct launch *l)
{
	for (unsigned i = 0; i < nlaunch; i++)
		if (launch[i].kernel == l->kernel &&
		    !memcmp(launch[i].grid, l->grid, sizeof(l->grid)) &&
		    !memcmp(launch[i].block, l->block, sizeof(l->block)))
			return &launch[i];
	return NULL;
}

static void work(const struct kernel *k, void *const *params)
{
	static __thread struct row row;
	uint8_t bytes[PARAMS] = {0};
	const struct softgpu_place *at = &softgpu_here;
	struct launch l = {.kernel = k,
			   .grid = {at->grid_dim.x, at->grid_dim.y, at->grid_dim.z},
			   .block = {at->block_dim.x, at->block_dim.y, at->block_dim.z},
			   .params = bytes};
	const struct launch *seen;
	struct row_member one;
	struct op op;

	if (at->thread.x || at->thread.y || at->thread.z || at->block.x || at->block.y ||
	    at->block.z || k->param_bytes > PARAMS)
		return;
	if (!k->nparam)
		memcpy(bytes, params[0], k->param_bytes);
	for (unsigned i = 0; i < k->nparam; i++)
		memcpy(bytes + k->param[i].offset, params[i], k->param[i].bytes);
	/* A kernel does not know these of its launch, and they follow from the rest. */
	if ((seen = like(&l))) {
		l.shmem = seen->shmem;
		l.attrs = seen->attrs;
	}
	if (decode_launch(&l, &op))
		return;
	one.op = &op;
	row_pick_known(&op, &l, &one.pick);
	if (row_op_known(&op) && !row_build(&row, &one, 1))
		row_interp(&row, 1);
	else
		touch(&op);
}

#define ONE(n)                                                                                     \
	static void run_##n(void *const *params)                                                   \
	{                                                                                          \
		work(kernel[0x##n], params);                                                       \
	}
#define SIXTEEN(n)                                                                                 \
	ONE(n##0)                                                                                  \
	ONE(n##1)                                                                                  \
	ONE(n##2)                                                                                  \
	ONE(n##3)                                                                                  \
	ONE(n##4)                                                                                  \
	ONE(n##5)                                                                                  \
	ONE(n##6)                                                                                  \
	ONE(n##7)                                                                                  \
	ONE(n##8)                                                                                  \
	ONE(n##9)                                                                                  \
	ONE(n##a)                                                                                  \
	ONE(n##b)                                                                                  \
	ONE(n##c)                                                                                  \
	ONE(n##d)                                                                                  \
	ONE(n##e)                                                                                  \
	ONE(n##f)
SIXTEEN(0)
SIXTEEN(1)
SIXTEEN(2)
SIXTEEN(3)
SIXTEEN(4)
SIXTEEN(5)
SIXTEEN(6)
SIXTEEN(7)
#undef ONE
#define ONE(n) run_##n,
static void (*const run[])(void *const *params) = {
	SIXTEEN(0) SIXTEEN(1) SIXTEEN(2) SIXTEEN(3) SIXTEEN(4) SIXTEEN(5) SIXTEEN(6) SIXTEEN(7)};

static void *shared(void)
{
	static __thread char memory[SOFTGPU_SHARED_MAX];

	return memory;
}

int work_register(const struct launch *l)
{
	const struct kernel *k = l->kernel;
	struct softgpu_kernel *m = &made[nkernel];
	struct softgpu_param *param;

	if (!like(l) && nlaunch < LAUNCHES)
		launch[nlaunch++] = *l;
	for (unsigned i = 0; i < nkernel; i++)
		if (kernel[i] == k)
			return 0;
	if (nkernel == sizeof(run) / sizeof(run[0]) ||
	    !(param = calloc(k->nparam + 1, sizeof(*param))))
		return -1;
	for (unsigned i = 0; i < k->nparam; i++)
		param[i] = (struct softgpu_param){k->param[i].offset, k->param[i].bytes};
	if (!k->nparam) /* they came as one buffer */
		param[0] = (struct softgpu_param){0, k->param_bytes};
	*m = (struct softgpu_kernel){.name = k->name,
				     .run = run[nkernel],
				     .param = param,
				     .nparam = k->nparam ? k->nparam : 1,
				     .max_threads = SOFTGPU_MAX_THREADS,
				     .shared = shared};
	kernel[nkernel++] = k;
	softgpu_register_kernel(m);
	return 0;
}
