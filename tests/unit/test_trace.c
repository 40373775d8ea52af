// SPDX-License-Identifier: Apache-2.0
#include "command.h"

#include <zlib.h>

#include "tools/trace.h"

static const char *write_lines(const char *text, size_t size, bool gz)
{
	const char *path = command_scratch(gz ? "t.jsonl.gz" : "t.jsonl");

	if (gz) {
		gzFile f = gzopen(path, "wb");

		assert_non_null(f);
		assert_int_equal(gzwrite(f, text, (unsigned)size), size);
		gzclose(f);
	} else {
		FILE *f = fopen(path, "wb");

		assert_non_null(f);
		assert_int_equal(fwrite(text, 1, size, f), size);
		fclose(f);
	}
	return path;
}

#define LAUNCH                                                                                     \
	"{\"k\":\"l\",\"t\":5,\"f\":\"kern\",\"g\":[2,3,4],\"b\":[64,1,1],\"sm\":16,\"st\":"       \
	"\"0x70\",\"na\":0,"

static void test_launch(void **arg)
{
	static const char text[] =
		LAUNCH "\"p\":[[0,8,\"0102030405060708\"],[12,4,\"ffEE0001\"]]}\n"
		       "{\"k\":\"lx\",\"f\":\"kern\",\"g\":[1,1,1],\"b\":[1,1,1],\"na\":1,\"x\":[3,"
		       "\"a0b0c0\"]}\n"
		       "{\"k\":\"l\",\"f\":\"kern\",\"g\":[1,1,1],\"b\":[1,1,1],\"na\":2,\"attrs\":"
		       "6,\"prio\":-2,\"dev\":1,"
		       "\"ctx\":12,\"img\":\"00000000000000010000000000000002\",\"p\":[]}\n";

	for (int gz = 0; gz < 2; gz++) {
		const char *path = write_lines(text, sizeof(text) - 1, gz);
		struct trace *t = trace_open(path);
		struct trace_event e;

		assert_non_null(t);
		assert_true(trace_next(t, &e));
		assert_int_equal(e.kind, TRACE_LAUNCH);
		assert_int_equal(e.line, 1);
		assert_int_equal(e.thread, 5);
		assert_int_equal(e.stream, 0x70);
		assert_string_equal(e.launch.kernel->name, "kern");
		assert_int_equal(e.launch.grid[2], 4);
		assert_int_equal(e.launch.block[0], 64);
		assert_int_equal(e.launch.shmem, 16);
		assert_int_equal(e.launch.attrs, 0);
		assert_int_equal(e.launch.kernel->nparam, 2);
		assert_int_equal(e.launch.kernel->param_bytes, 16);
		assert_int_equal(e.launch.params[7], 8);
		assert_int_equal(e.launch.params[9], 0); /* padding */
		assert_int_equal(e.launch.params[13], 0xee);
		assert_true(trace_next(t, &e));
		assert_int_equal(e.launch.kernel->nparam, 0);
		assert_int_equal(e.launch.kernel->param_bytes, 3);
		assert_int_equal(e.launch.params[2], 0xc0);
		assert_int_equal(e.launch.attrs, LAUNCH_OTHER_ATTR | LAUNCH_EXTRA);
		assert_int_equal(e.stream, 0);
		assert_false(e.has_stream);
		assert_true(trace_next(t, &e));
		assert_int_equal(e.launch.attrs, LAUNCH_CLUSTER | LAUNCH_PROGRAMMATIC);
		assert_int_equal(e.launch.priority, -2);
		assert_int_equal(e.launch.device, 1);
		assert_int_equal(e.context, 12);
		assert_int_equal(e.launch.kernel->image[0], 1);
		assert_int_equal(e.launch.kernel->image[1], 2);
		assert_false(trace_next(t, &e));
		assert_false(trace_next(t, &e));
		assert_int_equal(trace_errors(t), 0);
		trace_close(t);
		unlink(path);
	}
}

static void test_others(void **arg)
{
	static const char text[] =
		"{\"k\":\"version\",\"v\":1}\n"
		"{\"k\":\"mark\",\"f\":\"prefill\"}\n"
		"{\"k\":\"something new\",\"f\":1}\n\n"
		"{\"k\":\"a\",\"f\":\"cuMemFreeAsync\",\"st\":\"(nil)\",\"lo\":\"0x10\",\"hi\":"
		"\"0x20\"}\n"
		"{\"k\":\"alloc\",\"lo\":\"0x100\",\"hi\":\"0x200\",\"dev\":1,\"flags\":9}\n"
		"{\"k\":\"free\",\"lo\":\"0x100\",\"hi\":\"0x200\"}\n"
		"{\"k\":\"stream\",\"st\":\"0x5\",\"flags\":1}\n"
		"{\"k\":\"inst\",\"f\":\"cuGraphInstantiate\"}\n"
		"{\"k\":\"node\",\"type\":2}\n"
		"{\"k\":\"edge\",\"a\":3,\"b\":4,\"ty\":1,\"port\":1}";
	const char *path = write_lines(text, sizeof(text) - 1, false);
	struct trace *t = trace_open(path);
	struct trace_event e;

	assert_true(trace_next(t, &e));
	assert_int_equal(e.kind, TRACE_CALL);
	assert_int_equal(e.line, 5);
	assert_string_equal(e.name, "cuMemFreeAsync");
	assert_true(e.has_stream && !e.stream);
	assert_int_equal(e.range.hi, 0x20);
	assert_true(trace_next(t, &e));
	assert_int_equal(e.kind, TRACE_ALLOC);
	assert_int_equal(e.range.lo, 0x100);
	assert_int_equal(e.device, 1);
	assert_int_equal(e.flags, TRACE_DEVICE | TRACE_ALIASED);
	assert_true(trace_next(t, &e));
	assert_int_equal(e.kind, TRACE_FREE);
	assert_true(trace_next(t, &e));
	assert_int_equal(e.kind, TRACE_STREAM);
	assert_int_equal(e.flags, 1);
	assert_true(trace_next(t, &e));
	assert_int_equal(e.kind, TRACE_GRAPH);
	assert_true(trace_next(t, &e));
	assert_int_equal(e.kind, TRACE_NODE);
	assert_int_equal(e.flags, 2);
	assert_true(trace_next(t, &e));
	assert_int_equal(e.kind, TRACE_EDGE);
	assert_int_equal(e.from, 3);
	assert_int_equal(e.to, 4);
	assert_int_equal(e.flags, 1);
	assert_false(trace_next(t, &e));
	assert_int_equal(trace_errors(t), 0);
	trace_close(t);
	unlink(path);
}

static void test_graph(void **arg)
{
	static const char text[] =
		"{\"k\":\"inst\",\"f\":\"cuGraphInstantiate\",\"id\":3,\"flags\":4,\"opt\":"
		"\"off\"}\n"
		"{\"k\":\"n\",\"f\":\"k\",\"g\":[1,2,3],\"b\":[4,1,1],\"sm\":0,\"attrs\":0,"
		"\"upd\":1,\"p\":[]}\n"
		"{\"k\":\"edge\",\"a\":3,\"b\":4,\"ty\":0,\"port\":2}\n"
		"{\"k\":\"inst\",\"f\":\"cuGraphInstantiate\",\"in\":[1,7]}\n"
		"{\"k\":\"version\",\"v\":1}\n"
		"{\"k\":\"inst\",\"f\":\"cuGraphInstantiate\",\"id\":4,\"why\":\"large\"}";
	const char *path = write_lines(text, sizeof(text) - 1, false);
	struct trace *t = trace_open(path);
	struct trace_event e;

	assert_true(trace_next(t, &e));
	assert_int_equal(e.graph.number, 3);
	assert_int_equal(e.flags, 4);
	assert_true(e.graph.off && !e.graph.child && !e.graph.why);
	assert_true(trace_next(t, &e));
	assert_int_equal(e.kind, TRACE_KERNEL);
	assert_true(e.updatable);
	assert_int_equal(e.launch.grid[2], 3);
	assert_true(trace_next(t, &e));
	assert_int_equal(e.flags, 2); /* no plain edge */
	assert_true(trace_next(t, &e));
	assert_int_equal(e.graph.number, -1);
	assert_true(e.graph.child && !e.graph.off);
	assert_int_equal(e.graph.in[0], 1);
	assert_int_equal(e.graph.in[1], 7);
	assert_false(trace_is_recording(t));
	assert_true(trace_next(t, &e));
	assert_string_equal(e.graph.why, "large");
	assert_true(trace_is_recording(t));
	assert_false(trace_next(t, &e));
	assert_int_equal(trace_errors(t), 0);
	trace_close(t);
	unlink(path);
}

/* Every kind of broken line: named by file and line with what was expected; the next one is read.
 */
static void test_broken_lines(void **arg)
{
	static const struct {
		const char *line, *said;
		bool launched;
	} row[] = {
		{"nonsense", "expected one JSON object", false},
		{"{\"k\":\"l\",\"f\":\"k", "expected one JSON object", false},
		{"[1,2]", "expected an object with a \"k\"", false},
		{"{\"f\":\"x\"}", "expected an object with a \"k\"", false},
		{"{\"k\":\"l\"}", "\"f\": expected the kernel's name", true},
		{"{\"k\":\"l\",\"f\":\"k\",\"g\":[1,1],\"b\":[1,1,1],\"p\":[]}",
		 "\"g\": expected three numbers", true},
		{"{\"k\":\"l\",\"f\":\"k\",\"g\":[1,1,-1],\"b\":[1,1,1],\"p\":[]}",
		 "\"g\": expected three numbers", true},
		{"{\"k\":\"l\",\"f\":\"k\",\"g\":[1,1,1],\"b\":7,\"p\":[]}",
		 "\"b\": expected three numbers", true},
		{LAUNCH "\"p\":7}", "\"p\": expected a list of parameters", true},
		{"{\"k\":\"l\",\"f\":\"k\",\"g\":[1,1,1],\"b\":[1,1,1]}",
		 "\"p\": expected a list of parameters", true},
		{LAUNCH "\"p\":[[0,8]]}", "\"p\": expected 8 bytes of hex digits", true},
		{LAUNCH "\"p\":[[0,8,\"01\"]]}", "\"p\": expected 8 bytes of hex digits", true},
		{LAUNCH "\"p\":[[0,1,\"0x\"]]}", "\"p\": expected 1 bytes of hex digits", true},
		{LAUNCH "\"p\":[[8,1,\"00\"],[0,1,\"00\"]]}",
		 "\"p\": expected [offset, bytes, hex digits] in order", true},
		{LAUNCH "\"p\":[[0,999999999999,\"00\"]]}",
		 "\"p\": expected [offset, bytes, hex digits]", true},
		{LAUNCH "\"p\":[[-1,4,\"00000000\"]]}",
		 "\"p\": expected [offset, bytes, hex digits]", true},
		{LAUNCH "\"x\":[4,\"00\"]}", "\"x\": expected 4 bytes of hex digits", true},
		{LAUNCH "\"x\":[]}", "\"x\": expected [bytes, hex digits]", true},
		{LAUNCH "\"x\":[99999999,\"\"]}", "\"x\": expected [bytes, hex digits]", true},
		{LAUNCH "\"p\":[],\"code\":[\"file\",0]}",
		 "\"code\": expected [file, offset, bytes]", true},
		{LAUNCH "\"p\":[],\"code\":[7,0,1]}", "\"code\": expected [file, offset, bytes]",
		 true},
		{LAUNCH "\"p\":[],\"code\":[\"file\",-1,1]}",
		 "\"code\": expected [file, offset, bytes]", true},
		{LAUNCH "\"img\":\"xyz\",\"p\":[]}", "\"img\": expected 32 hex digits", true},
		{"{\"k\":\"a\"}", "\"f\": expected the call's name", false},
		{"{\"k\":\"a\",\"f\":\"cuX\",\"st\":\"seven\"}", "\"st\": expected a handle",
		 false},
		{"{\"k\":\"a\",\"f\":\"cuX\",\"lo\":\"0x1\"}",
		 "expected a range from \"lo\" to \"hi\"", false},
		{"{\"k\":\"alloc\",\"lo\":\"0x2\",\"hi\":\"0x1\"}",
		 "expected a range from \"lo\" to \"hi\"", false},
		{"{\"k\":\"edge\",\"a\":1}", "\"b\": expected a number", false},
		{"{\"k\":\"edge\",\"a\":1,\"b\":2,\"port\":-1}", "\"port\": expected a number",
		 false},
		{"{\"k\":\"inst\",\"id\":-2}", "\"id\": expected a number", false},
		{"{\"k\":\"inst\",\"in\":[0]}", "\"in\": expected [part, node]", false},
		{"{\"k\":\"inst\",\"in\":[0,-1]}", "\"in\": expected [part, node]", false},
		{"{\"k\":\"n\",\"f\":\"k\",\"upd\":2}", "\"upd\": expected a number from 0 to 1",
		 true},
		{"{\"k\":\"version\",\"v\":99}", "\"v\": expected a number from 1 to 1", false},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		char text[1024], where[4200];
		const char *path, *said;
		struct trace_event e;
		struct trace *t;

		snprintf(text, sizeof(text),
			 "{\"k\":\"free\",\"lo\":\"0x1\",\"hi\":\"0x2\"}\n%s\n"
			 "{\"k\":\"a\",\"f\":\"cuY\"}\n",
			 row[i].line);
		path = write_lines(text, strlen(text), false);
		snprintf(where, sizeof(where), "%s:2: ", path);
		unit_stderr_begin();
		t = trace_open(path);
		assert_true(trace_next(t, &e) && e.kind == TRACE_FREE);
		assert_true(trace_next(t, &e) && e.kind == TRACE_BAD);
		assert_int_equal(e.launched, row[i].launched);
		assert_int_equal(e.line, 2);
		assert_true(trace_next(t, &e) && e.kind == TRACE_CALL);
		assert_false(trace_next(t, &e));
		assert_int_equal(trace_errors(t), 1);
		trace_close(t);
		said = unit_stderr_end();
		assert_contains(said, where);
		assert_contains(said, row[i].said);
		unlink(path);
	}
}

static void test_long_line(void **arg)
{
	enum { BYTES = 300000 };
	char *text = malloc(2 * BYTES + 1000);
	int n = sprintf(text, LAUNCH "\"p\":[[0,%d,\"", BYTES);
	struct trace_event e;
	struct trace *t;
	const char *path;

	memset(text + n, 'a', 2 * BYTES);
	strcpy(text + n + 2 * BYTES, "\"]]}\n{\"k\":\"a\",\"f\":\"cuY\"}\n");
	path = write_lines(text, strlen(text), true);
	t = trace_open(path);
	assert_true(trace_next(t, &e));
	assert_int_equal(e.launch.kernel->param_bytes, BYTES);
	assert_int_equal(e.launch.params[BYTES - 1], 0xaa);
	assert_true(trace_next(t, &e));
	assert_int_equal(e.line, 2);
	trace_close(t);
	unlink(path);
	free(text);
}

/* Cut off at every length: read as far as it goes, said, no crash. */
static void test_truncated(void **arg)
{
	static char text[4000], cut[4000];
	const char *path;
	size_t len = 0, size;
	FILE *f;

	for (int i = 0; i < 12; i++)
		len += (size_t)sprintf(text + len, LAUNCH "\"p\":[[0,4,\"%08x\"]]}\n",
				       i * 2654435761u);
	path = write_lines(text, len, true);
	f = fopen(path, "rb");
	size = fread(text, 1, sizeof(text), f);
	fclose(f);
	unlink(path);
	for (size_t n = 30; n < size; n++) {
		struct trace_event e;
		struct trace *t;
		unsigned events = 0;

		path = command_scratch("cut.jsonl.gz");
		f = fopen(path, "wb");
		memcpy(cut, text, n);
		fwrite(cut, 1, n, f);
		fclose(f);
		unit_stderr_begin();
		t = trace_open(path);
		assert_non_null(t);
		while (trace_next(t, &e))
			events++;
		assert_true(events <= 12);
		assert_true(trace_errors(t) >= 1);
		trace_close(t);
		assert_contains(unit_stderr_end(), "the gzip stream is truncated");
		unlink(path);
	}
}

static void test_missing(void **arg)
{
	unit_stderr_begin();
	assert_null(trace_open("/nonexistent/x.jsonl"));
	assert_contains(unit_stderr_end(), "/nonexistent/x.jsonl: No such file or directory");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_launch),       cmocka_unit_test(test_others),
	cmocka_unit_test(test_broken_lines), cmocka_unit_test(test_long_line),
	cmocka_unit_test(test_truncated),    cmocka_unit_test(test_missing),
	cmocka_unit_test(test_graph),
};
UNIT_MAIN(tests)
