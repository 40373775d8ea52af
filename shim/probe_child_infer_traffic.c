/* SPDX-License-Identifier: Apache-2.0 */
/* What an unknown kernel writes and what it reads, found out by running it. */
#include <stdlib.h>
#include <string.h>

#include "shim/probe_child_infer_run.h"

enum {
	FILLS = 4,
	MORE_FILLS = 12,
	SLACK = 64 << 10,
	LEAST = 64, /* bytes; fewer numbers agree by chance */
};

/* Runs it on several fillings of everything; what changed, region by region (guards included). */
static bool spans(struct infer *i, uint8_t *seen, struct infer_span *span, unsigned fills)
{
	for (unsigned n = 0; n < fills; n++) {
		infer_arena_garbage(i);
		if (!infer_arena_run(i, &i->launch[0], true))
			return false;
		for (unsigned r = 0; r < i->nregion; r++) {
			size_t from = i->region[r].at - INFER_GUARD;

			infer_span_add(&span[r], seen + from / 2, i->before + from, i->after + from,
				       INFER_GUARD + i->region[r].bytes);
		}
	}
	for (unsigned r = 0; r < i->nregion; r++) {
		size_t from = i->region[r].at - INFER_GUARD;

		infer_span_close(&span[r], seen + from / 2, INFER_GUARD + i->region[r].bytes);
	}
	memcpy(i->first[0], i->before, i->bytes);
	memcpy(i->first[1], i->after, i->bytes);
	return true;
}

static bool writes(struct infer *i)
{
	struct infer_span span[INFER_ARGS] = {{0, 0, false}};
	uint8_t *seen = calloc(i->bytes / 2 + 1, 1);
	const struct infer_region *out = NULL;
	unsigned n = 0, at = 0;
	bool ok = seen && spans(i, seen, span, FILLS);

	/* What works in place may leave numbers as they are: most of them not every time. */
	for (unsigned r = 0; ok && r < i->nregion; r++)
		if (span[r].gap) {
			ok = spans(i, seen, span, MORE_FILLS);
			break;
		}
	free(seen);
	if (!ok)
		return probe_fail(i->p, REASON_NO_VERDICT, "out of memory");
	for (unsigned r = 0; r < i->nregion; r++)
		if (span[r].from != span[r].to) {
			n++;
			at = r;
		}
	if (!n)
		return infer_fail(i, 0, "it writes nothing behind its pointers");
	if (n > 1)
		return infer_fail(i, 0, "it writes behind %u of its pointers", n);
	out = &i->region[at];
	if (span[at].from < INFER_GUARD)
		return infer_fail(i, 0, "it writes before the address that it is given");
	if (span[at].from > INFER_GUARD)
		return infer_fail(i, 0,
				  "it does not begin to write at the address that it is given");
	i->gap = span[at].gap;
	i->f.out = out->arg;
	i->f.extent = span[at].to - INFER_GUARD;
	if (i->f.extent < LEAST)
		return infer_fail(i, 0, "it writes %u bytes, which is too little to tell by",
				  (unsigned)i->f.extent);
	if (i->f.extent == out->bytes)
		return infer_fail(i, 0, "it writes more than %zu KiB, which is not probed",
				  out->bytes >> 10);
	/* Pooled allocations may be larger than what is the operand's; never smaller. */
	if (i->f.extent > i->room[out->arg])
		return infer_fail(i, 0, "it writes beyond what the program allocated");
	return true;
}

static bool same_output(const struct infer *i)
{
	size_t at = infer_region(i, i->f.out)->at;

	return !memcmp(i->first[1] + at, i->after + at, i->f.extent);
}

/* The first run once more; then with other bytes behind one pointer at a time. */
static bool reads(struct infer *i)
{
	memcpy(i->before, i->first[0], i->bytes);
	for (unsigned n = 0; n < 2; n++) {
		if (!infer_arena_run(i, &i->launch[0], false))
			return false;
		if (!same_output(i))
			return infer_fail(i, 0, "two runs on the same data differ");
	}
	for (unsigned r = 0; r < i->nregion; r++) {
		const struct infer_region *g = &i->region[r];

		infer_arena_garbage(i);
		for (unsigned o = 0; o < i->nregion; o++)
			if (o != r)
				memcpy(i->before + i->region[o].at, i->first[0] + i->region[o].at,
				       i->region[o].window);
		if (!infer_arena_run(i, &i->launch[0], false))
			return false;
		i->f.read[g->arg] = !same_output(i);
	}
	return true;
}

/* Inputs may be of a larger type than the output, and sizes are tried that are larger. */
static void narrow(struct infer *i)
{
	for (unsigned r = 0; r < i->nregion; r++) {
		size_t window = 4 * i->f.extent + SLACK;

		if (window < i->region[r].window)
			i->region[r].window = window;
	}
}

bool infer_traffic(struct infer *i)
{
	if (!writes(i))
		return false;
	narrow(i);
	return reads(i);
}
