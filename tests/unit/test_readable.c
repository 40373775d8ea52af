/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "tools/readable.h"

static void names(void **state)
{
	static const struct {
		const char *mangled, *readable, *base, *types;
	} row[] = {
		{"_Z5plainPfPKfS1_i", "plain(float*, float const*, float const*, int)", "plain",
		 "float*|float const*|float const*|int"},
		{"_Z5mixedIfEvPT_4fourd", "void mixed<float>(float*, four, double)", "mixed",
		 "float*|four|double"},
		{"_Z4nonev", "none()", "none", ""},
		{"_ZN12_GLOBAL__N_16hiddenEPi", "(anonymous namespace)::hidden(int*)", "hidden",
		 "int*"},
		{"_ZN2at6native4fillINS0_3opsIfEEEEvT_St4pairIiiE",
		 "void at::native::fill<at::native::ops<float> >(at::native::ops<float>, "
		 "std::pair<int, int>)",
		 "fill", "at::native::ops<float>|std::pair<int, int>"},
		{"af_kernel", "af_kernel", "af_kernel", ""},
		{"_Znonsense", "_Znonsense", "_Znonsense", ""},
		{"evil\033[2J\nname", "evil?[2J?name", "evil?[2J?name", ""},
		{"", "", "", ""},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		char *name = readable_name(row[i].mangled), base[64], joined[256] = "";
		const char *type[8];
		unsigned n;

		assert_string_equal(name, row[i].readable);
		readable_base(name, base, sizeof(base));
		assert_string_equal(base, row[i].base);
		n = readable_types(name, type, 8);
		for (unsigned k = 0; k < n; k++)
			snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%s%s",
				 k ? "|" : "", type[k]);
		assert_string_equal(joined, row[i].types);
		free(name);
	}
}

static void limits(void **state)
{
	char name[] = "f(int, int, int)", base[4];
	const char *type[2];

	readable_base("abcdefgh(int)", base, sizeof(base));
	assert_string_equal(base, "abc");
	assert_int_equal(readable_types(name, type, 2), 0);
	strcpy(name, "f(int");
	assert_int_equal(readable_types(name, type, 2), 1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(names),
	cmocka_unit_test(limits),
};
UNIT_MAIN(tests)
