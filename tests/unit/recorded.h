/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorded program's ops in memory of this process, so that they can be run. Where operands lay
 * apart they lie apart, at the same offsets within pages; weights that only kernels of unknown
 * arithmetic read have no bytes behind them.
 */
#ifndef AF_TESTS_UNIT_RECORDED_H
#define AF_TESTS_UNIT_RECORDED_H

#include "command.h"

#include <sys/mman.h>

#include "matcher/dag.h"
#include "matcher/decode.h"
#include "matcher/graph_memory.h"
#include "matcher/graph_plan.h"
#include "matcher/row_build.h"
#include "tools/trace.h"

enum { NODES = 8192, EDGES = 16384, AREAS = NODES * OP_MAX_OPERANDS, PAGE = 4096 };
static const uint64_t NOWHERE = UINT64_C(1) << 56; /* no address has that bit */

static struct graph_node node[NODES];
static struct dag_edge edge[EDGES];
static unsigned nnode, nedge;
static bool as_row[NODES]; /* its arithmetic is a row program's */

static struct area {
	struct range range; /* as recorded, whole pages */
	uint64_t at;        /* where it is now */
} area[AREAS];
static unsigned narea;
static uint8_t *arena, *wanted; /* all areas; what shall be in them */
static size_t arena_bytes;

static void recorded_kernel(const struct trace_event *e)
{
	static uint8_t none[1 << 15]; /* the op has all that matters of the parameters */
	struct graph_node *n = &node[nnode];

	assert_true(nnode < NODES && e->launch.kernel->param_bytes <= sizeof(none));
	*n = (struct graph_node){.kind = GRAPH_KERNEL, .launch = e->launch};
	decode_launch(&n->launch, &n->op);
	n->op.vetted = n->op.code != OP_opaque;
	n->launch.params = none;
	n->launch.stream = 0;
	n->launch.index = nnode++;
}

static void recorded_node(const struct trace_event *e)
{
	struct graph_node *n = &node[nnode++];

	assert_true(nnode <= NODES);
	*n = (struct graph_node){.kind = e->flags == 5 ? GRAPH_EMPTY : GRAPH_OTHER};
	if (e->touches)
		graph_memory(n, &e->written, &e->copied);
}

/* The launches of a recording without graphs, or the nodes and edges of its graph. The trace owns
 * the kernels. */
static struct trace *recorded_read(const char *path, bool graph)
{
	struct trace *t = trace_open(path);
	struct trace_event e;

	assert_non_null(t);
	nnode = nedge = 0;
	while (trace_next(t, &e)) {
		if (e.kind == (graph ? TRACE_KERNEL : TRACE_LAUNCH))
			recorded_kernel(&e);
		if (graph && e.kind == TRACE_NODE)
			recorded_node(&e);
		if (graph && e.kind == TRACE_EDGE) {
			assert_true(nedge < EDGES);
			edge[nedge++] = (struct dag_edge){e.from, e.to};
			if (e.flags) /* as `autofuse plan` takes it */
				node[e.from].typed = node[e.to].typed = true;
		}
	}
	assert_int_equal(trace_errors(t), 0);
	assert_true(nnode > 0);
	return t;
}

static bool runs_as_row(const struct graph_node *n)
{
	static struct row r;
	struct row_member one = {.op = &n->op};

	if (n->kind != GRAPH_KERNEL || n->op.code == OP_touch || !row_op_known(&n->op))
		return false;
	row_pick_known(&n->op, &n->launch, &one.pick);
	return row_build(&r, &one, 1) == REASON_NONE;
}

static bool has_op(const struct graph_node *n)
{
	return n->kind == GRAPH_MEMORY || (n->kind == GRAPH_KERNEL && n->op.code != OP_opaque);
}

static int by_address(const void *a, const void *b)
{
	const struct area *x = a, *y = b;

	return x->range.lo < y->range.lo ? -1 : x->range.lo > y->range.lo;
}

static void add_area(struct range r)
{
	if (r.lo == r.hi)
		return;
	assert_true(narea < AREAS);
	area[narea++].range = (struct range){r.lo & ~(uint64_t)(PAGE - 1),
					     (r.hi + PAGE - 1) & ~(uint64_t)(PAGE - 1)};
}

static void merge_areas(void)
{
	unsigned last = 0;

	qsort(area, narea, sizeof(*area), by_address);
	for (unsigned i = 1; i < narea; i++) {
		if (area[i].range.lo > area[last].range.hi)
			area[++last] = area[i];
		else if (area[i].range.hi > area[last].range.hi)
			area[last].range.hi = area[i].range.hi;
	}
	narea = narea ? last + 1 : 0;
}

static const struct area *area_of(struct range r)
{
	for (unsigned i = 0; i < narea; i++)
		if (range_overlap(area[i].range, r))
			return &area[i];
	return NULL;
}

/* What is written, and what row programs read. Then, what the others read of the same areas. */
static void find_areas(void)
{
	unsigned before;

	narea = 0;
	for (unsigned i = 0; i < nnode; i++) {
		as_row[i] = runs_as_row(&node[i]);
		for (unsigned k = 0; has_op(&node[i]) && k < node[i].op.noperand; k++)
			if (as_row[i] || node[i].op.operand[k].access & ACCESS_WRITE)
				add_area(operand_range(&node[i].op.operand[k]));
	}
	merge_areas();
	do {
		before = narea;
		for (unsigned i = 0; i < nnode; i++)
			for (unsigned k = 0; has_op(&node[i]) && k < node[i].op.noperand; k++) {
				struct range r = operand_range(&node[i].op.operand[k]);
				const struct area *a = area_of(r);

				if (a && (r.lo < a->range.lo || r.hi > a->range.hi))
					add_area(r);
			}
		if (narea > before)
			merge_areas();
	} while (narea != before);
}

static bool is_there(const struct operand *o)
{
	return !(o->addr & NOWHERE);
}

/* Operands are where they are now. Between areas nothing can be read or written. */
static void recorded_place(void)
{
	find_areas();
	arena_bytes = PAGE;
	for (unsigned i = 0; i < narea; i++) {
		area[i].at = arena_bytes;
		arena_bytes += area[i].range.hi - area[i].range.lo + PAGE;
	}
	arena = mmap(NULL, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	wanted =
		mmap(NULL, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(arena != MAP_FAILED && wanted != MAP_FAILED);
	for (unsigned i = 0; i < narea; i++)
		assert_int_equal(mprotect(arena + area[i].at, area[i].range.hi - area[i].range.lo,
					  PROT_READ | PROT_WRITE),
				 0);
	for (unsigned i = 0; i < nnode; i++)
		for (unsigned k = 0; has_op(&node[i]) && k < node[i].op.noperand; k++) {
			struct operand *o = &node[i].op.operand[k];
			const struct area *a = area_of(operand_range(o));

			if (a)
				o->addr += (uint64_t)(uintptr_t)arena + a->at - a->range.lo;
			else
				o->addr |= NOWHERE;
		}
}

static void recorded_free(struct trace *t)
{
	munmap(arena, arena_bytes);
	munmap(wanted, arena_bytes);
	trace_close(t);
}

#endif
