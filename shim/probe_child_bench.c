/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/probe_child_bench.h"

#include <stdlib.h>
#include <string.h>

enum {
	BLOCK = 256,              /* candidates whose results are fetched together */
	POISON = 0x7f,            /* bytes of the candidates' output before each run */
	LANE_BYTES_MAX = 1 << 24, /* for larger rows one lane keeps the GPU busy */
};

/* Of one candidate: fused_compare's pair for sum, then for out. */
struct counters {
	uint64_t sum[2], out[2];
};

static bool alloc(struct probe *p, CUdeviceptr *d, size_t bytes)
{
	return probe_ok(p, p->cu.cuMemAlloc_v2(d, bytes), "cuMemAlloc");
}

/* The first lane is the bench's own stream and outputs. */
static bool open_lanes(struct probe *p, struct bench *b, size_t bytes)
{
	const struct probe_slots *slot = probe_slots(&p->group);
	unsigned most = p->softgpu || bytes > LANE_BYTES_MAX ? 1 : BENCH_LANES;

	b->lane[0] = (struct bench_lane){p->stream, b->group.bound[slot->mid].addr,
					 b->group.bound[slot->out].addr};
	for (b->nlane = 1; b->nlane < most; b->nlane++) {
		struct bench_lane *l = &b->lane[b->nlane];

		if (!probe_ok(p, p->cu.cuStreamCreate(&l->stream, CU_STREAM_NON_BLOCKING),
			      "cuStreamCreate") ||
		    !alloc(p, &l->mid, bytes) || !alloc(p, &l->out, bytes))
			return false;
	}
	return true;
}

/* What candidates run on until another lane's turn. */
static void take_lane(struct probe *p, struct bench *b, unsigned i)
{
	const struct probe_slots *slot = probe_slots(&p->group);

	p->stream = b->lane[i].stream;
	b->group.bound[slot->mid].addr = b->lane[i].mid;
	b->group.bound[slot->out].addr = b->lane[i].out;
}

static bool wait_for_lanes(struct probe *p, struct bench *b)
{
	bool ok = true;

	for (unsigned i = 1; i < b->nlane; i++)
		ok = ok && probe_ok(p, p->cu.cuStreamSynchronize(b->lane[i].stream), "our kernels");
	take_lane(p, b, 0);
	return ok;
}

bool bench_open(struct probe *p, struct bench *b, int64_t rows)
{
	const struct probe_slots *slot = probe_slots(&p->group);
	size_t bytes = (size_t)rows * bench_row_bytes(&p->group, slot->a);

	memset(b, 0, sizeof(*b));
	b->rows = rows;
	b->group = p->group;
	for (unsigned i = 0; i < p->group.nbound; i++) {
		struct bound *to = &b->group.bound[i];

		CUdeviceptr d;

		to->pitch = i == slot->w ? 0 : (int64_t)bench_row_bytes(&p->group, i);
		if (!alloc(p, &d,
			   (size_t)(i == slot->w ? 1 : rows) * bench_row_bytes(&p->group, i)))
			return false;
		to->addr = d;
	}
	b->image = malloc(p->arena_bytes);
	b->sums = malloc(bytes);
	b->outs = malloc(bytes);
	if (!b->image || !b->sums || !b->outs)
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	return open_lanes(p, b, bytes) && alloc(p, &b->sum, bytes) && alloc(p, &b->out, bytes) &&
	       alloc(p, &b->counters, BLOCK * sizeof(struct counters));
}

void bench_close(struct probe *p, struct bench *b)
{
	if (b->nlane)
		take_lane(p, b, 0);
	for (unsigned i = 1; i < b->nlane; i++) {
		p->cu.cuStreamDestroy_v2(b->lane[i].stream);
		p->cu.cuMemFree_v2(b->lane[i].mid);
		p->cu.cuMemFree_v2(b->lane[i].out);
	}
	for (unsigned i = 0; i < b->group.nbound; i++)
		if (b->nlane)
			p->cu.cuMemFree_v2(b->group.bound[i].addr);
	p->cu.cuMemFree_v2(b->sum);
	p->cu.cuMemFree_v2(b->out);
	p->cu.cuMemFree_v2(b->counters);
	free(b->image);
	free(b->sums);
	free(b->outs);
	memset(b, 0, sizeof(*b));
}

bool bench_batch_rows(struct probe *p, struct probe_batch *b, int64_t rows)
{
	const struct group *g = &p->group;
	const struct probe_slots *slot = probe_slots(g);
	enum dtype t = (enum dtype)g->bound[slot->a].dtype;
	enum dtype wt = slot->w == NO_SLOT ? t : (enum dtype)g->bound[slot->w].dtype;

	if (!probe_batch_init(b, t, wt, rows, g->cols, g->has_eps ? g->eps : 1e-5))
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	b->silu = g->pattern == &pattern_silu_mul;
	return true;
}

bool bench_batch(struct probe *p, struct probe_batch *b)
{
	enum { ELEMENTS_SILU = 1 << 15 }; /* the arena repeats them */
	int64_t most = ELEMENTS_SILU / p->group.cols, rows = p->group.rows;

	if (p->group.pattern == &pattern_silu_mul && rows > most)
		rows = most > 1 ? most : 1;
	return bench_batch_rows(p, b, rows);
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
	const struct probe_slots *slot = probe_slots(g);
	size_t bytes = (size_t)g->rows * bench_row_bytes(g, slot->a);
	struct fused_launch l;
	bool has_sum = g->bound[slot->mid].use == BOUND_WRITE;

	if (fused_launch(g, c, &p->limits, &l))
		return probe_ok(
			p, p->cu.cuMemsetD8Async(counter, 0xff, sizeof(struct counters), p->stream),
			"cuMemsetD8Async");
	return probe_ok(p,
			p->cu.cuMemsetD8Async(g->bound[slot->out].addr, POISON, bytes, p->stream),
			"cuMemsetD8Async") &&
	       probe_launch(p, &l) && (!has_sum || compare(p, b, slot->mid, b->sum, counter)) &&
	       compare(p, b, slot->out, b->out, counter + offsetof(struct counters, out));
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
		unsigned count = *n - from < BLOCK ? *n - from : BLOCK, same[BLOCK], lane = 0;

		ok = probe_ok(p,
			      p->cu.cuMemsetD8Async(b->counters, 0, BLOCK * sizeof(*result),
						    p->stream),
			      "cuMemsetD8Async") &&
		     probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "cuMemsetD8Async");
		for (unsigned i = 0; ok && i < count; i++) {
			same[i] = i;
			if (normal && i && t[from + i].c.eps == t[from + i - 1].c.eps &&
			    unflushed(t[from + i].c.code) == unflushed(t[from + i - 1].c.code))
				same[i] = same[i - 1];
			else {
				take_lane(p, b, lane++ % b->nlane);
				ok = queue(p, b, &t[from + i].c, b->counters + i * sizeof(*result));
			}
		}
		ok = wait_for_lanes(p, b) && ok &&
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
