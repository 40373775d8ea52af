/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More elements at once. Where every element stands for itself, what the program's kernels make of
 * one does not depend on how many there are: a launch of a few elements is tried at a size that
 * takes many inputs at a time. Whether they work on all of so many is looked at first; if not, they
 * are launched as the program does it, again and again.
 */
#include "config/log.h"
#include "shim/probe_child_search.h"

bool probe_plain(struct probe *p)
{
	return (p->arena && p->group.rows == p->plain_rows) ||
	       probe_arena_size(p, p->plain_rows) == PROBE_SIZED ||
	       probe_fail(p, REASON_NO_VERDICT, "the program's own size does not come back");
}

bool probe_scale(struct probe *p)
{
	if (p->group.pattern != &pattern_silu_mul)
		return true;
	for (p->scale = PROBE_SCALE_RULE; p->scale < PROBE_SCALE_NONE; p->scale++) {
		int64_t rows = probe_rows_near(p, search_silu_rows(p));
		enum probe_sized sized = probe_arena_size(p, rows);
		bool whole;

		if (sized == PROBE_SIZED_FAILED)
			return false;
		if (sized != PROBE_SIZED)
			continue;
		if (!probe_arena_whole(p, &whole))
			return false;
		log_debug("probe: the program's kernels with %lld elements for %lld: %s",
			  (long long)(p->group.rows * p->group.cols),
			  (long long)(p->asked.rows * p->asked.cols),
			  whole ? "they take them" : "not all are worked on");
		if (whole)
			return true;
	}
	log_debug("probe: no other sizes: %lld elements a launch",
		  (long long)(p->asked.rows * p->asked.cols));
	return probe_plain(p);
}

bool probe_unscale(struct probe *p)
{
	/* On so many the winner was compared. */
	if (p->group.rows > p->proven_rows)
		p->proven_rows = p->group.rows;
	return probe_plain(p);
}
