// SPDX-License-Identifier: Apache-2.0
/* `autofuse plan` on small traces written here, and on recorded ones. */
#include "command.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>

enum {
	A = 0x10000,
	B = 0x20000,
	S = 0x30000,
	W = 0x40000,
	OUT = 0x50000,
	X = 0x60000,
	Y = 0x70000,
	Z = 0x80000
};

static const char ini[] =
	"[kernel add]\nmatch = add\nop = add\nargs = out in0 in1 n\ndtype = f32\n"
	"[kernel norm]\nmatch = norm\nop = rmsnorm\nargs = out in0 weight cols rows\ndtype = f32\n"
	"eps = 1e-5\n";

static char trace[65536];

static void put(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void put(const char *fmt, ...)
{
	size_t len = strlen(trace);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(trace + len, sizeof(trace) - len, fmt, ap);
	va_end(ap);
}

/* One parameter, little-endian. */
static void put_param(unsigned offset, unsigned bytes, uint64_t v)
{
	put("%s[%u,%u,\"", offset ? "," : "", offset, bytes);
	for (unsigned i = 0; i < bytes; i++)
		put("%02x", (unsigned)(v >> 8 * i & 0xff));
	put("\"]");
}

static const char *kind = "l"; /* "n" in a graph */
static const char *more = "";  /* further keys of the launches to come */

static void put_launch(const char *name)
{
	put("{\"k\":\"%s\",\"t\":1,\"f\":\"%s\",\"g\":[1,1,1],\"b\":[64,1,1],\"sm\":0,\"na\":0%s",
	    kind, name, more);
}

static void put_add(uint64_t out, uint64_t a, uint64_t b)
{
	put_launch("add");
	put(",\"p\":[");
	put_param(0, 8, out);
	put_param(8, 8, a);
	put_param(16, 8, b);
	put_param(24, 4, 64);
	put("]}\n");
}

static void put_norm(uint64_t out, uint64_t x)
{
	put_launch("norm");
	put(",\"p\":[");
	put_param(0, 8, out);
	put_param(8, 8, x);
	put_param(16, 8, W);
	put_param(24, 4, 16);
	put_param(28, 4, 4);
	put("]}\n");
}

static void put_unknown(void)
{
	put_launch("mystery");
	put(",\"p\":[]}\n");
}

static void put_call(const char *name)
{
	put("{\"k\":\"a\",\"t\":1,\"f\":\"%s\"%s}\n", name, more);
}

static int setup(void **arg)
{
	FILE *f = fopen(command_scratch("plan.ini"), "w");

	*trace = 0;
	kind = "l";
	more = "";
	fputs(ini, f);
	fclose(f);
	return 0;
}

static int teardown(void **arg)
{
	unlink(command_scratch("plan.ini"));
	unlink(command_scratch("plan.jsonl"));
	return 0;
}

static json_t *plan_file(const char *options)
{
	json_error_t err;
	json_t *all;
	char *text = command("plan --json %s 2>&1", options);

	all = json_loads(text, 0, &err);
	if (!all)
		fail_msg("no JSON: %s", text);
	return all;
}

/* "first-last:fused" or "first-last:reason" for each group, in order. */
static const char *groups_of(json_t *all)
{
	static char text[4096];
	json_t *g;
	size_t i, len = 0;

	*text = 0;
	json_array_foreach(json_object_get(all, "groups"), i, g)
	{
		json_t *launches = json_object_get(g, "launches");
		const char *reason = json_string_value(json_object_get(g, "reason"));

		/* Chains have tests of their own. */
		if (strcmp(json_string_value(json_object_get(g, "pattern")), "add_rmsnorm") != 0)
			continue;
		assert_int_equal(json_is_true(json_object_get(g, "fused")), reason == NULL);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d-%d:%s",
					len ? " " : "",
					(int)json_integer_value(json_array_get(launches, 0)),
					(int)json_integer_value(json_array_get(launches, 1)),
					reason ? reason : "fused");
	}
	return text;
}

static int64_t launches;

/* Plans what was put. */
static const char *plan(const char *options)
{
	FILE *f = fopen(command_scratch("plan.jsonl"), "w");
	const char *groups;
	char line[9000];
	json_t *all;

	fputs(trace, f);
	fclose(f);
	snprintf(line, sizeof(line), "-f %s %s %s", command_scratch("plan.ini"), options,
		 command_scratch("plan.jsonl"));
	all = plan_file(line);
	groups = groups_of(all);
	launches = json_integer_value(json_object_get(all, "launches"));
	json_decref(all);
	return groups;
}

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

static void put_graph(const char *edges)
{
	put("%s", edges);
}

#define EDGE(a, b) "{\"k\":\"edge\",\"a\":" #a ",\"b\":" #b ",\"ty\":0,\"port\":0}\n"
#define INST "{\"k\":\"inst\",\"f\":\"cuGraphInstantiate\"}\n"

static void test_graph(void **arg)
{
	put_add(S, A, B); /* launched while capturing: the graph is what counts */
	put_norm(OUT, S);
	put(INST);
	kind = "n";
	put_add(S, A, B);
	put_norm(OUT, S);
	put("{\"k\":\"node\",\"type\":2}\n"); /* memset */
	put_add(S, A, B);
	put_norm(OUT, S);
	put_unknown();
	put_graph(EDGE(0, 1) EDGE(1, 2) EDGE(2, 3) EDGE(3, 5) EDGE(5, 4));
	put_call("cuGraphLaunch");
	assert_string_equal(plan(""), "0-1:fused 2-3:unknown-kernel");
	assert_int_equal(launches, 5);
}

static void test_graph_barrier_node(void **arg)
{
	put(INST);
	kind = "n";
	put_add(S, A, B);
	put("{\"k\":\"node\",\"type\":2}\n");
	put_norm(OUT, S);
	put_graph(EDGE(0, 1) EDGE(1, 2));
	/* A second graph counts on; an empty node is no barrier. */
	put(INST);
	put_add(S, A, B);
	put("{\"k\":\"node\",\"type\":5}\n");
	put_norm(OUT, S);
	put_graph(EDGE(0, 1) EDGE(1, 2));
	assert_string_equal(plan(""), "0-1:barrier 2-3:fused");
	assert_int_equal(launches, 4);
}

/* What runs beside the members must not conflict with them, wherever it stands in the file. */
static void test_graph_concurrent(void **arg)
{
	static const struct {
		uint64_t out, a, b; /* of an add (node 2) that is not ordered against the pair */
		const char *groups;
	} row[] = {
		{X, Y, Z, "0-1:fused"},
		{X, S, Z, "0-1:output-read"},
		{A, Y, Z, "0-1:input-overwritten"},
		{S + 128, Y, Z, "0-1:output-overwritten"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		*trace = 0;
		put(INST);
		kind = "n";
		put_add(S, A, B);
		put_norm(OUT, S);
		put_add(row[i].out, row[i].a, row[i].b);
		put_graph(EDGE(0, 1));
		assert_string_equal(plan(""), row[i].groups);
	}
	*trace = 0;
	put(INST);
	put_add(S, A, B);
	put_norm(OUT, S);
	put_unknown();
	put_graph(EDGE(0, 1));
	assert_string_equal(plan(""), "0-1:unknown-kernel");
	*trace = 0;
	put(INST);
	put_add(S, A, B);
	put_norm(OUT, S); /* reads the sum without waiting for it */
	assert_string_equal(plan(""), "0-1:different-stream");
	*trace = 0;
	put(INST);
	put_add(S, A, B);
	put_norm(OUT, S);
	put("{\"k\":\"edge\",\"a\":0,\"b\":1,\"ty\":1,\"port\":1}\n"); /* programmatic */
	assert_string_equal(plan(""), "0-1:attributes");
}

static void test_bad_graph(void **arg)
{
	put(INST);
	kind = "n";
	put_add(S, A, B);
	put_norm(OUT, S);
	put_graph(EDGE(0, 1) EDGE(1, 0));
	{
		FILE *f = fopen(command_scratch("plan.jsonl"), "w");
		const char *text;

		fputs(trace, f);
		fclose(f);
		text = command("plan -f %s %s", command_scratch("plan.ini"),
			       command_scratch("plan.jsonl"));
		assert_contains(text, "a graph of 2 nodes was not planned: edges in a circle");
		assert_contains(text, "2 kernel nodes in graphs");
		assert_int_equal(command_status, 0);
	}
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

/* A hand-written program: every residual add is fused with its norm, the first norm of a token is
 * not. */
static void test_llama3(void **arg)
{
	char line[9000];
	struct timespec t0, t1;
	size_t rmsnorms = 0, i;
	json_t *all, *summary, *u;

	snprintf(line, sizeof(line), "-f %s %s", command_data("llama3_cuda_fp32.ini"),
		 command_data("llama3_cuda_fp32.jsonl.gz"));
	clock_gettime(CLOCK_MONOTONIC, &t0);
	all = plan_file(line);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	assert_int_equal(command_status, 0);
	assert_int_equal(json_integer_value(json_object_get(all, "launches")), 2484);
	assert_int_equal(json_array_size(json_object_get(all, "groups")), 346);
	summary = json_object_get(json_object_get(all, "summary"), "add_rmsnorm");
	assert_int_equal(json_integer_value(json_object_get(summary, "fused")), 346);
	assert_int_equal(json_object_size(json_object_get(summary, "rejected")), 0);
	json_array_foreach(json_object_get(all, "unknown"), i, u) rmsnorms +=
		strstr(json_string_value(json_object_get(u, "kernel")), "rmsnorm") != NULL;
	assert_int_equal(rmsnorms, 0);
	json_decref(all);
	assert_true((double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec) <
		    10);
}

static bool knows(json_t *all, const char *part)
{
	json_t *u;
	size_t i;

	json_array_foreach(json_object_get(all, "unknown"), i, u)
	{
		if (strstr(json_string_value(json_object_get(u, "kernel")), part))
			return false;
	}
	return true;
}

/* The signatures that come with the command are enough for the programs they are of. */
static void test_shipped(void **arg)
{
	json_t *all, *summary;

	all = plan_file(command_data("llama3_cuda_fp32.jsonl.gz"));
	assert_int_equal(json_array_size(json_object_get(all, "groups")), 346);
	summary = json_object_get(json_object_get(all, "summary"), "add_rmsnorm");
	assert_int_equal(json_integer_value(json_object_get(summary, "fused")), 346);
	assert_true(knows(all, "accum_kernel") && knows(all, "rmsnorm_kernel") &&
		    knows(all, "RoPe_rotation"));
	/* Another program's kernel of that name writes its other argument. */
	assert_false(knows(all, "f_silu_elementwise_mul_w3_kernel"));
	json_decref(all);

	/* Residual, then LayerNorm: every launch is decoded, and all of them are chains. */
	all = plan_file(command_data("llmc_residual_layernorm_bf16.jsonl.gz"));
	assert_int_equal(command_status, 0);
	assert_int_equal(json_integer_value(json_object_get(all, "launches")), 660);
	assert_int_equal(json_array_size(json_object_get(all, "unknown")), 0);
	assert_int_equal(json_array_size(json_object_get(all, "groups")), 330);
	summary = json_object_get(json_object_get(all, "summary"), "add_layernorm");
	assert_int_equal(json_integer_value(json_object_get(summary, "fused")), 330);
	json_decref(all);

	/* Where a section takes the name back, nothing fuses. */
	{
		FILE *f = fopen(command_scratch("plan.ini"), "w");
		char line[9000];

		fputs("[kernel mine]\nmatch = *rmsnorm_kernel*\nop = opaque\n", f);
		fclose(f);
		snprintf(line, sizeof(line), "-f %s %s", command_scratch("plan.ini"),
			 command_data("llama3_cuda_fp32.jsonl.gz"));
		all = plan_file(line);
		assert_int_equal(json_array_size(json_object_get(all, "groups")), 0);
		assert_false(knows(all, "rmsnorm_kernel"));
		json_decref(all);
	}
}

static void put_chain_ini(void)
{
	FILE *f = fopen(command_scratch("plan.ini"), "a");

	fputs("[kernel scale]\nmatch = scale\nop = scale\nargs = out in0 scalar0 n\ndtype = f32\n"
	      "[kernel silu]\nmatch = silu\nop = silu\nargs = out in0 n\ndtype = f32\n",
	      f);
	fclose(f);
}

static void put_scale(uint64_t out, uint64_t in)
{
	put_launch("scale");
	put(",\"p\":[");
	put_param(0, 8, out);
	put_param(8, 8, in);
	put_param(16, 4, 0x40400000);
	put_param(20, 4, 64);
	put("]}\n");
}

static void put_silu(uint64_t out, uint64_t in)
{
	put_launch("silu");
	put(",\"p\":[");
	put_param(0, 8, out);
	put_param(8, 8, in);
	put_param(16, 4, 64);
	put("]}\n");
}

/* "pattern:launch+launch:fused" for each group. */
static const char *plan_names(const char *options)
{
	static char text[4096];
	json_t *all, *g, *one;
	char line[9000];
	size_t i, k, len = 0;
	FILE *f = fopen(command_scratch("plan.jsonl"), "w");

	fputs(trace, f);
	fclose(f);
	snprintf(line, sizeof(line), "-f %s %s %s", command_scratch("plan.ini"), options,
		 command_scratch("plan.jsonl"));
	all = plan_file(line);
	*text = 0;
	json_array_foreach(json_object_get(all, "groups"), i, g)
	{
		const char *reason = json_string_value(json_object_get(g, "reason"));

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s:", len ? " " : "",
					json_string_value(json_object_get(g, "pattern")));
		json_array_foreach(json_object_get(g, "launches"), k, one) len +=
			(size_t)snprintf(text + len, sizeof(text) - len, "%s%d", k ? "+" : "",
					 (int)json_integer_value(one));
		len += (size_t)snprintf(text + len, sizeof(text) - len, ":%s",
					reason ? reason : "fused");
	}
	json_decref(all);
	return text;
}

static void test_chain(void **arg)
{
	put_chain_ini();
	/* (a + b) * s + c, with a launch in between that has nothing to do with it. */
	put_add(S, A, B);
	put_scale(X, S);
	put_norm(OUT + 0x1000, W + 0x1000);
	put_add(OUT, X, Y);
	put_unknown();
	/* Memory that is merely used again makes no chain. */
	put_add(S, A, B);
	put_add(S, X, Y);
	put_scale(OUT, S);
	assert_string_equal(plan_names(""), "chain:0+1+3:fused chain:6+7:fused");
	assert_string_equal(plan_names("--patterns=-chain"),
			    "chain:0+1+3:disabled chain:6+7:disabled");
	/* In a graph. */
	*trace = 0;
	put(INST);
	kind = "n";
	put_add(S, A, B);
	put_scale(X, S);
	put_add(OUT, X, Y);
	put_graph(EDGE(0, 1) EDGE(1, 2));
	kind = "l";
	assert_string_equal(plan_names(""), "chain:0+1+2:fused");
	assert_string_equal(plan_names("--named"), "");
}

/* The pattern with a kernel of its own, or the chain that it is part of. */
static void test_larger(void **arg)
{
	put_chain_ini();
	put_scale(A, X);
	put_add(S, A, B);
	put_norm(OUT, S);
	put_silu(Z, OUT);
	assert_string_equal(plan_names(""), "add_rmsnorm:1+2:fused");
	assert_string_equal(plan_names("--larger"), "add_rmsnorm:0+1+2+3:fused");
	assert_string_equal(plan_names("--named"), "add_rmsnorm:1+2:fused");
}

static void test_unknown_kernels(void **arg)
{
	json_t *all, *u, *unknown;
	int64_t sum = 0, last = INT64_MAX;
	size_t i;

	all = plan_file(command_data("hf_llama_bf16.jsonl.gz"));
	unknown = json_object_get(all, "unknown");
	assert_int_equal(json_integer_value(json_object_get(all, "launches")), 387);
	assert_int_equal(json_array_size(unknown), 3);
	json_array_foreach(unknown, i, u)
	{
		int64_t n = json_integer_value(json_object_get(u, "launches"));

		assert_true(n > 0 && n <= last);
		last = n;
		sum += n;
	}
	assert_int_equal(sum, 6);
	json_decref(all);
	all = plan_file(command_data("hf_llama_bf16_decode_b1_graph.jsonl.gz"));
	assert_int_equal(json_integer_value(json_object_get(all, "launches")), 124);
	json_decref(all);
}

/* PyTorch models: the products of a gate that are legal, and those that are not. */
static void test_models(void **arg)
{
	static const struct {
		const char *file;
		int64_t fused, overwritten;
	} row[] = {
		{"hf_llama_bf16", 0, 6},
		{"hf_llama_bf16_graph", 0, 2},
		{"hf_llama_bf16_decode_b1_graph", 0, 2},
		{"hf_llama_bf16_decode_b32_graph", 0, 2},
		{"hf_llama_bf16_train", 2, 0},
		{"hf_phi3_bf16", 2, 0},
		{"hf_gpt2_bf16", 0, 0},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		json_t *all, *silu, *one;
		int64_t named = 0;
		char name[64];
		size_t k;

		snprintf(name, sizeof(name), "%s.jsonl.gz", row[i].file);
		all = plan_file(command_data(name));
		silu = json_object_get(json_object_get(all, "summary"), "silu_mul");
		assert_int_equal(json_integer_value(json_object_get(silu, "fused")), row[i].fused);
		assert_int_equal(json_integer_value(json_object_get(
					 json_object_get(silu, "rejected"), "input-overwritten")),
				 row[i].overwritten);
		json_array_foreach(json_object_get(all, "groups"), k, one) named +=
			!json_object_get(one, "generated");
		assert_int_equal(named, row[i].fused + row[i].overwritten);
		json_decref(all);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
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
	T(test_graph),
	T(test_graph_barrier_node),
	T(test_graph_concurrent),
	T(test_bad_graph),
	T(test_text),
	T(test_usage),
	T(test_llama3),
	T(test_shipped),
	T(test_unknown_kernels),
	T(test_models),
	T(test_chain),
	T(test_larger),
};
UNIT_MAIN(tests)
