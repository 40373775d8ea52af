/* SPDX-License-Identifier: Apache-2.0 */
/* The winner in the place of the program's kernels: every byte of the arena, on every family. */
#include <stdlib.h>
#include <string.h>

#include "shim/probe_child_bench.h"
#include "shim/probe_child_chain.h"

/* Bytes alike; on the software GPU any NaN is like another; numerics = close: out within a unit. */
static bool alike(const struct probe *p, const char *want, const char *got)
{
	const unsigned slot[] = {probe_slots(&p->group)->mid, probe_slots(&p->group)->out};
	char *copy;
	bool ok;

	if (!memcmp(want, got, p->arena_bytes))
		return true;
	if (!p->softgpu && !p->close)
		return false;
	copy = malloc(p->arena_bytes);
	if (!copy)
		return false;
	memcpy(copy, got, p->arena_bytes);
	for (unsigned i = 0; i < 2; i++) {
		enum dtype t = (enum dtype)p->group.bound[slot[i]].dtype;
		unsigned bytes = dtype_bytes(t);

		for (int64_t r = 0; r < p->group.rows; r++) {
			char *x = probe_arena_row(p, copy, slot[i], r);
			const char *y = want + (x - copy);

			for (int64_t c = 0; c < p->group.cols; c++) {
				bool nan = p->softgpu && probe_is_nan(t, x, c) &&
					   probe_is_nan(t, y, c);
				bool near = p->close && i == 1 && probe_distance(t, x, y, c) <= 1;

				if (nan || near)
					memcpy(x + c * bytes, y + c * bytes, bytes);
			}
		}
	}
	ok = !memcmp(want, copy, p->arena_bytes);
	free(copy);
	return ok;
}

/* Every family through the program's kernels and what `launch` queues for each of the n args. */
static bool confirm(struct probe *p, bool (*launch)(struct probe *, const void *),
		    const void *const *arg, unsigned n)
{
	char *start = malloc(p->arena_bytes), *want = malloc(p->arena_bytes),
	     *got = malloc(p->arena_bytes);
	struct probe_batch batch;
	bool ok = bench_batch(p, &batch);

	if (!ok || !start || !want || !got)
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	for (unsigned f = 0; ok && f < PROBE_FAMILIES; f++) {
		if (p->close && f == PROBE_FAMILY_overflow)
			continue;
		probe_batch_fill(&batch, (enum probe_family)f, 100 + f);
		bench_fill(p, &batch, 0, 9 + f, start);
		ok = probe_arena_cycle(p, start, want);
		for (unsigned i = 0; ok && i < n; i++) {
			ok = probe_arena_upload(p, start) && launch(p, arg[i]) &&
			     probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "our kernel") &&
			     probe_arena_download(p, got);
			if (ok && !alike(p, want, got))
				ok = probe_fail(
					p, REASON_NOT_EXACT,
					"differs where the program has its operands (family %s)",
					probe_family_name((enum probe_family)f));
		}
	}
	free(start);
	free(want);
	free(got);
	probe_batch_free(&batch);
	return ok;
}

static bool by_hand(struct probe *p, const void *launch)
{
	return probe_launch(p, launch);
}

bool probe_confirm(struct probe *p)
{
	struct fused_launch l;

	if (fused_launch(&p->group, &p->winner, &p->limits, &l))
		return probe_fail(p, REASON_SHAPE, "no fused kernel for these operands");
	return confirm(p, by_hand, &(const void *){&l}, 1);
}

/* The one for few rows and the one for many, whichever the program's number asks for. */
static bool generated(struct probe *p, const void *sm_count)
{
	const int own = p->limits.sm_count;
	bool ok;

	p->limits.sm_count = *(const int *)sm_count;
	ok = probe_generated_place(p) && probe_chain_launch(p);
	p->limits.sm_count = own;
	return ok;
}

bool probe_generated_confirm(struct probe *p)
{
	const int few = 1 << 30, many = 0;

	return confirm(p, generated, (const void *const[]){&few, &many}, 2);
}
