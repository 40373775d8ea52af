/* SPDX-License-Identifier: Apache-2.0 */
/* Calls made to fail or to take long, and the counts that tests compare with. */
#include <sys/wait.h>
#include "tests/softgpu/test.h"

static void the_nth_call_fails(void **state)
{
	CUdeviceptr p;

	assert_int_equal(softgpu_fail("cuMemAlloc:2:2"), 0);
	OK(cuMemAlloc(&p, 16));
	OK(cuMemFree(p));
	assert_int_equal(cuMemAlloc(&p, 16), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemAlloc(&p, 16));
	OK(cuMemFree(p));
	softgpu_fail(NULL);
}

static void every_call_fails(void **state)
{
	assert_int_equal(softgpu_fail("cuCtxSynchronize:*:719,cuMemFree_v2:1:1"), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(cuCtxSynchronize(), 719);
	assert_int_equal(cuMemFree(0), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(0));
	softgpu_fail(NULL);
	OK(cuCtxSynchronize());
}

/* Also where it was found through cuGetProcAddress, and for the per-thread flavour. */
static void by_either_name(void **state)
{
	CUresult (*query)(CUstream);
	CUdriverProcAddressQueryResult status;

	OK(cuGetProcAddress_v2("cuStreamQuery", (void **)&query, 13000,
			       CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
	assert_int_equal(softgpu_fail("cuStreamQuery_ptsz:1:600"), 0);
	OK(cuStreamQuery(NULL));
	assert_int_equal(query(NULL), 600);
	OK(query(NULL));
	softgpu_fail(NULL);
	assert_int_equal(softgpu_fail("cuStreamQuery:*:600"), 0);
	assert_int_equal(cuStreamQuery(NULL), 600);
	assert_int_equal(query(NULL), 600);
	softgpu_fail(NULL);
}

static void slow_calls(void **state)
{
	double start = test_seconds();

	assert_int_equal(softgpu_slow("cuStreamQuery:50000"), 0);
	OK(cuStreamQuery(NULL));
	assert_true(test_seconds() - start >= 0.05);
	softgpu_slow(NULL);
	start = test_seconds();
	OK(cuStreamQuery(NULL));
	assert_true(test_seconds() - start < 0.05);
}

static void bad_rules(void **state)
{
	const char *rules[] = {"cuNoSuchThing:1:1", "cuInit",      "cuInit:1", "cuInit:0:1",
			       "cuInit:x:1",        "cuInit:1:-3", ":1:1",     "cuInit:1:2:3"};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		assert_int_equal(softgpu_fail(rules[i]), -1);
	assert_int_equal(softgpu_slow("cuInit:1:1"), -1);
}

static void counts(void **state)
{
	CUgraph g;
	CUgraphExec x;
	CUstream s;
	char path[] = "/tmp/softgpu-report-XXXXXX", text[4096];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	softgpu_reset_counts();
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < 3; i++)
		LAUNCH("test_nothing", 1, s, NULL);
	OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	LAUNCH("test_nothing", 1, s, NULL);
	LAUNCH("test_nothing", 1, s, NULL);
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphInstantiate(&x, g, 0));
	OK(cuGraphLaunch(x, s));
	OK(cuStreamSynchronize(s));
	assert_int_equal(softgpu_calls("cuLaunchKernel"), 5);
	assert_int_equal(softgpu_calls("cuGraphLaunch"), 1);
	assert_int_equal(softgpu_launches("test_nothing"), 5); /* 3 and the graph's 2 */
	assert_int_equal(softgpu_launches(NULL), 5);
	assert_int_equal(softgpu_launches("test_mark"), 0);
	assert_int_equal(softgpu_report(path), 0);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = 0;
	assert_non_null(strstr(text, "kernel test_nothing 5\n"));
	assert_non_null(strstr(text, "call cuLaunchKernel 5\n"));
	close(fd);
	unlink(path);
	OK(cuGraphExecDestroy(x));
	OK(cuGraphDestroy(g));
	OK(cuStreamDestroy(s));
}

/* Runs this program with an environment; answers what its cuInit did, and its output. */
static int in_environment(const char *environment, char *text, size_t size)
{
	char self[4096], command[8192];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	FILE *f;

	assert_true(n > 0);
	self[n] = 0;
	snprintf(command, sizeof(command), "%s '%s' child 2>&1", environment, self);
	f = popen(command, "r");
	assert_non_null(f);
	n = (ssize_t)fread(text, 1, size - 1, f);
	text[n] = 0;
	return WEXITSTATUS(pclose(f));
}

static void by_environment(void **state)
{
	char text[8192];
	double start;

	assert_int_equal(in_environment("", text, sizeof(text)), 0);
	assert_int_equal(in_environment("SOFTGPU_FAIL=cuInit:1:100", text, sizeof(text)), 100);
	assert_int_equal(in_environment("SOFTGPU_FAIL=cuInit:2:100", text, sizeof(text)), 0);
	assert_int_equal(in_environment("SOFTGPU_FAIL=nonsense", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "bad rule"));
	assert_int_equal(in_environment("SOFTGPU_DEVICES=0", text, sizeof(text)),
			 CUDA_ERROR_NO_DEVICE);
	assert_int_equal(in_environment("SOFTGPU_REPORT=/dev/stdout", text, sizeof(text)), 0);
	assert_non_null(strstr(text, "call cuInit 1\n"));
	assert_non_null(strstr(text, "graphs 0\n"));
	start = test_seconds();
	assert_int_equal(in_environment("SOFTGPU_SLOW=cuInit:100000", text, sizeof(text)), 0);
	assert_true(test_seconds() - start >= 0.1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nth_call_fails), cmocka_unit_test(every_call_fails),
		cmocka_unit_test(by_either_name),     cmocka_unit_test(slow_calls),
		cmocka_unit_test(bad_rules),          cmocka_unit_test(counts),
		cmocka_unit_test(by_environment),
	};

	if (argc > 1)
		return (int)cuInit(0);
	return TEST_RUN(tests, test_begin);
}
