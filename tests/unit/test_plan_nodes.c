// SPDX-License-Identifier: Apache-2.0
/* `autofuse plan` on the nodes and edges of graphs. */
#include "plans.h"

static void test_graph(void **arg)
{
	put_add(S, A, B); /* launched while capturing: the graph is what counts */
	put_norm(OUT, S);
	put(INST);
	kind = "n";
	put_add(S, A, B);
	put_norm(OUT, S);
	put("{\"k\":\"node\",\"type\":2}\n"); /* memset */
	put_add(S, A, B);
	put_norm(OUT, S);
	put_unknown();
	put_graph(EDGE(0, 1) EDGE(1, 2) EDGE(2, 3) EDGE(3, 5) EDGE(5, 4));
	put_call("cuGraphLaunch");
	assert_string_equal(plan(""), "0-1:fused 2-3:unknown-kernel");
	assert_int_equal(launches, 5);
}

static void test_graph_barrier_node(void **arg)
{
	put(INST);
	kind = "n";
	put_add(S, A, B);
	put("{\"k\":\"node\",\"type\":2}\n");
	put_norm(OUT, S);
	put_graph(EDGE(0, 1) EDGE(1, 2));
	/* A second graph counts on; an empty node is no barrier. */
	put(INST);
	put_add(S, A, B);
	put("{\"k\":\"node\",\"type\":5}\n");
	put_norm(OUT, S);
	put_graph(EDGE(0, 1) EDGE(1, 2));
	assert_string_equal(plan(""), "0-1:barrier 2-3:fused");
	assert_int_equal(launches, 4);
}

/* What runs beside the members must not conflict with them, wherever it stands in the file. */
static void test_graph_concurrent(void **arg)
{
	static const struct {
		uint64_t out, a, b; /* of an add (node 2) that is not ordered against the pair */
		const char *groups;
	} row[] = {
		{X, Y, Z, "0-1:fused"},
		{X, S, Z, "0-1:output-read"},
		{A, Y, Z, "0-1:input-overwritten"},
		{S + 128, Y, Z, "0-1:output-overwritten"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		*trace = 0;
		put(INST);
		kind = "n";
		put_add(S, A, B);
		put_norm(OUT, S);
		put_add(row[i].out, row[i].a, row[i].b);
		put_graph(EDGE(0, 1));
		assert_string_equal(plan(""), row[i].groups);
	}
	*trace = 0;
	put(INST);
	put_add(S, A, B);
	put_norm(OUT, S);
	put_unknown();
	put_graph(EDGE(0, 1));
	assert_string_equal(plan(""), "0-1:unknown-kernel");
	*trace = 0;
	put(INST);
	put_add(S, A, B);
	put_norm(OUT, S); /* reads the sum without waiting for it */
	assert_string_equal(plan(""), "0-1:different-stream");
	*trace = 0;
	put(INST);
	put_add(S, A, B);
	put_norm(OUT, S);
	put("{\"k\":\"edge\",\"a\":0,\"b\":1,\"ty\":1,\"port\":1}\n"); /* programmatic */
	assert_string_equal(plan(""), "0-1:attributes");
}

static void test_bad_graph(void **arg)
{
	put(INST);
	kind = "n";
	put_add(S, A, B);
	put_norm(OUT, S);
	put_graph(EDGE(0, 1) EDGE(1, 0));
	{
		FILE *f = fopen(command_scratch("plan.jsonl"), "w");
		const char *text;

		fputs(trace, f);
		fclose(f);
		text = command("plan -f %s %s", command_scratch("plan.ini"),
			       command_scratch("plan.jsonl"));
		assert_contains(text, "a graph of 2 nodes was not planned: edges in a circle");
		assert_contains(text, "2 kernel nodes in graphs");
		assert_int_equal(command_status, 0);
	}
}

static const struct CMUnitTest tests[] = {
	T(test_graph),
	T(test_graph_barrier_node),
	T(test_graph_concurrent),
	T(test_bad_graph),
};
UNIT_MAIN(tests)
