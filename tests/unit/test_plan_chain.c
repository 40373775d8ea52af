// SPDX-License-Identifier: Apache-2.0
/* `autofuse plan` on chains, by themselves and around a pattern. */
#include "plans.h"

static void put_chain_ini(void)
{
	FILE *f = fopen(command_scratch("plan.ini"), "a");

	fputs("[kernel scale]\nmatch = scale\nop = scale\nargs = out in0 scalar0 n\ndtype = f32\n"
	      "[kernel silu]\nmatch = silu\nop = silu\nargs = out in0 n\ndtype = f32\n",
	      f);
	fclose(f);
}

static void put_scale(uint64_t out, uint64_t in)
{
	put_launch("scale");
	put(",\"p\":[");
	put_param(0, 8, out);
	put_param(8, 8, in);
	put_param(16, 4, 0x40400000);
	put_param(20, 4, 64);
	put("]}\n");
}

static void put_silu(uint64_t out, uint64_t in)
{
	put_launch("silu");
	put(",\"p\":[");
	put_param(0, 8, out);
	put_param(8, 8, in);
	put_param(16, 4, 64);
	put("]}\n");
}

/* "pattern:launch+launch:fused" for each group. */
static const char *plan_names(const char *options)
{
	static char text[4096];
	json_t *all, *g, *one;
	char line[9000];
	size_t i, k, len = 0;
	FILE *f = fopen(command_scratch("plan.jsonl"), "w");

	fputs(trace, f);
	fclose(f);
	snprintf(line, sizeof(line), "-f %s %s %s", command_scratch("plan.ini"), options,
		 command_scratch("plan.jsonl"));
	all = plan_file(line);
	*text = 0;
	json_array_foreach(json_object_get(all, "groups"), i, g)
	{
		const char *reason = json_string_value(json_object_get(g, "reason"));

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s:", len ? " " : "",
					json_string_value(json_object_get(g, "pattern")));
		json_array_foreach(json_object_get(g, "launches"), k, one) len +=
			(size_t)snprintf(text + len, sizeof(text) - len, "%s%d", k ? "+" : "",
					 (int)json_integer_value(one));
		len += (size_t)snprintf(text + len, sizeof(text) - len, ":%s",
					reason ? reason : "fused");
	}
	json_decref(all);
	return text;
}

static void test_chain(void **arg)
{
	put_chain_ini();
	/* (a + b) * s + c, with a launch in between that has nothing to do with it. */
	put_add(S, A, B);
	put_scale(X, S);
	put_norm(OUT + 0x1000, W + 0x1000);
	put_add(OUT, X, Y);
	put_unknown();
	/* Memory that is merely used again makes no chain. */
	put_add(S, A, B);
	put_add(S, X, Y);
	put_scale(OUT, S);
	assert_string_equal(plan_names(""), "chain:0+1+3:fused chain:6+7:fused");
	assert_string_equal(plan_names("--patterns=-chain"),
			    "chain:0+1+3:disabled chain:6+7:disabled");
	/* In a graph. */
	*trace = 0;
	put(INST);
	kind = "n";
	put_add(S, A, B);
	put_scale(X, S);
	put_add(OUT, X, Y);
	put_graph(EDGE(0, 1) EDGE(1, 2));
	kind = "l";
	assert_string_equal(plan_names(""), "chain:0+1+2:fused");
	assert_string_equal(plan_names("--named"), "");
}

/* The pattern with a kernel of its own, or the chain that it is part of. */
static void test_larger(void **arg)
{
	put_chain_ini();
	put_scale(A, X);
	put_add(S, A, B);
	put_norm(OUT, S);
	put_silu(Z, OUT);
	assert_string_equal(plan_names(""), "add_rmsnorm:1+2:fused");
	assert_string_equal(plan_names("--larger"), "add_rmsnorm:0+1+2+3:fused");
	assert_string_equal(plan_names("--named"), "add_rmsnorm:1+2:fused");
}

static const struct CMUnitTest tests[] = {
	T(test_chain),
	T(test_larger),
};
UNIT_MAIN(tests)
