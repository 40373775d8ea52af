// SPDX-License-Identifier: Apache-2.0
/*
 * PyTorch operators one by one, as recorded on tensors of 8 x HIDDEN elements: what each of them
 * launched, and that it was decoded as what the operator is.
 */
#include "atens.h"

/*
 * $T element type, $I what stands for a type of its size, $N 8 * HIDDEN, $H HIDDEN, $P and $Q its
 * halves (the first is the longer one), $B bytes of a row, $R 1 / HIDDEN. A line that begins with ?
 * is missing for f32, where the operator has nothing to do.
 */
#define X "$T[$N]"
#define ROWS "$T[8x$H]"
#define ADD "add out=" X " in0=" X " in1=" X
#define MUL "mul out=" X " in0=" X " in1=" X
#define SOFTMAX "softmax out=" ROWS " in0=" ROWS
#define FLOAT "?copy out=f32[$N] in0=$T[$N]"
#define SQUARE "square out=f32[$N] in0=f32[$N]"
#define MEAN "mean out=f32[8] in0=f32[8x$H] $R"
#define NORM_ARGS " in0=" ROWS " weight=$T[$H] bias=$T[$H] mean=f32[8] rstd=f32[8]"

static const struct {
	const char *mark;
	bool odd; /* for HIDDEN 4095, other rows of that mark for the others */
	const char *line[5];
} table[] = {
	{"add", false, {ADD}},
	{"add_", false, {ADD}},
	{"add_alpha", false, {ADD " 0.5"}},
	{"scale", false, {"scale out=" X " in0=" X " 0.5"}},
	{"mul", false, {MUL}},
	{"silu", false, {"silu out=" X " in0=" X}},
	{"silu_mul", false, {"silu out=" X " in0=" X, MUL}},
	{"gelu", false, {"gelu_erf out=" X " in0=" X}},
	{"gelu_tanh_mul", false, {"gelu_tanh out=" X " in0=" X, MUL}},
	{"relu", false, {"relu out=" X " in0=" X}},
	{"rms", false, {"rmsnorm out=" ROWS " in0=" ROWS " weight=$T[$H] rstd=f32[8]"}},
	{"rms",
	 true,
	 {"touch in0=" ROWS " copy=f32[8]",
	  "touch out=" ROWS " in0=" ROWS " weight=$T[$H] rstd=f32[8]"}},
	{"ln", false, {"layernorm out=" ROWS NORM_ARGS}},
	{"ln", true, {"touch in0=" ROWS " mean=f32[8] copy=f32[8]", "touch out=" ROWS NORM_ARGS}},
	{"addln", false, {ADD, "layernorm out=" ROWS NORM_ARGS}},
	{"addln",
	 true,
	 {ADD, "touch in0=" ROWS " mean=f32[8] copy=f32[8]", "touch out=" ROWS NORM_ARGS}},
	{"softmax", false, {SOFTMAX}},
	{"softmax_mask",
	 false,
	 {"less out=bool[$N] in1=" X " 0", "where out=" X " in1=" X " cond=bool[$N] -inf",
	  SOFTMAX}},
	{"softmax_addmask", false, {ADD, SOFTMAX}},
	{"dropout", false, {SOFTMAX, "unknown-kernel"}},
	{"bias_gelu",
	 false,
	 {"add out=" ROWS " in0=" ROWS " in1=$T[8+0x$H]", "gelu_erf out=" X " in0=" X}},
	{"tofloat", false, {FLOAT}},
	{"pow", false, {FLOAT, SQUARE}},
	{"mean", false, {FLOAT, SQUARE, MEAN}},
	{"rsqrt",
	 false,
	 {FLOAT, SQUARE, MEAN, "add out=f32[8] in0=f32[8] 1e-06 1", "rsqrt out=f32[8] in0=f32[8]"}},
	{"addcmul", false, {"touch out=" X " in0=" X " in1=" X " in2=" X}},
	{"sigmoid_mul", false, {"sigmoid out=" X " in0=" X, MUL, MUL}},
	{"chain", false, {ADD, "scale out=" X " in0=" X " 0.5", ADD}},
	{"cat",
	 false,
	 {"neg out=$T[8x$P] in0=$T[8+$Bx$P]", "cat out=$I[8x$H] in0=$I[8x$P] in1=$I[8+$Bx$Q]"}},
};
enum { NROW = sizeof(table) / sizeof(table[0]) };

/* The line with its $ filled in. */
static const char *filled(const char *line, enum dtype t, int hidden)
{
	static char text[1024];
	size_t n = 0;

	for (; *line; line++) {
		char *to = text + n;
		size_t room = sizeof(text) - n;

		if (*line != '$') {
			text[n++] = *line;
			continue;
		}
		switch (*++line) {
		case 'T':
			snprintf(to, room, "%s", dtype_name(t));
			break;
		case 'I':
			snprintf(to, room, "%s", dtype_bytes(t) == 2 ? "i16" : "i32");
			break;
		case 'N':
			snprintf(to, room, "%d", 8 * hidden);
			break;
		case 'H':
			snprintf(to, room, "%d", hidden);
			break;
		case 'P':
			snprintf(to, room, "%d", (hidden + 1) / 2);
			break;
		case 'Q':
			snprintf(to, room, "%d", hidden / 2);
			break;
		case 'B':
			snprintf(to, room, "%d", hidden * (int)dtype_bytes(t));
			break;
		case 'R':
			snprintf(to, room, "%g", (double)(float)(1. / hidden));
			break;
		default:
			fail_msg("$%c", *line);
		}
		n += strlen(to);
	}
	text[n] = 0;
	return text;
}

/* The row for a mark NAME:HIDDEN, -1 for those that the table has not. */
static int find_row(const char *mark, int *hidden)
{
	const char *colon = strchr(mark, ':');
	int found = -1;

	*hidden = colon ? atoi(colon + 1) : 0;
	for (int i = 0; colon && i < NROW; i++)
		if (strlen(table[i].mark) == (size_t)(colon - mark) &&
		    !memcmp(table[i].mark, mark, (size_t)(colon - mark)) &&
		    (!table[i].odd || *hidden % 2))
			found = i;
	return found;
}

static const char *next_line(int row, unsigned *at, enum dtype t)
{
	while (*at < 5 && table[row].line[*at]) {
		const char *line = table[row].line[(*at)++];

		if (*line != '?')
			return line;
		if (t != DT_f32)
			return line + 1;
	}
	return NULL;
}

static void test_operators(void **arg)
{
	static const enum dtype type[] = {DT_bf16, DT_f16, DT_f32};
	static const char *const file[] = {"aten_ops_bfloat16.jsonl.gz",
					   "aten_ops_float16.jsonl.gz",
					   "aten_ops_float32.jsonl.gz"};

	for (unsigned i = 0; i < 3; i++) {
		struct trace *t = trace_open(command_data(file[i]));
		struct atens_marks marks;
		struct trace_event e;
		unsigned at = 0, seen[NROW] = {0};
		int row = -1, hidden = 0;
		long mark = -1;

		assert_non_null(t);
		atens_marks_read(&marks, command_data(file[i]));
		while (trace_next(t, &e)) {
			long now = atens_mark(&marks, e.line);
			const char *want;
			struct op op;
			enum reason why;

			if (e.kind != TRACE_LAUNCH)
				continue;
			if (now != mark) {
				/* Nothing was missing at the end of the last one. */
				if (row >= 0 && (want = next_line(row, &at, type[i])))
					fail_msg("%s: no launch for %s", marks.name[mark], want);
				mark = now;
				row = find_row(marks.name[mark], &hidden);
				at = 0;
				if (row >= 0)
					seen[row]++;
			}
			if (row < 0)
				continue;
			why = decode_launch(&e.launch, &op);
			/* Random inputs for the next size come behind the last operator. */
			if (strstr(e.launch.kernel->name, "distribution_elementwise"))
				continue;
			want = next_line(row, &at, type[i]);
			if (!want)
				fail_msg("%s: one more launch, %s", marks.name[mark],
					 why ? reason_word(why) : atens_spell(&op));
			assert_string_equal(why ? reason_word(why) : atens_spell(&op),
					    filled(want, type[i], hidden));
			if (!why)
				assert_true(op.vetted);
		}
		for (int r = 0; r < NROW; r++)
			if (type[i] != DT_f32 || strcmp(table[r].mark, "tofloat"))
				assert_in_range(seen[r], 1, 3);
		trace_close(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operators),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
