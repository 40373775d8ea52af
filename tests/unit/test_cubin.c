/* SPDX-License-Identifier: Apache-2.0 */
/* Attribute records and PTX texts that no compiler of ours writes, and damaged ones. */
#include "tests/unit/unit.h"

#include "fused/cubin_info.h"
#include "fused/ptx.h"

#define KPARAM(ordinal, offset, word)                                                              \
	4, 0x17, 12, 0, 0, 0, 0, 0, ordinal, 0, offset, 0, (word)&0xff, (word) >> 8 & 0xff,        \
		(word) >> 16 & 0xff, (word) >> 24
#define SIZE(bytes) ((bytes) << 18 | 0x1f000)

static void attributes(void **state)
{
	/* In any order, among records of other forms. */
	static const unsigned char good[] = {3, 0x1b, 0xff, 0, KPARAM(1, 8, SIZE(4)), 4, 0x36, 4, 0,
					     8, 0,    0,    0, KPARAM(0, 0, SIZE(8))};
	static const unsigned char gap[] = {KPARAM(2, 8, SIZE(4)), KPARAM(0, 0, SIZE(8))};
	static const unsigned char empty[] = {KPARAM(0, 0, SIZE(0))};
	static const unsigned char far_[] = {4,    0x17, 12, 0, 0, 0, 0, 0,
					     0xff, 0xff, 0,  0, 0, 0, 9, 0};
	static const unsigned char registers[] = {4, 0x2f, 8, 0, 1, 0, 0, 0, 40, 0, 0, 0,
						  4, 0x2f, 8, 0, 9, 0, 0, 0, 7,  0, 0, 0};
	static struct code_param p[CODE_MAX_PARAMS];
	int reg[2] = {-1, -1};

	assert_int_equal(cubin_info_params(good, sizeof(good), p), 2);
	assert_int_equal(p[0].bytes, 8);
	assert_int_equal(p[1].offset, 8);
	assert_int_equal(p[1].bytes, 4);
	for (size_t n = 0; n < sizeof(good); n++)
		assert_in_range(cubin_info_params(good, n, p) + 1, 0, 2);
	assert_int_equal(cubin_info_params(gap, sizeof(gap), p), -1);
	assert_int_equal(cubin_info_params(empty, sizeof(empty), p), -1);
	assert_int_equal(cubin_info_params(far_, sizeof(far_), p), -1);
	assert_int_equal(cubin_info_params("", 0, p), 0);
	cubin_info_registers(registers, sizeof(registers), reg, 2); /* there is no symbol 9 */
	assert_int_equal(reg[0], -1);
	assert_int_equal(reg[1], 40);
}

static char line[1024];

static void list(void *arg, const struct code_kernel *k)
{
	size_t n = strlen(line);

	n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s(", n ? " " : "", k->name);
	for (uint32_t i = 0; i < k->nparam; i++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%u@%u%s", i ? " " : "",
				      k->param[i].bytes, k->param[i].offset,
				      k->param[i].pointer ? "*" : "");
	snprintf(line + n, sizeof(line) - n, k->params_known ? ")" : "?)");
}

static void ptx(void **state)
{
	static const struct {
		const char *text, *expect;
	} row[] = {
		{"", ""},
		{".visible .entry a() { ret; } .entry b { ret; }", "a() b()"},
		{".entry $_x%1( .param .u64 .ptr .global .align 16 p, .param .f32 q )",
		 "$_x%1(8@0* 4@8)"},
		{".entry a(.param .u8 x,\n.param .align 8 .b8 y[20], .param .u16 z)",
		 "a(1@0 20@8 2@28)"},
		{"// .entry no(\n/* .entry no */ .entry a(.param .b64 x // )\n)", "a(8@0)"},
		{".file 1 \".entry no()\" .entry a(.param .pred x)", "a(?)"},
		{".entry a(.param .align 8 .b8 x[99999999999]", "a(?)"},
		{".entry", ""},
		{".entry (", ""},
		{".entry a(.param .u32 x", "a(4@0)"},
		{"/* .entry a(", ""},
		{".func f(.param .u32 x) .entry a(.param .b128 x)", "a(16@0)"},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		line[0] = 0;
		assert_true(ptx_each(row[i].text, list, NULL) >= 0);
		assert_string_equal(line, row[i].expect);
	}
}

static void targets(void **state)
{
	char variant;

	assert_int_equal(ptx_arch(".version 9.0\n.target sm_90a, debug\n", &variant), 90);
	assert_int_equal(variant, 'a');
	assert_int_equal(ptx_arch("// .target sm_20\n.target sm_120", &variant), 120);
	assert_int_equal(variant, 0);
	assert_int_equal(ptx_arch(".target sm_", &variant), 0);
	assert_int_equal(ptx_arch(".target", &variant), 0);
	assert_int_equal(ptx_arch("", &variant), 0);
}

static void no_cubin(void **state)
{
	char elf[64] = "\177ELF\2\1\1";

	elf[18] = (char)190;
	assert_int_equal(cubin_each("", 0, list, NULL), -1);
	assert_int_equal(
		cubin_each("something else, long enough to be an ELF header of 64 bytes....", 64,
			   list, NULL),
		-1);
	assert_int_equal(cubin_each(elf, 64, list, NULL), -1);
	elf[8] = 8;
	elf[49] = 90;
	assert_int_equal(cubin_arch(elf, 64), 90);
	assert_int_equal(cubin_each(elf, 64, list, NULL), -1);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(attributes),
	cmocka_unit_test(ptx),
	cmocka_unit_test(targets),
	cmocka_unit_test(no_cubin),
};
UNIT_MAIN(tests)
