/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a sweep that no candidate came through: the closest one, and where it differs. */
#include <stdlib.h>
#include <string.h>

#include "shim/probe_child_sweep.h"

/* Does element i of a host image of the arena differ from ours? */
static bool differs(const struct sweep *w, char *theirs, unsigned slot, const char *ours, int64_t i)
{
	int64_t r = i / w->theirs.cols, c = i % w->theirs.cols;
	const char *x = probe_arena_row(w->p, theirs, slot, r);

	if (w->p->softgpu && probe_is_nan(DT_f32, x, c) && probe_is_nan(DT_f32, ours, i))
		return false;
	return memcmp(x + 4 * c, ours + 4 * i, 4) != 0;
}

bool sweep_say_where(struct sweep *w, const struct stretch *t)
{
	struct probe *p = w->p;
	size_t bytes = (size_t)(w->elements * 4);
	char *theirs = malloc(p->arena_bytes), *silu = malloc(bytes), *out = malloc(bytes);
	char name[CANDIDATE_NAME_MAX];
	struct sweep_args a;
	unsigned best = 0;
	int64_t i = 0;
	float gate;
	uint32_t bits;
	bool ok;

	for (unsigned k = 1; k < w->s->n; k++)
		best = w->differ[k] < w->differ[best] ? k : best;
	a = sweep_inputs(w, t, w->chunk[best]);
	ok = theirs && silu && out && sweep_theirs(w, t, w->chunk[best]) &&
	     sweep_ours(w, t, w->chunk[best], &w->s->trial[best].c) &&
	     probe_ok(p, p->cu.cuMemcpyDtoHAsync_v2(silu, w->gate, bytes, p->stream), "download") &&
	     probe_ok(p, p->cu.cuMemcpyDtoHAsync_v2(out, w->up, bytes, p->stream), "download") &&
	     probe_arena_download(p, theirs);
	while (ok && i < w->elements &&
	       !(sweep_keeps_silu(p) && differs(w, theirs, SILU_MUL_SILU, silu, i)) &&
	       !differs(w, theirs, SILU_MUL_OUT, out, i))
		i++;
	bits = sweep_bits(&a, i);
	memcpy(&gate, &bits, 4);
	candidate_name(&w->s->trial[best].c, name);
	if (ok && i < w->elements)
		probe_fail(p, REASON_NOT_EXACT,
			   "%s differs at %llu of %llu gates, first at %g (0x%08x)", name,
			   (unsigned long long)w->differ[best], sweep_tried(w), (double)gate, bits);
	else if (ok)
		probe_fail(p, REASON_NOT_DETERMINISTIC,
			   "%s differed at %llu of %llu gates, but not again", name,
			   (unsigned long long)w->differ[best], sweep_tried(w));
	free(theirs);
	free(silu);
	free(out);
	return probe_fail(p, REASON_NO_VERDICT, "out of memory");
}
