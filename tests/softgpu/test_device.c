/* SPDX-License-Identifier: Apache-2.0 */
/* Device code under device.h: the checks themselves are in test_device.cuh. */
#include "tests/softgpu/test.h"

static void run_checks(const char *kernel)
{
	CUdeviceptr lines = test_ints(64);
	float one = 1.0f;
	void *params[] = {&lines, &one};
	int failed;

	OK(cuLaunchKernel(test_function(kernel), 2, 1, 1, 96, 1, 1, 0, NULL, params, NULL));
	failed = test_int(lines, 0);
	for (int i = 0; i < failed && i < 5; i++)
		print_error("test_device.cuh:%d\n", test_int(lines, 1 + i));
	assert_int_equal(failed, 0);
	OK(cuMemFree(lines));
}

#define CHECKS(name)                                                                               \
	static void name(void **state)                                                             \
	{                                                                                          \
		(void)state;                                                                       \
		run_checks("test_" #name);                                                         \
	}
CHECKS(indices)
CHECKS(barriers)
CHECKS(shuffles)
CHECKS(votes)
CHECKS(atomics)
CHECKS(rounding)
CHECKS(bits)

/* A wrong spelling has to show in a good share of inputs, and never by much. */
static void approximations(void **state)
{
	CUdeviceptr counts = test_ints(8);
	int n = 10000;

	LAUNCH("test_approximations", 64, NULL, &counts, &n);
	assert_in_range(test_int(counts, 0), n / 4, n); /* rsqrtf, 1/sqrtf */
	assert_int_equal(test_int(counts, 1), 0);       /* the same every time */
	assert_int_equal(test_int(counts, 2), 0);       /* close */
	assert_in_range(test_int(counts, 3), n / 4, n); /* __fdividef, / */
	assert_in_range(test_int(counts, 4), n / 4, n); /* __expf, expf */
	assert_in_range(test_int(counts, 5), n / 4, n); /* __logf, logf */
	assert_in_range(test_int(counts, 6), 1, n / 2); /* __frsqrt_rn, 1/sqrtf */
	OK(cuMemFree(counts));
}

/* Sums of the same floats by atomics: how many different results in `times` runs? */
static int different_sums(const char *kernel, unsigned blocks, unsigned threads, int times)
{
	float x[64], sum;
	unsigned seen[64];
	int n = 0;
	CUdeviceptr xs, total;
	void *params[] = {&total, &xs};

	for (int i = 0; i < 64; i++)
		x[i] = (float)(1 + i * i) * (i % 2 ? 1e-3f : -1e3f) / 7.0f;
	OK(cuMemAlloc(&xs, sizeof(x)));
	OK(cuMemAlloc(&total, sizeof(float)));
	OK(cuMemcpyHtoD(xs, x, sizeof(x)));
	for (int run = 0; run < times; run++) {
		unsigned bits;
		int known = 0;

		OK(cuMemsetD32(total, 0, 1));
		OK(cuLaunchKernel(test_function(kernel), blocks, 1, 1, threads, 1, 1, 0, NULL,
				  params, NULL));
		OK(cuMemcpyDtoH(&sum, total, sizeof(sum)));
		memcpy(&bits, &sum, sizeof(bits));
		for (int i = 0; i < n; i++)
			known |= seen[i] == bits;
		if (!known)
			seen[n++] = bits;
	}
	OK(cuMemFree(xs));
	OK(cuMemFree(total));
	return n;
}

static void float_atomics_give_other_bits_from_run_to_run(void **state)
{
	assert_in_range(different_sums("test_atomic_global", 64, 32, 40), 2, 40);
	/* Two warps can start in two orders only, but the sums have to come out differently. */
	assert_in_range(different_sums("test_atomic_shared", 1, 64, 40), 2, 40);
}

static void shared_memory_starts_as_garbage(void **state)
{
	CUdeviceptr out = test_ints(64);
	void *params[] = {&out};
	int zeros = 0;

	for (int run = 0; run < 2; run++) {
		OK(cuLaunchKernel(test_function("test_garbage"), 4, 1, 1, 32, 1, 1, 128, NULL,
				  params, NULL));
		for (size_t i = 0; i < 64; i++)
			zeros += test_int(out, i) == 0;
	}
	assert_int_equal(zeros, 0);
	OK(cuMemFree(out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(indices),
		cmocka_unit_test(barriers),
		cmocka_unit_test(shuffles),
		cmocka_unit_test(votes),
		cmocka_unit_test(atomics),
		cmocka_unit_test(rounding),
		cmocka_unit_test(bits),
		cmocka_unit_test(approximations),
		cmocka_unit_test(float_atomics_give_other_bits_from_run_to_run),
		cmocka_unit_test(shared_memory_starts_as_garbage),
	};

	return TEST_RUN(tests, test_begin);
}
