// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "tools/fold.h"

/* The folded sequence as text, "2(a3(b)c)d", and whether it says the same as what went in. */
struct say {
	char text[4096];
	size_t n;
	unsigned again;
	const char *want;
	uint64_t items, tops;
};

static void put(struct say *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct say *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	s->n += (size_t)vsnprintf(s->text + s->n, sizeof(s->text) - s->n, fmt, ap);
	va_end(ap);
	assert_true(s->n < sizeof(s->text));
}

static void top(void *arg, uint32_t number, uint32_t rounds, uint64_t length)
{
	struct say *s = arg;

	assert_int_equal(number, s->tops++);
}

static void begin(void *arg, uint32_t round, uint32_t rounds, uint64_t length)
{
	struct say *s = arg;

	s->again += round != 0;
	if (!s->again)
		put(s, "%u(", rounds);
}

static void end(void *arg, uint32_t round, uint64_t length)
{
	struct say *s = arg;

	if (!s->again)
		put(s, ")");
	s->again -= round != 0;
}

static void item(void *arg, uint64_t at, uint32_t sym)
{
	struct say *s = arg;

	assert_int_equal(at, s->items++);
	assert_int_equal(sym, s->want[at]);
	if (!s->again)
		put(s, "%c", sym);
}

static const char *fold(const char *sequence)
{
	static struct say s;
	const struct fold_visitor v = {&s, top, begin, end, item};
	struct fold *f = fold_new();

	memset(&s, 0, sizeof(s));
	s.want = sequence;
	assert_non_null(f);
	for (const char *p = sequence; *p; p++)
		assert_int_equal(fold_add(f, (uint32_t)*p), 0);
	fold_walk(f, &v);
	assert_int_equal(s.items, strlen(sequence));
	fold_free(f);
	return s.text;
}

static void test_loops(void **arg)
{
	static const struct {
		const char *sequence, *folded;
	} row[] = {
		{"", ""},
		{"a", "a"},
		{"abc", "abc"},
		{"aa", "aa"},
		{"aaa", "3(a)"},
		{"aaaaa", "5(a)"},
		{"abab", "2(ab)"},
		{"xababababy", "x4(ab)y"},
		{"abbabb", "2(abb)"},
		{"abbbabbbabbb", "3(a3(b))"},
		{"abaabaaba", "3(aba)"},
		/* a prologue, then steps of one embedding, three layers of two, and a head */
		{"pqelmlmlmhelmlmlmhelmlmlmhz", "pq3(e3(lm)h)z"},
		{"ababacababac", "2(2(ab)ac)"},
		/* rounds that differ are no loop */
		{"abcabdabe", "abcabdabe"},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_string_equal(fold(row[i].sequence), row[i].folded);
}

/* Whatever goes in comes out again, over a small alphabet full of near-repeats. */
static void test_random(void **arg)
{
	char sequence[512];
	uint32_t seed = 7;

	for (int round = 0; round < 3000; round++) {
		size_t n = 0;

		while (n < 300) {
			seed = seed * 1664525 + 1013904223;
			if (n > 4 && seed >> 30 == 0) { /* say some of it again */
				size_t len = 1 + (seed >> 8) % (n < 40 ? n : 40);

				memcpy(sequence + n, sequence + n - len, len);
				n += len;
			} else {
				sequence[n++] = (char)('a' + (seed >> 16) % 3);
			}
		}
		sequence[n] = 0;
		fold(sequence);
	}
}

struct count {
	uint64_t items, tops;
};

static void count_top(void *arg, uint32_t number, uint32_t rounds, uint64_t length)
{
	struct count *c = arg;

	c->tops++;
}

static void count_item(void *arg, uint64_t at, uint32_t sym)
{
	struct count *c = arg;

	c->items++;
}

/* A million launches of steps with layers fold to one element; a million without any order do not,
 * and neither takes long. */
static void test_million(void **arg)
{
	enum { N = 1000000 };
	uint32_t seed = 1;

	for (int kind = 0; kind < 2; kind++) {
		struct count c = {0, 0};
		const struct fold_visitor v = {&c, count_top, NULL, NULL, count_item};
		struct fold *f = fold_new();

		assert_non_null(f);
		for (uint32_t i = 0; i < N; i++) {
			uint32_t in_step = i % 500;

			seed = seed * 1664525 + 1013904223;
			assert_int_equal(fold_add(f, kind            ? seed >> 24
						     : in_step < 480 ? in_step % 15
								     : in_step),
					 0);
		}
		fold_walk(f, &v);
		assert_int_equal(c.items, N);
		if (!kind)
			assert_int_equal(c.tops, 1);
		fold_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_loops),
					   cmocka_unit_test(test_random),
					   cmocka_unit_test(test_million)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
