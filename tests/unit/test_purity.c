/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "shim/purity.h"
#include "tests/unit/image_file.h"

static const struct {
	const char *kernel;
	enum reason why;
	const char *detail; /* part of it, cubin and PTX alike */
} row[] = {
	{"plain", REASON_NONE, ""},
	{"named_barrier", REASON_NONE, ""},
	{"library_functions", REASON_NONE, ""},
	{"local_table", REASON_NONE, ""},
	{"calls_plain", REASON_NONE, ""},
	{"writes_variable", REASON_NOT_PURE, "module variable counter"},
	{"reads_variable", REASON_NOT_PURE, "module variable table"},
	{"reads_constant", REASON_NOT_PURE, "variable"},
	{"indexes_constant", REASON_NOT_PURE, "variable"},
	{"calls_reader", REASON_NOT_PURE, "module variable table"},
	{"calls_pointer", REASON_NOT_PURE, ""},
	{"prints", REASON_NOT_PURE, ""},
	{"asserts", REASON_NOT_PURE, ""},
	{"allocates", REASON_NOT_PURE, "malloc"},
	{"fetches_texture", REASON_NOT_PURE, "texture"},
	{"writes_surface", REASON_NOT_PURE, "surface"},
	{"reads_surface", REASON_NOT_PURE, "surface"},
	{"reads_clock", REASON_NOT_PURE, "clock"},
	{"reads_timer", REASON_NOT_PURE, "clock"},
	{"reads_processor", REASON_NOT_PURE, "processor"},
	{"adds_shared_float", REASON_NOT_DETERMINISTIC, "atomics"},
	{"adds_float", REASON_NOT_DETERMINISTIC, "atomics"},
	{"adds_float_back", REASON_NOT_DETERMINISTIC, "atomics"},
	{"adds_double", REASON_NOT_DETERMINISTIC, "atomics"},
	{"adds_halves", REASON_NOT_DETERMINISTIC, "atomics"},
	{"adds_anywhere", REASON_NOT_DETERMINISTIC, "atomics"},
	{"swaps", REASON_NOT_DETERMINISTIC, "atomics"},
	{"swaps_shared", REASON_NOT_DETERMINISTIC, "atomics"},
	{"counts", REASON_NOT_PURE, "atomics"},
	{"counts_back", REASON_NOT_PURE, "atomics"},
	{"counts_shared", REASON_NOT_PURE, "atomics"},
	{"exchanges", REASON_NOT_PURE, "atomics"},
};

static void check(const char *name, unsigned cc)
{
	size_t bytes;
	char *image = image_file(name, &bytes);

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct purity p;

		purity_check(image, bytes, cc, row[i].kernel, &p);
		if (p.why != row[i].why || !strstr(p.detail, row[i].detail))
			fail_msg("%s of %s for %u: %s (%s)", row[i].kernel, name, cc,
				 reason_word(p.why), p.detail);
	}
	free(image);
}

static void cubins(void **state)
{
	check("purity-sm80.cubin", 80);
	check("purity-sm90.cubin", 90);
	check("purity-sm100.cubin", 100);
}

static void ptx(void **state)
{
	check("purity-sm90.ptx", 90);
}

static void fatbins(void **state)
{
	static const char *const name[] = {"purity-default.fatbin", "purity-none.fatbin",
					   "purity-speed.fatbin", "purity-size.fatbin"};

	for (unsigned i = 0; i < 4; i++) {
		check(name[i], 80);
		check(name[i], 89);
		check(name[i], 90);
		check(name[i], 120); /* nothing but PTX */
	}
}

static void no_code_is_no_verdict(void **state)
{
	size_t bytes;
	char *image = image_file("purity-default.fatbin", &bytes);
	struct purity p;

	purity_check(image, bytes, 90, "no_such_kernel", &p);
	assert_int_equal(p.why, REASON_NO_VERDICT);
	purity_check(image, bytes, 120, "no_such_kernel", &p);
	assert_int_equal(p.why, REASON_NO_VERDICT);
	purity_check(image, bytes, 60, "plain", &p);
	assert_int_equal(p.why, REASON_NO_VERDICT);
	purity_check("what is this?", 13, 90, "plain", &p);
	assert_int_equal(p.why, REASON_NO_VERDICT);
	free(image);
}

/* A damaged cubin never passes for a pure one that it is not, and never takes the process down. */
static void damaged(void **state)
{
	size_t bytes;
	char *image = image_file("purity-sm90.cubin", &bytes);
	uint64_t seed = 1;

	for (unsigned i = 0; i < 3000; i++) {
		struct purity p;
		size_t at, len;
		char keep;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		at = (size_t)(seed >> 20) % (i % 2 ? bytes : 4096);
		len = i % 7 ? bytes : (size_t)(seed >> 33) % bytes;
		keep = image[at];
		image[at] = (char)(seed >> 56);
		purity_check(image, len, 90, "writes_variable", &p);
		assert_true(p.why < REASON_COUNT);
		image[at] = keep;
	}
	free(image);
}

struct seen {
	char names[512];
};

static void note(void *arg, const char *name, size_t size)
{
	struct seen *s = arg;

	snprintf(s->names + strlen(s->names), sizeof(s->names) - strlen(s->names), "%s:%zu ", name,
		 size);
}

static void variables(void **state)
{
	size_t bytes;
	char *image = image_file("purity-default.fatbin", &bytes);
	struct seen s = {""};

	purity_variables(image, bytes, 90, note, &s);
	assert_contains(s.names, "counter:4 ");
	assert_contains(s.names, "table:16 ");
	assert_contains(s.names, "coefficient:16 ");
	assert_null(strstr(s.names, "__cudart"));
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cubins),  cmocka_unit_test(ptx),
		cmocka_unit_test(fatbins), cmocka_unit_test(no_code_is_no_verdict),
		cmocka_unit_test(damaged), cmocka_unit_test(variables),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
