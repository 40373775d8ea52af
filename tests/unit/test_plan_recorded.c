// SPDX-License-Identifier: Apache-2.0
/* `autofuse plan` on recordings of real programs, with the signatures that come with it. */
#include "plans.h"

#include <time.h>

/* A hand-written program: every residual add is fused with its norm, the first norm of a token is
 * not. */
static void test_llama3(void **arg)
{
	char line[9000];
	struct timespec t0, t1;
	size_t rmsnorms = 0, i;
	json_t *all, *summary, *u;

	snprintf(line, sizeof(line), "-f %s %s", command_data("llama3_cuda_fp32.ini"),
		 command_data("llama3_cuda_fp32.jsonl.gz"));
	clock_gettime(CLOCK_MONOTONIC, &t0);
	all = plan_file(line);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	assert_int_equal(command_status, 0);
	assert_int_equal(json_integer_value(json_object_get(all, "launches")), 2484);
	assert_int_equal(json_array_size(json_object_get(all, "groups")), 346);
	summary = json_object_get(json_object_get(all, "summary"), "add_rmsnorm");
	assert_int_equal(json_integer_value(json_object_get(summary, "fused")), 346);
	assert_int_equal(json_object_size(json_object_get(summary, "rejected")), 0);
	json_array_foreach(json_object_get(all, "unknown"), i, u) rmsnorms +=
		strstr(json_string_value(json_object_get(u, "kernel")), "rmsnorm") != NULL;
	assert_int_equal(rmsnorms, 0);
	json_decref(all);
	assert_true((double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec) <
		    10);
}

static bool knows(json_t *all, const char *part)
{
	json_t *u;
	size_t i;

	json_array_foreach(json_object_get(all, "unknown"), i, u)
	{
		if (strstr(json_string_value(json_object_get(u, "kernel")), part))
			return false;
	}
	return true;
}

/* The signatures that come with the command are enough for the programs they are of. */
static void test_shipped(void **arg)
{
	json_t *all, *summary;

	all = plan_file(command_data("llama3_cuda_fp32.jsonl.gz"));
	assert_int_equal(json_array_size(json_object_get(all, "groups")), 346);
	summary = json_object_get(json_object_get(all, "summary"), "add_rmsnorm");
	assert_int_equal(json_integer_value(json_object_get(summary, "fused")), 346);
	assert_true(knows(all, "accum_kernel") && knows(all, "rmsnorm_kernel") &&
		    knows(all, "RoPe_rotation"));
	/* Another program's kernel of that name writes its other argument. */
	assert_false(knows(all, "f_silu_elementwise_mul_w3_kernel"));
	json_decref(all);

	/* Residual, then LayerNorm: every launch is decoded, and all of them are chains. */
	all = plan_file(command_data("llmc_residual_layernorm_bf16.jsonl.gz"));
	assert_int_equal(command_status, 0);
	assert_int_equal(json_integer_value(json_object_get(all, "launches")), 660);
	assert_int_equal(json_array_size(json_object_get(all, "unknown")), 0);
	assert_int_equal(json_array_size(json_object_get(all, "groups")), 330);
	summary = json_object_get(json_object_get(all, "summary"), "add_layernorm");
	assert_int_equal(json_integer_value(json_object_get(summary, "fused")), 330);
	json_decref(all);

	/* Where a section takes the name back, nothing fuses. */
	{
		FILE *f = fopen(command_scratch("plan.ini"), "w");
		char line[9000];

		fputs("[kernel mine]\nmatch = *rmsnorm_kernel*\nop = opaque\n", f);
		fclose(f);
		snprintf(line, sizeof(line), "-f %s %s", command_scratch("plan.ini"),
			 command_data("llama3_cuda_fp32.jsonl.gz"));
		all = plan_file(line);
		assert_int_equal(json_array_size(json_object_get(all, "groups")), 0);
		assert_false(knows(all, "rmsnorm_kernel"));
		json_decref(all);
	}
}

static void test_unknown_kernels(void **arg)
{
	json_t *all, *u, *unknown;
	int64_t sum = 0, last = INT64_MAX;
	size_t i;

	all = plan_file(command_data("hf_llama_bf16.jsonl.gz"));
	unknown = json_object_get(all, "unknown");
	assert_int_equal(json_integer_value(json_object_get(all, "launches")), 387);
	assert_int_equal(json_array_size(unknown), 3);
	json_array_foreach(unknown, i, u)
	{
		int64_t n = json_integer_value(json_object_get(u, "launches"));

		assert_true(n > 0 && n <= last);
		last = n;
		sum += n;
	}
	assert_int_equal(sum, 6);
	json_decref(all);
	all = plan_file(command_data("hf_llama_bf16_decode_b1_graph.jsonl.gz"));
	assert_int_equal(json_integer_value(json_object_get(all, "launches")), 124);
	json_decref(all);
}

/* PyTorch models: the products of a gate that are legal, and those that are not. */
static void test_models(void **arg)
{
	static const struct {
		const char *file;
		int64_t fused, overwritten;
	} row[] = {
		{"hf_llama_bf16", 0, 6},
		{"hf_llama_bf16_graph", 0, 2},
		{"hf_llama_bf16_decode_b1_graph", 0, 2},
		{"hf_llama_bf16_decode_b32_graph", 0, 2},
		{"hf_llama_bf16_train", 2, 0},
		{"hf_phi3_bf16", 2, 0},
		{"hf_gpt2_bf16", 0, 0},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		json_t *all, *silu, *one;
		int64_t named = 0;
		char name[64];
		size_t k;

		snprintf(name, sizeof(name), "%s.jsonl.gz", row[i].file);
		all = plan_file(command_data(name));
		silu = json_object_get(json_object_get(all, "summary"), "silu_mul");
		assert_int_equal(json_integer_value(json_object_get(silu, "fused")), row[i].fused);
		assert_int_equal(json_integer_value(json_object_get(
					 json_object_get(silu, "rejected"), "input-overwritten")),
				 row[i].overwritten);
		json_array_foreach(json_object_get(all, "groups"), k, one) named +=
			!json_object_get(one, "generated");
		assert_int_equal(named, row[i].fused + row[i].overwritten);
		json_decref(all);
	}
}

static const struct CMUnitTest tests[] = {
	T(test_llama3),
	T(test_shipped),
	T(test_unknown_kernels),
	T(test_models),
};
UNIT_MAIN(tests)
