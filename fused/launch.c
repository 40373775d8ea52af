/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel runs a candidate on a group, with how many threads and how much shared memory. */
#include "fused/launch.h"

#include <string.h>

#include "fused/add_rmsnorm.h"

const char *const fused_kernels[] = {
#define ADD_RMSNORM(name, type, layout, ftz, move) #name,
#define ADD_RMSNORM_ROW(name, type, ftz, threads, chunks, blocks, usual) #name,
#define SILU_MUL(name, type, ftz, dense) #name,
#define COMPARE(name, type) #name,
#define PUBLISH(name) #name,
#define SWEEP(name) #name,
#include "fused/kernels.def"
	NULL};
const unsigned fused_nkernels = sizeof(fused_kernels) / sizeof(*fused_kernels) - 1;
_Static_assert(sizeof(fused_kernels) / sizeof(*fused_kernels) - 1 <= FUSED_KERNELS_MAX,
	       "tables of functions have no more room");

enum { MOVE_narrow, MOVE_wide };

/* Kernel number plus 1; 0 where there is none. */
static const uint8_t kernel_of[DT_COUNT][2][3][2] = {
#define ADD_RMSNORM(name, type, layout, ftz, move)                                                 \
	[DT_##type][ftz][layout][MOVE_##move] = KERNEL_##name + 1,
#include "fused/kernels.def"
};
/* Rows held in registers, by the chunks that they may have. */
static const struct held {
	uint8_t kernel, type, ftz, chunks;
	uint16_t threads;
	bool many, usual;
} held[] = {
#define ADD_RMSNORM_ROW(name, type, ftz, threads, chunks, blocks, usual)                           \
	{KERNEL_##name, DT_##type, ftz, chunks, threads, (blocks) > 1, usual},
#include "fused/kernels.def"
};

void launch_kernel(struct fused_launch *out, unsigned index, const void *args, size_t bytes)
{
	out->index = index;
	out->kernel = fused_kernels[index];
	out->param_bytes = (unsigned)bytes;
	memcpy(out->params, args, bytes);
}

void launch_shape(struct fused_launch *out, int64_t blocks, unsigned threads, unsigned shmem)
{
	enum { MAX_BLOCKS = 0x7fffffff }; /* kernels step over rows by the grid */

	out->grid[0] = (unsigned)(blocks < 1 ? 1 : blocks > MAX_BLOCKS ? MAX_BLOCKS : blocks);
	out->block[0] = threads;
	out->grid[1] = out->grid[2] = out->block[1] = out->block[2] = 1;
	out->shmem = shmem;
}

uint8_t launch_width(uint64_t addr, int64_t pitch)
{
	uint64_t bits = addr | (uint64_t)pitch | 16;

	return (uint8_t)(bits & -bits);
}

static unsigned round16(size_t bytes)
{
	return (unsigned)((bytes + 15) / 16 * 16);
}

static unsigned pow2_up(int64_t n, unsigned least, unsigned most)
{
	unsigned p = least;

	while (p < most && p < n)
		p *= 2;
	return p;
}

/*
 * Fills operands; returns whether all accesses are 16 bytes wide, or -1 if a pointer is not even
 * aligned to its element. What is not stored counts as if it were: evidence for a group that stores
 * it holds for the one that does not because both are the same kernel's.
 */
static int set_operands(const struct group *g, struct add_rmsnorm_args *a)
{
	static const uint8_t slot[OPERAND_COUNT] = {ADD_RMSNORM_A, ADD_RMSNORM_B, ADD_RMSNORM_SUM,
						    ADD_RMSNORM_W, ADD_RMSNORM_OUT};
	int wide = 1;

	for (unsigned i = 0; i < OPERAND_COUNT; i++) {
		const struct bound *b = &g->bound[slot[i]];

		a->pitch[i] = g->rows > 1 ? b->pitch : 0;
		a->width[i] = launch_width(b->addr, a->pitch[i]);
		if (a->width[i] < dtype_bytes(b->dtype))
			return -1;
		wide &= a->width[i] == 16;
		if (b->use != BOUND_DEAD)
			a->addr[i] = b->addr;
	}
	return wide;
}

/*
 * Layout and threads. Few rows: as many threads as there are chunks, for the shortest way through
 * one row. Many rows: about two chunks a thread, several blocks beside each other on a processor.
 */
static int set_layout(const struct group *g, const struct fused_device *d, bool wide,
		      bool each_thread, struct add_rmsnorm_args *a, struct fused_launch *out)
{
	size_t row = round16((size_t)g->cols * dtype_bytes(g->bound[ADD_RMSNORM_A].dtype));
	unsigned sums =
		round16(sizeof(float) * (each_thread && a->f.threads > 32 ? a->f.threads : 32));
	int64_t chunks = (int64_t)row / 16;
	bool many = g->rows >= 2 * (int64_t)d->sm_count;
	enum { WARPS = 4, WARP_CHUNKS = 64 };

	if (row + sums > d->max_shmem) {
		if (sums > d->max_shmem)
			return -1;
		a->team_bytes = sums;
		launch_shape(out, g->rows, ADD_RMSNORM_THREADS, sums);
		return LAYOUT_LONG;
	}
	a->team_bytes = (uint32_t)row + sums;
	if (wide && many && chunks <= WARP_CHUNKS) {
		launch_shape(out, (g->rows + WARPS - 1) / WARPS, WARPS * 32, WARPS * a->team_bytes);
		return LAYOUT_WARP;
	}
	launch_shape(out, g->rows,
		     pow2_up(many && row <= 65536 ? chunks / 2 : chunks, 32, ADD_RMSNORM_THREADS),
		     a->team_bytes);
	return LAYOUT_BLOCK;
}

static bool numbers(unsigned t)
{
	return t == DT_f32 || t == DT_f16 || t == DT_bf16;
}

/* Every threads-th element, one accumulator. */
static bool usual(const struct fields *f)
{
	return f->walk == FIELD_walk_STRIDED && !f->vec && !f->acc;
}

static bool better(const struct held *h, const struct held *other)
{
	return h->many != other->many ? h->many
				      : h->threads * h->chunks < other->threads * other->chunks;
}

/* Does it take such rows up at once? Those for many rows only if most threads have a chunk. */
static bool takes(const struct held *h, int64_t chunks)
{
	return chunks <= (int64_t)h->threads * h->chunks && (!h->many || 2 * chunks > h->threads);
}

/*
 * The smallest kernel that takes such rows up at once, if any does; for many rows one of those for
 * many, if there is one for such columns: there, registers decide how many blocks run beside each
 * other (4096 x 4096 bf16 on an H200: 47 us by row256x2).
 */
static const struct held *held_of(const struct group *g, const struct fields *f, bool many)
{
	const struct held *found = NULL;
	enum { CHUNKS_LEAST = 128 }; /* many shorter rows want smaller blocks */
	unsigned t = g->bound[ADD_RMSNORM_A].dtype;
	int64_t chunks = g->cols * dtype_bytes((enum dtype)t) / 16;

	if (f->block == FIELD_block_HALVING || f->block == FIELD_block_ALL)
		return NULL; /* these want every thread's sum */
	if (many && !usual(f) && chunks < CHUNKS_LEAST)
		return NULL;
	for (unsigned i = 0; i < sizeof(held) / sizeof(*held); i++)
		if (held[i].type == t && held[i].ftz == f->ftz && held[i].usual == usual(f) &&
		    takes(&held[i], chunks) && held[i].many <= many &&
		    (!found || better(&held[i], found)))
			found = &held[i];
	return found;
}

/* Where the layout gives a row to a block, and one holds it in registers: that kernel. */
static bool hold(const struct group *g, const struct fused_device *d, struct add_rmsnorm_args *a,
		 struct fused_launch *out)
{
	const struct held *h = held_of(g, &a->f, g->rows >= 2 * (int64_t)d->sm_count);

	if (!h)
		return false;
	launch_shape(out, g->rows, h->threads, a->team_bytes);
	launch_kernel(out, h->kernel, a, sizeof(*a));
	return true;
}

bool fused_can(const struct group *g)
{
	enum dtype t = g->bound[0].dtype, wt = g->bound[ADD_RMSNORM_W].dtype;

	if (g->pattern == &pattern_silu_mul)
		return numbers(t);
	return g->pattern == &pattern_add_rmsnorm && numbers(t) && (wt == t || wt == DT_f32);
}

int fused_launch(const struct group *g, const struct candidate *c, const struct fused_device *d,
		 struct fused_launch *out)
{
	enum { MAX_COLS = 1 << 28 }; /* byte offsets within a row are 32-bit */
	enum dtype t = g->bound[ADD_RMSNORM_A].dtype, wt = g->bound[ADD_RMSNORM_W].dtype;
	struct add_rmsnorm_args a = {0};
	double eps = candidate_eps(g, c);
	int wide, holds, layout;
	unsigned kernel;

	if (g->pattern == &pattern_silu_mul)
		return launch_silu_mul(g, c, out);
	if (candidate_unpack(c->code, &a.f) || g->rows < 1 || g->cols < 1 || g->cols > MAX_COLS ||
	    (wt != t && wt != DT_f32))
		return -1;
	wide = set_operands(g, &a);
	if (wide < 0)
		return -1;
	wide &= wt == t && a.f.root < FIELD_root_XDIV;
	holds = wide;
	wide &= usual(&a.f);
	a.weight_bytes = (uint8_t)dtype_bytes(wt);
	a.rows = g->rows;
	a.cols = (int32_t)g->cols;
	a.n = (float)g->cols;
	a.inverse_n = 1.0f / a.n;
	a.eps = (float)eps;
	a.eps_double = eps;
	layout = set_layout(g, d, wide,
			    a.f.block == FIELD_block_HALVING || a.f.block == FIELD_block_ALL, &a,
			    out);
	if (layout < 0)
		return -1;
	_Static_assert(sizeof(a) <= sizeof(out->params), "grow struct fused_launch");
	if (holds && layout == LAYOUT_BLOCK && hold(g, d, &a, out))
		return 0;
	kernel = kernel_of[t][a.f.ftz][layout][wide ? MOVE_wide : MOVE_narrow];
	if (!kernel)
		return -1;
	launch_kernel(out, kernel - 1, &a, sizeof(a));
	return 0;
}
