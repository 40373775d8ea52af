// SPDX-License-Identifier: Apache-2.0
/*
 * cuBLAS's single precision products by CUTLASS,
 * cutlass::Kernel2<cutlass_80_simt_sgemm_..._{n,t}n_...> (one struct of 360 bytes by value): D = A
 * * B, rows one behind the other; B is K x N (nn) or N x K (tn). Read off recorded launches of
 * cuBLAS 13, where what they leave is what later launches read (tests/unit/test_aten_flow.c).
 * Batches, products split along K, and other layouts are opaque.
 */
#include "matcher/aten.h"

#include <stdio.h>

enum {
	BYTES = 360,
	M = 0,
	N = 4,
	K = 8,
	TILES = 12,
	SWIZZLE = 24,
	MODE = 28,
	BATCHES = 32,
	LD_A = 56,
	LD_B = 88
};
enum { PITCH_C = 120, PITCH_D = 184, ALPHA = 248, BETA = 252, A = 280, B = 288, C = 296, D = 304 };

struct sgemm {
	uint16_t tile_m, tile_n; /* as the parameters have them: cuBLAS counts columns first */
	bool b_is_k;
};

static const void *knows(const struct kernel *k)
{
	static const char head[] = "_ZN7cutlass7Kernel2I", gemm[] = "cutlass_80_simt_sgemm_";
	static const struct aten_param param = {0, BYTES};
	const char *at = strstr(k->name, gemm);
	unsigned m, n, depth, stages;
	char layout[3];
	struct sgemm s;

	if (!at || strncmp(k->name, head, sizeof(head) - 1) || !aten_params_are(k, &param, 1) ||
	    sscanf(at + sizeof(gemm) - 1, "%3ux%3u_%3ux%3u_%2[nt]_align", &m, &n, &depth, &stages,
		   layout) != 5 ||
	    layout[1] != 'n' || !m || !n)
		return NULL;
	memset(&s, 0, sizeof(s));
	s.tile_m = (uint16_t)n;
	s.tile_n = (uint16_t)m;
	s.b_is_k = layout[0] == 't';
	return aten_intern(&s, sizeof(s));
}

static bool add(struct op *op, enum role role, enum access access, uint64_t addr, int64_t rows,
		int64_t cols, int64_t pitch)
{
	return pitch <= INT32_MAX && aten_dense(op, role, access, DT_f32, addr, rows, cols) &&
	       aten_pitch(op, pitch);
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	const struct sgemm *s = data;
	const uint8_t *p = l->params;
	const int64_t m = (int32_t)aten_u32(p + M), n = (int32_t)aten_u32(p + N),
		      k = (int32_t)aten_u32(p + K);
	const uint64_t lda = aten_u64(p + LD_A), ldb = aten_u64(p + LD_B),
		       pitch = aten_u64(p + PITCH_D);
	const uint32_t *grid = l->grid;

	if (m < 1 || n < 1 || k < 1 || lda > INT32_MAX / 4 || ldb > INT32_MAX / 4 ||
	    pitch > INT32_MAX || aten_u64(p + PITCH_C) != pitch ||
	    aten_u64(p + C) != aten_u64(p + D))
		return REASON_SHAPE;
	/* One launch does it all: no slices of K, no batch (strides of one, behind D, are 0). */
	if (aten_u32(p + MODE) || aten_u32(p + BATCHES) != 1 ||
	    aten_u32(p + TILES) != (m + s->tile_m - 1) / s->tile_m ||
	    aten_u32(p + TILES + 4) != (n + s->tile_n - 1) / s->tile_n ||
	    aten_u32(p + TILES + 8) != 1 || grid[2] != 1 || aten_u32(p + SWIZZLE) > 3 ||
	    grid[0] != aten_u32(p + TILES) << aten_u32(p + SWIZZLE))
		return REASON_SHAPE;
	for (unsigned at = D + 8; at < BYTES; at += 8)
		if (aten_u64(p + at))
			return REASON_SHAPE;
	/* Factors in device memory. */
	if (aten_u64(p + A - 16) || aten_u64(p + A - 8))
		return REASON_SHAPE;
	op->code = OP_touch;
	op->vetted = true;
	op->rows = m;
	op->cols = n;
	if (!add(op, ROLE_out, ACCESS_WRITE, aten_u64(p + D), m, n, (int64_t)pitch) ||
	    !add(op, ROLE_in0, ACCESS_READ, aten_u64(p + A), m, k, (int64_t)lda * 4) ||
	    !add(op, ROLE_in1, ACCESS_READ, aten_u64(p + B), s->b_is_k ? n : k, s->b_is_k ? k : n,
		 (int64_t)ldb * 4) ||
	    (aten_u32(p + BETA) << 1 &&
	     !add(op, ROLE_out, ACCESS_READ, aten_u64(p + D), m, n, (int64_t)pitch)))
		return REASON_SHAPE;
	return REASON_NONE;
}

static uint64_t ops(const void *data)
{
	return (uint64_t)1 << OP_touch;
}

const struct decoder cutlass_decoder = {"cutlass", knows, decode, ops};
