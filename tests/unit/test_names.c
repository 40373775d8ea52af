// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "tools/names.h"

static void test_readable(void **arg)
{
	static const struct {
		const char *mangled, *name;
	} row[] = {
		{"_Z12accum_kernelPfPKfi", "accum_kernel"},
		{"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT",
		 "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT"},
		{"plain_c_name", "plain_c_name"},
		{"_Z", "_Z"},
		{"", ""},
		{"bad\nname\x1b[31m", "bad?name?[31m"},
		{"h\xc3\xa9\xff \xe2\x80\xae"
		 "evil \xe2\x86\x92",
		 "h\xc3\xa9? ???evil \xe2\x86\x92"},
		{"_ZN2at6native29vectorized_elementwise_kernelILi8ENS0_15CUDAFunctor_"
		 "addIN3c108BFloat16EEESt5"
		 "arrayIPcLm3EEEEviT0_T1_",
		 "aten add<bf16>"},
		{"_ZN2at6native29vectorized_elementwise_kernelILi8EZZZNS0_16tanh_kernel_cudaERNS_1"
		 "8TensorIteratorBaseEENKUlvE0_clEvENKUlvE2_clEvEUlN3c108BFloat16EE_"
		 "St5arrayIPcLm2EEEEviT0_T1_",
		 "aten tanh<bf16>"},
		{"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BinaryFunctorIfffNS0_"
		 "15binary_interna"
		 "l10MulFunctorIfEEEESt5arrayIPcLm3EEEEviT0_T1_",
		 "aten mul<f32>"},
		{"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_"
		 "7MeanOpsIffffEEjfLi4ELi4EEEEEvT1_",
		 "aten reduce mean<f32>"},
		{"_Z4axpyIfEvT_PKS0_PS0_i", "axpy<f32>"},
		{"_ZN12_GLOBAL__N_17softmaxEPfi", "softmax"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		char *name = name_readable(row[i].mangled);

		assert_non_null(name);
		assert_string_equal(name, row[i].name);
		free(name);
	}
}

/* Anything may stand in a recording. */
static void test_hostile(void **arg)
{
	static const char part[] = "_Z<>(){}[]:,; \xc3\x28INStEabc0129KERvT_Ul";
	char name[300];
	uint32_t seed = 3;

	for (int round = 0; round < 20000; round++) {
		size_t n = round % 200;

		for (size_t i = 0; i < n; i++) {
			seed = seed * 1664525 + 1013904223;
			name[i] = part[(seed >> 16) % (sizeof(part) - 1)];
		}
		name[n] = 0;
		if (round & 1 && n > 2)
			memcpy(name, "_Z", 2);
		free(name_readable(name));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_readable),
					   cmocka_unit_test(test_hostile)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
