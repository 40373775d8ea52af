/* SPDX-License-Identifier: Apache-2.0 */
/* What the program's kernels make of a batch. */
#include <string.h>

#include "shim/probe_child_bench.h"

size_t bench_row_bytes(const struct group *g, unsigned slot)
{
	return (size_t)g->cols * dtype_bytes((enum dtype)g->bound[slot].dtype);
}

void bench_fill(const struct probe *p, const struct probe_batch *batch, int64_t from, uint64_t seed,
		char *image)
{
	const struct group *g = &p->group;
	const struct probe_slots *slot = probe_slots(g);
	size_t row = bench_row_bytes(g, slot->a);

	for (size_t i = 0; i + 8 <= p->arena_bytes; i += 8) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		memcpy(image + i, &seed, 8);
	}
	if (slot->w != NO_SLOT)
		memcpy(probe_arena_row(p, image, slot->w, 0), batch->w,
		       bench_row_bytes(g, slot->w));
	for (int64_t r = 0; r < g->rows; r++) {
		int64_t k = (from + r) % batch->rows;

		memcpy(probe_arena_row(p, image, slot->a, r), batch->a + (size_t)k * row, row);
		/* a and b may be one buffer: then b is what both are. */
		memcpy(probe_arena_row(p, image, slot->b, r), batch->b + (size_t)k * row, row);
	}
}

/* Are a and b the same memory, or does one serve all rows? The batch must hold what the arena can.
 */
static void adapt(const struct probe *p, struct probe_batch *batch)
{
	const struct probe_slots *slot = probe_slots(&p->group);
	const struct bound *a = &p->group.bound[slot->a], *b = &p->group.bound[slot->b];
	size_t row = bench_row_bytes(&p->group, slot->a);

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
	const struct probe_slots *slot = probe_slots(g);
	size_t row = bench_row_bytes(g, slot->a), bytes = (size_t)batch->rows * row;
	bool has_sum = g->bound[slot->mid].use == BOUND_WRITE;

	adapt(p, (struct probe_batch *)batch);
	for (int64_t from = 0; from < batch->rows; from += p->group.rows) {
		bench_fill(p, batch, from, (uint64_t)from + 1, b->image);
		if (!probe_arena_upload(p, b->image) || !probe_arena_run(p) ||
		    !probe_arena_download(p, b->image))
			return false;
		for (int64_t r = 0; r < p->group.rows && from + r < batch->rows; r++) {
			size_t at = (size_t)(from + r) * row;

			if (has_sum)
				memcpy(b->sums + at, probe_arena_row(p, b->image, slot->mid, r),
				       row);
			memcpy(b->outs + at, probe_arena_row(p, b->image, slot->out, r), row);
		}
	}
	g->rows = batch->rows;
	return upload(p, g->bound[slot->a].addr, batch->a, bytes) &&
	       upload(p, g->bound[slot->b].addr, batch->b, bytes) &&
	       (slot->w == NO_SLOT ||
		upload(p, g->bound[slot->w].addr, batch->w, bench_row_bytes(g, slot->w))) &&
	       (!has_sum || upload(p, b->sum, b->sums, bytes)) &&
	       upload(p, b->out, b->outs, bytes) &&
	       probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "upload");
}
