/* SPDX-License-Identifier: Apache-2.0 */
/* Every float there is through a member that reads one operand, and the forms that are left. */
#include <stdlib.h>

#include "config/log.h"
#include "shim/probe_child_chain.h"

enum {
	ELEMENTS = 1 << 20, /* of a launch, where the member can be launched so */
	TOGETHER = 64,      /* launches between two looks */
	LAUNCHES = 1 << 14, /* at most */
	LAUNCHES_SOFTGPU = 4,
	MOST = 64, /* forms */
};

/* Is it one run of floats, and as long as there are elements? */
static bool dense(const struct operand *o)
{
	return o && o->ndim == 1 && o->stride[0] == dtype_bytes((enum dtype)o->dtype);
}

/* The space and the bench again, for an arena that is another. */
static bool again(struct probe *p, struct pick_bench *b, struct pick_space *s)
{
	pick_bench_close(p, b);
	pick_space_close(s);
	return pick_space_open(p, s) && pick_bench_open(p, b, s);
}

/* With more elements than the program has, if its kernel takes them. */
static bool enlarge(struct probe *p, struct pick_bench *b, struct pick_space *s)
{
	int64_t rows = p->group.rows;
	enum probe_sized sized;
	bool whole = false;

	if (p->softgpu || rows >= ELEMENTS || p->asked.cols != 1)
		return true;
	sized = probe_arena_size(p, probe_rows_near(p, ELEMENTS));
	if (sized == PROBE_SIZED_FAILED || (sized == PROBE_SIZED && !probe_arena_whole(p, &whole)))
		return false;
	if (!whole && probe_arena_size(p, rows) != PROBE_SIZED)
		return probe_fail(p, REASON_NO_VERDICT,
				  "the program's own size does not come back");
	return again(p, b, s);
}

/* A chunk: the member on it, and the forms on what the member read. */
static bool queue(struct probe *p, struct pick_bench *b, unsigned n, uint32_t first, uint32_t step)
{
	const struct operand *in = op_operand(&p->member[0].run.op, ROLE_in0);

	return pick_bench_floats(p, in->addr, b->rows, first, step) &&
	       pick_bench_floats(p, in->addr + (b->inputs - p->arena), b->rows, first, step) &&
	       probe_arena_launch(p) && pick_bench_queue(p, b, b->rows, n);
}

static bool sweep(struct probe *p, struct pick_bench *b, uint32_t *pair, unsigned *n, bool *whole)
{
	uint64_t all = (((uint64_t)1 << 32) + (uint64_t)b->rows - 1) / (uint64_t)b->rows;
	uint64_t most = p->softgpu ? LAUNCHES_SOFTGPU : LAUNCHES, chunks = all < most ? all : most;
	uint32_t step =
		all <= most ? 1 : (uint32_t)(((uint64_t)1 << 32) / (most * (uint64_t)b->rows));
	uint32_t differ[MOST];
	unsigned before = *n;

	for (uint64_t from = 0; from < chunks && *n; from += TOGETHER) {
		unsigned kept = 0;

		if (!pick_bench_pairs(p, b, pair, *n))
			return false;
		for (uint64_t i = from; i < chunks && i < from + TOGETHER; i++)
			if (!queue(p, b, *n, (uint32_t)(i * (uint64_t)b->rows * step), step))
				return false;
		if (!pick_bench_counts(p, b, differ, *n))
			return false;
		for (unsigned i = 0; i < *n; i++)
			if (!differ[i])
				pair[kept++] = pair[i];
		*n = kept;
	}
	*whole = step == 1;
	log_debug("probe: %s: %s: %u of %u picks left", opcode_name(p->member[0].run.op.code),
		  *whole ? "every float" : "floats from all over", *n, before);
	return true;
}

bool pick_sweep(struct probe *p, struct pick_bench *b, struct pick_space *s, uint32_t *pair,
		unsigned *n, bool *whole)
{
	const struct op *op = &p->member[0].run.op;

	*whole = false;
	if (*n > MOST || !dense(op_operand(op, ROLE_in0)) || !dense(op_operand(op, ROLE_out)))
		return true;
	return enlarge(p, b, s) && sweep(p, b, pair, n, whole);
}
