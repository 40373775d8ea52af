/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ordinary nvcc program with the shared runtime, on the software GPU's libcudart. Built once
 * with the legacy default stream and once with a per-thread one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <dlfcn.h>
extern "C" {
#include <cmocka.h>
}
#include <cuda.h>
#include <cuda_runtime.h>
#include "tests/softgpu/test_kernels.cuh"

#define OK(call) assert_int_equal(call, cudaSuccess)

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
enum { PER_THREAD = 1 };
#else
enum { PER_THREAD = 0 };
#endif

/* Calls that the driver has seen. */
static uint64_t calls(const char *name)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	uint64_t (*count)(const char *) = (uint64_t(*)(const char *))dlsym(driver, "softgpu_calls");

	assert_non_null(count);
	return count(name);
}

template <class T> static T *device(int n)
{
	T *p;

	OK(cudaMalloc(&p, n * sizeof(T)));
	OK(cudaMemset(p, 0, n * sizeof(T)));
	return p;
}

template <class T> static T value(const T *p)
{
	T v;

	OK(cudaMemcpy(&v, p, sizeof(v), cudaMemcpyDeviceToHost));
	return v;
}

static void launches(void **state)
{
	float x[100], *d = device<float>(100);
	int *p = device<int>(1);
	uint64_t per_thread = calls("cuLaunchKernel_ptsz");

	for (int i = 0; i < 100; i++)
		x[i] = (float)i;
	OK(cudaMemcpy(d, x, sizeof(x), cudaMemcpyHostToDevice));
	test_scale<<<4, 32>>>(d, 2.0f, 100);
	OK(cudaGetLastError());
	OK(cudaMemcpy(x, d, sizeof(x), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 100; i++)
		assert_true(x[i] == 2.0f * i);
	assert_int_equal(calls("cuLaunchKernel_ptsz") - per_thread, PER_THREAD);
	test_template<<<1, 1>>>(d, 1.0f, 2.0f);
	assert_true(value(d) == 3.0f);
	__nv_bfloat16 *b = device<__nv_bfloat16>(1);
	test_template<<<1, 1>>>(b, __float2bfloat16(1.0f), __float2bfloat16(0.5f));
	assert_true(__bfloat162float(value(b)) == 1.5f);
	test_static<<<1, 1>>>(p);
	assert_int_equal(value(p), 17);
	test_space::inner<<<1, 1>>>(p);
	assert_int_equal(value(p), 18);
	int *out = device<int>(5);
	test_layout<<<1, 1>>>(1, 2.0, 3, make_float4(1, 1, 1, 1), 5, out);
	for (int i = 0; i < 5; i++)
		assert_int_equal(value(out + i), i + 1);
	OK(cudaFree(d));
	OK(cudaFree(p));
	OK(cudaFree(b));
	OK(cudaFree(out));
}

static void launches_that_fail(void **state)
{
	test_nothing<<<0, 256>>>();
	assert_int_equal(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
	OK(cudaGetLastError());
	test_nothing<<<1, 2048>>>();
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidConfiguration);
	test_nothing<<<1, 32, 200000>>>();
	assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
	OK(cudaFuncSetAttribute(test_nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
	test_nothing<<<1, 32, 200000>>>();
	OK(cudaGetLastError());
	OK(cudaDeviceSynchronize());
	assert_string_equal(cudaGetErrorName(cudaErrorInvalidConfiguration),
			    "cudaErrorInvalidConfiguration");
	assert_string_equal(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
}

static void symbols(void **state)
{
	float factors[] = {2, 3, 4, 5}, *x = device<float>(4);
	int before, after;
	void *where;
	size_t bytes;

	OK(cudaMemcpyToSymbol(test_factors, factors, sizeof(factors)));
	OK(cudaMemcpyFromSymbol(&before, test_counter, sizeof(before)));
	OK(cudaMemcpy(x, factors, sizeof(factors), cudaMemcpyHostToDevice));
	test_globals<<<1, 32>>>(x, 4);
	OK(cudaMemcpyFromSymbol(&after, test_counter, sizeof(after)));
	assert_int_equal(after, before + 1);
	assert_true(value(x + 3) == 25.0f);
	OK(cudaGetSymbolAddress(&where, test_factors));
	OK(cudaGetSymbolSize(&bytes, test_factors));
	assert_int_equal(bytes, sizeof(factors));
	assert_true(value((float *)where + 1) == 3.0f);
	assert_int_equal(cudaGetSymbolAddress(&where, &before), cudaErrorInvalidSymbol);
	cudaGetLastError();
	OK(cudaFree(x));
}

static void streams_and_graphs(void **state)
{
	int *log = device<int>(8);
	cudaStream_t s;
	cudaEvent_t start, end;
	cudaGraph_t g;
	cudaGraphExec_t x;
	float ms;

	OK(cudaDeviceSynchronize());
	OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	OK(cudaEventCreate(&start));
	OK(cudaEventCreate(&end));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	test_append<<<1, 1, 0, s>>>(log, 1);
	test_append<<<1, 1, 0, s>>>(log, 2);
	OK(cudaStreamEndCapture(s, &g));
	OK(cudaGraphInstantiate(&x, g, 0));
	OK(cudaGraphDestroy(g));
	OK(cudaEventRecord(start, s));
	OK(cudaGraphLaunch(x, s));
	OK(cudaGraphLaunch(x, s));
	OK(cudaEventRecord(end, s));
	OK(cudaEventSynchronize(end));
	OK(cudaEventElapsedTime(&ms, start, end));
	assert_true(ms > 0);
	assert_int_equal(value(log), 4);
	assert_int_equal(value(log + 4), 2);
	OK(cudaGraphExecDestroy(x));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	assert_int_equal(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
	assert_int_equal(cudaStreamEndCapture(s, &g), cudaErrorStreamCaptureInvalidated);
	cudaGetLastError();
	OK(cudaStreamDestroy(s));
	OK(cudaEventDestroy(start));
	OK(cudaEventDestroy(end));
	OK(cudaFree(log));
}

/* Nodes made by calls, then changed in both ways that programs have. */
static void graphs_made_and_changed(void **state)
{
	int *log = device<int>(8), value_of = 1, host = 0;
	void *args[] = {&log, &value_of};
	cudaKernelNodeParams p = {};
	cudaMemsetParams m = {};
	cudaGraphExecUpdateResultInfo info;
	cudaGraphNode_t clear, append, copy;
	cudaGraph_t g, other;
	cudaGraphExec_t x;
	size_t n;

	OK(cudaDeviceSynchronize());
	m.dst = log;
	m.elementSize = 4;
	m.width = 8;
	m.height = 1;
	p.func = reinterpret_cast<void *>(test_append);
	p.gridDim = p.blockDim = dim3(1);
	p.kernelParams = args;
	OK(cudaGraphCreate(&g, 0));
	OK(cudaGraphAddMemsetNode(&clear, g, nullptr, 0, &m));
	OK(cudaGraphAddKernelNode(&append, g, &clear, 1, &p));
	OK(cudaGraphAddMemcpyNode1D(&copy, g, &append, 1, &host, log + 1, sizeof(host),
				    cudaMemcpyDeviceToHost));
	OK(cudaGraphInstantiate(&x, g, 0));
	OK(cudaGraphLaunch(x, nullptr));
	OK(cudaDeviceSynchronize());
	assert_int_equal(host, 1);
	value_of = 2;
	OK(cudaGraphExecKernelNodeSetParams(x, append, &p));
	OK(cudaGraphLaunch(x, nullptr));
	OK(cudaDeviceSynchronize());
	assert_int_equal(host, 2);
	OK(cudaGraphClone(&other, g));
	OK(cudaGraphExecUpdate(x, other, &info));
	assert_int_equal(info.result, cudaGraphExecUpdateSuccess);
	OK(cudaGraphLaunch(x, nullptr));
	OK(cudaDeviceSynchronize());
	assert_int_equal(host, 1);
	OK(cudaGraphAddEmptyNode(&copy, other, nullptr, 0));
	assert_int_equal(cudaGraphExecUpdate(x, other, &info), cudaErrorGraphExecUpdateFailure);
	assert_int_equal(info.result, cudaGraphExecUpdateErrorTopologyChanged);
	cudaGetLastError();
	OK(cudaGraphKernelNodeGetParams(append, &p));
	assert_int_equal(*static_cast<int *>(p.kernelParams[1]), 1);
	OK(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &n));
	assert_int_equal(n, 2);
	OK(cudaGraphExecDestroy(x));
	OK(cudaGraphDestroy(other));
	OK(cudaGraphDestroy(g));
	OK(cudaFree(log));
}

static void other_ways_to_launch(void **state)
{
	int *p = device<int>(1), v = 4;
	void *args[] = {&p, &v};
	cudaLaunchConfig_t c = {};

	OK(cudaLaunchKernel((const void *)test_mark, dim3(1), dim3(1), args, 0, 0));
	assert_int_equal(value(p), 4);
	v = 5;
	OK(cudaLaunchCooperativeKernel((const void *)test_mark, dim3(1), dim3(1), args, 0, 0));
	assert_int_equal(value(p), 5);
	c.gridDim = c.blockDim = dim3(1);
	OK(cudaLaunchKernelEx(&c, test_mark, p, 6));
	assert_int_equal(value(p), 6);
	OK(cudaFree(p));
}

static void memory(void **state)
{
	cudaPointerAttributes a;
	int *p, *managed, *host, *mapped;

	OK(cudaMallocManaged(&managed, 64));
	OK(cudaPointerGetAttributes(&a, managed));
	assert_int_equal(a.type, cudaMemoryTypeManaged);
	OK(cudaHostAlloc(&host, 64, cudaHostAllocMapped));
	OK(cudaHostGetDevicePointer(&mapped, host, 0));
	test_mark<<<1, 1>>>(mapped, 12);
	OK(cudaDeviceSynchronize());
	assert_int_equal(*host, 12);
	OK(cudaPointerGetAttributes(&a, host));
	assert_int_equal(a.type, cudaMemoryTypeHost);
	OK(cudaMallocAsync(&p, 64, 0));
	OK(cudaPointerGetAttributes(&a, p));
	assert_int_equal(a.type, cudaMemoryTypeDevice);
	OK(cudaFreeAsync(p, 0));
	OK(cudaPointerGetAttributes(&a, &a));
	assert_int_equal(a.type, cudaMemoryTypeUnregistered);
	assert_int_equal(cudaMalloc(&p, (size_t)1 << 60), cudaErrorMemoryAllocation);
	cudaGetLastError();
	OK(cudaFreeHost(host));
	OK(cudaFree(managed));
}

static void queries(void **state)
{
	cudaDeviceProp prop;
	cudaFuncAttributes f;
	void *legacy, *per_thread, *either;
	cudaDriverEntryPointQueryResult found;
	int n, device, version;

	OK(cudaGetDeviceCount(&n));
	assert_int_equal(n, 1);
	OK(cudaGetDevice(&device));
	assert_int_equal(device, 0);
	OK(cudaGetDeviceProperties(&prop, 0));
	assert_int_equal(prop.major * 10 + prop.minor, 90);
	assert_int_equal(prop.warpSize, 32);
	assert_non_null(strstr(prop.name, "softgpu"));
	assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
	cudaGetLastError();
	OK(cudaRuntimeGetVersion(&version));
	assert_int_equal(version, CUDART_VERSION);
	OK(cudaFuncGetAttributes(&f, test_dynamic));
	assert_int_equal(f.maxThreadsPerBlock, 512);
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, test_nothing, 256, 0));
	assert_int_equal(n, 8);
	OK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &legacy, 13000,
					    cudaEnableLegacyStream, &found));
	OK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &per_thread, 13000,
					    cudaEnablePerThreadDefaultStream, &found));
	OK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &either, 13000, cudaEnableDefault,
					    &found));
	assert_ptr_not_equal(legacy, per_thread);
	assert_ptr_equal(either, PER_THREAD ? per_thread : legacy);
}

/* The runtime comes back after a reset; what belonged to the old context is gone. */
static void reset(void **state)
{
	int *p = device<int>(1), *q;

	OK(cudaDeviceReset());
	q = device<int>(1);
	test_mark<<<1, 1>>>(q, 3);
	assert_int_equal(value(q), 3);
	assert_int_equal(cudaFree(p == q ? p + 1 : p), cudaErrorInvalidValue);
	cudaGetLastError();
	OK(cudaFree(q));
}

int main()
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches),
		cmocka_unit_test(launches_that_fail),
		cmocka_unit_test(symbols),
		cmocka_unit_test(streams_and_graphs),
		cmocka_unit_test(graphs_made_and_changed),
		cmocka_unit_test(other_ways_to_launch),
		cmocka_unit_test(memory),
		cmocka_unit_test(queries),
		cmocka_unit_test(reset),
	};

	alarm(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
