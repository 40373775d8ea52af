/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sanitizers see what kernels do when their companion is built with them: this program runs
 * itself with libasan loaded first and the sanitized companion, once well behaved, then not.
 */
#include <sys/wait.h>
#include "tests/softgpu/test.h"

/* In the child: test_store(x, i) on an allocation of 10 floats, or test_dynamic beyond its size. */
static int child(const char *what)
{
	CUdeviceptr p;
	int index = atoi(what + 1);

	test_begin(NULL);
	if (what[0] == 'd') {
		void *params[] = {&p, &index};

		OK(cuMemAlloc(&p, 4));
		OK(cuLaunchKernel(test_function("test_dynamic"), 1, 1, 1, 64, 1, 1, 40, NULL,
				  params, NULL));
		assert_int_equal(test_int(p, 0), 42);
	} else {
		OK(cuMemAlloc(&p, 40));
		LAUNCH("test_store", 1, NULL, &p, &index);
		assert_int_equal(test_int(p, 9) == 0x3f800000, index == 9);
		if (what[0] == 'f') {
			OK(cuMemFree(p));
			LAUNCH("test_store", 1, NULL, &p, &index);
		}
		OK(cuCtxSynchronize());
	}
	return 0;
}

static char self[4096];

/* Runs the child; its output is in text, its status is returned. */
static int run(const char *what, char *text, size_t size)
{
	char command[16384];
	size_t n;
	FILE *f;

	snprintf(command, sizeof(command),
		 "ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=$(gcc -print-file-name=libasan.so) "
		 "SOFTGPU_KERNELS=%.*s/kernels.softgpu-asan.so '%s' %s 2>&1",
		 (int)(strrchr(self, '/') - self), self, self, what);
	f = popen(command, "r");
	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	text[n] = 0;
	while (fgetc(f) != EOF)
		;
	return pclose(f);
}

static void expect(const char *what, const char *words)
{
	char text[65536];
	int status = run(what, text, sizeof(text));

	if (!words) {
		if (status)
			print_error("%s\n", text);
		assert_int_equal(status, 0);
		return;
	}
	assert_int_not_equal(status, 0);
	if (!strstr(text, words))
		print_error("%s\n", text);
	assert_non_null(strstr(text, words));
}

/* Where gcc comes without its sanitizers there is nothing to test. */
static void need_runtime(void)
{
	FILE *f = popen("gcc -print-file-name=libasan.so 2>&1", "r");
	char path[4096] = "";

	assert_non_null(f);
	if (!fgets(path, sizeof(path), f))
		path[0] = 0;
	pclose(f);
	if (path[0] != '/')
		skip();
}

static void good_kernels_pass(void **state)
{
	need_runtime();
	expect("s9", NULL);
	expect("d9", NULL);
}

static void a_store_behind_an_allocation(void **state)
{
	need_runtime();
	expect("s10", "heap-buffer-overflow");
	expect("s-1", "heap-buffer-overflow");
}

static void a_store_to_freed_memory(void **state)
{
	need_runtime();
	expect("f3", "heap-use-after-free");
}

static void a_store_behind_dynamic_shared_memory(void **state)
{
	need_runtime();
	expect("d10", "use-after-poison");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_kernels_pass),
		cmocka_unit_test(a_store_behind_an_allocation),
		cmocka_unit_test(a_store_to_freed_memory),
		cmocka_unit_test(a_store_behind_dynamic_shared_memory),
	};

	if (argc > 1)
		return child(argv[1]);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	return TEST_RUN(tests, NULL);
}
