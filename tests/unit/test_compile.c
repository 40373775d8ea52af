// SPDX-License-Identifier: Apache-2.0
/*
 * From text to image: the child process, the cache, and everything that may be missing or broken.
 * The compiler is the software GPU's. Each case is a process of its own, as a program would be.
 */
#include "unit.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include "config/log.h"
#include "fused/gen.h"
#include "shim/cache.h"
#include "shim/check.h"
#include "shim/compile.h"
#include "shim/graph.h"
#include "shim/process.h"
#include "shim/verdict.h"
#include "tests/gpu/driver.h"
#include "tests/gpu/row_make.h"

/* What the rest of the library would be. */
struct process process;
struct driver real;
static int driver_version = 13000;

static CUresult version(int *v)
{
	*v = driver_version;
	return CUDA_SUCCESS;
}
void verdict_load(void)
{
	static bool loaded;

	if (!loaded)
		cache_open(process.config.opt.cache, fused_build_id());
	loaded = true;
}
uint64_t fused_build_id(void)
{
	return 1;
}
bool guard_enter(void)
{
	return true;
}
bool check_poll(void)
{
	return false;
}
bool graph_poll(void)
{
	return false;
}

static char dir[256], build[3000], nvrtc[4000], command[4000], cache[300], log_file[300];

static int setup(void **arg)
{
	const char *from = getenv("AF_BUILD");
	ssize_t n;

	if (from) {
		snprintf(build, sizeof(build), "%s", from);
	} else {
		n = readlink("/proc/self/exe", build, sizeof(build) - 1);
		if (n <= 0)
			return -1;
		build[n] = '\0';
		for (unsigned i = 0; i < 3; i++)
			*strrchr(build, '/') = '\0';
	}
	snprintf(nvrtc, sizeof(nvrtc), "%s/softgpu/libnvrtc.so.13", build);
	snprintf(command, sizeof(command), "%s/autofuse", build);
	snprintf(dir, sizeof(dir), "%s/autofuse-compile-XXXXXX",
		 getenv("AF_TMP") ? getenv("AF_TMP") : "/tmp");
	if (!mkdtemp(dir))
		return -1;
	snprintf(cache, sizeof(cache), "%s/cache", dir);
	snprintf(log_file, sizeof(log_file), "%s/log", dir);
	setenv("SOFTGPU_NVRTC_LOG", log_file, 1);
	real.cuDriverGetVersion = version;
	process.config.opt.nvrtc = nvrtc;
	process.config.opt.probe_command = command;
	process.config.opt.cache = cache;
	process.config.opt.cache_size = 1 << 20;
	return 0;
}

static int teardown(void **arg)
{
	char rm[300];

	snprintf(rm, sizeof(rm), "rm -rf %s", dir);
	return system(rm);
}

static unsigned compilations(void)
{
	FILE *f = fopen(log_file, "r");
	unsigned n = 0;

	for (int c; f && (c = fgetc(f)) != EOF;)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

static struct {
	int done;
	enum compile_how how;
	size_t bytes;
	uint64_t hash;
	unsigned nvrtc;
	char why[600], start[16];
} got;

static void done(void *arg, const struct compile_answer *a)
{
	got.how = a->how;
	got.bytes = a->bytes;
	got.hash = a->hash;
	got.nvrtc = a->nvrtc;
	snprintf(got.why, sizeof(got.why), "%s", a->why ? a->why : "");
	memset(got.start, 0, sizeof(got.start));
	if (a->image)
		memcpy(got.start, a->image, 13);
	free(a->image);
	__atomic_store_n(&got.done, 1, __ATOMIC_RELEASE);
}

static enum compile_how ask(const char *kernel)
{
	char text[400];

	snprintf(text, sizeof(text),
		 "extern \"C\" __global__ void %s(int *p) { *p = 1; }\nSOFTGPU_KERNEL(%s)\n",
		 kernel, kernel);
	got.done = 0;
	assert_int_equal(compile_start(&(struct compile_want){
				 .name = kernel, .text = strdup(text), .cc = 90, .done = done}),
			 0);
	for (int i = 0; i < 6000 && !__atomic_load_n(&got.done, __ATOMIC_ACQUIRE); i++)
		usleep(10000);
	assert_int_equal(got.done, 1);
	return got.how;
}

/* fn in a process of its own; what it said on stderr. */
static const char *in_process(void (*fn)(void))
{
	static char said[8192];
	int status;
	char file[300];
	FILE *f;

	snprintf(file, sizeof(file), "%s/said", dir);
	fflush(NULL);
	if (!fork()) {
		if (!freopen(file, "w", stderr))
			_exit(3);
		fn();
		fflush(NULL);
		_exit(0);
	}
	wait(&status);
	memset(said, 0, sizeof(said));
	f = fopen(file, "r");
	if (f) {
		said[fread(said, 1, sizeof(said) - 1, f)] = '\0';
		fclose(f);
	}
	if (status)
		print_error("status %x: %s\n", status, said);
	assert_int_equal(status, 0);
	return said;
}

/* In the child, where cmocka cannot help. */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%d: %s (%s)\n", __LINE__, #condition, got.why);           \
			fflush(NULL);                                                              \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static unsigned lines(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += *s == '\n';
	return n;
}

static void first_run(void)
{
	EXPECT(ask("k1") == COMPILE_MADE);
	EXPECT(!strcmp(got.start, "softgpu-image") && got.bytes > 1000 && got.hash &&
	       got.nvrtc == 13000);
	EXPECT(ask("k1") == COMPILE_KEPT);
	EXPECT(ask("k2") == COMPILE_MADE);
	EXPECT(compilations() == 2);
}
static void second_run(void)
{
	process.config.opt.probe_command = (char *)"/nonexistent"; /* no child at all */
	EXPECT(ask("k1") == COMPILE_KEPT);
	EXPECT(!strcmp(got.start, "softgpu-image"));
	EXPECT(ask("k2") == COMPILE_KEPT);
	EXPECT(compilations() == 2);
}
static void made_once(void **arg)
{
	assert_string_equal(in_process(first_run), "");
	assert_string_equal(in_process(second_run), "");
}

static void no_compiler(void)
{
	process.config.opt.nvrtc = (char *)"/nonexistent/libnvrtc.so.13";
	EXPECT(ask("none1") == COMPILE_NONE);
	EXPECT(strstr(got.why,
		      "/nonexistent/libnvrtc.so.13, which AUTOFUSE_NVRTC names, cannot be loaded"));
	process.config.opt.probe_command = (char *)"/nonexistent"; /* it is not asked again */
	EXPECT(ask("none2") == COMPILE_NONE);
	EXPECT(strstr(got.why, "AUTOFUSE_NVRTC"));
}
static void something_else(void)
{
	process.config.opt.nvrtc = command; /* a program */
	EXPECT(ask("else") == COMPILE_NONE);
}
static void too_old(void)
{
	setenv("SOFTGPU_NVRTC_VERSION", "11.8", 1);
	EXPECT(ask("old") == COMPILE_NONE);
	EXPECT(strstr(got.why, "is NVRTC 11.8, neither of CUDA 12 nor of 13"));
}
static void too_new(void)
{
	driver_version = 12080;
	EXPECT(ask("new") == COMPILE_NONE);
	EXPECT(strstr(got.why, "the driver is for CUDA 12.8 at most"));
}
static void crashes(void)
{
	setenv("SOFTGPU_NVRTC_FAIL", "-1", 1);
	EXPECT(ask("crash1") == COMPILE_NONE);
	EXPECT(strstr(got.why, "died by signal"));
	unsetenv("SOFTGPU_NVRTC_FAIL"); /* another text may do */
	EXPECT(ask("crash2") == COMPILE_MADE);
}
static void refuses(void)
{
	setenv("SOFTGPU_NVRTC_FAIL", "6", 1);
	EXPECT(ask("refused1") == COMPILE_NONE);
	EXPECT(strstr(got.why, "NVRTC_ERROR_COMPILATION"));
	EXPECT(ask("refused2") == COMPILE_NONE && ask("refused3") == COMPILE_NONE);
	unsetenv("SOFTGPU_NVRTC_FAIL");
	EXPECT(ask("refused4") == COMPILE_NONE); /* that was enough */
}
static void no_command(void)
{
	process.config.opt.probe_command = (char *)"/nonexistent";
	EXPECT(ask("command") == COMPILE_NONE);
}
static void one_warning_each(void **arg)
{
	static void (*const fn[])(void) = {no_compiler, something_else, too_old,   too_new,
					   crashes,     refuses,        no_command};

	for (unsigned i = 0; i < sizeof(fn) / sizeof(*fn); i++) {
		const char *said = in_process(fn[i]);

		assert_non_null(strstr(said, "no kernel is generated: "));
		assert_int_equal(lines(said), 1);
	}
}

static void no_cache(void)
{
	process.config.opt.cache = (char *)"none";
	EXPECT(ask("kfree") == COMPILE_MADE);
	EXPECT(ask("kfree") == COMPILE_MADE);
}
static void bad_cache(void)
{
	process.config.opt.cache = (char *)"/dev/null/cache";
	EXPECT(ask("kfree") == COMPILE_MADE);
}
static void small_cache(void)
{
	process.config.opt.cache_size = 1000;
	EXPECT(ask("small") == COMPILE_MADE);
	EXPECT(ask("small") == COMPILE_MADE);
}
static void without_cache(void **arg)
{
	assert_string_equal(in_process(no_cache), "");
	assert_int_equal(lines(in_process(bad_cache)), 1);
	assert_string_equal(in_process(small_cache), "");
}

static void again(void)
{
	EXPECT(ask("k1") == COMPILE_MADE);
}
static void damaged(void **arg)
{
	char sh[700];
	const char *said;

	snprintf(sh, sizeof(sh),
		 "for f in %s/image-*; do printf x | dd of=$f bs=1 seek=500 conv=notrunc "
		 "2>/dev/null; done",
		 cache);
	assert_int_equal(system(sh), 0);
	said = in_process(again);
	assert_non_null(strstr(said, "is damaged; it is made again"));
	assert_int_equal(lines(said), 1);
}

static void *chain_image;

static void keep_image(void *arg, const struct compile_answer *a)
{
	chain_image = a->image;
	got.how = a->how;
	snprintf(got.why, sizeof(got.why), "%s", a->why ? a->why : "");
	__atomic_store_n(&got.done, 1, __ATOMIC_RELEASE);
}

/* From a row program to its numbers in memory, by the image that *how says. */
static void chain_runs(enum compile_how how)
{
	enum { N = 1003 };
	const struct fused_device d = {4, 227 << 10};
	static float in[3][N], out[3][N];
	struct gen_launch l;
	void *params[] = {l.params};
	CUdeviceptr memory;
	CUfunction f;
	static struct row r;

	row_chain(&r, DT_f32, N);
	gpu_open();
	memory = gpu_alloc(1 << 16);
	row_place(&r, memory, 0);
	for (unsigned k = 0; k < 3; k++)
		for (unsigned i = 0; i < N; i++)
			in[k][i] = (float)(i * (k + 3) % 101) / 7.0f - 5.0f;
	/* In the order of row_chain: a, b, two that are stored, c, the result. */
	GPU(cuMemcpyHtoD_v2(r.operand[0].addr, in[0], sizeof(in[0])));
	GPU(cuMemcpyHtoD_v2(r.operand[1].addr, in[1], sizeof(in[1])));
	GPU(cuMemcpyHtoD_v2(r.operand[4].addr, in[2], sizeof(in[2])));
	const uint64_t to[3] = {r.operand[2].addr, r.operand[3].addr, r.operand[5].addr};

	row_canon(&r);
	EXPECT(!gen_cannot(&r, &d));
	got.done = 0;
	EXPECT(!compile_start(&(struct compile_want){
		.name = "chain", .text = gen_text(&r, &d), .cc = 90, .done = keep_image}));
	for (int i = 0; i < 6000 && !__atomic_load_n(&got.done, __ATOMIC_ACQUIRE); i++)
		usleep(10000);
	EXPECT(got.done && got.how == how && chain_image);
	EXPECT(!gen_launch(&r, &d, &l));
	CUmodule module;
	GPU(cuModuleLoadData(&module, chain_image));
	f = gpu_function(module, l.kernel);
	GPU(cuLaunchKernel(f, l.grid[0], 1, 1, l.block[0], 1, 1, l.shmem, NULL, params, NULL));
	GPU(cuCtxSynchronize());
	for (unsigned k = 0; k < 3; k++)
		GPU(cuMemcpyDtoH_v2(out[k], to[k], sizeof(out[k])));
	for (unsigned i = 0; i < N; i++) {
		volatile float sum = in[0][i] + in[1][i], product = sum * 0.7f,
			       all = product + in[2][i];

		EXPECT(out[0][i] == sum && out[1][i] == product && out[2][i] == all);
	}
}
static void chain_made(void)
{
	chain_runs(COMPILE_MADE);
}
static void chain_kept(void)
{
	process.config.opt.probe_command = (char *)"/nonexistent"; /* no child */
	chain_runs(COMPILE_KEPT);
}
static void whole_path(void **arg)
{
	assert_string_equal(in_process(chain_made), "");
	assert_string_equal(in_process(chain_kept), "");
}

/* Two processes want the same text: one compiles. */
static void both(void)
{
	EXPECT(ask("shared") != COMPILE_NONE);
}
static void compiled_once(void **arg)
{
	unsigned before = compilations();
	int status;

	fflush(NULL);
	for (unsigned i = 0; i < 3; i++)
		if (!fork()) {
			both();
			_exit(0);
		}
	for (unsigned i = 0; i < 3; i++) {
		wait(&status);
		assert_int_equal(status, 0);
	}
	assert_int_equal(compilations(), before + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_once),     cmocka_unit_test(one_warning_each),
		cmocka_unit_test(without_cache), cmocka_unit_test(damaged),
		cmocka_unit_test(compiled_once), cmocka_unit_test(whole_path),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
