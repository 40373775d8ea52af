// SPDX-License-Identifier: Apache-2.0
/* How many launches of each recording are decoded, and of which kernels they are that are not. */
#include "atens.h"

#define FLASH "cudnn_generated_fort_native_sdpa_sm90_flash_fprop"
#define RANDOM "DistributionNormal"
#define SGEMM "cutlass_80_simt_sgemm"
#define SCAN "DeviceScan"

static const struct {
	const char *file;
	unsigned decoded;
	struct {
		const char *part; /* of the kernel's name */
		unsigned launches;
	} opaque[9];
} table[] = {
	{"aten_ops_bfloat16", 146, {{RANDOM, 12}, {"fused_dropout", 3}, {"cutlass_75_", 2}}},
	{"aten_ops_float16", 146, {{RANDOM, 12}, {"fused_dropout", 3}, {"cutlass_75_", 2}}},
	{"aten_ops_float32",
	 128,
	 {{RANDOM, 12}, {"fused_dropout", 3}, {SGEMM, 2}, {"sm80_xmma_gemm", 5}, {"gemmSN_TN", 1}}},
	{"hf_gpt2_bf16", 211, {{SCAN, 2}, {FLASH, 4}}},
	{"hf_gpt2_bf16_graph", 138, {{FLASH, 4}}},
	{"hf_llama_bf16", 381, {{SCAN, 2}, {FLASH, 4}}},
	{"hf_llama_bf16_graph", 262, {{FLASH, 4}}},
	{"hf_llama_bf16_decode_b1_graph", 250, {{NULL, 0}}},
	{"hf_llama_bf16_decode_b32_graph", 248, {{"gemmk1", 2}}},
	{"hf_llama_bf16_train",
	 280,
	 {{"nll_loss", 2},
	  {"embedding_backward", 1},
	  {"fmha_reduce_head", 4},
	  {"convert_dq_to_16bits", 2},
	  {"compute_dot_do_o", 2},
	  {"sm90_flash_bprop", 2},
	  {FLASH, 2}}},
	{"hf_llama8b_bf16_layer", 15, {{NULL, 0}}},
	{"hf_phi3_bf16", 105, {{FLASH, 2}}},
};

static void test_counts(void **arg)
{
	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		unsigned decoded = 0, opaque[9] = {0};
		char name[64];
		struct trace *t;
		struct trace_event e;
		struct op op;

		snprintf(name, sizeof(name), "%s.jsonl.gz", table[i].file);
		t = trace_open(command_data(name));
		assert_non_null(t);
		while (trace_next(t, &e)) {
			const char *kernel = e.launch.kernel ? e.launch.kernel->name : "";
			unsigned k = 0;

			if (e.kind != TRACE_LAUNCH && e.kind != TRACE_KERNEL)
				continue;
			if (!decode_launch(&e.launch, &op)) {
				decoded++;
				continue;
			}
			while (k < 9 && table[i].opaque[k].part &&
			       !strstr(kernel, table[i].opaque[k].part))
				k++;
			if (k == 9 || !table[i].opaque[k].part)
				fail_msg("%s: %s is opaque", table[i].file, kernel);
			opaque[k]++;
		}
		for (unsigned k = 0; k < 9; k++)
			if (opaque[k] != table[i].opaque[k].launches)
				fail_msg("%s: %u launches of %s are opaque", table[i].file,
					 opaque[k], table[i].opaque[k].part);
		if (decoded != table[i].decoded)
			fail_msg("%s: %u launches are decoded", table[i].file, decoded);
		trace_close(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
