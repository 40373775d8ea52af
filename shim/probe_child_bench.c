/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/probe_child_bench.h"

#include <stdlib.h>
#include <string.h>

enum {
	BLOCK = 256,   /* candidates whose results are fetched together */
	POISON = 0x7f, /* bytes of the candidates' output before each run */
};

/* Of one candidate: fused_compare's pair for sum, then for out. */
struct counters {
	uint64_t sum[2], out[2];
};

static bool alloc(struct probe *p, CUdeviceptr *d, size_t bytes)
{
	return probe_ok(p, p->cu.cuMemAlloc_v2(d, bytes), "cuMemAlloc");
}

static size_t row_bytes(const struct group *g, unsigned slot)
{
	return (size_t)g->cols * dtype_bytes((enum dtype)g->bound[slot].dtype);
}

bool bench_open(struct probe *p, struct bench *b, int64_t rows)
{
	size_t bytes = (size_t)rows * row_bytes(&p->group, ADD_RMSNORM_A);

	memset(b, 0, sizeof(*b));
	b->rows = rows;
	b->group = p->group;
	for (unsigned i = 0; i < p->group.nbound; i++) {
		struct bound *to = &b->group.bound[i];

		CUdeviceptr d;

		to->pitch = i == ADD_RMSNORM_W ? 0 : (int64_t)row_bytes(&p->group, i);
		if (!alloc(p, &d,
			   (size_t)(i == ADD_RMSNORM_W ? 1 : rows) * row_bytes(&p->group, i)))
			return false;
		to->addr = d;
	}
	b->image = malloc(p->arena_bytes);
	b->sums = malloc(bytes);
	b->outs = malloc(bytes);
	if (!b->image || !b->sums || !b->outs)
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	return alloc(p, &b->sum, bytes) && alloc(p, &b->out, bytes) &&
	       alloc(p, &b->counters, BLOCK * sizeof(struct counters));
}

bool bench_batch(struct probe *p, struct probe_batch *b)
{
	const struct group *g = &p->group;

	return probe_batch_init(b, (enum dtype)g->bound[ADD_RMSNORM_A].dtype,
				(enum dtype)g->bound[ADD_RMSNORM_W].dtype, g->rows, g->cols,
				g->has_eps ? g->eps : 1e-5) ||
	       probe_fail(p, REASON_NO_VERDICT, "out of memory");
}

void bench_fill(const struct probe *p, const struct probe_batch *batch, int64_t from, uint64_t seed,
		char *image)
{
	const struct group *g = &p->group;
	size_t row = row_bytes(g, ADD_RMSNORM_A);

	for (size_t i = 0; i + 8 <= p->arena_bytes; i += 8) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		memcpy(image + i, &seed, 8);
	}
	memcpy(probe_arena_row(p, image, ADD_RMSNORM_W, 0), batch->w, row_bytes(g, ADD_RMSNORM_W));
	for (int64_t r = 0; r < g->rows; r++) {
		int64_t k = from + r < batch->rows ? from + r : batch->rows - 1;

		memcpy(probe_arena_row(p, image, ADD_RMSNORM_A, r), batch->a + (size_t)k * row,
		       row);
		/* a and b may be one buffer: then b is what both are. */
		memcpy(probe_arena_row(p, image, ADD_RMSNORM_B, r), batch->b + (size_t)k * row,
		       row);
	}
}

/* Are a and b the same memory, or does one serve all rows? The batch must hold what the arena can.
 */
static void adapt(const struct probe *p, struct probe_batch *batch)
{
	const struct bound *a = &p->group.bound[ADD_RMSNORM_A], *b = &p->group.bound[ADD_RMSNORM_B];
	size_t row = row_bytes(&p->group, ADD_RMSNORM_A);

	for (int64_t r = 0; r < batch->rows; r++) {
		if (!a->pitch)
			memcpy(batch->a + (size_t)r * row,
			       batch->a + (size_t)(batch->rows - 1) * row, row);
		if (!b->pitch)
			memcpy(batch->b + (size_t)r * row,
			       batch->b + (size_t)(batch->rows - 1) * row, row);
		if (a->addr == b->addr)
			memcpy(batch->a + (size_t)r * row, batch->b + (size_t)r * row, row);
	}
}

static bool upload(struct probe *p, CUdeviceptr to, const void *from, size_t bytes)
{
	return probe_ok(p, p->cu.cuMemcpyHtoDAsync_v2(to, from, bytes, p->stream), "upload");
}

bool bench_reference(struct probe *p, struct bench *b, const struct probe_batch *batch)
{
	struct group *g = &b->group;
	size_t row = row_bytes(g, ADD_RMSNORM_A), bytes = (size_t)batch->rows * row;
	bool has_sum = g->bound[ADD_RMSNORM_SUM].use == BOUND_WRITE;

	adapt(p, (struct probe_batch *)batch);
	for (int64_t from = 0; from < batch->rows; from += p->group.rows) {
		bench_fill(p, batch, from, (uint64_t)from + 1, b->image);
		if (!probe_arena_upload(p, b->image) || !probe_arena_run(p) ||
		    !probe_arena_download(p, b->image))
			return false;
		for (int64_t r = 0; r < p->group.rows && from + r < batch->rows; r++) {
			size_t at = (size_t)(from + r) * row;

			if (has_sum)
				memcpy(b->sums + at,
				       probe_arena_row(p, b->image, ADD_RMSNORM_SUM, r), row);
			memcpy(b->outs + at, probe_arena_row(p, b->image, ADD_RMSNORM_OUT, r), row);
		}
	}
	g->rows = batch->rows;
	return upload(p, g->bound[ADD_RMSNORM_A].addr, batch->a, bytes) &&
	       upload(p, g->bound[ADD_RMSNORM_B].addr, batch->b, bytes) &&
	       upload(p, g->bound[ADD_RMSNORM_W].addr, batch->w, row_bytes(g, ADD_RMSNORM_W)) &&
	       (!has_sum || upload(p, b->sum, b->sums, bytes)) &&
	       upload(p, b->out, b->outs, bytes) &&
	       probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "upload");
}

static bool compare(struct probe *p, struct bench *b, unsigned slot, CUdeviceptr with,
		    CUdeviceptr counter)
{
	const struct bound *x = &b->group.bound[slot];
	struct fused_launch l;

	fused_compare(x->addr, x->pitch, with, x->pitch, b->group.rows, b->group.cols,
		      (enum dtype)x->dtype, counter, &l);
	return probe_launch(p, &l);
}

/* Queues one candidate and its comparisons. A candidate that no kernel of ours can run differs. */
static bool queue(struct probe *p, struct bench *b, const struct candidate *c, CUdeviceptr counter)
{
	struct group *g = &b->group;
	size_t bytes = (size_t)g->rows * row_bytes(g, ADD_RMSNORM_A);
	struct fused_launch l;
	bool has_sum = g->bound[ADD_RMSNORM_SUM].use == BOUND_WRITE;

	if (fused_launch(g, c, &p->limits, &l))
		return probe_ok(
			p, p->cu.cuMemsetD8Async(counter, 0xff, sizeof(struct counters), p->stream),
			"cuMemsetD8Async");
	return probe_ok(p,
			p->cu.cuMemsetD8Async(g->bound[ADD_RMSNORM_OUT].addr, POISON, bytes,
					      p->stream),
			"cuMemsetD8Async") &&
	       probe_launch(p, &l) &&
	       (!has_sum || compare(p, b, ADD_RMSNORM_SUM, b->sum, counter)) &&
	       compare(p, b, ADD_RMSNORM_OUT, b->out, counter + offsetof(struct counters, out));
}

/* The candidate without what makes no difference on rows that give no subnormal numbers. */
static uint64_t unflushed(uint64_t code)
{
	struct fields f;

	if (candidate_unpack(code, &f))
		return code;
	f.ftz = f.addftz = 0;
	return candidate_pack(&f);
}

bool bench_filter(struct probe *p, struct bench *b, const struct probe_batch *batch,
		  struct trial *t, unsigned *n, bool close)
{
	struct counters *result = calloc(BLOCK, sizeof(*result));
	bool normal = probe_family_normal(batch->family), ok = result != NULL;
	unsigned kept = 0;

	for (unsigned from = 0; ok && from < *n; from += BLOCK) {
		unsigned count = *n - from < BLOCK ? *n - from : BLOCK, same[BLOCK];

		ok = probe_ok(
			p,
			p->cu.cuMemsetD8Async(b->counters, 0, BLOCK * sizeof(*result), p->stream),
			"cuMemsetD8Async");
		for (unsigned i = 0; ok && i < count; i++) {
			same[i] = i;
			if (normal && i && t[from + i].c.eps == t[from + i - 1].c.eps &&
			    unflushed(t[from + i].c.code) == unflushed(t[from + i - 1].c.code))
				same[i] = same[i - 1];
			else
				ok = queue(p, b, &t[from + i].c, b->counters + i * sizeof(*result));
		}
		ok = ok &&
		     probe_ok(p,
			      p->cu.cuMemcpyDtoHAsync_v2(result, b->counters,
							 count * sizeof(*result), p->stream),
			      "download") &&
		     probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "our kernels");
		for (unsigned i = 0; ok && i < count; i++) {
			const struct counters *c = &result[same[i]];

			if (c->sum[0] || (close ? c->out[1] > 1 : c->out[0] != 0))
				continue;
			t[kept] = t[from + i];
			t[kept++].differ += c->out[0];
		}
	}
	free(result);
	if (!ok)
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	*n = kept;
	return true;
}
