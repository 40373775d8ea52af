/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "shim/probe.h"
#include "shim/probe_child_infer_run.h"

enum {
	ALIGN = 256, /* addresses keep their remainder by this */
	LEAST = 256 << 10,
	MOST = 32 << 20, /* of what one pointer points to; more is not looked at */
	MOST_SOFTGPU = 2 << 20,
};

static uint64_t address(const struct infer *i, unsigned arg)
{
	uint64_t v;

	memcpy(&v, i->launch[0].params + i->f.arg[arg].offset, 8);
	return v;
}

bool infer_arena_open(struct infer *i)
{
	struct probe *p = i->p;
	size_t most = p->softgpu ? MOST_SOFTGPU : MOST, at = 0;

	for (unsigned a = 0; a < i->f.narg; a++) {
		struct infer_region *r = &i->region[i->nregion];
		uint64_t room = 2 * i->room[a];

		if (!i->f.arg[a].pointer)
			continue;
		r->arg = a;
		r->bytes = room < LEAST ? LEAST : room > most ? most : (size_t)room;
		r->at = at + INFER_GUARD + address(i, a) % ALIGN;
		r->window = r->bytes;
		at = (r->at + r->bytes + INFER_GUARD + ALIGN - 1) / ALIGN * ALIGN;
		i->nregion++;
	}
	i->bytes = at;
	i->before = malloc(at);
	i->after = malloc(at);
	i->first[0] = malloc(at);
	i->first[1] = malloc(at);
	if (!i->before || !i->after || !i->first[0] || !i->first[1])
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	return probe_ok(p, p->cu.cuMemAlloc_v2(&i->arena, at), "memory to probe in");
}

const struct infer_region *infer_region(const struct infer *i, unsigned arg)
{
	for (unsigned r = 0; r < i->nregion; r++)
		if (i->region[r].arg == arg)
			return &i->region[r];
	return NULL;
}

static uint64_t step(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	return x ^ (x >> 29);
}

/*
 * Each half is a bf16 from 1/8 to 8, which is 1.5 to 2.5 as f16, and two of them are an f32 of that
 * size: ordinary numbers whatever they are read as.
 */
static uint64_t halves(uint64_t x)
{
	uint64_t sign = x & 0x8000800080008000u, low = x & 0x01ff01ff01ff01ffu;

	return sign | (low + 0x3e003e003e003e00u + (x >> 3 & 0x0080008000800080u));
}

void infer_repeat(char *p, size_t period, size_t bytes)
{
	for (size_t n = period; n < bytes; n += period)
		memcpy(p + n, p + n - period, bytes - n < period ? bytes - n : period);
}

static void garbage(char *p, size_t bytes, uint64_t *state)
{
	enum { PERIOD = 65537 * 2 }; /* no power of two, so that rows differ */
	uint64_t v;

	for (size_t n = 0; n < bytes && n < PERIOD; n += 8) {
		v = halves(step(state));
		memcpy(p + n, &v, bytes - n < 8 ? bytes - n : 8);
	}
	infer_repeat(p, PERIOD, bytes);
}

void infer_arena_garbage(struct infer *i)
{
	uint64_t state = ++i->seed * 0x2545f4914f6cdd1du;

	for (unsigned r = 0; r < i->nregion; r++)
		garbage(i->before + i->region[r].at - INFER_GUARD,
			INFER_GUARD + i->region[r].window, &state);
}

static bool transfer(struct infer *i, bool up, size_t at, size_t bytes)
{
	struct probe *p = i->p;

	return up ? probe_ok(p,
			     p->cu.cuMemcpyHtoDAsync_v2(i->arena + at, i->before + at, bytes,
							p->stream),
			     "upload")
		  : probe_ok(p,
			     p->cu.cuMemcpyDtoHAsync_v2(i->after + at, i->arena + at, bytes,
							p->stream),
			     "download");
}

static bool transfer_windows(struct infer *i, bool up, bool all)
{
	if (all)
		return transfer(i, up, 0, i->bytes);
	for (unsigned r = 0; r < i->nregion; r++)
		if (!transfer(i, up, i->region[r].at - INFER_GUARD,
			      INFER_GUARD + i->region[r].window))
			return false;
	return true;
}

void infer_arena_place(const struct infer *i, const struct infer_launch *l, uint8_t *params)
{
	memcpy(params, l->params, INFER_PARAM_BYTES);
	for (unsigned r = 0; r < i->nregion; r++) {
		uint64_t at = i->arena + i->region[r].at;

		memcpy(params + i->f.arg[i->region[r].arg].offset, &at, 8);
	}
}

/* Such errors stay: nothing more can be tried in this process. */
static bool ran(struct probe *p, CUresult rc)
{
	const char *name = NULL;

	if (rc == CUDA_SUCCESS)
		return true;
	p->cu.cuGetErrorName(rc, &name);
	return probe_fail(p, REASON_NO_VERDICT, INFER_WILD " (%s)", name ? name : "error");
}

bool infer_arena_run(struct infer *i, const struct infer_launch *l, bool all)
{
	uint8_t params[INFER_PARAM_BYTES];
	void *arg[INFER_ARGS];
	struct probe *p = i->p;

	infer_arena_place(i, l, params);
	for (unsigned a = 0; a < i->f.narg; a++)
		arg[a] = params + i->f.arg[a].offset;
	return transfer_windows(i, true, all) &&
	       ran(p, p->cu.cuLaunchKernel(p->member[0].function, l->grid[0], l->grid[1],
					   l->grid[2], l->block[0], l->block[1], l->block[2],
					   l->shmem, p->stream, arg, NULL)) &&
	       ran(p, p->cu.cuStreamSynchronize(p->stream)) && transfer_windows(i, false, all) &&
	       probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "download");
}
