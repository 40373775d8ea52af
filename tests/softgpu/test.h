/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that test the software GPU through the driver's functions. */
#ifndef AF_TESTS_SOFTGPU_TEST_H
#define AF_TESTS_SOFTGPU_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <cuda.h>

#include "tests/softgpu/softgpu.h"

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

/* Names the companion that lies beside the program. */
static inline void test_companion(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);

	assert_true(n > 0);
	path[n] = 0;
	strcpy(strrchr(path, '/'), "/kernels.softgpu.so");
	setenv("SOFTGPU_KERNELS", path, 0);
}

static inline CUcontext test_context(void)
{
	CUcontext ctx;

	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&ctx, 0));
	OK(cuCtxSetCurrent(ctx));
	return ctx;
}

/*
 * The software GPU looks for kernels in companions, whatever the image. SOFTGPU_TEST_IMAGE names a
 * file with the real ones: then these tests also run on a real driver and say where they differ.
 */
static inline const void *test_image(void)
{
	static char *image;
	const char *path = getenv("SOFTGPU_TEST_IMAGE");
	FILE *f;

	if (!path)
		return "//\n.version 8.0\n";
	if (image)
		return image;
	image = calloc(1, 1 << 22);
	f = fopen(path, "rb");
	assert_true(image && f && fread(image, 1, 1 << 22, f) > 0);
	fclose(f);
	return image;
}

static inline CUmodule test_module(void)
{
	static CUmodule module;

	if (!module)
		OK(cuModuleLoadData(&module, test_image()));
	return module;
}

/* A group's setup: the primary context of device 0 is current. */
static inline int test_begin(void **state)
{
	(void)state;
	test_companion();
	test_context();
	test_module(); /* now, as a capture forbids loads */
	return 0;
}

static inline CUfunction test_function(const char *name)
{
	CUfunction f;

	OK(cuModuleGetFunction(&f, test_module(), name));
	return f;
}

/* One block of `threads`. Arguments are addresses of the parameters. */
#define LAUNCH(name, threads, stream, ...)                                                         \
	OK(cuLaunchKernel(test_function(name), 1, 1, 1, threads, 1, 1, 0, stream,                  \
			  (void *[]){__VA_ARGS__}, NULL))

/* Device memory of that many ints, all 0 for every stream. */
static inline CUdeviceptr test_ints(size_t n)
{
	CUdeviceptr p;

	OK(cuMemAlloc(&p, n * sizeof(int)));
	OK(cuMemsetD32(p, 0, n));
	OK(cuStreamSynchronize(NULL)); /* other streams do not wait for the legacy one */
	return p;
}

/* The int at that index once everything before is done. */
static inline int test_int(CUdeviceptr p, size_t index)
{
	int value;

	OK(cuMemcpyDtoH(&value, p + index * sizeof(int), sizeof(value)));
	return value;
}

static inline double test_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Runs a group's tests; nothing in it may hang. */
#define TEST_RUN(tests, setup)                                                                     \
	(alarm(120), cmocka_set_message_output(CM_OUTPUT_TAP),                                     \
	 cmocka_run_group_tests(tests, setup, NULL))

#endif
