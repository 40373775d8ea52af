/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchrony and the order of things: streams, events, callbacks, memory words. */
#include <pthread.h>
#include "tests/softgpu/test.h"

static CUstream stream(unsigned flags)
{
	CUstream s;

	OK(cuStreamCreate(&s, flags));
	return s;
}

/* A word that the host stores to and a kernel (test_wait) or stream waits for. */
static volatile int *latch(CUdeviceptr *device)
{
	void *h;

	OK(cuMemHostAlloc(&h, sizeof(int), 0));
	OK(cuMemHostGetDevicePointer(device, h, 0));
	*(volatile int *)h = 0;
	return h;
}

static void unlatch(volatile int *h)
{
	OK(cuMemFreeHost((void *)h));
}

static void launches_do_not_wait(void **state)
{
	CUdeviceptr flag;
	volatile int *go = latch(&flag);
	CUstream s = stream(CU_STREAM_NON_BLOCKING);

	LAUNCH("test_wait", 1, s, &flag);
	assert_int_equal(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	*go = 1;
	OK(cuStreamSynchronize(s));
	OK(cuStreamQuery(s));
	OK(cuStreamDestroy(s));
	unlatch(go);
}

static void one_stream_is_in_order(void **state)
{
	CUdeviceptr log = test_ints(2000);
	CUstream s = stream(CU_STREAM_NON_BLOCKING);

	for (int i = 0; i < 1500; i++) /* more than a queue holds */
		LAUNCH("test_append", 1, s, &log, &i);
	OK(cuStreamSynchronize(s));
	assert_int_equal(test_int(log, 0), 1500);
	for (int i = 0; i < 1500; i += 100)
		assert_int_equal(test_int(log, 1 + (size_t)i), i);
	OK(cuStreamDestroy(s));
	OK(cuMemFree(log));
}

static void streams_run_side_by_side(void **state)
{
	CUdeviceptr flag = test_ints(1);
	CUstream a = stream(CU_STREAM_NON_BLOCKING), b = stream(CU_STREAM_NON_BLOCKING);
	int one = 1;

	LAUNCH("test_wait", 1, a, &flag);
	LAUNCH("test_mark", 1, b, &flag, &one); /* lets the other kernel end */
	OK(cuStreamSynchronize(a));
	OK(cuStreamDestroy(a));
	OK(cuStreamDestroy(b));
	OK(cuMemFree(flag));
}

/* The legacy stream waits for blocking streams and they for it; non-blocking ones stay apart. */
static void legacy_stream_order(void **state)
{
	CUdeviceptr flag, log;
	volatile int *go = latch(&flag), *lines;
	void *h;
	CUstream blocking = stream(CU_STREAM_DEFAULT), apart = stream(CU_STREAM_NON_BLOCKING);

	OK(cuMemHostAlloc(&h, 8 * sizeof(int), 0));
	OK(cuMemHostGetDevicePointer(&log, h, 0));
	lines = memset(h, 0, 8 * sizeof(int));
	LAUNCH("test_wait", 1, blocking, &flag);
	LAUNCH("test_append", 1, NULL, &log, &(int){1});
	LAUNCH("test_append", 1, blocking, &log, &(int){2});
	assert_int_equal(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
	OK(cuStreamQuery(apart));
	usleep(20000);
	assert_int_equal(lines[0], 0);
	*go = 1;
	OK(cuCtxSynchronize());
	assert_int_equal(lines[1], 1);
	assert_int_equal(lines[2], 2);
	/* Work of a destroyed stream is still waited for. */
	*go = 0;
	LAUNCH("test_wait", 1, blocking, &flag);
	LAUNCH("test_append", 1, blocking, &log, &(int){3});
	OK(cuStreamDestroy(blocking));
	LAUNCH("test_append", 1, NULL, &log, &(int){4});
	*go = 1;
	OK(cuStreamSynchronize(NULL));
	assert_int_equal(lines[3], 3);
	assert_int_equal(lines[4], 4);
	OK(cuStreamDestroy(apart));
	OK(cuMemFreeHost(h));
	unlatch(go);
}

static void *per_thread_work(void *arg)
{
	CUdeviceptr p = *(CUdeviceptr *)arg;

	test_context();
	LAUNCH("test_mark", 1, CU_STREAM_PER_THREAD, &p, &(int){9});
	OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	return NULL;
}

static void each_thread_has_its_own_default_stream(void **state)
{
	CUdeviceptr flag, p = test_ints(1);
	volatile int *go = latch(&flag);
	pthread_t other;

	LAUNCH("test_wait", 1, CU_STREAM_PER_THREAD, &flag);
	pthread_create(&other, NULL, per_thread_work, &p);
	pthread_join(other, NULL); /* it did not wait for this thread's stream */
	*go = 1;
	OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	assert_int_equal(test_int(p, 0), 9);
	OK(cuMemFree(p));
	unlatch(go);
}

static void events_order_and_time(void **state)
{
	CUdeviceptr flag, log = test_ints(8);
	volatile int *go = latch(&flag);
	CUstream a = stream(CU_STREAM_NON_BLOCKING), b = stream(CU_STREAM_NON_BLOCKING);
	CUevent start, end, untimed;
	float ms;

	OK(cuEventCreate(&start, 0));
	OK(cuEventCreate(&end, 0));
	OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
	OK(cuEventQuery(start)); /* never recorded */
	assert_int_equal(cuEventElapsedTime(&ms, start, end), CUDA_ERROR_INVALID_HANDLE);
	OK(cuEventRecord(start, a));
	LAUNCH("test_wait", 1, a, &flag);
	LAUNCH("test_append", 1, a, &log, &(int){1});
	OK(cuEventRecord(end, a));
	OK(cuStreamWaitEvent(b, end, 0));
	LAUNCH("test_append", 1, b, &log, &(int){2});
	assert_int_equal(cuEventQuery(end), CUDA_ERROR_NOT_READY);
	assert_int_equal(cuEventElapsedTime(&ms, start, end), CUDA_ERROR_NOT_READY);
	OK(cuEventSynchronize(start));
	usleep(20000);
	*go = 1;
	OK(cuStreamSynchronize(b));
	OK(cuEventSynchronize(end));
	assert_int_equal(test_int(log, 2), 2);
	OK(cuEventElapsedTime(&ms, start, end));
	assert_in_range((int)(ms * 1000), 19000, 5000000);
	OK(cuEventRecord(untimed, a));
	OK(cuEventSynchronize(untimed));
	assert_int_equal(cuEventElapsedTime(&ms, start, untimed), CUDA_ERROR_INVALID_HANDLE);
	OK(cuEventDestroy(start));
	OK(cuEventDestroy(end));
	OK(cuEventDestroy(untimed));
	OK(cuStreamDestroy(a));
	OK(cuStreamDestroy(b));
	OK(cuMemFree(log));
	unlatch(go);
}

static int called[4];

static void CUDA_CB note(void *data)
{
	called[0]++;
	called[called[0]] = *(volatile int *)data;
}

static void CUDA_CB note_status(CUstream s, CUresult status, void *data)
{
	note(data);
	called[3] = status == CUDA_SUCCESS ? 33 : -1;
}

static void host_functions_in_order(void **state)
{
	CUdeviceptr p;
	volatile int *word = latch(&p);
	CUstream s = stream(CU_STREAM_NON_BLOCKING);

	memset(called, 0, sizeof(called));
	LAUNCH("test_mark", 1, s, &p, &(int){1});
	OK(cuLaunchHostFunc(s, note, (void *)word));
	LAUNCH("test_mark", 1, s, &p, &(int){2});
	OK(cuStreamAddCallback(s, note_status, (void *)word, 0));
	LAUNCH("test_mark", 1, s, &p, &(int){3});
	OK(cuStreamSynchronize(s));
	assert_int_equal(called[0], 2);
	assert_int_equal(called[1], 1);
	assert_int_equal(called[2], 2);
	assert_int_equal(called[3], 33);
	OK(cuStreamDestroy(s));
	unlatch(word);
}

static void memory_words(void **state)
{
	CUdeviceptr p = test_ints(2);
	CUstream a = stream(CU_STREAM_NON_BLOCKING), b = stream(CU_STREAM_NON_BLOCKING);

	OK(cuStreamWaitValue32(a, p, 5, CU_STREAM_WAIT_VALUE_GEQ));
	LAUNCH("test_mark", 1, a, &(CUdeviceptr){p + 4}, &(int){7});
	usleep(5000);
	assert_int_equal(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
	OK(cuStreamWriteValue32(b, p, 4, 0));
	OK(cuStreamWriteValue32(b, p, 6, 0));
	OK(cuStreamSynchronize(a));
	assert_int_equal(test_int(p, 1), 7);
	OK(cuStreamDestroy(a));
	OK(cuStreamDestroy(b));
	OK(cuMemFree(p));
}

static volatile int submitted;

static void *submit(void *arg)
{
	CUstream s = arg;

	test_context();
	for (submitted = 0; submitted < 1100; submitted++)
		LAUNCH("test_nothing", 1, s, NULL);
	return NULL;
}

static void a_full_queue_blocks(void **state)
{
	CUdeviceptr flag;
	volatile int *go = latch(&flag);
	CUstream s = stream(CU_STREAM_NON_BLOCKING);
	pthread_t thread;

	LAUNCH("test_wait", 1, s, &flag);
	pthread_create(&thread, NULL, submit, s);
	usleep(200000);
	assert_in_range(submitted, 1000, 1023);
	*go = 1;
	pthread_join(thread, NULL);
	assert_int_equal(submitted, 1100);
	OK(cuStreamSynchronize(s));
	OK(cuStreamDestroy(s));
	unlatch(go);
}

static void properties(void **state)
{
	CUstream s;
	CUcontext ctx, current;
	unsigned flags;
	int priority, least, greatest;
	unsigned long long id, other;

	OK(cuCtxGetStreamPriorityRange(&least, &greatest));
	OK(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, greatest - 10));
	OK(cuStreamGetPriority(s, &priority));
	assert_int_equal(priority, greatest);
	OK(cuStreamGetFlags(s, &flags));
	assert_int_equal(flags, CU_STREAM_NON_BLOCKING);
	OK(cuStreamGetCtx(s, &ctx));
	OK(cuCtxGetCurrent(&current));
	assert_ptr_equal(ctx, current);
	OK(cuStreamGetId(s, &id));
	OK(cuStreamGetId(NULL, &other));
	assert_true(id != other);
	OK(cuStreamDestroy(s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(launches_do_not_wait),
		cmocka_unit_test(one_stream_is_in_order),
		cmocka_unit_test(streams_run_side_by_side),
		cmocka_unit_test(legacy_stream_order),
		cmocka_unit_test(each_thread_has_its_own_default_stream),
		cmocka_unit_test(events_order_and_time),
		cmocka_unit_test(host_functions_in_order),
		cmocka_unit_test(memory_words),
		cmocka_unit_test(a_full_queue_blocks),
		cmocka_unit_test(properties),
	};

	return TEST_RUN(tests, test_begin);
}
