// SPDX-License-Identifier: Apache-2.0
/* `autofuse trace FILE`: the listing of recordings. */
#include "command.h"

#include <jansson.h>

#include <stdbool.h>

#include "matcher/reason.h"

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	fclose(f);
}

static const char ini[] = "[kernel add]\nmatch = add\nop = add\nargs = out in0 in1 n\ndtype = f32\n"
			  "[kernel norm]\nmatch = norm\nop = rmsnorm\n"
			  "args = out in0 weight cols eps\ndtype = f32\n";

/* One launch line on rows of 64; p: add(out, a, b, n) or norm(out, in, w, cols, eps). */
static void launch(FILE *f, const char *name, unsigned out, unsigned a, unsigned b,
		   const char *more)
{
	bool norm = !strcmp(name, "norm");

	fprintf(f,
		"{\"k\":\"l\",\"t\":1,\"f\":\"%s\",\"g\":[1,1,1],\"b\":[64,1,1],\"sm\":0,\"st\":"
		"\"0x0\",\"na\":0%s,"
		"\"p\":[[0,8,\"0000%02x0000000000\"],[8,8,\"0000%02x0000000000\"],[16,8,"
		"\"0000%02x0000000000\"],"
		"[24,4,\"40000000\"]%s]}\n",
		name, more, out, a, b, norm ? ",[28,4,\"0000803f\"]" : "");
}

/* steps x (layers x (add, norm, other), head) */
static void steps(FILE *f, int nsteps, int layers)
{
	for (int s = 0; s < nsteps; s++) {
		for (int i = 0; i < layers; i++) {
			launch(f, "add", 3, 1, 2, "");
			launch(f, "norm", 5, 3, 4, "");
			launch(f, "other", 1, 1, 1, "");
		}
		launch(f, "_Z4headPfS_S_i", 1, 1, 1, "");
	}
}

static FILE *begin(const char **path, const char **config)
{
	FILE *f;

	*path = command_scratch("t.jsonl");
	*config = command_scratch("t.ini");
	put_file(*config, ini);
	f = fopen(*path, "w");
	assert_non_null(f);
	return f;
}

static void test_loops(void **arg)
{
	const char *path, *config, *text;
	FILE *f = begin(&path, &config);

	steps(f, 5, 32);
	fclose(f);
	text = command("trace -f %s %s", config, path);
	assert_int_equal(command_status, 0);
	assert_contains(text, "485 launches of 4 kernels on 1 stream");
	assert_contains(text, "stream 0: 5 × (32 × (3), 1)");
	assert_contains(text, "×32 per step, 5 steps");
	assert_contains(text, "add → norm");
	assert_contains(text, "1×64 f32");
	assert_contains(text, "fuses as add_rmsnorm, saves 256 bytes each time");
	assert_contains(text, "×1 per step, 5 steps");
	assert_contains(text, "head  ");
	assert_contains(text, "No device times: the recording has none");
}

/* Device times and outcomes, as the library writes them. */
static void test_times(void **arg)
{
	const char *path, *config, *text;
	FILE *f = begin(&path, &config);
	int layers = 4, n = 0, id = 1;
	json_t *all, *line;

	fputs("{\"k\":\"version\",\"v\":1}\n", f);
	steps(f, 3, layers);
	for (int s = 0; s < 3; s++) {
		for (int i = 0; i < layers; i++, n += 3) {
			bool check = s == 0, fused = s > 0;

			if (check) {
				fprintf(f, "{\"k\":\"c\",\"id\":%d,\"how\":\"own\",\"n\":[%d]}\n",
					id, n);
				fprintf(f, "{\"k\":\"t\",\"id\":%d,\"at\":%d,\"ns\":3000}\n", id++,
					1000 * n);
				fprintf(f, "{\"k\":\"c\",\"id\":%d,\"how\":\"own\",\"n\":[%d]}\n",
					id, n + 1);
				fprintf(f, "{\"k\":\"t\",\"id\":%d,\"at\":%d,\"ns\":2000}\n", id++,
					1000 * n + 500);
			}
			fprintf(f,
				"{\"k\":\"c\",\"id\":%d,\"how\":\"%s\",\"n\":[%d,%d],\"rows\":1}\n",
				id, fused ? "fused" : "check", n, n + 1);
			fprintf(f, "{\"k\":\"t\",\"id\":%d,\"at\":%d,\"ns\":2500}\n", id++,
				1000 * n + 800);
			fprintf(f, "{\"k\":\"g\",\"n\":[%d,%d],\"is\":\"%s\"}\n", n, n + 1,
				check ? "checked" : "fused");
		}
		n++;
	}
	fclose(f);
	text = command("trace --json -f %s %s", config, path);
	assert_int_equal(command_status, 0);
	all = json_loads(text, 0, NULL);
	assert_non_null(all);
	assert_null(json_object_get(all, "no_times"));
	/* 4 checked pairs and 8 fused kernels; the copies that checks run do not count. */
	assert_int_equal(json_integer_value(json_object_get(all, "device_ns")),
			 4 * 5000 + 8 * 2500);
	line = json_array_get(json_object_get(all, "sequences"), 0);
	assert_string_equal(json_string_value(json_object_get(line, "pattern")), "add_rmsnorm");
	assert_int_equal(json_integer_value(json_object_get(line, "count")), 12);
	assert_int_equal((int)json_number_value(json_object_get(line, "ns")), 5000);
	assert_int_equal((int)json_number_value(json_object_get(line, "ns_fused")), 2500);
	assert_int_equal((int)json_number_value(json_object_get(line, "saves_ns")), 2500);
	assert_true(json_is_false(json_object_get(line, "estimated")));
	json_decref(all);
	text = command("trace -f %s %s", config, path);
	assert_contains(text, "fuses as add_rmsnorm, saves 2.50 µs and 256 bytes each time");
	assert_null(strstr(text, "No device times"));
}

/* Every reason that a recorded process may give appears with its plain words. */
static void test_reasons(void **arg)
{
	static const struct {
		const char *word, *text;
	} row[] = {
#define REASON(id, word, text) {word, text},
#include "matcher/reason.def"
#undef REASON
	};

	for (size_t i = 1; i < sizeof(row) / sizeof(row[0]); i++) {
		const char *path, *config, *text;
		FILE *f = begin(&path, &config);
		char want[512];

		launch(f, "add", 3, 1, 2, "");
		launch(f, "norm", 5, 3, 4, "");
		fprintf(f, "{\"k\":\"g\",\"n\":[0,1],\"is\":\"refused\",\"why\":\"%s\"}\n",
			row[i].word);
		fclose(f);
		text = command("trace -f %s %s", config, path);
		snprintf(want, sizeof(want), "not fused as add_rmsnorm: %s: %s", row[i].word,
			 row[i].text);
		assert_contains(text, want);
	}
}

static void test_what_to_do(void **arg)
{
	const char *path, *config, *text;
	FILE *f = begin(&path, &config);

	launch(f, "add", 3, 1, 2, "");
	launch(f, "_Z7strangePfS_S_i", 9, 9, 9, "");
	launch(f, "norm", 5, 3, 4, "");
	fclose(f);
	text = command("trace -f %s %s", config, path);
	assert_contains(text, "not fused as add_rmsnorm: unknown-kernel");
	assert_contains(text, "(strange)");
	assert_contains(text, "; would save 256 bytes each time");
	assert_contains(text, "describe it in a [kernel] section");
	text = command("trace --patterns=-add_rmsnorm -f %s %s", config, path);
	assert_contains(text, "[pattern NAME] enable = yes");
}

static void test_bad(void **arg)
{
	const char *path, *config, *text;
	FILE *f = begin(&path, &config);

	launch(f, "add", 3, 1, 2, "");
	fputs("{\"k\":\"l\",\"f\":3}\n", f);
	launch(f, "norm", 5, 3, 4, "");
	fputs("{\"k\":\"g\",\"n\":[0,1],\"is\":\"refused\"}\n", f);
	fputs("{\"k\":\"c\",\"id\":-1}\n", f);
	fputs("{\"k\":\"t\",\"id\":1}\n", f);
	fputs("{\"k\":\"g\",\"n\":[0,9],\"is\":\"fused\"}\n", f);
	fputs("{\"k\":\"c\",\"id\":1,\"how\":\"own\",\"n\":[4000000000]}\n", f);
	fputs("{\"k\":\"t\",\"id\":1,\"at\":1,\"ns\":5}\n", f);
	fclose(f);
	text = command("trace -f %s %s", config, path);
	assert_int_equal(command_status, 1);
	assert_contains(text, ":2: \"f\": expected the kernel's name");
	assert_contains(text, ":4: \"why\": expected the reason of a refusal");
	assert_contains(text, ":5: expected \"id\"");
	assert_contains(text, ":6: expected the numbers");
	assert_contains(text, "2 launches of 2 kernels");
	command("trace");
	assert_int_equal(command_status, 2);
	command("trace /nonexistent.jsonl");
	assert_int_equal(command_status, 2);
	command("trace --nonsense %s", path);
	assert_int_equal(command_status, 2);
}

static void test_real(void **arg)
{
	const char *text = command("trace -f %s %s", command_data("llama3_cuda_fp32.ini"),
				   command_data("llama3_cuda_fp32.jsonl.gz"));

	assert_int_equal(command_status, 0);
	assert_contains(text, "2,484 launches of 7 kernels on 1 stream");
	assert_contains(text, "stream 0: 28 × (6 × (14), 2), 5 × (14), 6");
	assert_contains(text, "×12 per step, 28 steps + 10");
	text = command("trace --all %s", command_data("hf_llama_bf16.jsonl.gz"));
	assert_int_equal(command_status, 0);
	assert_contains(text, "aten mul<f32> → aten neg<bf16>");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops),   cmocka_unit_test(test_times),
		cmocka_unit_test(test_reasons), cmocka_unit_test(test_what_to_do),
		cmocka_unit_test(test_bad),     cmocka_unit_test(test_real)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
