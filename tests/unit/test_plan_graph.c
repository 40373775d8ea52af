// SPDX-License-Identifier: Apache-2.0
/* Graphs as the library records them, planned and listed: child graphs, memory, what is left alone,
 * streams besides. */
#include "command.h"

#include <jansson.h>
#include <stdbool.h>

enum { A = 1, B, S, W, OUT, X, Y, Z };

static const char ini[] = "[kernel add]\nmatch = add\nop = add\nargs = out in0 in1 n\ndtype = f32\n"
			  "[kernel norm]\nmatch = norm\nop = rmsnorm\n"
			  "args = out in0 weight cols eps\ndtype = f32\n";

static FILE *file;

#define VERSION "{\"k\":\"version\",\"v\":1}\n"
#define NODE(type) "{\"k\":\"node\",\"type\":" #type "}\n"
#define EDGE(a, b) "{\"k\":\"edge\",\"a\":" #a ",\"b\":" #b ",\"ty\":0,\"port\":0}\n"

/* add(out, a, b, n) or norm(out, in, w, cols, eps), on a row of 64; "l" launch or "n" node. */
static void put(const char *kind, const char *name, unsigned out, unsigned a, unsigned b,
		const char *more)
{
	fprintf(file,
		"{\"k\":\"%s\",\"t\":1,\"f\":\"%s\",\"g\":[1,1,1],\"b\":[64,1,1],\"sm\":0%s,"
		"\"p\":[[0,8,\"0000%02x0000000000\"],[8,8,\"0000%02x0000000000\"],[16,8,"
		"\"0000%02x0000000000\"],[24,4,\"40000000\"]%s]}\n",
		kind, name, more, out, a, b, name[0] == 'n' ? ",[28,4,\"0000803f\"]" : "");
}

static void pair(const char *kind, const char *more)
{
	put(kind, "add", S, A, B, more);
	put(kind, "norm", OUT, S, W, more);
}

static void inst(int number, const char *more)
{
	fprintf(file, "{\"k\":\"inst\",\"f\":\"cuGraphInstantiateWithFlags\",\"id\":%d%s}\n",
		number, more);
}

static int setup(void **arg)
{
	FILE *f = fopen(command_scratch("graph.ini"), "w");

	fputs(ini, f);
	fclose(f);
	file = fopen(command_scratch("graph.jsonl"), "w");
	fputs(VERSION, file);
	return 0;
}

static int teardown(void **arg)
{
	unlink(command_scratch("graph.ini"));
	unlink(command_scratch("graph.jsonl"));
	return 0;
}

/* What the command says of what was put. */
static const char *say(const char *words)
{
	fflush(file);
	return command("%s -f %s %s 2>&1", words, command_scratch("graph.ini"),
		       command_scratch("graph.jsonl"));
}

/* "graph:node-node:fused" or with the reason, of each group in graphs. */
static const char *plan(void)
{
	static char text[1024];
	json_t *all = json_loads(say("plan --json"), JSON_DISABLE_EOF_CHECK, NULL), *g;
	size_t i, len = 0;

	assert_non_null(all);
	*text = 0;
	json_array_foreach(json_object_get(json_object_get(all, "graphs"), "groups"), i, g)
	{
		const char *why = json_string_value(json_object_get(g, "reason"));
		json_t *node = json_object_get(g, "nodes");

		assert_int_equal(json_is_true(json_object_get(g, "fused")), why == NULL);
		len += (size_t)snprintf(
			text + len, sizeof(text) - len, "%s%d:%d-%d:%s", len ? " " : "",
			(int)json_integer_value(json_object_get(g, "graph")),
			(int)json_integer_value(json_array_get(node, 0)),
			(int)json_integer_value(json_array_get(node, 1)), why ? why : "fused");
	}
	json_decref(all);
	fclose(file);
	return text;
}

static void test_numbers(void **arg)
{
	inst(7, ",\"flags\":0,\"opt\":\"on\"");
	put("n", "other", A, A, A, "");
	pair("n", "");
	fputs(EDGE(0, 1) EDGE(1, 2), file);
	inst(9, "");
	pair("n", "");
	fputs(EDGE(0, 1), file);
	assert_string_equal(plan(), "7:1-2:fused 9:0-1:fused");
}

/* A child graph's nodes are among themselves; beside its node nothing else may run. */
static void test_child(void **arg)
{
	inst(0, "");
	pair("n", "");
	fputs(NODE(4) EDGE(0, 1) EDGE(1, 2), file);
	inst(0, ",\"in\":[0,2]");
	pair("n", "");
	fputs(NODE(4) EDGE(0, 1) EDGE(1, 2), file);
	inst(0, ",\"in\":[1,2]");
	pair("n", "");
	fputs(EDGE(0, 1), file);
	assert_string_equal(plan(), "0:0-1:fused 0:2-3:fused 0:4-5:fused");
}

static void test_aside(void **arg)
{
	inst(0, "");
	put("n", "add", X, Y, Z, "");
	fputs(NODE(4), file); /* not ordered against the addition */
	inst(0, ",\"in\":[0,1]");
	pair("n", "");
	fputs(NODE(4) EDGE(0, 1) EDGE(1, 2), file);
	inst(0, ",\"in\":[1,2]"); /* beside what its parent is beside */
	pair("n", "");
	fputs(EDGE(0, 1), file);
	inst(1, "");
	pair("n", "");
	fputs(EDGE(0, 1), file);
	assert_string_equal(plan(), "0:1-2:barrier 0:3-4:barrier 1:0-1:fused");
}

static void test_alone(void **arg)
{
	static const char *const node[] = {NODE(10), NODE(11), NODE(13)};
	int n = 0;

	for (size_t i = 0; i < sizeof(node) / sizeof(node[0]); i++) {
		inst(n++, "");
		pair("n", "");
		fputs(node[i], file);
		fputs(EDGE(0, 1) EDGE(1, 2), file);
	}
	inst(n++, ",\"flags\":4"); /* launched by the device */
	pair("n", "");
	fputs(EDGE(0, 1), file);
	inst(n++, "");
	pair("n", ",\"upd\":1");
	fputs(EDGE(0, 1), file);
	inst(n++, "");
	pair("n", "");
	fputs("{\"k\":\"edge\",\"a\":0,\"b\":1,\"ty\":0,\"port\":2}\n", file);
	assert_string_equal(plan(), "0:0-1:not-cloneable 1:0-1:not-cloneable 2:0-1:not-cloneable "
				    "3:0-1:device-graph 4:0-1:device-graph 5:0-1:attributes");
}

static void test_memory(void **arg)
{
	fputs("{\"k\":\"alloc\",\"lo\":\"0x0\",\"hi\":\"0xf00000\",\"dev\":0,\"flags\":1}\n", file);
	inst(0, "");
	pair("n", "");
	fputs(EDGE(0, 1), file);
	fputs("{\"k\":\"free\",\"lo\":\"0x0\",\"hi\":\"0xf00000\"}\n", file);
	inst(1, "");
	pair("n", "");
	fputs(EDGE(0, 1), file);
	assert_string_equal(plan(), "0:0-1:fused 1:0-1:not-device-memory");
}

/* The dropped stores of the first group of the plan, its bytes. */
static json_int_t dropped(const char *words, json_int_t *bytes)
{
	json_t *all = json_loads(say(words), JSON_DISABLE_EOF_CHECK, NULL),
	       *g = json_array_get(json_object_get(json_object_get(all, "graphs"), "groups"), 0),
	       *sum = json_object_get(json_object_get(json_object_get(all, "graphs"), "summary"),
				      "add_rmsnorm");
	json_int_t n = json_integer_value(json_object_get(g, "stores_dropped"));

	assert_true(json_is_true(json_object_get(g, "fused")));
	*bytes = json_integer_value(json_object_get(g, "bytes_dropped"));
	assert_int_equal(json_integer_value(json_object_get(sum, "stores_dropped")), n);
	assert_int_equal(json_integer_value(json_object_get(sum, "bytes_dropped")), *bytes);
	json_decref(all);
	return n;
}

/* The sum is overwritten by a fill, or only nearly, or nobody knows. */
static void test_dead(void **arg)
{
	static const struct {
		const char *node;
		int proven, assumed;
	} row[] = {
		{",\"to\":[\"0x%x0000\",256,1,0,1,0]", 1, 1},
		{",\"to\":[\"0x%x0000\",255,1,0,1,0]", 0, 1},
		{",\"to\":[\"0x120000\",256,1,0,1,0],\"from\":[\"0x%x0000\",256,1,0,1,0]", 0, 0},
		{"", 0, 1},
	};
	json_int_t bytes;

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		rewind(file);
		assert_int_equal(ftruncate(fileno(file), 0), 0);
		fputs(VERSION, file);
		inst(0, "");
		pair("n", "");
		fputs("{\"k\":\"node\",\"type\":2", file);
		fprintf(file, row[i].node, S);
		fputs("}\n" EDGE(0, 1) EDGE(1, 2), file);
		assert_int_equal(dropped("plan --json", &bytes), row[i].proven);
		assert_int_equal(bytes, row[i].proven * 256);
		assert_int_equal(dropped("plan --json --stores=all", &bytes), 0);
		assert_int_equal(dropped("plan --json --stores=assume-dead", &bytes),
				 row[i].assumed);
		if (!i) {
			assert_contains(say("plan"),
					"1  stores dropped, 256 bytes: nobody reads them");
			assert_contains(say("trace"), "fuses as add_rmsnorm, saves 512 bytes");
			assert_contains(say("trace --stores=all"), "saves 256 bytes");
		}
	}
	fputs("{\"k\":\"node\",\"type\":2,\"to\":[\"0x0\",-1,1,0,1,0]}\n", file);
	assert_contains(say("plan"),
			"\"to\": expected [\"0x7f00\", bytes, rows, pitch, slices, slice]");
	fclose(file);
}

/* On streams only what is assumed is dropped, and no running sum. */
static void test_dead_on_streams(void **arg)
{
	pair("l", "");
	put("l", "add", A, A, B, "");
	put("l", "norm", OUT, A, W, "");
	assert_contains(say("plan --stores=assume-dead"), "1  stores dropped, 256 bytes");
	assert_null(strstr(say("plan"), "dropped"));
	fclose(file);
}

static void test_lost(void **arg)
{
	inst(0, ",\"why\":\"it is too large\"");
	inst(1, "");
	pair("n", "");
	fputs(EDGE(0, 1), file);
	inst(1, ",\"in\":[0,2]"); /* of no node */
	pair("n", "");
	assert_contains(say("plan"), "a graph was not recorded: it is too large");
	assert_contains(say("plan"), "a graph of 4 nodes was not planned: a line of it");
	fclose(file);
}

/* What is on streams is what plan shows first; unless all of it went into graphs. */
static void test_streams(void **arg)
{
	const char *text;
	json_t *all;

	pair("l", "");
	inst(0, ",\"opt\":\"off\"");
	pair("n", "");
	put("n", "other", A, A, A, "");
	fputs(EDGE(0, 1) EDGE(1, 2), file);
	text = say("plan");
	assert_contains(text, "2 launches\nadd_rmsnorm: 1 groups fused");
	assert_contains(text, "3 kernel nodes in graphs\nAs it was recorded, graphs were left "
			      "alone; graphs = on fuses them.\nadd_rmsnorm: 1 groups fused");
	text = say("trace");
	assert_contains(text, "2 launches of 2 kernels on 1 stream");
	assert_contains(text, "fuses as add_rmsnorm");
	assert_contains(text, "In graphs: 3 kernel nodes of 3 kernels in 1 graph\n");
	assert_contains(text, "not fused as add_rmsnorm: disabled: graphs are left alone; "
			      "graphs = on fuses it; would save 256 bytes each time");
	all = json_loads(say("plan --json"), 0, NULL);
	assert_int_equal(json_integer_value(json_object_get(all, "launches")), 2);
	json_decref(all);
	all = json_loads(say("trace --json"), 0, NULL);
	assert_int_equal(json_array_size(json_object_get(all, "sequences")), 1);
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(all, "graphs"), "sequences")), 2);
	json_decref(all);
	fclose(file);
}

/* What came of groups while it ran counts in a listing; the last word on each. */
static void test_outcomes(void **arg)
{
	const char *text;

	for (int i = 0; i < 3; i++) {
		inst(2 * i, "");
		put("n", "other", A, A, A, "");
		pair("n", "");
		fputs(EDGE(0, 1) EDGE(1, 2), file);
		fprintf(file,
			"{\"k\":\"gg\",\"id\":%d,\"f\":\"add_rmsnorm\",\"is\":\"refused\",\"why\":"
			"\"no-verdict\",\"n\":[1,2]}\n",
			2 * i);
	}
	fputs("{\"k\":\"gg\",\"id\":2,\"f\":\"add_rmsnorm\",\"is\":\"fused\",\"n\":[1,2]}\n", file);
	fputs("{\"k\":\"gg\",\"id\":3,\"f\":\"add_rmsnorm\",\"is\":\"fused\",\"n\":[1,2]}\n", file);
	fputs("{\"k\":\"gg\",\"id\":4,\"f\":\"add_rmsnorm\",\"is\":\"fused\",\"n\":[0,2]}\n", file);
	text = say("trace");
	assert_int_equal(command_status, 0);
	assert_contains(text, "×1 in 3 steps         add → norm  1×64 f32  fuses as add_rmsnorm");
	assert_contains(
		text,
		"×2 in 3 steps         add → norm  1×64 f32  not fused as add_rmsnorm: no-verdict");
	assert_contains(say("plan"), "add_rmsnorm: 3 groups fused");
	fputs("{\"k\":\"gg\",\"is\":\"fused\",\"n\":[0,2]}\n", file);
	assert_contains(say("trace"), "expected \"id\" of the executable graph");
	fclose(file);
}

static void test_captured(void **arg)
{
	json_t *all;

	fputs("{\"k\":\"a\",\"t\":1,\"f\":\"cuStreamBeginCapture_v2\"}\n", file);
	pair("l", "");
	fputs("{\"k\":\"a\",\"t\":1,\"f\":\"cuStreamEndCapture\"}\n", file);
	inst(0, "");
	pair("n", "");
	put("n", "other", A, A, A, "");
	fputs(EDGE(0, 1) EDGE(1, 2), file);
	all = json_loads(say("plan --json"), 0, NULL);
	assert_int_equal(json_integer_value(json_object_get(all, "launches")), 3);
	assert_int_equal(json_array_size(json_object_get(all, "groups")), 1);
	json_decref(all);
	assert_contains(say("trace"), ": 3 kernel nodes of 3 kernels in 1 graph\n");
	fclose(file);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
static const struct CMUnitTest tests[] = {
	T(test_numbers), T(test_child),    T(test_aside),           T(test_alone),
	T(test_memory),  T(test_dead),     T(test_dead_on_streams), T(test_lost),
	T(test_streams), T(test_outcomes), T(test_captured),
};
UNIT_MAIN(tests)
