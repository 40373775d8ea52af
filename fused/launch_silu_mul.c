/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel runs a candidate on a group of silu -> mul. Rows without gaps are one. */
#include "fused/launch.h"

#include "fused/silu_mul.h"

/* Kernel number plus 1; 0 where there is none. */
static const uint8_t silu_of[DT_COUNT][2][2] = {
#define SILU_MUL(name, type, ftz, dense) [DT_##type][ftz][dense] = KERNEL_##name + 1,
#include "fused/kernels.def"
};

int launch_silu_mul(const struct group *g, const struct candidate *c, struct fused_launch *out)
{
	static const uint8_t slot[SILU_OPERANDS] = {SILU_MUL_GATE, SILU_MUL_UP, SILU_MUL_SILU,
						    SILU_MUL_OUT};
	enum dtype t = g->bound[SILU_MUL_GATE].dtype;
	unsigned bytes = dtype_bytes(t);
	struct silu_mul_args a = {0};
	bool dense = true, wide = true;
	int64_t per = 16 / (int64_t)bytes, block;
	bool few;
	uint8_t kernel;

	if (candidate_unpack_silu(c->code, &a.f) || g->rows < 1 || g->cols < 1 || !bytes)
		return -1;
	for (unsigned i = 0; i < SILU_OPERANDS; i++)
		dense &= g->rows == 1 || g->bound[slot[i]].pitch == g->cols * (int64_t)bytes;
	a.rows = dense ? 1 : g->rows;
	a.cols = dense ? g->rows * g->cols : g->cols;
	a.chunks = (a.cols + per - 1) / per;
	for (unsigned i = 0; i < SILU_OPERANDS; i++) {
		const struct bound *b = &g->bound[slot[i]];

		if (b->use != BOUND_DEAD) /* the choice of the kernel does not depend on it */
			a.addr[i] = b->addr;
		a.pitch[i] = dense ? 0 : b->pitch;
		a.width[i] = launch_width(b->addr, a.pitch[i]);
		if (a.width[i] < bytes)
			return -1;
		wide &= a.width[i] == 16;
	}
	wide &= dense && (silu_usual(&a.f) || (bytes == 2 && silu_native(&a.f)));
	kernel = silu_of[t][a.f.ftz][wide];
	if (!kernel)
		return -1;
	_Static_assert(sizeof(a) <= sizeof(out->params), "grow struct fused_launch");
	few = a.rows * a.chunks <= SILU_FEW;
	a.each = few ? 1 : SILU_CHUNKS;
	block = few ? SILU_FEW_THREADS : SILU_THREADS * SILU_CHUNKS; /* chunks of one */
	launch_kernel(out, kernel - 1u, &a, sizeof(a));
	launch_shape(out, (a.rows * a.chunks + block - 1) / block,
		     few ? SILU_FEW_THREADS : SILU_THREADS, 0);
	return 0;
}
