// SPDX-License-Identifier: Apache-2.0
/*
 * Recorded graphs run on the CPU: all nodes in their order, against the rewritten graph in any
 * order that its edges allow, without the stores that are proven dead. Every byte of memory must be
 * the same in the end, and so must be what each node reads that is left alone.
 */
#include "tests/unit/recorded_move.h"

#include "matcher/graph_rewire.h"

enum { GROUPS = 1024 };

static struct instead instead[GROUPS];
static struct graph_group group[GROUPS];
static unsigned ngroup, dropped, late;
static int group_of[NODES]; /* whose last member it is */
static bool gone[NODES];
static bool by_hand; /* patterns as patterns, not as chains */

static enum reason keep(void *arg, struct group *g, const unsigned *in,
			const struct graph_dead *dead)
{
	const unsigned n = group_size(g);

	assert_true(ngroup < GROUPS);
	if (!g->row && !by_hand)
		return REASON_NO_KERNEL;
	dead_apply(g, dead->slots);
	if (instead_make(&instead[ngroup], g))
		return REASON_NO_KERNEL;
	group[ngroup].n = n;
	memcpy(group[ngroup].node, in, n * sizeof(*in));
	for (unsigned i = 0; i + 1 < n; i++)
		gone[in[i]] = true;
	for (unsigned i = 0; i < n; i++)
		grouped[in[i]] = true;
	group_of[in[n - 1]] = (int)ngroup;
	dropped += dead_count(g);
	late += instead[ngroup++].late;
	return REASON_NONE;
}

static void forget(void *arg, const struct group *g, const unsigned *in, enum reason why)
{
}

/* The edges of the rewritten graph. */
static unsigned rewire(struct dag_edge *to, const struct dag *d)
{
	struct graph_rewire r;
	unsigned n = 0;

	assert_int_equal(graph_rewire(&r, node, d, edge, NULL, nedge, group, ngroup), 0);
	for (unsigned i = 0; i < nedge; i++)
		if (!gone[edge[i].from] && !gone[edge[i].to])
			to[n++] = edge[i];
	assert_true(n + r.nedge <= EDGES);
	if (r.nedge)
		memcpy(to + n, r.edge, r.nedge * sizeof(*to));
	free(r.edge);
	return n + (unsigned)r.nedge;
}

/* The rewritten graph, in any order that its edges allow. */
static void run_rewritten(const struct dag *d)
{
	static struct dag_edge e[EDGES];
	static unsigned waits[NODES], ready[NODES];
	unsigned n = rewire(e, d), nready = 0, left = nnode;

	memset(waits, 0, sizeof(waits));
	for (unsigned i = 0; i < n; i++)
		waits[e[i].to]++;
	for (unsigned i = 0; i < nnode; i++)
		if (gone[i])
			left--;
		else if (!waits[i])
			ready[nready++] = i;
	for (; nready; left--) {
		const unsigned pick = (unsigned)(draw() % nready), now = ready[pick];

		ready[pick] = ready[--nready];
		if (group_of[now] < 0)
			run_alone(now);
		else
			instead_run(&instead[group_of[now]]);
		for (unsigned i = 0; i < n; i++)
			if (e[i].from == now && !--waits[e[i].to])
				ready[nready++] = e[i].to;
	}
	assert_int_equal(left, 0);
}

static void plan_graph(bool larger, const struct dag *d)
{
	const struct graph_policy policy = {.stores = STORES_PROVEN,
					    .memory = memory,
					    .enabled = enabled,
					    .verdict = keep,
					    .done = forget,
					    .chains = true,
					    .larger = larger};

	by_hand = !larger;
	ngroup = dropped = late = 0;
	memset(group_of, -1, sizeof(group_of));
	memset(gone, 0, sizeof(gone));
	assert_int_equal(graph_plan(&policy, node, d), 0);
}

/* Whatever is planned leaves what the nodes leave one by one. */
static void run_both(const char *name, const struct dag *d, bool all)
{
	memset(grouped, 0, sizeof(grouped));
	for (unsigned larger = 0; larger < 2; larger++)
		plan_graph(larger, d);
	run_members(d->order);
	for (unsigned larger = !all; larger < 2; larger++) {
		plan_graph(larger, d);
		fill();
		run_rewritten(d);
		compare(name);
	}
}

static struct trace *read_graph(const char *name, struct dag *d)
{
	struct trace *t = recorded_read(command_data(name), true);
	const char *why = NULL;

	recorded_place();
	assert_int_equal(dag_make(d, nnode, edge, nedge, &why), 0);
	return t;
}

static void graph(const char *name, bool all, unsigned least_groups, unsigned least_dropped)
{
	struct dag d;
	struct trace *t = read_graph(name, &d);

	run_both(name, &d, all);
	fprintf(stderr,
		"# %s: %u nodes, %.1f MiB, %u groups, %u in two kernels, %u stores dropped\n", name,
		nnode, (double)arena_bytes / (1 << 20), ngroup, late, dropped);
	assert_true(ngroup >= least_groups && dropped >= least_dropped);
	dag_free(&d);
	recorded_free(t);
}

static void test_graphs(void **arg)
{
	graph("hf_gpt2_bf16_graph.jsonl.gz", false, 8, 4);
	graph("hf_llama_bf16_graph.jsonl.gz", false, 8, 12);
	graph("hf_llama_bf16_decode_b1_graph.jsonl.gz", true, 8, 20);
	graph("hf_llama_bf16_decode_b32_graph.jsonl.gz", false, 8, 20);
	graph("hf_llama4_bf16_decode_b32_graph.jsonl.gz", false, 12, 40);
}

/* The same graph with memory laid out as chance has it. */
static void test_other_memory(void **arg)
{
	unsigned groups = 0, stores = 0;
	struct dag d;
	struct trace *t = read_graph("hf_llama_bf16_decode_b1_graph.jsonl.gz", &d);

	assert_true(d.linear); /* all is in order, wherever it lies */
	move_keep();
	for (unsigned i = 0; i < move_cases(12); i++) {
		run_both(move_some(i), &d, true);
		groups += ngroup;
		stores += dropped;
	}
	fprintf(stderr, "# %u groups, %u stores dropped\n", groups, stores);
	assert_true(groups > 60 && stores > 60);
	dag_free(&d);
	recorded_free(t);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_other_memory),
	cmocka_unit_test(test_graphs),
};

UNIT_MAIN(tests)
