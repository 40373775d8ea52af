// SPDX-License-Identifier: Apache-2.0
/* What `autofuse plan` finds in recordings of PyTorch programs, group by group. */
#include "command.h"

#include <jansson.h>
#include <stdbool.h>

/* Groups of one name and outcome: how many, and the launches of each. reason NULL: fused. */
struct want {
	const char *pattern, *reason;
	unsigned groups, launches;
};

static const struct recording {
	const char *file;
	struct want want[7];
} recording[] = {
	{"hf_llama_bf16",
	 {{"add_rmsnorm", NULL, 12, 9},
	  {"rmsnorm", NULL, 3, 8},
	  {"rope", NULL, 6, 10},
	  {"silu_mul", "input-overwritten", 6, 2}}},
	{"hf_llama_bf16_graph",
	 {{"add_rmsnorm", NULL, 4, 9},
	  {"rmsnorm", NULL, 1, 8},
	  {"rope", NULL, 2, 10},
	  {"silu_mul", "input-overwritten", 2, 2}}},
	{"hf_llama_bf16_decode_b1_graph",
	 {{"add_rmsnorm", NULL, 4, 9},
	  {"rmsnorm", NULL, 1, 8},
	  {"rope", NULL, 2, 10},
	  {"silu_mul", "input-overwritten", 2, 2}}},
	{"hf_llama_bf16_decode_b32_graph",
	 {{"add_rmsnorm", NULL, 4, 9},
	  {"rmsnorm", NULL, 1, 8},
	  {"rope", NULL, 2, 10},
	  {"silu_mul", "input-overwritten", 2, 2}}},
	{"hf_llama_bf16_train",
	 {{"add_rmsnorm", NULL, 4, 9},
	  {"rmsnorm", NULL, 1, 8},
	  {"rope", NULL, 2, 10},
	  {"silu_mul", NULL, 2, 2}}},
	/* What zeroes the up product's counters comes between silu and mul. */
	{"hf_llama8b_bf16_layer", {{"add_rmsnorm", NULL, 1, 9}, {"silu_mul", "barrier", 1, 2}}},
	{"hf_phi3_bf16",
	 {{"add_rmsnorm", NULL, 4, 9},
	  {"rmsnorm", NULL, 1, 8},
	  {"rope", NULL, 2, 12}, /* each followed by a copy */
	  {"silu_mul", NULL, 2, 2}}},
	{"hf_gpt2_bf16", {{"add_layernorm", NULL, 12, 2}, {"gelu", NULL, 6, 8}}},
	/* The first is behind the sum of two embeddings, one of them for all rows of the batch. */
	{"hf_gpt2_bf16_graph",
	 {{"add_layernorm", NULL, 4, 2}, {"layernorm", NULL, 1, 2}, {"gelu", NULL, 2, 8}}},
};

static json_t *plan(const char *file)
{
	char name[128];
	json_error_t err;
	json_t *all;

	snprintf(name, sizeof(name), "%s.jsonl.gz", file);
	all = json_loads(command("plan --json %s", command_data(name)), 0, &err);
	assert_non_null(all);
	return all;
}

static bool is(json_t *group, const struct want *w)
{
	const char *reason = json_string_value(json_object_get(group, "reason"));

	return !strcmp(json_string_value(json_object_get(group, "pattern")), w->pattern) &&
	       (!reason == !w->reason) && (!reason || !strcmp(reason, w->reason)) &&
	       json_array_size(json_object_get(group, "launches")) == w->launches;
}

/* Nothing is there that is not wanted, chains without a name aside. */
static void test_groups(void **arg)
{
	for (unsigned i = 0; i < sizeof(recording) / sizeof(recording[0]); i++) {
		const struct recording *rec = &recording[i];
		json_t *all = plan(rec->file), *group;
		unsigned found[7] = {0};
		size_t k;

		json_array_foreach(json_object_get(all, "groups"), k, group)
		{
			unsigned w = 0;

			if (!strcmp(json_string_value(json_object_get(group, "pattern")), "chain"))
				continue;
			while (w < 7 && rec->want[w].pattern && !is(group, &rec->want[w]))
				w++;
			if (w == 7 || !rec->want[w].pattern)
				fail_msg("%s: %s", rec->file, json_dumps(group, 0));
			found[w]++;
		}
		for (unsigned w = 0; w < 7 && rec->want[w].pattern; w++)
			if (found[w] != rec->want[w].groups)
				fail_msg("%s: %u of %s", rec->file, found[w], rec->want[w].pattern);
		json_decref(all);
	}
}

/* A launch is in one group, or in one that was refused. */
static void test_once(void **arg)
{
	for (unsigned i = 0; i < sizeof(recording) / sizeof(recording[0]); i++) {
		json_t *all = plan(recording[i].file), *group, *launch;
		char seen[4096] = {0};
		size_t k, m;

		json_array_foreach(json_object_get(all, "groups"), k, group)
			json_array_foreach(json_object_get(group, "launches"), m, launch)
		{
			const json_int_t n = json_integer_value(launch);

			assert_in_range(n, 0, 4095);
			if (seen[n]++)
				fail_msg("%s: launch %d is in two groups", recording[i].file,
					 (int)n);
		}
		json_decref(all);
	}
}

/* The norms behind attention leave their result where the attention's lies, at another pitch. */
static void test_two_kernels(void **arg)
{
	json_t *all = plan("hf_llama_bf16"), *group;
	unsigned two = 0;
	size_t k;

	json_array_foreach(json_object_get(all, "groups"), k, group)
	{
		json_t *kernels = json_object_get(group, "kernels");

		if (!kernels)
			continue;
		assert_int_equal(json_integer_value(kernels), 2);
		assert_string_equal(json_string_value(json_object_get(group, "pattern")),
				    "add_rmsnorm");
		two++;
	}
	assert_int_equal(two, 3);
	json_decref(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_two_kernels),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
