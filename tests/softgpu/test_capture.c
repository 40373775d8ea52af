/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture: what it refuses and what becomes of it. */
#include <pthread.h>
#include "tests/softgpu/test.h"

static CUstream stream(unsigned flags)
{
	CUstream s;

	OK(cuStreamCreate(&s, flags));
	return s;
}

static CUstream begin(CUstreamCaptureMode mode, unsigned flags)
{
	CUstream s = stream(flags);

	OK(cuStreamBeginCapture(s, mode));
	return s;
}

/* Ends a capture that must answer `expected`. */
static void end(CUstream s, CUresult expected)
{
	CUgraph g;

	assert_int_equal(cuStreamEndCapture(s, &g), expected);
	if (expected == CUDA_SUCCESS)
		OK(cuGraphDestroy(g));
	OK(cuStreamDestroy(s));
}

/* Mistakes that spoil a capture. */
static void captured_events_and_the_wrong_stream(void **state)
{
	CUstream s = begin(CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_NON_BLOCKING), t;
	CUevent e;
	CUgraph g;

	OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	OK(cuEventRecord(e, s));
	assert_int_equal(cuEventQuery(e), CUDA_ERROR_CAPTURED_EVENT);
	end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	t = stream(CU_STREAM_NON_BLOCKING);
	s = begin(CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_NON_BLOCKING);
	OK(cuEventRecord(e, s));
	OK(cuStreamWaitEvent(t, e, 0));
	assert_int_equal(cuStreamEndCapture(t, &g), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	assert_int_equal(cuEventRecord(e, t), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(cuStreamDestroy(t));
	OK(cuEventDestroy(e));
}

/* What looks heavy and is allowed all the same. */
static void loads_are_allowed_beside_a_capture(void **state)
{
	CUstream s = begin(CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_NON_BLOCKING);
	CUmodule m;

	OK(cuModuleLoadData(&m, test_image()));
	end(s, CUDA_SUCCESS);
	s = begin(CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_NON_BLOCKING);
	assert_int_equal(cuModuleUnload(m), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(cuModuleUnload(m));
}

static CUresult allocate(void *arg)
{
	CUdeviceptr p;
	CUresult r = cuMemAlloc(&p, 16);

	if (r == CUDA_SUCCESS)
		OK(cuMemFree(p));
	return r;
}

static CUresult allocate_host(void *arg)
{
	void *p;
	CUresult r = cuMemHostAlloc(&p, 16, 0);

	if (r == CUDA_SUCCESS)
		OK(cuMemFreeHost(p));
	return r;
}

static CUresult free_device(void *arg)
{
	return cuMemFree(*(CUdeviceptr *)arg);
}

static CUresult free_host(void *arg)
{
	return cuMemFreeHost(*(void **)arg);
}

static CUresult unload(void *arg)
{
	return cuModuleUnload(*(CUmodule *)arg);
}

static CUresult synchronize(void *arg)
{
	return cuCtxSynchronize();
}

static CUresult query_event(void *arg)
{
	return cuEventQuery(arg);
}

static CUresult launch_legacy(void *arg)
{
	return cuLaunchKernel(test_function("test_nothing"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

struct call {
	CUresult (*call)(void *);
	void *arg;
	CUstreamCaptureMode mode;
	CUresult result;
};

static void *run_call(void *arg)
{
	struct call *c = arg;

	test_context();
	OK(cuThreadExchangeStreamCaptureMode(&c->mode));
	c->result = c->call(c->arg);
	return NULL;
}

static CUresult in_another_thread(CUresult (*call)(void *), void *arg, CUstreamCaptureMode mode)
{
	struct call c = {call, arg, mode, CUDA_ERROR_UNKNOWN};
	pthread_t thread;

	pthread_create(&thread, NULL, run_call, &c);
	pthread_join(thread, NULL);
	return c.result;
}

/* mode of the capture x mode of another thread: does the other thread's allocation end it? */
static void what_other_threads_may_do(void **state)
{
	const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
					     CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
					     CU_STREAM_CAPTURE_MODE_RELAXED};

	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			int forbidden = i == 0 && j == 0;
			CUstream s = begin(modes[i], CU_STREAM_NON_BLOCKING);

			assert_int_equal(in_another_thread(allocate, NULL, modes[j]),
					 forbidden ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
						   : CUDA_SUCCESS);
			end(s, forbidden ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
		}
}

/* What a thread in the default mode may not do beside a global capture, and one in relaxed mode
 * may. */
static void calls_that_global_captures_forbid(void **state)
{
	CUdeviceptr device;
	void *host;
	CUmodule module;
	CUevent e;

	OK(cuMemAlloc(&device, 16));
	OK(cuMemHostAlloc(&host, 16, 0));
	OK(cuModuleLoadData(&module, test_image()));
	OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	const struct {
		CUresult (*call)(void *);
		void *arg;
	} calls[] = {{allocate, NULL},   {free_device, &device}, {allocate_host, NULL},
		     {free_host, &host}, {query_event, e},       {unload, &module}};
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		for (int relaxed = 0; relaxed < 2; relaxed++) {
			CUstream s = begin(CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_NON_BLOCKING);

			assert_int_equal(in_another_thread(calls[i].call, calls[i].arg,
							   relaxed ? CU_STREAM_CAPTURE_MODE_RELAXED
								   : CU_STREAM_CAPTURE_MODE_GLOBAL),
					 relaxed ? CUDA_SUCCESS
						 : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
			end(s, relaxed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
		}
	OK(cuEventDestroy(e));
}

/* No mode of either thread makes this one harmless. */
static void synchronizing_the_context_spoils_any_capture(void **state)
{
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++) {
			CUstream s = begin((CUstreamCaptureMode)i, CU_STREAM_NON_BLOCKING);

			assert_int_equal(
				in_another_thread(synchronize, NULL, (CUstreamCaptureMode)j),
				CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
			end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
		}
}

static void asking_for_flags_spoils_a_capture(void **state)
{
	CUstream s = begin(CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_NON_BLOCKING);
	unsigned flags;
	int priority;

	OK(cuStreamGetPriority(s, &priority));
	assert_int_equal(cuStreamGetFlags(s, &flags), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void what_the_capturing_thread_may_do(void **state)
{
	CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUstream s = begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_NON_BLOCKING);

	assert_int_equal(allocate(NULL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	/* Spoilt: the stream takes nothing more. */
	assert_int_equal(
		cuLaunchKernel(test_function("test_nothing"), 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL),
		CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

	s = begin(CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_NON_BLOCKING);
	OK(cuThreadExchangeStreamCaptureMode(&relaxed));
	OK(allocate(NULL));
	OK(cuThreadExchangeStreamCaptureMode(&relaxed));
	end(s, CUDA_SUCCESS);

	s = begin(CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_NON_BLOCKING);
	OK(allocate(NULL));
	assert_int_equal(cuStreamSynchronize(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

	s = begin(CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_NON_BLOCKING);
	assert_int_equal(cuStreamQuery(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void a_watchdog_query_spoils_a_global_capture(void **state)
{
	CUevent e;
	CUstream s;

	OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	s = begin(CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_NON_BLOCKING);
	assert_int_equal(in_another_thread(query_event, e, CU_STREAM_CAPTURE_MODE_GLOBAL),
			 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	s = begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_NON_BLOCKING);
	OK(in_another_thread(query_event, e, CU_STREAM_CAPTURE_MODE_GLOBAL));
	end(s, CUDA_SUCCESS);
	OK(cuEventDestroy(e));
}

/* Even in relaxed mode, from any thread: the legacy stream would order itself with the captured
 * one. */
static void the_legacy_stream_during_a_capture(void **state)
{
	CUstream s = begin(CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_DEFAULT);

	assert_int_equal(in_another_thread(launch_legacy, NULL, CU_STREAM_CAPTURE_MODE_RELAXED),
			 CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	s = begin(CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_NON_BLOCKING);
	OK(in_another_thread(launch_legacy, NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
	end(s, CUDA_SUCCESS);
	assert_int_equal(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED),
			 CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

static void capture_of_what_is_outside(void **state)
{
	CUstream s = stream(CU_STREAM_NON_BLOCKING);
	CUevent e;
	CUgraph g;

	OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	OK(cuEventRecord(e, s));
	assert_int_equal(cuStreamEndCapture(s, &g), CUDA_ERROR_ILLEGAL_STATE);
	OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	assert_int_equal(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL),
			 CUDA_ERROR_ILLEGAL_STATE);
	assert_int_equal(cuStreamWaitEvent(s, e, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
	end(s, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(cuEventDestroy(e));
}

static CUresult end_capture(void *arg)
{
	CUgraph g;

	return cuStreamEndCapture(arg, &g);
}

static void another_thread_ends_it(void **state)
{
	CUstream s = begin(CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_NON_BLOCKING);

	assert_int_equal(in_another_thread(end_capture, s, CU_STREAM_CAPTURE_MODE_GLOBAL),
			 CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
	/* That was the end of it. */
	end(s, CUDA_ERROR_ILLEGAL_STATE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(captured_events_and_the_wrong_stream),
		cmocka_unit_test(loads_are_allowed_beside_a_capture),
		cmocka_unit_test(what_other_threads_may_do),
		cmocka_unit_test(calls_that_global_captures_forbid),
		cmocka_unit_test(synchronizing_the_context_spoils_any_capture),
		cmocka_unit_test(asking_for_flags_spoils_a_capture),
		cmocka_unit_test(what_the_capturing_thread_may_do),
		cmocka_unit_test(a_watchdog_query_spoils_a_global_capture),
		cmocka_unit_test(the_legacy_stream_during_a_capture),
		cmocka_unit_test(capture_of_what_is_outside),
		cmocka_unit_test(another_thread_ends_it),
	};

	return TEST_RUN(tests, test_begin);
}
