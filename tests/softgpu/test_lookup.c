/* SPDX-License-Identifier: Apache-2.0 */
/* How entry points are found: dlsym, cuGetProcAddress by version and stream flavour. */
#include <dlfcn.h>
#include "tests/softgpu/test.h"

static void *driver;

static int open_driver(void **state)
{
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	return driver ? 0 : -1;
}

/* What cuGetProcAddress gives for a name, by the driver's own name of it; "" for nothing. */
static const char *found(const char *symbol, int version, cuuint64_t flags,
			 CUdriverProcAddressQueryResult *status)
{
	void *p = (void *)1;
	CUresult r = cuGetProcAddress_v2(symbol, &p, version, flags, status);
	Dl_info info;

	assert_int_equal(r, CUDA_SUCCESS); /* also where there is nothing */
	if (!p)
		return "";
	assert_true(dladdr(p, &info) && info.dli_sname);
	assert_ptr_equal(dlsym(driver, info.dli_sname), p);
	return info.dli_sname;
}

static void versions_and_flavours(void **state)
{
	const struct {
		const char *symbol;
		int version;
		cuuint64_t flags;
		const char *name;
	} rows[] = {
		{"cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_DEFAULT, "cuLaunchKernel"},
		{"cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM, "cuLaunchKernel"},
		{"cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
		 "cuLaunchKernel_ptsz"},
		{"cuLaunchKernel", 3000, CU_GET_PROC_ADDRESS_DEFAULT, ""},
		{"cuMemcpyHtoD", 2000, CU_GET_PROC_ADDRESS_DEFAULT, "cuMemcpyHtoD"},
		{"cuMemcpyHtoD", 13000, CU_GET_PROC_ADDRESS_DEFAULT, "cuMemcpyHtoD_v2"},
		{"cuMemcpyHtoD", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
		 "cuMemcpyHtoD_v2_ptds"},
		{"cuCtxCreate", 11030, CU_GET_PROC_ADDRESS_DEFAULT, "cuCtxCreate_v2"},
		{"cuCtxCreate", 11040, CU_GET_PROC_ADDRESS_DEFAULT, "cuCtxCreate_v3"},
		{"cuCtxCreate", 13000, CU_GET_PROC_ADDRESS_DEFAULT, "cuCtxCreate_v4"},
		{"cuGraphInstantiate", 13000, CU_GET_PROC_ADDRESS_DEFAULT, "cuGraphInstantiate_v2"},
		{"cuGetProcAddress", 11030, CU_GET_PROC_ADDRESS_DEFAULT, "cuGetProcAddress"},
		{"cuGetProcAddress", 12000, CU_GET_PROC_ADDRESS_DEFAULT, "cuGetProcAddress_v2"},
		{"cuMemAlloc", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
		 "cuMemAlloc_v2"},
		{"cuSoftgpuExtra", 13000, CU_GET_PROC_ADDRESS_DEFAULT, "cuSoftgpuExtra"},
		{"", 0, CU_GET_PROC_ADDRESS_DEFAULT, ""},
		{"cuNoSuchThing", 13000, CU_GET_PROC_ADDRESS_DEFAULT, ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(found(rows[i].symbol, rows[i].version, rows[i].flags, NULL),
				    rows[i].name);
}

static void status(void **state)
{
	CUdriverProcAddressQueryResult s;

	found("cuInit", 13000, 0, &s);
	assert_int_equal(s, CU_GET_PROC_ADDRESS_SUCCESS);
	found("cuLaunchKernelEx", 11000, 0, &s);
	assert_int_equal(s, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	found("cuNoSuchThing", 13000, 0, &s);
	assert_int_equal(s, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

/* The first form of the function answers otherwise. */
static void the_first_form(void **state)
{
	CUresult (*get)(const char *, void **, int, cuuint64_t);
	void *p = (void *)1;

	OK(cuGetProcAddress_v2("cuGetProcAddress", (void **)&get, 11030, 0, NULL));
	assert_int_equal(get("cuNoSuchThing", &p, 13000, 0), CUDA_ERROR_NOT_FOUND);
	assert_ptr_equal(p, (void *)1);
	OK(get("cuInit", &p, 13000, 0));
	assert_ptr_equal(p, dlsym(driver, "cuInit"));
}

static void before_initialisation(void **state)
{
	CUcontext ctx;
	const char *name;
	int version;

	assert_int_equal(cuCtxGetCurrent(&ctx), CUDA_ERROR_NOT_INITIALIZED);
	OK(cuDriverGetVersion(&version));
	assert_int_equal(version, 13000);
	OK(cuGetErrorName(CUDA_ERROR_NOT_INITIALIZED, &name));
	assert_string_equal(name, "CUDA_ERROR_NOT_INITIALIZED");
	OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &name));
	assert_string_equal(name, "out of memory");
	assert_int_equal(cuGetErrorName((CUresult)12345, &name), CUDA_ERROR_INVALID_VALUE);
}

static void arguments_in_registers_and_on_the_stack(void **state)
{
	long sum;

	OK(cuSoftgpuInterop(&sum, 1, 2, 3, 4, 5, 6.0, 7, 8, 9, 10.0));
	assert_int_equal(sum, 55);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_and_flavours),
		cmocka_unit_test(status),
		cmocka_unit_test(the_first_form),
		cmocka_unit_test(before_initialisation),
		cmocka_unit_test(arguments_in_registers_and_on_the_stack),
	};

	return TEST_RUN(tests, open_driver);
}
