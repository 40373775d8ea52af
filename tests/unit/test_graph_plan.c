// SPDX-License-Identifier: Apache-2.0
/*
 * Graphs planned and rewired: random ones without races are executed as they were and as rewired,
 * stores left out that nobody sees, each in a random order that its edges allow. The memories must
 * be equal.
 */
#include "unit.h"

#include <stdbool.h>

#include "matcher/dead.h"
#include "matcher/graph_rewire.h"
#include "matcher/legal.h"
#include "matcher/row.h"
#include "ops.h"

enum { BUFFERS = 7, HALVES = 2, WORDS = 8, NODES = 14, CASES = 20000, GROUPS = NODES };
#define BASE UINT64_C(0x1000)

/* Buffers; of all of them the same halves, one bit each. */
struct touch {
	unsigned reads[2], nread, write, halves;
	bool writes;
};

struct world {
	struct graph_node node[NODES];
	struct touch access[NODES]; /* what really happens, opaque ones included */
	unsigned n;
	struct dag_edge edge[NODES * NODES];
	size_t nedge;
	struct graph_group group[GROUPS];
	bool dropped[GROUPS][BUFFERS * HALVES]; /* what it does not store */
	unsigned ngroup, ndropped, nchain, nlong, nchain_dropped;
};

static uint64_t state;

static unsigned rnd(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)((state >> 20) % n);
}

static uint64_t buffer(unsigned i)
{
	return BASE + (uint64_t)i * WORDS * 4;
}

static void make_node(struct world *w, unsigned i)
{
	struct graph_node *n = &w->node[i];
	struct touch *a = &w->access[i];
	unsigned kind = rnd(10);

	memset(n, 0, sizeof(*n));
	memset(a, 0, sizeof(*a));
	n->kind = kind == 9 ? GRAPH_EMPTY : kind == 8 && rnd(2) ? GRAPH_OTHER : GRAPH_KERNEL;
	if (n->kind == GRAPH_EMPTY)
		return;
	a->writes = true;
	a->write = rnd(BUFFERS);
	a->halves = 3;
	a->nread = 2;
	/* Often what was written last. */
	a->reads[0] =
		i && w->access[i - 1].writes && rnd(2) ? w->access[i - 1].write : rnd(BUFFERS);
	a->reads[1] = rnd(BUFFERS);
	if (n->kind == GRAPH_OTHER)
		return;
	if (kind < 4) {
		unsigned at, words = WORDS;

		a->halves = rnd(3) ? 3 : 1 + rnd(2);
		at = a->halves == 2 ? WORDS / 2 * 4 : 0;
		words = a->halves == 3 ? WORDS : WORDS / 2;
		n->op = (kind < 2 ? ops_add : ops_mul)(DT_f32, buffer(a->write) + at,
						       buffer(a->reads[0]) + at,
						       buffer(a->reads[1]) + at, words);
	} else if (kind < 7) {
		if (a->reads[1] == a->write)
			a->reads[1] = (a->write + 1) % BUFFERS;
		n->op = ops_norm(DT_f32, buffer(a->write), buffer(a->reads[0]), buffer(a->reads[1]),
				 1, WORDS);
	} else {
		n->op = ops_opaque();
	}
	n->op.vetted = rnd(8) != 0;
	n->launch = ops_launch(n->op.code, 100 + 3 * i);
}

static bool conflict(const struct touch *a, const struct touch *b)
{
	if (!(a->halves & b->halves))
		return false;
	if (a->writes && b->writes && a->write == b->write)
		return true;
	for (unsigned k = 0; k < 2; k++)
		if ((b->writes && k < a->nread && a->reads[k] == b->write) ||
		    (a->writes && k < b->nread && b->reads[k] == a->write))
			return true;
	return false;
}

static void make(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->n = 3 + rnd(NODES - 2);
	for (unsigned i = 0; i < w->n; i++)
		make_node(w, i);
	for (unsigned i = 0; i < w->n; i++)
		for (unsigned k = 0; k < i; k++)
			if (conflict(&w->access[k], &w->access[i]) || rnd(12) == 0)
				w->edge[w->nedge++] = (struct dag_edge){.from = k, .to = i};
}

static uint32_t mix(uint32_t a, uint32_t b, uint32_t salt)
{
	return (a * 2654435761u ^ (b + 0x9e3779b9u) * 2246822519u) + salt;
}

static void execute(const struct world *w, unsigned i, uint32_t *memory)
{
	const struct touch *a = &w->access[i];

	for (unsigned h = 0; h < HALVES; h++)
		if (a->writes && a->halves >> h & 1)
			memory[a->write * HALVES + h] = mix(memory[a->reads[0] * HALVES + h],
							    memory[a->reads[1] * HALVES + h], i);
}

/* All members of a group in one go. */
static void execute_group(const struct world *w, unsigned g, uint32_t *memory)
{
	uint32_t old[BUFFERS * HALVES];

	memcpy(old, memory, sizeof(old));
	for (unsigned m = 0; m < w->group[g].n; m++)
		execute(w, w->group[g].node[m], memory);
	for (unsigned i = 0; i < BUFFERS * HALVES; i++)
		if (w->dropped[g][i])
			memory[i] = old[i];
}

/* Runs what is in, a fused node as its members, in a random order. False if some cannot run. */
static bool run(const struct world *w, const bool *gone, const struct dag_edge *edge, size_t nedge,
		uint32_t *memory)
{
	bool ran[NODES] = {false};
	unsigned left = 0;

	for (unsigned i = 0; i < BUFFERS * HALVES; i++)
		memory[i] = i * 77;
	for (unsigned i = 0; i < w->n; i++)
		left += !gone[i];
	for (unsigned tries = 0; left && tries < 100000; tries++) {
		unsigned u = rnd(w->n);
		bool ready = !gone[u] && !ran[u], group = false;

		for (size_t k = 0; ready && k < nedge; k++)
			ready = edge[k].to != u || gone[edge[k].from] || ran[edge[k].from];
		if (!ready)
			continue;
		ran[u] = true;
		left--;
		for (unsigned g = 0; g < w->ngroup && !group; g++)
			if (gone[w->group[g].node[0]] && w->group[g].node[w->group[g].n - 1] == u) {
				execute_group(w, g, memory);
				group = true;
			}
		if (!group)
			execute(w, u, memory);
	}
	return !left;
}

static enum reason memory_any(void *arg, struct range r, const struct launch *l, int surviving)
{
	return REASON_NONE;
}

static bool on(void *arg, const struct pattern *p)
{
	return true;
}

static enum reason take(void *arg, struct group *g, const unsigned *node,
			const struct graph_dead *dead)
{
	dead_apply(g, dead->slots);
	return rnd(4) ? REASON_NONE : REASON_NO_VERDICT;
}

/* What the group would store of that slot. */
static struct range stored(const struct group *g, unsigned i)
{
	struct group_slot slot[GROUP_MAX_SLOTS];

	assert_true(i < group_slots(g, slot));
	assert_int_equal(slot[i].use & (BOUND_WRITE | BOUND_DEAD), BOUND_DEAD);
	if (g->row && !row_operand_kept_whole(&g->row->operand[i]))
		return g->row->operand[i].keep;
	return slot[i].range;
}

static void drop(bool *dropped, struct range r)
{
	for (unsigned i = 0; i < BUFFERS * HALVES; i++) {
		const uint64_t lo = BASE + (uint64_t)i * WORDS / HALVES * 4;

		dropped[i] |= range_overlap(r, (struct range){lo, lo + WORDS / HALVES * 4});
	}
}

static void done(void *arg, const struct group *g, const unsigned *node, enum reason why)
{
	struct world *w = arg;
	struct graph_group *to = &w->group[w->ngroup];

	if (why)
		return;
	for (unsigned i = 0; i < 32; i++)
		if (g->dropped >> i & 1)
			drop(w->dropped[w->ngroup], stored(g, i));
	w->ngroup++;
	w->ndropped += dead_count(g);
	w->nchain += g->row != NULL;
	w->nlong += group_size(g) > 2;
	w->nchain_dropped += g->row ? dead_count(g) : 0;
	to->n = group_size(g);
	memcpy(to->node, node, to->n * sizeof(*node));
}

static void one_case(uint64_t seed, struct world *all)
{
	const struct graph_policy policy = {.stores = STORES_PROVEN,
					    .memory = memory_any,
					    .enabled = on,
					    .verdict = take,
					    .done = done};
	struct graph_policy mine = policy;
	bool none[NODES] = {false}, gone[NODES] = {false};
	uint32_t before[BUFFERS * HALVES], after[BUFFERS * HALVES];
	struct dag_edge edge[2 * NODES * NODES];
	struct graph_rewire r;
	size_t nedge = 0;
	const char *why;
	struct world w;
	struct dag d;

	state = seed * 0x9e3779b97f4a7c15u + 1;
	make(&w);
	mine.arg = &w;
	mine.chains = rnd(4);
	mine.larger = rnd(2);
	assert_int_equal(dag_make(&d, w.n, w.edge, w.nedge, &why), 0);
	assert_int_equal(graph_plan(&mine, w.node, &d), 0);
	assert_int_equal(graph_rewire(&r, w.node, &d, w.edge, NULL, w.nedge, w.group, w.ngroup), 0);
	for (unsigned g = 0; g < w.ngroup; g++)
		for (unsigned m = 0; m + 1 < w.group[g].n; m++)
			gone[w.group[g].node[m]] = true;
	for (size_t i = 0; i < w.nedge; i++)
		if (!gone[w.edge[i].from] && !gone[w.edge[i].to])
			edge[nedge++] = w.edge[i];
	for (size_t i = 0; i < r.nedge; i++) {
		assert_false(gone[r.edge[i].from] || gone[r.edge[i].to]);
		for (size_t k = 0; k < nedge; k++) /* the driver refuses an edge twice */
			assert_false(edge[k].from == r.edge[i].from && edge[k].to == r.edge[i].to);
		edge[nedge++] = r.edge[i];
	}
	assert_true(run(&w, none, w.edge, w.nedge, before));
	assert_true(run(&w, gone, edge, nedge, after));
	if (memcmp(before, after, sizeof(before)))
		fail_msg("seed %llu: other bytes", (unsigned long long)seed);
	free(r.edge);
	dag_free(&d);
	all->ngroup += w.ngroup;
	all->ndropped += w.ndropped;
	all->nchain += w.nchain;
	all->nlong += w.nlong;
	all->nchain_dropped += w.nchain_dropped;
}

static void test_random(void **arg)
{
	struct world all = {.n = 0};

	for (uint64_t seed = 1; seed <= CASES; seed++)
		one_case(seed, &all);
	print_message("# %u groups, %u stores dropped; %u chains, %u of three or more, %u stores\n",
		      all.ngroup, all.ndropped, all.nchain, all.nlong, all.nchain_dropped);
	/* Else nothing was tried. */
	assert_true(all.ngroup - all.nchain > CASES / 20);
	assert_true(all.ndropped - all.nchain_dropped > (all.ngroup - all.nchain) / 40);
	assert_true(all.nchain > CASES / 10);
	assert_true(all.nlong > CASES / 40);
	assert_true(all.nchain_dropped > all.nchain / 40);
}

/* What is beside the fused node and reads what a member that went left, waits for it. */
static void test_consumer(void **arg)
{
	struct graph_node node[4] = {{.kind = GRAPH_KERNEL},
				     {.kind = GRAPH_KERNEL},
				     {.kind = GRAPH_KERNEL},
				     {.kind = GRAPH_EMPTY}};
	const struct dag_edge edge[] = {{0, 1}, {0, 3}, {3, 2}};
	struct graph_group g = {2, {0, 1}};
	struct graph_rewire r;
	const char *why;
	struct dag d;

	node[0].op = ops_add(DT_f32, buffer(0), buffer(1), buffer(2), WORDS);
	node[1].op = ops_norm(DT_f32, buffer(3), buffer(0), buffer(4), 1, WORDS);
	node[2].op = ops_add(DT_f32, buffer(5), buffer(0), buffer(2), WORDS);
	for (unsigned i = 0; i < 3; i++)
		node[i].launch = ops_launch(node[i].op.code, i);
	assert_int_equal(dag_make(&d, 4, edge, 3, &why), 0);
	assert_int_equal(graph_rewire(&r, node, &d, edge, NULL, 3, &g, 1), 0);
	assert_int_equal(r.nedge, 1);
	assert_int_equal(r.edge[0].from, 1);
	assert_int_equal(r.edge[0].to, 2);
	free(r.edge);
	dag_free(&d);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_consumer),
					  cmocka_unit_test(test_random)};
UNIT_MAIN(tests)
