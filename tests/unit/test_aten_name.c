// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "matcher/aten_name.h"

static char text[ATEN_NAME_MAX];

static void test_text(void **arg)
{
	static const struct {
		const char *mangled, *text;
	} row[] = {
		{"_Z3fooPfi", "foo"},
		{"_ZN2at6native3fooIfLi4EEEvT_", "at::native::foo<float, 4>"},
		{"_ZN2at3fooIN3c104HalfES2_EEvv", "at::foo<c10::Half, c10::Half>"},
		{"_ZN2at12_GLOBAL__N_13fooILb1EEEvv", "at::(anon)::foo<1>"},
		{"_ZN2at40_GLOBAL__N__0f1a8107_8_Shape_cu_49f7391c3barEv", "at::(anon)::bar"},
		{"_Z3fooISt5arrayIPcLm3EEEvT_", "foo<std::array<char*, 3>>"},
		{"_Z3fooIPKfS1_Evv", "foo<float const*, float const*>"},
		{"_Z3fooIPKfS0_Evv", "foo<float const*, float const>"},
		{"_ZN1a1bIZNS_1cEvEUlfiE_EEvT_", "a::b<a::c()::{lambda(float, int)#1}>"},
		{"_ZN1a1bIZNS_1cEvEUlfE0_EEvT_", "a::b<a::c()::{lambda(float)#2}>"},
		{"_ZN1a1bIZZNS_1cEvENKUlvE_clEvEUlfE_EEvT_",
		 "a::b<a::c()::{lambda()#1}::operator()()::{lambda(float)#1}>"},
		{"_Z3fooIJifEEvDpT_", "foo<int, float>"},
		{"_Z3fooILin2EEvv", "foo<-2>"},
		{"_ZN1a1bILNS_1eE1EEEvv", "a::b<a::e#1>"},
		/* Cut off, out of range, or nothing that a kernel is named. */
		{"foo", NULL},
		{"_Z", NULL},
		{"_Z9foo", NULL},
		{"_ZN2at", NULL},
		{"_ZN2at3fooI", NULL},
		{"_Z3fooIS9_Evv", NULL},
		{"_ZN1aplEii", NULL},
		{"_Z99999999999999999999a", NULL},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		bool ok = aten_name_text(row[i].mangled, text, sizeof(text));

		if (!row[i].text)
			assert_false(ok);
		else
			assert_string_equal(ok ? text : "(none)", row[i].text);
	}
	/* Does not fit. */
	assert_false(aten_name_text("_ZN2at6native3fooIfLi4EEEvT_", text, 20));
	assert_true(aten_name_text("_ZN2at6native3fooIfLi4EEEvT_", text, 32));
}

static void is(struct aten_part p, const char *want)
{
	assert_int_equal(p.len, strlen(want));
	assert_memory_equal(p.at, want, p.len);
}

static void test_parts(void **arg)
{
	struct aten_part p = aten_part("at::(anon)::k<4, a::f(x&)::{lambda()#2}::operator()()::"
				       "{lambda(c10::Half, bool)#12}, std::array<char*, 2>>"),
			 f = aten_part_argument(p, 1);

	is(aten_part_base(p), "k");
	assert_int_equal(aten_part_number(aten_part_argument(p, 0)), 4);
	is(aten_part_base(f), "f");
	is(aten_part_argument(p, 2), "std::array<char*, 2>");
	is(aten_part_argument(aten_part_argument(p, 2), 1), "2");
	assert_int_equal(aten_part_argument(p, 3).len, 0);
	assert_int_equal(aten_part_argument(f, 0).len, 0);
	assert_int_equal(aten_part_lambda(f), 12);
	assert_int_equal(aten_part_lambda_outer(f, 0), 2);
	assert_int_equal(aten_part_lambda_outer(f, 1), 12);
	assert_int_equal(aten_part_lambda_outer(f, 2), 0);
	assert_int_equal(aten_part_dtype(aten_part_parameter(f, 0)), DT_f16);
	assert_int_equal(aten_part_dtype(aten_part_parameter(f, 1)), DT_bool);
	assert_int_equal(aten_part_parameter(f, 2).len, 0);
	assert_int_equal(aten_part_lambda(p), 0);
	assert_int_equal(aten_part_number(f), -1);
	assert_int_equal(aten_part_dtype(f), DT_NONE);
	assert_int_equal(aten_part_argument(aten_part("k"), 0).len, 0);
	assert_int_equal(aten_part_argument(aten_part("k<a"), 0).len, 0);
	assert_int_equal(aten_part_argument(aten_part("k<>"), 0).len, 0);
	assert_int_equal(aten_part_lambda(aten_part("}")), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_text),
	cmocka_unit_test(test_parts),
};
UNIT_MAIN(tests)
