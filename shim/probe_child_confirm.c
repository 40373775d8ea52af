/* SPDX-License-Identifier: Apache-2.0 */
/* The winner in the place of the program's kernels: every byte of the arena, on every family. */
#include <stdlib.h>
#include <string.h>

#include "shim/probe_child_bench.h"

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

bool probe_confirm(struct probe *p)
{
	char *start = malloc(p->arena_bytes), *want = malloc(p->arena_bytes),
	     *got = malloc(p->arena_bytes);
	struct probe_batch batch;
	struct fused_launch l;
	bool ok = bench_batch(p, &batch);

	if (!ok || !start || !want || !got)
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	if (fused_launch(&p->group, &p->winner, &p->limits, &l))
		ok = probe_fail(p, REASON_SHAPE, "no fused kernel for these operands");
	for (unsigned f = 0; ok && f < PROBE_FAMILIES; f++) {
		if (p->close && f == PROBE_FAMILY_overflow)
			continue;
		probe_batch_fill(&batch, (enum probe_family)f, 100 + f);
		bench_fill(p, &batch, 0, 9 + f, start);
		ok = probe_arena_cycle(p, start, want) && probe_arena_upload(p, start) &&
		     probe_launch(p, &l) &&
		     probe_ok(p, p->cu.cuStreamSynchronize(p->stream), l.kernel) &&
		     probe_arena_download(p, got);
		if (ok && !alike(p, want, got))
			ok = probe_fail(p, REASON_NOT_EXACT,
					"differs where the program has its operands (family %s)",
					probe_family_name((enum probe_family)f));
	}
	free(start);
	free(want);
	free(got);
	probe_batch_free(&batch);
	return ok;
}
