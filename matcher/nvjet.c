// SPDX-License-Identifier: Apache-2.0
/*
 * cuBLAS's matrix products for Hopper, nvjet_sm90_{tst,hsh}_..._XYZ: D = A * B in 16-bit floats,
 * with or without a bias. Not a documented interface: what is here was read off 242 recorded
 * launches of cuBLAS 13 whose shapes were known, 600 others agree, and every launch is checked
 * against all of it.
 * Buffers of another size, other element types, batches, and what has a pointer in an unknown place
 * are opaque.
 *
 * The buffer has tensor maps (64 bytes are kept of each) of A @176, B @240, D @560 and of a
 * workspace @688 where the product is split along K; splitKreduce then makes D of that. The same
 * addresses stand in other places again. X and Y say whether A and B are transposed (T: rows of K
 * elements).
 *
 * A product of many tiles (250 pairs and more were seen, on 66 pairs of blocks) takes them from
 * counters @1584. How many bytes these are, no launch says; add_counters() is wide on purpose.
 */
#include "matcher/aten.h"

enum { BYTES = 1720, A = 176, B = 240, D_PLAIN = 328, D = 560, D_OTHER = 624, WORK = 688 };
enum { TILES = 4, ALPHA = 344, BETA = 348, COUNTERS = 1584, WORK_PLAIN = 1608, BIAS = 1632 };
/* Within a tensor map. */
enum { FORMAT = 8, PITCH = 12, PITCH2 = 16, HIGH = 20, EXTENT = 32, STEPS = 52, MAX_RANK = 5 };
enum { FORMAT_F16 = 0x46322, FORMAT_BF16 = 0x46522, FORMAT_WORK = 0x463b2 };

struct nvjet {
	uint8_t type; /* enum dtype */
	bool a_is_k, b_is_k, split, bias;
};

static const void *knows(const struct kernel *k)
{
	const char *name = k->name, *tail = strrchr(name, '_');
	struct nvjet v;

	if (strncmp(name, "nvjet_sm90_", 11) || k->param_bytes != BYTES || !tail ||
	    strlen(tail) != 4)
		return NULL;
	memset(&v, 0, sizeof(v));
	v.type = !strncmp(name + 11, "tst_", 4)   ? DT_bf16
		 : !strncmp(name + 11, "hsh_", 4) ? DT_f16
						  : DT_NONE;
	if (!v.type || strspn(tail + 1, "TN") != 3)
		return NULL;
	v.a_is_k = tail[1] == 'T';
	v.b_is_k = tail[2] == 'N';
	v.split = strstr(name, "_splitK_") != NULL;
	v.bias = strstr(name, "_bias_") != NULL;
	return aten_intern(&v, sizeof(v));
}

/* Do the 8 bytes at each place say the same as those at the first? */
static bool same(const uint8_t *p, const uint16_t *at, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		if (aten_u64(p + at[i]) != aten_u64(p + at[0]))
			return false;
	return true;
}

static bool addresses_agree(const struct nvjet *v, const uint8_t *p)
{
	static const uint16_t a[] = {A, 432, 816, 880, 1704}, b[] = {B, 496, 944, 1008, 1712},
			      d[] = {D_PLAIN, D, D_OTHER, 1072, 1136, 1200, 1264},
			      work[] = {WORK_PLAIN, WORK, 752};

	return same(p, a, 5) && same(p, b, 5) && same(p, d, 7) && same(p, work, 3) &&
	       (aten_u64(p + WORK) != 0) == v->split && (aten_u64(p + BIAS) != 0) == v->bias;
}

/* Where something would stand that is not known here (more outputs, batches), there is nothing. */
static bool rest_is_empty(const uint8_t *p)
{
	static const uint16_t empty[][2] = {
		{116, 176},   {324, 328},   {336, 344},       {356, 416},
		{424, 432},   {504, 560},   {1016, 1072},     {1080, 1136},
		{1144, 1200}, {1208, 1264}, {1272, COUNTERS}, {1604, 1608},
		{1620, 1624}, {1628, 1632}, {1640, 1664},     {1668, 1704},
	};

	for (unsigned i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
		for (unsigned at = empty[i][0]; at < empty[i][1]; at += 4)
			if (aten_u32(p + at))
				return false;
	return true;
}

/* A map of two dimensions. */
static bool matrix(const uint8_t *map, enum dtype t, int64_t *rows, int64_t *cols, int64_t *pitch)
{
	*cols = (int64_t)aten_u32(map + EXTENT) + 1;
	*rows = (int64_t)aten_u32(map + EXTENT + 4) + 1;
	*pitch = (int64_t)aten_u32(map + PITCH) * 16;
	for (unsigned d = 2; d < MAX_RANK; d++)
		if (aten_u32(map + EXTENT + 4 * d))
			return false;
	return aten_u32(map + FORMAT) == (t == DT_bf16 ? FORMAT_BF16 : FORMAT_F16) &&
	       !aten_u32(map + PITCH2) && aten_u32(map + HIGH) == 0x10000000 &&
	       *rows <= INT32_MAX && *cols <= INT32_MAX && *pitch >= *cols * 2;
}

static bool add(struct op *op, enum role role, enum access access, enum dtype t, uint64_t addr,
		int64_t rows, int64_t cols, int64_t pitch)
{
	return aten_dense(op, role, access, t, addr, rows, cols) && aten_pitch(op, pitch);
}

/* Sums of each part of K, f32, as a third dimension. */
static bool add_work(const uint8_t *map, int64_t m, int64_t n, struct op *op)
{
	const int64_t parts = (int64_t)aten_u32(map + EXTENT + 8) + 1,
		      pitch = (int64_t)aten_u32(map + PITCH) * 16,
		      part = (int64_t)aten_u32(map + PITCH2) * 16;

	return aten_u32(map + FORMAT) == FORMAT_WORK && aten_u32(map + EXTENT) + 1 == m &&
	       aten_u32(map + EXTENT + 4) + 1 == n && pitch == 4 * m && part == pitch * n &&
	       parts > 1 && parts <= 1024 && m * n <= INT32_MAX &&
	       aten_dense(op, ROLE_scratch, ACCESS_WRITE, DT_f32, aten_u64(map), 0, parts * m * n);
}

/*
 * Counters lie in cuBLAS's workspace, and a fill comes right before such a launch. All 33 whose
 * allocations are known were given the first byte of one of 32 MiB, which is what cuBLAS and
 * PyTorch take for Hopper. So all of that counts as touched, but nothing of it as overwritten (it
 * is read, too). Were a workspace larger, it would still be 64 bytes for each of the most tiles
 * that are let in, and more than all of the device's blocks could keep in shared memory. Counters
 * beside a split or a bias were not seen.
 */
static bool add_counters(const struct nvjet *v, const uint8_t *p, struct op *op)
{
	const int64_t most = 32 << 20;
	const uint64_t at = aten_u64(p + COUNTERS);

	if (!at)
		return true;
	return !v->split && !v->bias && at % 16 == 0 && aten_u32(p + TILES) <= most / 64 &&
	       aten_dense(op, ROLE_scratch, ACCESS_READ, DT_u8, at, 0, most) &&
	       aten_dense(op, ROLE_scratch, ACCESS_WRITE, DT_u8, at, 0, most);
}

static enum reason decode(const void *data, const struct launch *l, struct op *op)
{
	const struct nvjet *v = data;
	const enum dtype t = (enum dtype)v->type;
	const uint8_t *p = l->params;
	int64_t a[3], b[3], d[3], m, n, k;
	float beta;

	if (!addresses_agree(v, p) || !rest_is_empty(p) || !matrix(p + A, t, &a[0], &a[1], &a[2]) ||
	    !matrix(p + B, t, &b[0], &b[1], &b[2]) || !matrix(p + D, t, &d[0], &d[1], &d[2]))
		return REASON_SHAPE;
	m = d[1];
	n = d[0];
	k = a[v->a_is_k ? 1 : 0];
	if (a[v->a_is_k ? 0 : 1] != m || b[v->b_is_k ? 1 : 0] != k || b[v->b_is_k ? 0 : 1] != n)
		return REASON_SHAPE;
	memcpy(&beta, p + BETA, 4);
	op->code = OP_touch;
	op->rows = n;
	op->cols = m;
	op->vetted = true;
	if (!add(op, ROLE_out, ACCESS_WRITE, t, aten_u64(p + D), n, m, d[2]) ||
	    !add(op, ROLE_in0, ACCESS_READ, t, aten_u64(p + A), a[0], a[1], a[2]) ||
	    !add(op, ROLE_in1, ACCESS_READ, t, aten_u64(p + B), b[0], b[1], b[2]))
		return REASON_SHAPE;
	/* D may be read, too, or is left to splitKreduce. */
	if ((!(beta == 0) || v->split) &&
	    !add(op, ROLE_out, ACCESS_READ, t, aten_u64(p + D), n, m, d[2]))
		return REASON_SHAPE;
	if (v->split && !add_work(p + WORK, m, n, op))
		return REASON_SHAPE;
	if (!add_counters(v, p, op))
		return REASON_SHAPE;
	/* Its type is not known: four bytes an element at most. */
	if (v->bias && !aten_dense(op, ROLE_bias, ACCESS_READ, DT_u8, aten_u64(p + BIAS), 0, 4 * m))
		return REASON_SHAPE;
	return REASON_NONE;
}

static uint64_t ops(const void *data)
{
	return (uint64_t)1 << OP_touch;
}

const struct decoder nvjet_decoder = {"nvjet", knows, decode, ops};
