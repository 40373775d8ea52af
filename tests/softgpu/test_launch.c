/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, functions, and the ways to launch them. */
#include "tests/softgpu/test.h"

static void parameters_of_every_alignment(void **state)
{
	CUdeviceptr out = test_ints(5);
	char a = 1, e = 5;
	double b = 2;
	short c = 3;
	float d[4] __attribute__((aligned(16))) = {1, 1, 1, 1};
	size_t offset, bytes, at[6];
	CUfunction f = test_function("test_layout");

	LAUNCH("test_layout", 1, NULL, &a, &b, &c, d, &e, &out);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(test_int(out, i), i + 1);
	for (size_t i = 0; i < 6; i++) {
		OK(cuFuncGetParamInfo(f, i, &at[i], &bytes));
		assert_int_equal(bytes, ((size_t[]){1, 8, 2, 16, 1, 8})[i]);
		assert_int_equal(at[i], ((size_t[]){0, 8, 16, 32, 48, 56})[i]);
	}
	assert_int_equal(cuFuncGetParamInfo(f, 6, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);

	/* The same as one buffer. */
	char buffer[64] = {0};
	size_t size = sizeof(buffer);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
			 CU_LAUNCH_PARAM_END};
	buffer[0] = 6;
	b = 7;
	memcpy(buffer + at[1], &b, sizeof(b));
	c = 8;
	memcpy(buffer + at[2], &c, sizeof(c));
	d[0] = 6;
	memcpy(buffer + at[3], d, sizeof(d));
	buffer[at[4]] = 10;
	memcpy(buffer + at[5], &out, sizeof(out));
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(test_int(out, i), i + 6);
	size = 65;
	assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
			 CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
	/* What a short buffer leaves out is zero. */
	f = test_function("test_mark");
	memcpy(buffer, &out, sizeof(out));
	memset(buffer + 8, 1, 4);
	size = 8;
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
	assert_int_equal(test_int(out, 0), 0);
	OK(cuMemFree(out));
}

static CUresult shape(CUfunction f, unsigned gx, unsigned gy, unsigned bx, unsigned bz,
		      unsigned shared)
{
	return cuLaunchKernel(f, gx, gy, 1, bx, 1, bz, shared, NULL, NULL, NULL);
}

static void impossible_shapes(void **state)
{
	CUfunction f = test_function("test_nothing");

	OK(shape(f, 1, 1, 1024, 1, 48 << 10));
	assert_int_equal(shape(f, 0, 1, 32, 1, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(shape(f, 1, 65536, 32, 1, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(shape(f, 1, 1, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(shape(f, 1, 1, 1025, 1, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(shape(f, 1, 1, 8, 65, 0), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(shape(f, 1, 1, 32, 1, (48 << 10) + 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10));
	OK(shape(f, 1, 1, 32, 1, 100 << 10));
	assert_int_equal(
		cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 228 << 10),
		CUDA_ERROR_INVALID_VALUE);
	/* test_dynamic is registered with 128 bytes of shared memory and at most 512 threads. */
	f = test_function("test_dynamic");
	int value;
	OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
	assert_int_equal(value, 512);
	OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
	assert_int_equal(value, 128);
	OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
	assert_int_equal(value, (48 << 10) - 128);
	CUdeviceptr out = test_ints(1);
	int last = 0;
	void *params[] = {&out, &last};
	assert_int_equal(cuLaunchKernel(f, 1, 1, 1, 513, 1, 1, 4, NULL, params, NULL),
			 CUDA_ERROR_INVALID_VALUE);
	OK(cuLaunchKernel(f, 1, 1, 1, 512, 1, 1, 4, NULL, params, NULL));
	assert_int_equal(test_int(out, 0), 42);
	OK(cuMemFree(out));
}

static void names_and_look_up(void **state)
{
	CUfunction f;
	CUmodule m, owner;
	const char *name;

	OK(cuModuleLoadData(&m, test_image()));
	/* As nvcc spells them. */
	OK(cuModuleGetFunction(&f, m, "_Z13test_templateIfEvPT_S0_S0_"));
	OK(cuModuleGetFunction(&f, m, "_Z13test_templateI13__nv_bfloat16EvPT_S1_S1_"));
	OK(cuModuleGetFunction(&f, m, "_Z11test_staticPi"));
	OK(cuModuleGetFunction(&f, m, "_ZN10test_space5innerEPi"));
	OK(cuFuncGetName(&name, f));
	assert_string_equal(name, "_ZN10test_space5innerEPi");
	OK(cuFuncGetModule(&owner, f));
	assert_ptr_equal(owner, m);
	assert_int_equal(cuModuleGetFunction(&f, m, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
	OK(cuModuleUnload(m));
	assert_int_equal(cuModuleGetFunction(&f, m, "test_nothing"), CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(cuModuleLoadData(&m, "no image at all"), CUDA_ERROR_INVALID_IMAGE);
	assert_int_equal(cuModuleLoad(&m, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
}

/* A kernel of a library is launched like a function but is none to the cuFunc calls. */
static void kernels_are_no_functions(void **state)
{
	CUlibrary l, owner;
	CUkernel k;
	CUfunction f, again;
	CUdeviceptr p = test_ints(1);
	const char *name;
	size_t offset, bytes;
	void *params[] = {&p, &(int){3}};
	int value;

	OK(cuLibraryLoadData(&l, test_image(), NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&k, l, "test_mark"));
	OK(cuLaunchKernel((CUfunction)k, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
	assert_int_equal(test_int(p, 0), 3);
	assert_int_equal(cuFuncGetName(&name, (CUfunction)k), CUDA_ERROR_INVALID_HANDLE);
	assert_int_equal(cuFuncGetParamInfo((CUfunction)k, 0, &offset, &bytes),
			 CUDA_ERROR_INVALID_HANDLE);
	OK(cuKernelGetName(&name, k));
	assert_string_equal(name, "test_mark");
	OK(cuKernelGetParamInfo(k, 1, &offset, &bytes));
	assert_int_equal(offset, 8);
	OK(cuKernelGetLibrary(&owner, k));
	assert_ptr_equal(owner, l);
	OK(cuKernelGetFunction(&f, k));
	OK(cuKernelGetFunction(&again, k));
	assert_ptr_equal(f, again);
	OK(cuFuncGetName(&name, f));
	assert_int_equal(cuKernelGetName(&name, (CUkernel)f), CUDA_ERROR_INVALID_HANDLE);
	OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10, k, 0));
	OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k, 0));
	assert_int_equal(value, 64 << 10);
	OK(cuLaunchKernel((CUfunction)k, 1, 1, 1, 1, 1, 1, 64 << 10, NULL, params, NULL));
	OK(cuLibraryUnload(l));
	assert_int_equal(cuLaunchKernel((CUfunction)k, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL),
			 CUDA_ERROR_INVALID_HANDLE);
	OK(cuMemFree(p));
}

static void handles_come_back(void **state)
{
	CUmodule m, n;
	CUfunction f, g;

	OK(cuModuleLoadData(&m, test_image()));
	OK(cuModuleGetFunction(&f, m, "test_nothing"));
	OK(cuModuleUnload(m));
	OK(cuModuleLoadData(&n, test_image()));
	OK(cuModuleGetFunction(&g, n, "test_mark"));
	assert_ptr_equal(m, n);
	assert_ptr_equal(f, g);
	OK(cuModuleUnload(n));
}

static void module_variables(void **state)
{
	CUdeviceptr counter, factors, x = test_ints(8);
	size_t bytes;
	float two[] = {2, 3, 4, 5}, values[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	int n = 8, before;

	OK(cuModuleGetGlobal(&factors, &bytes, test_module(), "test_factors"));
	assert_int_equal(bytes, 16);
	OK(cuModuleGetGlobal(&counter, &bytes, test_module(), "test_counter"));
	assert_int_equal(bytes, 4);
	assert_int_equal(cuModuleGetGlobal(&counter, &bytes, test_module(), "none"),
			 CUDA_ERROR_NOT_FOUND);
	OK(cuModuleGetGlobal(&counter, &bytes, test_module(), "test_counter"));
	before = test_int(counter, 0);
	OK(cuMemcpyHtoD(factors, two, sizeof(two)));
	OK(cuMemcpyHtoD(x, values, sizeof(values)));
	LAUNCH("test_globals", 32, NULL, &x, &n);
	OK(cuMemcpyDtoH(values, x, sizeof(values)));
	for (int i = 0; i < 8; i++)
		assert_true(values[i] == two[i % 4]);
	assert_int_equal(test_int(counter, 0), before + 1);
	OK(cuMemFree(x));
}

static void attributes_of_a_launch(void **state)
{
	CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
				       .value = {.cooperative = 1}};
	CUlaunchConfig c = {.gridDimX = 4,
			    .gridDimY = 1,
			    .gridDimZ = 1,
			    .blockDimX = 32,
			    .blockDimY = 1,
			    .blockDimZ = 1,
			    .attrs = &attribute,
			    .numAttrs = 1};
	CUfunction f = test_function("test_nothing");
	CUevent done;

	OK(cuLaunchKernelEx(&c, f, NULL, NULL));
	c.gridDimX = 100000;
	assert_int_equal(cuLaunchKernelEx(&c, f, NULL, NULL),
			 CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	assert_int_equal(cuLaunchCooperativeKernel(f, 100000, 1, 1, 32, 1, 1, 0, NULL, NULL),
			 CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	c.gridDimX = 6;
	attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
	attribute.value.clusterDim.x = 2;
	attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
	OK(cuLaunchKernelEx(&c, f, NULL, NULL));
	c.gridDimX = 5;
	assert_int_equal(cuLaunchKernelEx(&c, f, NULL, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
	c.gridDimX = 6;
	OK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
	attribute.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
	attribute.value.launchCompletionEvent.event = done;
	attribute.value.launchCompletionEvent.flags = 0;
	OK(cuLaunchKernelEx(&c, f, NULL, NULL));
	OK(cuEventSynchronize(done));
	OK(cuEventDestroy(done));
}

/* Last: the context is lost afterwards. */
static void a_kernel_that_cannot_end_is_reported(void **state)
{
	CUdeviceptr p;

	LAUNCH("test_stuck", 32, NULL, NULL);
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
	assert_int_equal(cuMemAlloc(&p, 4), CUDA_ERROR_LAUNCH_FAILED);
	OK(cuDevicePrimaryCtxReset(0));
	assert_int_equal(cuMemAlloc(&p, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	test_context();
	OK(cuMemAlloc(&p, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_of_every_alignment),
		cmocka_unit_test(impossible_shapes),
		cmocka_unit_test(names_and_look_up),
		cmocka_unit_test(kernels_are_no_functions),
		cmocka_unit_test(handles_come_back),
		cmocka_unit_test(module_variables),
		cmocka_unit_test(attributes_of_a_launch),
		cmocka_unit_test(a_kernel_that_cannot_end_is_reported),
	};

	return TEST_RUN(tests, test_begin);
}
