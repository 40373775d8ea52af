/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "fused/fatbin.h"
#include "tests/unit/image_file.h"

struct list {
	unsigned n;
	struct fatbin_code code[16];
};

static int add(void *arg, const struct fatbin_code *code)
{
	struct list *l = arg;

	assert_in_range(l->n, 0, 15);
	l->code[l->n++] = *code;
	return 0;
}

static void pieces(void **state)
{
	static const struct {
		const char *name;
		unsigned elf, ptx; /* compression of the cubins, of the PTX */
	} row[] = {{"purity-none.fatbin", FATBIN_PLAIN, FATBIN_PLAIN},
		   {"purity-speed.fatbin", FATBIN_PLAIN, FATBIN_LZ4},
		   {"purity-default.fatbin", FATBIN_PLAIN, FATBIN_ZSTD},
		   {"purity-size.fatbin", FATBIN_ZSTD, FATBIN_ZSTD}};

	for (unsigned i = 0; i < 4; i++) {
		size_t bytes;
		char *image = image_file(row[i].name, &bytes);
		struct list l = {0};
		unsigned elf = 0, ptx = 0;

		assert_int_equal(fatbin_each(image, bytes, add, &l), 0);
		assert_int_equal(l.n, 3);
		for (unsigned k = 0; k < l.n; k++) {
			char *copy = fatbin_copy(&l.code[k]);

			assert_non_null(copy);
			if (l.code[k].kind == FATBIN_ELF) {
				elf += l.code[k].arch;
				assert_memory_equal(copy, "\177ELF", 4);
				/* nvcc leaves alone what it cannot make smaller. */
				if (row[i].elf != FATBIN_PLAIN)
					assert_int_equal(l.code[k].compression, row[i].elf);
			} else {
				ptx += l.code[k].arch;
				assert_contains(copy, ".entry writes_variable");
				assert_int_equal(l.code[k].compression, row[i].ptx);
			}
			free(copy);
		}
		assert_int_equal(elf, 80 + 90);
		assert_int_equal(ptx, 75);
		free(image);
	}
}

static void picks(void **state)
{
	static const struct {
		unsigned cc, arch;
		enum fatbin_kind kind;
	} row[] = {{80, 80, FATBIN_ELF}, {86, 80, FATBIN_ELF}, {89, 80, FATBIN_ELF},
		   {90, 90, FATBIN_ELF}, {75, 75, FATBIN_PTX}, {100, 75, FATBIN_PTX},
		   {120, 75, FATBIN_PTX}};
	struct fatbin_code c;
	size_t bytes;
	char *image = image_file("purity-default.fatbin", &bytes);

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		assert_true(fatbin_pick(image, bytes, row[i].cc, &c));
		assert_int_equal(c.arch, row[i].arch);
		assert_int_equal(c.kind, row[i].kind);
	}
	assert_false(fatbin_pick(image, bytes, 70, &c));
	free(image);
	/* A bare cubin and bare PTX do not say; the driver has taken them, so they fit. */
	image = image_file("purity-sm90.cubin", &bytes);
	assert_true(fatbin_pick(image, bytes, 90, &c));
	assert_int_equal(c.kind, FATBIN_ELF);
	free(image);
	image = image_file("purity-sm90.ptx", &bytes);
	assert_true(fatbin_pick(image, bytes, 90, &c));
	assert_int_equal(c.kind, FATBIN_PTX);
	free(image);
}

/* Code for one arch or family runs nowhere else, though it is of the same major number. */
static void variants(void **state)
{
	static const struct {
		unsigned cc, arch; /* 0: none */
		enum fatbin_kind kind;
	} row[] = {{80, 0, FATBIN_OTHER},  {90, 90, FATBIN_ELF},   {100, 0, FATBIN_OTHER},
		   {103, 103, FATBIN_ELF}, {107, 103, FATBIN_ELF}, {110, 0, FATBIN_OTHER}};
	uint64_t image[2 + 3 * 9] = {0x0010000100000000ull | 0xba55ed50, 3 * 72};
	static const uint32_t entry[3][3] = {
		{2, 90, 0x100000}, {2, 103, 0x200000}, {1, 90, 0x100000}};
	struct fatbin_code c;

	for (unsigned i = 0; i < 3; i++) { /* 64 bytes of header, 8 of code */
		uint64_t *e = image + 2 + 9 * i;

		e[0] = 64ull << 32 | 0x101 << 16 | entry[i][0];
		e[1] = 8;
		e[3] = (uint64_t)entry[i][1] << 32;
		e[5] = entry[i][2];
	}
	memset(&c, 0, sizeof(c));
	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		assert_int_equal(fatbin_pick(image, sizeof(image), row[i].cc, &c),
				 row[i].arch != 0);
		if (!row[i].arch)
			continue;
		assert_int_equal(c.arch, row[i].arch);
		assert_int_equal(c.kind, row[i].kind);
	}
}

static int copy_all(void *arg, const struct fatbin_code *code)
{
	free(fatbin_copy(code));
	return 0;
}

static void damaged(void **state)
{
	static const char *const name[] = {"purity-size.fatbin", "purity-speed.fatbin"};
	uint64_t seed = 1;

	assert_int_equal(fatbin_each("", 0, copy_all, NULL), -1);
	assert_int_equal(fatbin_each("just some text of no meaning", 28, copy_all, NULL), -1);
	for (unsigned k = 0; k < 2; k++) {
		size_t bytes;
		char *image = image_file(name[k], &bytes);

		for (size_t len = 0; len < 200; len++)
			assert_int_not_equal(fatbin_each(image, len, copy_all, NULL), 0);
		for (unsigned i = 0; i < 4000; i++) {
			size_t at;
			char keep;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			at = (size_t)(seed >> 20) % (i % 2 ? 128 : bytes);
			keep = image[at];
			image[at] = (char)(seed >> 56);
			fatbin_each(image, bytes, copy_all, NULL);
			image[at] = keep;
		}
		free(image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces),
		cmocka_unit_test(picks),
		cmocka_unit_test(variants),
		cmocka_unit_test(damaged),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
