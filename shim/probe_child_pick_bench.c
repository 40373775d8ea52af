/* SPDX-License-Identifier: Apache-2.0 */
/* A member on inputs, and programs run as data against what it left. */
#include <stdlib.h>
#include <string.h>

#include "shim/nvrtc.h"
#include "shim/probe_child_chain.h"

enum {
	ROOM = 1 << 18,      /* pairs at once */
	BLOCKS = 1 << 12,    /* of a launch, about */
	ELEMENTS_THREAD = 4, /* at least, of a thread */
};

static bool put(struct probe *p, CUdeviceptr *to, const void *from, size_t bytes)
{
	return probe_ok(p, p->cu.cuMemAlloc_v2(to, bytes), "cuMemAlloc") &&
	       (!from ||
		(probe_ok(p, p->cu.cuMemcpyHtoDAsync_v2(*to, from, bytes, p->stream), "upload") &&
		 probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "upload")));
}

static CUresult eval_functions(struct probe *p, CUmodule module)
{
	CUresult rc = p->cu.cuModuleGetFunction(&p->tools->eval, module, EVAL_KERNEL);

	return rc ? rc : p->cu.cuModuleGetFunction(&p->tools->floats, module, EVAL_FLOATS);
}

/* By the compiler that the program's kernels are made with: that takes seconds, once for a cache.
 */
static bool make_eval(struct probe *p)
{
	char *text = eval_text();
	CUmodule module;
	bool ok = text && probe_compile(p, "row programs as data", text, &module) &&
		  probe_ok(p, eval_functions(p, module), EVAL_KERNEL);

	free(text);
	p->tools->eval_made = ok;
	return ok || probe_fail(p, REASON_NO_VERDICT, "out of memory");
}

static bool load_eval(struct probe *p)
{
	CUmodule module;

	if (p->tools->eval)
		return true;
	if (!p->cu.cuModuleLoadData(&module, eval_image()) && !eval_functions(p, module))
		return true;
	p->tools->eval = NULL;
	return make_eval(p);
}

bool pick_bench_made(struct probe *p)
{
	struct probe_tools *t = p->tools;

	return t->eval && !t->eval_made && probe_compiler(p) && t->nvrtc->version != CUDA_VERSION &&
	       make_eval(p);
}

bool pick_bench_open(struct probe *p, struct pick_bench *b, const struct pick_space *s)
{
	memset(b, 0, sizeof(*b));
	b->room = ROOM;
	b->rows = 1;
	b->cols = s->program[0].cols;
	for (unsigned d = 0; d < s->program[0].ndim; d++)
		b->rows *= s->program[0].size[d];
	b->image = malloc(p->arena_bytes);
	if (!b->image)
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	return load_eval(p) &&
	       put(p, &b->program, s->program, s->nspelling * sizeof(*s->program)) &&
	       put(p, &b->order, s->order, s->norder * sizeof(*s->order)) &&
	       put(p, &b->pair, NULL, ROOM * sizeof(uint32_t)) &&
	       put(p, &b->differ, NULL, ROOM * sizeof(uint32_t)) &&
	       put(p, &b->inputs, NULL, p->arena_bytes);
}

void pick_bench_close(struct probe *p, struct pick_bench *b)
{
	CUdeviceptr all[] = {b->program, b->order, b->pair, b->differ, b->inputs};

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i])
			p->cu.cuMemFree_v2(all[i]);
	free(b->image);
	memset(b, 0, sizeof(*b));
}

bool pick_bench_reference(struct probe *p, struct pick_bench *b, enum probe_family f,
			  uint64_t number)
{
	probe_chain_fill(p, f, number, number + 1, b->image);
	return probe_arena_upload(p, b->image) &&
	       probe_ok(p,
			p->cu.cuMemcpyDtoDAsync_v2(b->inputs, p->arena, p->arena_bytes, p->stream),
			"copy") &&
	       probe_arena_run(p);
}

bool pick_bench_pairs(struct probe *p, struct pick_bench *b, const uint32_t *pair, unsigned n)
{
	return probe_ok(p, p->cu.cuMemcpyHtoDAsync_v2(b->pair, pair, n * sizeof(*pair), p->stream),
			"upload") &&
	       probe_ok(p, p->cu.cuMemsetD8Async(b->differ, 0, n * sizeof(uint32_t), p->stream),
			"cuMemsetD8Async") &&
	       probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "upload");
}

bool pick_bench_queue(struct probe *p, struct pick_bench *b, int64_t rows, unsigned n)
{
	struct eval_args a = {.program = b->program,
			      .order = b->order,
			      .pair = b->pair,
			      .differ = b->differ,
			      .delta = (int64_t)(b->inputs - p->arena),
			      .rows = rows,
			      .any_nan = p->softgpu};
	const unsigned threads = p->softgpu ? 1 : EVAL_THREADS;
	/* A block has a row, or elements. */
	const int64_t blocks = b->cols > 1 ? rows : rows / ((int64_t)threads * ELEMENTS_THREAD) + 1;
	int64_t share = n < BLOCKS ? BLOCKS / n : 1;
	void *params[] = {&a};

	share = p->softgpu ? 1 : share < blocks ? share : blocks;
	return probe_ok(p,
			p->cu.cuLaunchKernel(p->tools->eval, n, (unsigned)share, 1, threads, 1, 1,
					     0, p->stream, params, NULL),
			EVAL_KERNEL);
}

bool pick_bench_counts(struct probe *p, struct pick_bench *b, uint32_t *differ, unsigned n)
{
	return probe_ok(p,
			p->cu.cuMemcpyDtoHAsync_v2(differ, b->differ, n * sizeof(*differ),
						   p->stream),
			"download") &&
	       probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "programs run as data");
}

bool pick_bench_floats(struct probe *p, CUdeviceptr to, int64_t n, uint32_t first, uint32_t step)
{
	void *params[] = {&to, &n, &first, &step};
	const unsigned threads = p->softgpu ? 1 : EVAL_THREADS;
	const int64_t blocks = p->softgpu ? 1 : n / (threads * ELEMENTS_THREAD) + 1;

	return probe_ok(p,
			p->cu.cuLaunchKernel(p->tools->floats, (unsigned)blocks, 1, 1, threads, 1,
					     1, 0, p->stream, params, NULL),
			EVAL_FLOATS);
}

bool pick_bench_filter(struct probe *p, struct pick_bench *b, int64_t rows, uint32_t *pair,
		       unsigned *n)
{
	uint32_t *differ = malloc((*n + 1) * sizeof(*differ));
	unsigned kept = 0;
	bool ok = differ != NULL;

	rows = rows && rows < b->rows ? rows : b->rows;
	for (unsigned from = 0; ok && from < *n; from += b->room) {
		unsigned some = *n - from < b->room ? *n - from : b->room;

		ok = pick_bench_pairs(p, b, pair + from, some) &&
		     pick_bench_queue(p, b, rows, some) &&
		     pick_bench_counts(p, b, differ + from, some);
	}
	for (unsigned i = 0; ok && i < *n; i++)
		if (!differ[i])
			pair[kept++] = pair[i];
	free(differ);
	*n = ok ? kept : *n;
	return ok || probe_fail(p, REASON_NO_VERDICT, "out of memory");
}
