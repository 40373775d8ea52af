/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, contexts, threads, forks, and the environment at cuInit. */
#include <pthread.h>
#include <sys/wait.h>
#include "tests/softgpu/test.h"

static int two_devices(void **state)
{
	test_companion();
	setenv("SOFTGPU_DEVICES", "2", 1);
	setenv("SOFTGPU_MEMORY", "1000000", 1);
	OK(cuInit(0));
	return 0;
}

static void devices(void **state)
{
	CUdevice d;
	char name[64], bus[32];
	size_t bytes;
	int n, major, minor;

	OK(cuDeviceGetCount(&n));
	assert_int_equal(n, 2);
	OK(cuDeviceGet(&d, 1));
	assert_int_equal(cuDeviceGet(&d, 2), CUDA_ERROR_INVALID_DEVICE);
	OK(cuDeviceGetName(name, sizeof(name), 1));
	assert_non_null(strstr(name, "softgpu"));
	OK(cuDeviceTotalMem(&bytes, 1));
	assert_int_equal(bytes, 1000000);
	OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1));
	OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 1));
	assert_int_equal(major * 10 + minor, 90);
	OK(cuDeviceGetPCIBusId(bus, sizeof(bus), 1));
	OK(cuDeviceGetByPCIBusId(&d, bus));
	assert_int_equal(d, 1);
}

static void the_stack_of_contexts(void **state)
{
	CUcontext a, b, c;
	CUdevice d;
	CUdeviceptr p;

	OK(cuCtxGetCurrent(&c));
	assert_null(c);
	assert_int_equal(cuMemAlloc(&p, 4), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxCreate(&a, NULL, 0, 0));
	OK(cuCtxCreate(&b, NULL, 0, 1));
	OK(cuCtxGetCurrent(&c));
	assert_ptr_equal(c, b);
	OK(cuCtxGetDevice(&d));
	assert_int_equal(d, 1);
	OK(cuMemAlloc(&p, 4));
	int ordinal;
	OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
	assert_int_equal(ordinal, 1);
	OK(cuCtxPopCurrent(&c));
	assert_ptr_equal(c, b);
	OK(cuCtxGetCurrent(&c));
	assert_ptr_equal(c, a);
	OK(cuCtxPushCurrent(b));
	OK(cuCtxSetCurrent(a)); /* in b's place */
	OK(cuCtxDestroy(b));
	assert_int_equal(cuCtxPushCurrent(b), CUDA_ERROR_INVALID_CONTEXT);
	assert_int_equal(cuMemFree(p), CUDA_ERROR_INVALID_VALUE); /* went with its context */
	OK(cuCtxDestroy(a));
	/* The one below is the same context, which is no more. */
	assert_int_equal(cuMemAlloc(&p, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	OK(cuCtxSetCurrent(NULL));
	assert_int_equal(cuCtxPopCurrent(&c), CUDA_ERROR_INVALID_CONTEXT);
}

static void primary_contexts(void **state)
{
	CUcontext first, second, again;
	CUdeviceptr p;
	unsigned flags;
	int active;

	OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
	assert_int_equal(active, 0);
	OK(cuDevicePrimaryCtxRetain(&first, 1));
	OK(cuDevicePrimaryCtxRetain(&second, 1));
	assert_ptr_equal(first, second);
	assert_int_equal(cuCtxDestroy(first), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxSetCurrent(first));
	OK(cuMemAlloc(&p, 4));
	OK(cuDevicePrimaryCtxRelease(1));
	OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
	assert_int_equal(active, 1);
	OK(cuDevicePrimaryCtxReset(1));
	OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
	assert_int_equal(active, 0);
	assert_int_equal(cuMemFree(p), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	OK(cuCtxSetCurrent(first)); /* allowed, and no use */
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	OK(cuDevicePrimaryCtxRetain(&again, 1));
	assert_ptr_equal(again, first); /* the handle comes back */
	OK(cuMemAlloc(&p, 4));
	/* The reset took no reference: two of the three are left. */
	OK(cuDevicePrimaryCtxRelease(1));
	OK(cuMemFree(p));
	OK(cuDevicePrimaryCtxRelease(1));
	assert_int_equal(cuMemAlloc(&p, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	assert_int_equal(cuDevicePrimaryCtxRelease(1), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxSetCurrent(NULL));
}

static void *other_thread(void *arg)
{
	CUcontext ctx = (CUcontext)1;

	OK(cuCtxGetCurrent(&ctx));
	return ctx;
}

static void contexts_are_current_to_a_thread(void **state)
{
	pthread_t thread;
	void *seen;

	test_context();
	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_join(thread, &seen);
	assert_null(seen);
	OK(cuCtxSetCurrent(NULL));
}

/* What a child process finds, by its exit status. */
static int in_child(int (*child)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(20);
		_exit(child());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int use_after_fork(void)
{
	CUdeviceptr p;
	int n;

	return cuMemAlloc(&p, 4) == CUDA_ERROR_NOT_INITIALIZED &&
			       cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
			       cuDeviceGetCount(&n) == CUDA_ERROR_NOT_INITIALIZED
		       ? 7
		       : 1;
}

static void a_forked_child_has_no_driver(void **state)
{
	CUdeviceptr p;

	test_context();
	OK(cuMemAlloc(&p, 4));
	LAUNCH("test_mark", 1, NULL, &p, &(int){1});
	assert_int_equal(in_child(use_after_fork), 7);
	assert_int_equal(test_int(p, 0), 1); /* the parent goes on */
	OK(cuMemFree(p));
	OK(cuCtxSetCurrent(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices),
		cmocka_unit_test(the_stack_of_contexts),
		cmocka_unit_test(primary_contexts),
		cmocka_unit_test(contexts_are_current_to_a_thread),
		cmocka_unit_test(a_forked_child_has_no_driver),
	};

	return TEST_RUN(tests, two_devices);
}
