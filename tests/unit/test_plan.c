// SPDX-License-Identifier: Apache-2.0
/* `autofuse plan` on launches of streams: order, memory, what it prints. */
#include "plans.h"

static void test_fused(void **arg)
{
	put_norm(OUT, S);
	put_add(S, A, B);
	put_call("cuCtxGetDevice_v2"); /* what PyTorch asks between any two launches */
	put_call("cuDevicePrimaryCtxGetState");
	put_call("cuStreamIsCapturing");
	put_norm(OUT, S);
	assert_string_equal(plan(""), "1-2:fused");
	assert_int_equal(launches, 3);
	assert_int_equal(command_status, 0);
	assert_string_equal(plan("--patterns=-all"), "1-2:disabled");
	assert_string_equal(plan("--patterns=-add_rmsnorm"), "1-2:disabled");
}

static void test_between(void **arg)
{
	put_add(S, A, B);
	put_unknown();
	put_norm(OUT, S);
	put_add(S, A, B);
	put_add(A, X, Y);
	put_norm(OUT, S);
	put_add(S, A, B);
	put_call("cuMemcpyDtoDAsync_v2");
	put_norm(OUT, S);
	put_add(S, A, B);
	put_call("cuEventRecord");
	put_norm(OUT, S);
	put_add(S, A, B);
	put_call("cuSomethingNew_v3");
	put_norm(OUT, S);
	put_add(S, A, B);
	put_norm(Z, Y);
	put_norm(OUT, S);
	/* (Two of the sums are a chain.) */
	assert_string_equal(plan("--patterns=-chain"),
			    "0-2:unknown-kernel 3-5:input-overwritten 6-7:barrier 8-9:barrier "
			    "10-11:barrier 12-14:fused");
}

static void test_streams(void **arg)
{
	/* One stream's launches and calls mean nothing to another. */
	more = ",\"st\":\"0x70\"";
	put_add(S, A, B);
	more = ",\"st\":\"0x80\"";
	put_add(X, Y, Z);
	put_unknown();
	put_call("cuEventRecord");
	more = ",\"st\":\"0x70\"";
	put_norm(OUT, S);
	/* The legacy stream waits for all of them. */
	put_add(S, A, B);
	more = ",\"st\":\"0x0\"";
	put_unknown();
	more = ",\"st\":\"0x70\"";
	put_norm(OUT, S);
	put_add(S, A, B);
	more = ",\"st\":\"0x80\"";
	put_norm(OUT, S);
	assert_string_equal(plan(""), "0-3:fused 4-6:barrier 7-8:different-stream");
}

/* Launches say their context; calls do not. */
static void test_context_unsaid(void **arg)
{
	static const char *const launch = ",\"st\":\"0x70\",\"ctx\":1", *const call =
										",\"st\":\"0x70\"";

	more = launch;
	put_add(S, A, B);
	more = call;
	put_call("cuEventRecord");
	more = launch;
	put_norm(OUT, S);
	put_add(S, A, B);
	more = ",\"st\":\"0x80\"";
	put_call("cuEventRecord");
	more = launch;
	put_norm(OUT, S);
	/* The legacy stream waits for all of them. */
	put_add(S, A, B);
	more = ",\"st\":\"0x0\"";
	put_call("cuEventRecord");
	more = launch;
	put_norm(OUT, S);
	assert_string_equal(plan(""), "0-1:barrier 2-3:fused 4-5:barrier");
}

static void test_nonblocking_stream(void **arg)
{
	put("{\"k\":\"stream\",\"st\":\"0x70\",\"flags\":1}\n");
	more = ",\"st\":\"0x70\"";
	put_add(S, A, B);
	more = ",\"st\":\"0x0\"";
	put_unknown();
	more = ",\"st\":\"0x70\"";
	put_norm(OUT, S);
	assert_string_equal(plan(""), "0-2:fused");
}

static void test_per_thread_stream_and_capture(void **arg)
{
	more = ",\"st\":\"0x2\"";
	put_add(S, A, B);
	put_norm(OUT, S);
	more = "";
	put_call("cuStreamBeginCapture_v2");
	put_add(S, A, B);
	put_norm(OUT, S);
	put_call("cuStreamEndCapture");
	put_add(S, A, B);
	put_norm(OUT, S);
	assert_string_equal(plan(""), "0-1:per-thread-stream 2-3:capture 4-5:fused");
}

static void test_attributes(void **arg)
{
	put_add(S, A, B);
	more = ",\"attrs\":1";
	put_norm(OUT, S);
	more = ",\"prio\":-1,\"attrs\":0";
	put_add(S, A, B);
	more = "";
	put_norm(OUT, S);
	assert_string_equal(plan(""), "0-1:attributes 2-3:attributes");
}

static void put_alloc(uint64_t at, uint64_t bytes, unsigned flags, int device)
{
	put("{\"k\":\"alloc\",\"lo\":\"0x%" PRIx64 "\",\"hi\":\"0x%" PRIx64
	    "\",\"dev\":%d,\"flags\":%u}\n",
	    at, at + bytes, device, flags);
}

/* Each case: what kind of memory the residual input is. All else is ordinary. */
static void test_memory(void **arg)
{
	static const struct {
		uint64_t at, bytes;
		unsigned flags;
		int device;
		const char *groups;
	} row[] = {
		{A, 256, 1, 0, "0-1:fused"},
		{A - 64, 1024, 1, 0, "0-1:fused"},
		{A, 255, 1, 0, "0-1:not-device-memory"}, /* ends too early */
		{A + 4, 256, 1, 0, "0-1:not-device-memory"},
		{A, 256, 2, 0, "0-1:not-device-memory"},  /* host */
		{A, 256, 5, 0, "0-1:not-device-memory"},  /* managed */
		{A, 256, 9, 0, "0-1:not-device-memory"},  /* mapped twice */
		{A, 256, 17, 0, "0-1:not-device-memory"}, /* shared, and two outputs survive */
		{A, 256, 1, 1, "0-1:not-device-memory"},  /* another device */
		{Z, 256, 1, 0, "0-1:not-device-memory"},  /* unknown */
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		*trace = 0;
		put_alloc(B, 0x40000, 1, 0);
		put_alloc(row[i].at, row[i].bytes, row[i].flags, row[i].device);
		put_add(S, A, B);
		put_norm(OUT, S);
		assert_string_equal(plan(""), row[i].groups);
	}
	*trace = 0;
	put_alloc(A, 0x80000, 1, 0);
	put("{\"k\":\"free\",\"lo\":\"0x%x\",\"hi\":\"0x%x\"}\n", A, A + 0x80000);
	put_add(S, A, B);
	put_norm(OUT, S);
	assert_string_equal(plan(""), "0-1:not-device-memory");
	*trace = 0;
	put_call("cuCtxEnablePeerAccess");
	put_add(S, A, B);
	put_norm(OUT, S);
	put_add(S, A, B);
	put_norm(S, S); /* one output only */
	assert_string_equal(plan(""), "0-1:not-device-memory 2-3:fused");
}

/* Stream-ordered allocations pass; a free of what is held waits behind it. */
static void test_async_memory(void **arg)
{
	put_alloc(A, 0x80000, 1, 0);
	more = ",\"st\":\"0x70\"";
	put_add(S, A, B);
	put_call("cuMemAllocAsync");
	put_alloc(0x200000, 0x1000, 1, 0);
	more = ",\"st\":\"0x70\",\"lo\":\"0x10000\",\"hi\":\"0x10100\"";
	put_call("cuMemFreeAsync");
	more = ",\"st\":\"0x70\"";
	put_norm(OUT, S);
	put_add(S, A, B);
	more = ",\"st\":\"0x80\",\"lo\":\"0x20000\",\"hi\":\"0x20100\"";
	put_call("cuMemFreeAsync_ptsz"); /* another stream's free of it */
	more = ",\"st\":\"0x70\"";
	put_norm(OUT, S);
	assert_string_equal(plan(""), "0-1:fused 2-3:barrier");
}

static void test_text(void **arg)
{
	FILE *f = fopen(command_scratch("plan.jsonl"), "w");
	const char *text;

	put_add(S, A, B);
	put_norm(OUT, S);
	put_add(S, A, B);
	put_unknown();
	put_norm(OUT, S);
	put_unknown();
	fputs(trace, f);
	fputs("{\"k\":\"l\",\"f\":\"broken\"}\n", f);
	fclose(f);
	text = command("plan -f %s %s", command_scratch("plan.ini"), command_scratch("plan.jsonl"));
	assert_int_equal(command_status, 1);
	assert_contains(text, "plan.jsonl:7: \"g\": expected three numbers");
	assert_contains(text, "7 launches\n");
	assert_contains(text, "add_rmsnorm: 1 groups fused, 1 launches fewer\n");
	assert_contains(text,
			"1  not fused, unknown-kernel: a kernel no decoder knows runs between");
	assert_contains(text, "4 launches of 2 kernels that are known, and what the first does:\n"
			      "        2  add\n"
			      "           add: => out 64 f32, in0 64 f32, in1 64 f32\n"
			      "        2  norm\n"
			      "           rmsnorm: => out 4x16 f32, in0 4x16 f32, weight 16 f32\n");
	assert_contains(text, "2 launches of 1 kernels that are not known (they may touch "
			      "anything):\n        2  mystery\n");
}

static void test_usage(void **arg)
{
	assert_contains(command("plan"), "usage: autofuse plan FILE");
	assert_int_equal(command_status, 2);
	assert_contains(command("plan /nonexistent.jsonl"), "/nonexistent.jsonl: No such file");
	assert_int_equal(command_status, 2);
	assert_contains(command("plan --speed=9 x"), "no option \"speed\"");
	assert_int_equal(command_status, 2);
	assert_contains(command("plan -f /nonexistent.ini x"), "/nonexistent.ini: No such file");
	assert_int_equal(command_status, 2);
}

static const struct CMUnitTest tests[] = {
	T(test_fused),
	T(test_between),
	T(test_streams),
	T(test_context_unsaid),
	T(test_nonblocking_stream),
	T(test_per_thread_stream_and_capture),
	T(test_attributes),
	T(test_memory),
	T(test_async_memory),
	T(test_text),
	T(test_usage),
};
UNIT_MAIN(tests)
