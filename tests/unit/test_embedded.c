// SPDX-License-Identifier: Apache-2.0
/*
 * The signatures that come with the library, against what nvcc 13 makes of the programs they name:
 * mangled names and parameter sizes (one digit each) are those of their cubins.
 */
#include "unit.h"

#include "matcher/sig_table.h"
#include "sigs.h"

static unsigned load(void)
{
	static struct config c;

	config_load(&c, false);
	assert_int_equal(c.errors, 0);
	return sig_compile(&c);
}

static const struct {
	const char *label, *name, *sizes;
} known[] = {
	{"candle badd f32", "badd_f32", "888888"},
	{"candle bmul f32", "bmul_f32", "888888"},
	{"candle usilu f32", "usilu_f32", "88888"},
	{"candle usilu f32 in place", "usilu_f32", "88888"},
	{"candle ugelu f32", "ugelu_f32", "88888"},
	{"candle ugelu_erf f32", "ugelu_erf_f32", "88888"},
	{"candle urelu f32", "urelu_f32", "88888"},
	{"candle ucopy f32", "ucopy_f32", "88888"},
	{"candle affine f32", "affine_f32", "8888844"},
	{"candle rmsnorm f32", "rmsnorm_f32", "888444"},
	{"candle layernorm f32", "layernorm_f32", "8888444"},
	{"candle softmax f32", "softmax_f32", "884"},
	{"candle rope f32", "rope_f32", "88884444"},
	{"candle rope_i f32", "rope_i_f32", "8888444"},
	{"candle rope_thd f32", "rope_thd_f32", "888844444"},
	{"candle badd f16", "badd_f16", "888888"},
	{"candle bmul f16", "bmul_f16", "888888"},
	{"candle usilu f16", "usilu_f16", "88888"},
	{"candle usilu f16 in place", "usilu_f16", "88888"},
	{"candle ugelu f16", "ugelu_f16", "88888"},
	{"candle ugelu_erf f16", "ugelu_erf_f16", "88888"},
	{"candle urelu f16", "urelu_f16", "88888"},
	{"candle ucopy f16", "ucopy_f16", "88888"},
	{"candle affine f16", "affine_f16", "8888822"},
	{"candle rmsnorm f16", "rmsnorm_f16", "888444"},
	{"candle layernorm f16", "layernorm_f16", "8888444"},
	{"candle softmax f16", "softmax_f16", "884"},
	{"candle rope f16", "rope_f16", "88884444"},
	{"candle rope_i f16", "rope_i_f16", "8888444"},
	{"candle rope_thd f16", "rope_thd_f16", "888844444"},
	{"candle badd bf16", "badd_bf16", "888888"},
	{"candle bmul bf16", "bmul_bf16", "888888"},
	{"candle usilu bf16", "usilu_bf16", "88888"},
	{"candle usilu bf16 in place", "usilu_bf16", "88888"},
	{"candle ugelu bf16", "ugelu_bf16", "88888"},
	{"candle ugelu_erf bf16", "ugelu_erf_bf16", "88888"},
	{"candle urelu bf16", "urelu_bf16", "88888"},
	{"candle ucopy bf16", "ucopy_bf16", "88888"},
	{"candle affine bf16", "affine_bf16", "8888822"},
	{"candle rmsnorm bf16", "rmsnorm_bf16", "888444"},
	{"candle layernorm bf16", "layernorm_bf16", "8888444"},
	{"candle softmax bf16", "softmax_bf16", "884"},
	{"candle rope bf16", "rope_bf16", "88884444"},
	{"candle rope_i bf16", "rope_i_bf16", "8888444"},
	{"candle rope_thd bf16", "rope_thd_bf16", "888844444"},
	{"candle cast f32 f16", "cast_f32_f16", "88888"},
	{"candle cast f32 bf16", "cast_f32_bf16", "88888"},
	{"candle cast f16 f32", "cast_f16_f32", "88888"},
	{"candle cast f16 bf16", "cast_f16_bf16", "88888"},
	{"candle cast bf16 f32", "cast_bf16_f32", "88888"},
	{"candle cast bf16 f16", "cast_bf16_f16", "88888"},
	{"KuiperLLama add", "_ZN6kernel18add_kernel_cu_fp32EiPKfS1_Pf", "4888"},
	{"KuiperLLama rmsnorm", "_ZN6kernel15row_rmsnorm_f32ILi128EEEvPfS1_S1_if", "88844"},
	{"KuiperLLama rmsnorm",
	 "__nv_static_38__8aaeb73e_17_rmsnorm_kernel_cu_96ddfb80__ZN6kernel15row_rmsnorm_"
	 "f32ILi128EEEvPfS1_S1_if",
	 "88844"},
	{"KuiperLLama swiglu", "_ZN6kernel21swiglu_kernel_cu_fp32EiPKfS1_Pf", "4888"},
	{"LLM-engineering add f32", "_Z11AddResidualIfEvPT_S1_ii", "8844"},
	{"LLM-engineering add f16", "_Z11AddResidualI6__halfEvPT_S2_ii", "8844"},
	{"LLM-engineering rmsnorm f32", "_Z7RMSNormIfEvPT_S1_S1_fii", "888444"},
	{"LLM-engineering rmsnorm f16", "_Z7RMSNormI6__halfEvPT_S2_S2_fii", "888444"},
	{"LLM-engineering silu_mul f32", "_Z19silu_and_mul_kernelIfEvPT_PKS0_i", "884"},
	{"LLM-engineering silu_mul f16", "_Z19silu_and_mul_kernelI6__halfEvPT_PKS1_i", "884"},
	{"llm-inference-engine add f32", "_Z11addResidualIfEvPT_S1_ii", "8844"},
	{"llm-inference-engine add f16", "_Z11addResidualI6__halfEvPT_S2_ii", "8844"},
	{"llm-inference-engine rmsnorm f32", "_Z7RMSNormIfEvPT_S1_PKS0_fii", "888444"},
	{"llm-inference-engine silu_mul f32", "_Z10siluAndMulIfEvPT_PKS0_i", "884"},
	{"llm-inference-engine silu_mul f16", "_Z10siluAndMulI6__halfEvPT_PKS1_i", "884"},
	{"CTranslate2 rmsnorm f32", "_ZN11ctranslate23ops15rms_norm_kernelIfEEvPKT_S4_PS2_jfb",
	 "888441"},
	{"CTranslate2 rmsnorm f32 1+w", "_ZN11ctranslate23ops15rms_norm_kernelIfEEvPKT_S4_PS2_jfb",
	 "888441"},
	{"CTranslate2 rmsnorm f16",
	 "_ZN11ctranslate23ops15rms_norm_kernelI6__halfEEvPKT_S5_PS3_jfb", "888441"},
	{"CTranslate2 rmsnorm f16 1+w",
	 "_ZN11ctranslate23ops15rms_norm_kernelI6__halfEEvPKT_S5_PS3_jfb", "888441"},
	{"CTranslate2 rmsnorm bf16",
	 "_ZN11ctranslate23ops15rms_norm_kernelI13__nv_bfloat16EEvPKT_S5_PS3_jfb", "888441"},
	{"CTranslate2 rmsnorm bf16 1+w",
	 "_ZN11ctranslate23ops15rms_norm_kernelI13__nv_bfloat16EEvPKT_S5_PS3_jfb", "888441"},
	{"CTranslate2 layernorm f32",
	 "_ZN2at6native26LayerNormForwardCUDAKernelIfjEEvT0_fPKT_S5_S5_PS3_", "448888"},
	{"CTranslate2 layernorm f16",
	 "_ZN2at6native26LayerNormForwardCUDAKernelI6__halfjEEvT0_fPKT_S6_S6_PS4_", "448888"},
	{"CTranslate2 layernorm bf16",
	 "_ZN2at6native26LayerNormForwardCUDAKernelI13__nv_bfloat16jEEvT0_fPKT_S6_S6_PS4_",
	 "448888"},
	{"vnnm404 residual", "_Z16residual_forwardPfPKfS1_iii", "888444"},
	{"vnnm404 gelu", "_Z12gelu_forwardPfPKfiii", "88444"},
	{"vnnm404 layernorm", "_Z17layernorm_forwardPfS_S_S_S_S_ii", "88888844"},
	{"vnnm404 softmax", "_Z15softmax_forwardPfPKfiii", "88444"},
	{"SyaOtiLan residual", "_Z19residual_add_kernelPKfS0_Pfi", "8884"},
	{"SyaOtiLan bias", "_Z15add_bias_kernelPfPKfii", "8844"},
	{"SyaOtiLan gelu", "_Z11gelu_kernelPKfPfi", "884"},
	{"SyaOtiLan scale", "_Z12scale_kernelPffi", "844"},
	{"SyaOtiLan layernorm", "_Z16layernorm_kernelPKfPfS0_S0_ii", "888844"},
	{"SyaOtiLan softmax", "_Z14softmax_kernelPKfPfii", "8844"},
	{"llama2.cu accum", "_Z12accum_kernelPfS_i", "884"},
	{"llama2.cu rmsnorm", "_Z14rmsnorm_kernelPfS_S_ii", "88844"},
	{"llama2.cu rope", "_Z20RoPe_rotation_kerneliPfS_ii", "48844"},
	{"qwen3.cu rope", "_Z22q_RoPe_rotation_kerneliPfiii", "48444"},
	{"qwen3.cu rope", "_Z22k_RoPe_rotation_kerneliPfiii", "48444"},
	{"llama.cu accum", "_ZN5llama11AccumKernelEPfPKfi", "884"},
	{"llama.cu rmsnorm", "_ZN5llama13RmsNormKernelEPfPKfS2_i", "8884"},
	{"llama.cu rope", "_ZN5llama20ApplyRotaryEmbKernelEiPfS0_iii", "488444"},
	{"llama.cu swiglu", "_ZN5llama12SwiGLUKernelEPfPKfi", "884"},
	{"krishna-exp vadd", "_Z4vaddILm32ELm256EEvPfS0_m", "888"},
	{"krishna-exp swiglu", "_Z6swigluPfPKfm", "888"},
	{"ankan-ban add", "_Z23element_wise_add_kernelP6__halfS0_i", "884"},
	{"ankan-ban rmsnorm", "_Z14rmsnorm_kernelP6__halfS0_S0_ii", "88844"},
	{"ankan-ban silu_mul", "_Z28silu_element_wise_mul_kernelP6__halfS0_i", "884"},
	{"ankan-ban rope", "_Z19RoPERotation_kernelP6__halfS0_S0_S0_ii", "888844"},
	{"ankan-ban to f32", "_Z20convert_fp16_to_fp32PfP6__halfi", "884"},
	{"ankan-ban to f16", "_Z20convert_fp32_to_fp16P6__halfPfi", "884"},
	{"eiz rms_norm", "_ZN8llama_cu6kernel8rms_normEP6__halfS2_S2_iif", "888444"},
	{"eiz rotary", "_ZN8llama_cu6kernel6rotaryEP6__halfS2_iiiif", "8844444"},
	{"eiz softmax", "_ZN8llama_cu6kernel12softmax_rowsEP6__halfS2_iif", "88444"},
	{"eiz silu_mul", "_ZN8llama_cu6kernel4siluEP6__halfS2_S2_i", "8884"},
	{"RL.cu add", "_Z19add_residual_kernelP6__halfPKS_i", "884"},
	{"RL.cu rmsnorm", "_Z14rmsnorm_kernelP6__halfPKS_PKfif", "88844"},
	{"RL.cu swiglu", "_Z13swiglu_kernelP6__halfPKS_S2_i", "8884"},
	{"RL.cu softmax", "_Z14softmax_kernelP6__halfPKS_i", "884"},
	{"YohannXu add", "_Z3AddP6__halfS0_ii", "8844"},
	{"YohannXu silu", "_Z4SiLUP6__halfii", "844"},
	{"YohannXu mul", "_Z3MulP6__halfS0_ii", "8844"},
	{"YohannXu to f32", "_Z10Half2FloatP6__halfPfii", "8844"},
	{"YohannXu to f16", "_Z10Float2HalfPfP6__halfii", "8844"},
	{"llm.c residual f32", "_Z23residual_forward_kernelPfS_S_i", "8884"},
	{"llm.c gelu f32", "_Z19gelu_forward_kernelPfPKfi", "884"},
	{"llm.c layernorm f32", "_Z25layernorm_forward_kernel1PfS_S_PKfS1_S1_ii", "88888844"},
	{"llm.c layernorm f32", "_Z25layernorm_forward_kernel3PfS_S_PKfS1_S1_ii", "88888844"},
	{"llm.c layernorm f32", "_Z25layernorm_forward_kernel4PfS_S_PKfS1_S1_ii", "88888844"},
	{"llm.c layernorm f32", "_Z25layernorm_forward_kernel5PfS_S_PKfS1_S1_ii", "88888844"},
	{"llm.c layernorm f32", "_Z25layernorm_forward_kernel6PfS_S_PKfS1_S1_ii", "88888844"},
	{"llm.c layernorm bf16", "_Z25layernorm_forward_kernel3P13__nv_bfloat16PfS1_PKS_S3_S3_ii",
	 "88888844"},
	{"llm.c layernorm bf16", "_Z25layernorm_forward_kernel6P13__nv_bfloat16PfS1_PKS_S3_S3_ii",
	 "88888844"},
	{"llm.c layernorm f16", "_Z25layernorm_forward_kernel3P6__halfPfS1_PKS_S3_S3_ii",
	 "88888844"},
	{"llm.c layernorm f16", "_Z25layernorm_forward_kernel6P6__halfPfS1_PKS_S3_S3_ii",
	 "88888844"},
	{"llm.c residual x128 f32", "_Z23residual_forward_kernelPfPKfS1_", "888"},
	{"llm.c residual x128 bf16", "_Z23residual_forward_kernelP13__nv_bfloat16PKS_S2_", "888"},
	{"llm.c residual x128 f16", "_Z23residual_forward_kernelP6__halfPKS_S2_", "888"},
	{"llm.c gelu x128 f32", "_Z20gelu_forward_kernel2PfPKf", "88"},
	{"llm.c gelu x128 bf16", "_Z20gelu_forward_kernel2P13__nv_bfloat16PKS_", "88"},
	{"llm.c gelu x128 f16", "_Z20gelu_forward_kernel2P6__halfPKS_", "88"},
	{"llm.c dev residual", "_Z24residual_forward_kernel1P13__nv_bfloat16PKS_S2_i", "8884"},
	{"llm.c dev residual", "_Z24residual_forward_kernel2P13__nv_bfloat16PKS_S2_i", "8884"},
	{"llm.c dev layernorm", "_Z25layernorm_forward_kernel1P13__nv_bfloat16S0_S0_PKS_S2_S2_ii",
	 "88888844"},
	{"llm.c dev gelu", "_Z20gelu_forward_kernel1P13__nv_bfloat16PKS_i", "884"},
	{"llm.c dev gelu", "_Z20gelu_forward_kernel2P13__nv_bfloat16PKS_i", "884"},
};

/* Is the section of that label asked for this kernel? */
static bool asked(const char *label, const struct kernel *k)
{
	for (const struct sig *s = k->decoder_data; s; s = s->other)
		if (!strcmp(s->label, label))
			return true;
	return false;
}

static void test_known(void **arg)
{
	unsigned labels = 0;

	assert_int_equal(load(), 0);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const struct kernel *k = kernel(known[i].name, known[i].sizes);

		if (!k->decoder || !asked(known[i].label, k))
			fail_msg("%s is not [kernel %s]", known[i].name, known[i].label);
		labels += !i || strcmp(known[i].label, known[i - 1].label);
	}
	assert_int_equal(labels, sig_count()); /* every section has its kernel here */
}

/* Kernels of the same programs whose sizes are not in their arguments, that leave out part of what
 * they write, or that another program gives another meaning; and names that merely resemble. */
static void test_unknown(void **arg)
{
	static const struct {
		const char *name, *sizes;
	} row[] = {
		{"_Z32f_silu_elementwise_mul_w3_kernelPfS_i", "884"},
		{"_Z27multi_head_attention_kerneliiPfS_S_S_S_iiii", "44888884444"},
		{"_Z23softmax_forward_kernel5PffPKfii", "84844"},
		{"_Z7RMSNormI6__halfEvPT_S2_PKS1_fii", "888444"},
		{"_Z12rmsnorm_normILm32ELm128EEvPfPKfS2_S2_m", "88888"},
		{"_Z13MulNormWeightP6__halfS0_ii", "8844"},
		{"_Z11rope_kernelP6__halfS0_PKfS2_PKiiiii", "888884444"},
		{"_Z30fused_residual_forward_kernel5PfS_S_S_PKfS1_S1_S1_ii", "8888888844"},
		{"_ZN8llama_cu6kernel5embedEiiPsP6__halfS3_", "44888"},
		{"_ZN6kernel15row_rmsnorm_f32ILi256EEEvPfS1_S1_if", "88844"},
		{"badd_f64", "888888"},
		{"fused_add_rmsnorm_f32", "888444"},
		{"_Z18accum_kernel_fusedPfS_i", "884"},
		{"_Z14rmsnorm_kernelPfS_S_ii", "8884"},
		{"_Z14rmsnorm_kernelPfPKfS1_if", "88844"},
	};

	load();
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (kernel(row[i].name, row[i].sizes)->decoder)
			fail_msg("%s is claimed", row[i].name);
}

/* Launches as the programs make them. */
static void test_launches(void **arg)
{
	static const struct {
		const char *name, *sizes;
		uint64_t arg[9];
		uint32_t grid[3], block[3];
		const char *op;
	} row[] = {
		/* The name of two programs: neither eps is taken for granted. */
		{"_Z14rmsnorm_kernelPfS_S_ii",
		 "88844",
		 {0x1000, 0x2000, 0x3000, 288, 1},
		 {1, 1, 1},
		 {1024, 1, 1},
		 "rmsnorm 1x288: out w f32 1x288 @1000, in0 r f32 1x288 @2000, weight r f32 288 "
		 "@3000"},
		{"_Z20RoPe_rotation_kerneliPfS_ii",
		 "48844",
		 {3, 0x1000, 0x2000, 96, 48},
		 {1, 1, 1},
		 {144, 1, 1},
		 "rope 1x288: q r f32 288 @1000, q w f32 288 @1000, k r f32 96 @2000, k w f32 96 "
		 "@2000"},
		{"_Z22q_RoPe_rotation_kerneliPfiii",
		 "48444",
		 {3, 0x1000, 128, 1024, 2048},
		 {1, 1, 1},
		 {64, 1, 1},
		 "rope 1x128: q r f32 128 @1000, q w f32 128 @1000"},
		{"_Z4vaddILm32ELm256EEvPfS0_m",
		 "888",
		 {0x1000, 0x2000, 2048},
		 {32, 1, 1},
		 {256, 1, 1},
		 "add 1x2048: out w f32 2048 @1000, in0 r f32 2048 @1000, in1 r f32 2048 @2000"},
		{"_Z19RoPERotation_kernelP6__halfS0_S0_S0_ii",
		 "888844",
		 {0x1000, 0x2000, 0x3000, 0x4000, 6, 48},
		 {6, 1, 1},
		 {24, 1, 1},
		 "rope 1x288: q r f16 288 @1000, q w f16 288 @1000, k r f16 288 @2000, k w f16 288 "
		 "@2000, cos r f16 24 @3000, sin r f16 24 @4000"},
		{"_ZN8llama_cu6kernel12softmax_rowsEP6__halfS2_iif",
		 "88444",
		 {0x1000, 0x1000, 5, 12, 0x3f800000},
		 {5, 4, 1},
		 {256, 1, 1},
		 "softmax 20x12: out w f16 20x12 @1000, in0 r f16 20x12 @1000"},
		/* One token, then a prompt of 7; a grid that does not cover what the sizes say. */
		{"_Z4SiLUP6__halfii",
		 "844",
		 {0x1000, 1, 11008},
		 {43, 1, 1},
		 {256, 1, 1},
		 "silu 1x11008: out w f16 11008 @1000, in0 r f16 11008 @1000"},
		{"_Z3MulP6__halfS0_ii",
		 "8844",
		 {0x1000, 0x9000, 7, 11008},
		 {43, 7, 1},
		 {256, 1, 1},
		 "mul 1x77056: out w f16 77056 @1000, in0 r f16 77056 @1000, in1 r f16 77056 "
		 "@9000"},
		{"_Z3AddP6__halfS0_ii",
		 "8844",
		 {0x1000, 0x9000, 7, 4096},
		 {16, 7, 2},
		 {256, 1, 1},
		 "shape"},
		{"_Z14rmsnorm_kernelP6__halfPKS_PKfif",
		 "88844",
		 {0x1000, 0x2000, 0x3000, 128, 0x358637bd},
		 {48, 1, 1},
		 {128, 1, 1},
		 "rmsnorm 48x128: out w f16 48x128 @1000, in0 r f16 48x128 @2000, weight r f32 128 "
		 "@3000"},
		{"_Z23residual_forward_kernelP13__nv_bfloat16PKS_S2_",
		 "888",
		 {0x1000, 0x2000, 0x3000},
		 {96, 1, 1},
		 {256, 1, 1},
		 "add 1x196608: out w bf16 196608 @1000, in0 r bf16 196608 @2000, in1 r bf16 "
		 "196608 "
		 "@3000"},
		{"_Z25layernorm_forward_kernel3PfS_S_PKfS1_S1_ii",
		 "88888844",
		 {0x10000, 0x20000, 0x30000, 0x40000, 0x50000, 0x60000, 256, 768},
		 {16, 1, 1},
		 {512, 1, 1},
		 "layernorm 256x768: out w f32 256x768 @10000, in0 r f32 256x768 @40000, weight r "
		 "f32 768 @50000, bias r f32 768 @60000, mean w f32 256 @20000, rstd w f32 256 "
		 "@30000"},
		{"_Z17layernorm_forwardPfS_S_S_S_S_ii",
		 "88888844",
		 {0x10000, 0x40000, 0x50000, 0x60000, 0, 0, 64, 768},
		 {128, 1, 1},
		 {256, 1, 1},
		 "layernorm 128x768: out w f32 128x768 @10000, in0 r f32 128x768 @40000, weight r "
		 "f32 768 @50000, bias r f32 768 @60000"},
		{"_Z16residual_forwardPfPKfS1_iii",
		 "888444",
		 {0x1000, 0x2000, 0x3000, 2, 64, 768},
		 {384, 1, 1},
		 {256, 1, 1},
		 "add 1x98304: out w f32 98304 @1000, in0 r f32 98304 @2000, in1 r f32 98304 "
		 "@3000"},
		{"_Z7RMSNormIfEvPT_S1_S1_fii",
		 "888444",
		 {0x1000, 0x20000, 0x3000, 0x3727c5ac, 3, 4096},
		 {3, 1, 1},
		 {1024, 1, 1},
		 "rmsnorm 3x4096: out w f32 3x4096 @1000, in0 r f32 3x4096 @1000, weight r f32 "
		 "4096 "
		 "@3000, copy w f32 3x4096 @20000"},
		{"_Z10siluAndMulI6__halfEvPT_PKS1_i",
		 "884",
		 {0x1000, 0x20000, 11008},
		 {3, 1, 1},
		 {256, 1, 1},
		 "silu_mul 1x33024: out w f16 33024 @1000, in0 r f16 66048 @20000"},
		{"_ZN2at6native26LayerNormForwardCUDAKernelIfjEEvT0_fPKT_S5_S5_PS3_",
		 "448888",
		 {512, 0x3727c5ac, 0x1000, 0x2000, 0, 0x3000},
		 {4, 1, 1},
		 {512, 1, 1},
		 "layernorm 4x512: out w f32 4x512 @3000, in0 r f32 4x512 @1000, weight r f32 512 "
		 "@2000"},
		/* Strided operands have their strides in device memory. */
		{"badd_bf16",
		 "888888",
		 {4096, 1, 0, 0x1000, 0x4000, 0x8000},
		 {4, 1, 1},
		 {1024, 1, 1},
		 "add 1x4096: out w bf16 4096 @8000, in0 r bf16 4096 @1000, in1 r bf16 4096 @4000"},
		{"badd_bf16",
		 "888888",
		 {4096, 2, 0x500, 0x1000, 0x4000, 0x8000},
		 {4, 1, 1},
		 {1024, 1, 1},
		 "shape"},
		{"usilu_f16",
		 "88888",
		 {64, 1, 0, 0, 0x4000},
		 {1, 1, 1},
		 {64, 1, 1},
		 "silu 1x64: out w f16 64 @4000, in0 r f16 64 @4000"},
		{"cast_f32_bf16",
		 "88888",
		 {64, 1, 0, 0x1000, 0x4000},
		 {1, 1, 1},
		 {64, 1, 1},
		 "copy 1x64: out w bf16 64 @4000, in0 r f32 64 @1000"},
		{"softmax_f32",
		 "884",
		 {0x1000, 0x4000, 96},
		 {24, 1, 1},
		 {1, 32, 1},
		 "softmax 24x96: out w f32 24x96 @4000, in0 r f32 24x96 @1000"},
		{"rope_bf16",
		 "88884444",
		 {0x1000, 0x2000, 0x3000, 0x8000, 4, 512, 64, 0},
		 {1, 1, 1},
		 {1024, 1, 1},
		 "rope 1x2048: out w bf16 2048 @8000, in0 r bf16 2048 @1000, cos r bf16 256 @2000, "
		 "sin r bf16 256 @3000"},
		{"rope_bf16",
		 "88884444",
		 {0x1000, 0x2000, 0x3000, 0x8000, 4, 512, 64, 2048},
		 {1, 1, 1},
		 {1024, 1, 1},
		 "shape"}, /* tables of each batch: how many, the arguments do not say */
	};

	load();
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_string_equal(
			launched(row[i].name, row[i].sizes, row[i].arg, row[i].grid, row[i].block),
			row[i].op);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_known),
	cmocka_unit_test(test_unknown),
	cmocka_unit_test(test_launches),
};
UNIT_MAIN(tests)
