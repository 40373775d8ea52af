/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorded pass of a PyTorch program, again and again, on the software GPU. The kernels are known
 * by the names, layouts and bytes of the recording only: each does what the decoders say of its
 * launch, one member's row program at a time; of what is no such program it writes numbers that
 * depend on all that it reads. Bytes of the parameters that no decoder looks at are other ones in
 * every launch, as the stack leaves them in the padding of the structs that PyTorch passes.
 *
 * usage: eager RECORDING FIRST END [PASSES [WARM]]     launches FIRST to END-1 of the recording
 * EAGER_IDLE=1: after these the kernels do nothing. EAGER_MIX=SEED: passes are cut short, leave out
 * launches and wait for the GPU, by numbers drawn from the seed. EAGER_COLD=1: before each launch
 * the caches forget, as they do while Python runs. EAGER_THINK=NS: and so long it runs.
 * Prints a hash of what was written; on stderr ns of the calling thread per launch, of the passes
 * after the first WARM.
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <time.h>
#include <unistd.h>

#include "matcher/decode.h"
#include "tests/apps/eager_memory.h"
#include "tests/apps/eager_work.h"
#include "tests/softgpu/softgpu.h"
#include "tools/trace.h"

enum { STEPS = 16384, PASSES = 20, SHMEM_PLAIN = 48 << 10, PAUSE_US = 100000, MIX_EACH = 300 };

enum what { LAUNCH, DEVICE, STATE, CURRENT, CAPTURING, SYNCHRONIZE, ATTRIBUTE };

/* What the program does, one after the other. */
struct step {
	enum what what;
	struct launch launch;
	struct op op;
	uint8_t *params;
	void **param; /* into them */
	CUfunction function;
};

static struct step step[STEPS];
static unsigned nstep, nlaunch;

static void die(const char *what)
{
	fprintf(stderr, "eager: %s\n", what);
	exit(1);
}

static uint64_t seed = 88172645463325252u, mix;
static bool cold;
static uint64_t think; /* ns before each launch */

static uint64_t draw_from(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static uint64_t draw(void)
{
	return draw_from(&seed);
}

static void add_launch(const struct launch *l)
{
	const struct kernel *k = l->kernel;
	struct step *s = &step[nstep++];

	s->what = LAUNCH;
	s->launch = *l;
	decode_launch(l, &s->op);
	s->params = malloc(k->param_bytes + 1);
	s->param = calloc(k->nparam + 1, sizeof(*s->param));
	if (!s->params || !s->param)
		die("out of memory");
	memcpy(s->params, l->params, k->param_bytes);
	s->launch.params = s->params;
	s->param[0] = s->params;
	for (unsigned i = 0; i < k->nparam; i++)
		s->param[i] = s->params + k->param[i].offset;
	nlaunch++;
}

/* Calls between launches that a decode step makes all the time. */
static void add_call(const char *name)
{
	static const struct {
		const char *name;
		enum what what;
	} row[] = {
		{"cuCtxGetDevice_v2", DEVICE},        {"cuDevicePrimaryCtxGetState", STATE},
		{"cuCtxGetCurrent", CURRENT},         {"cuStreamIsCapturing", CAPTURING},
		{"cuStreamSynchronize", SYNCHRONIZE}, {"cuCtxSynchronize_v2", SYNCHRONIZE},
		{"cuKernelSetAttribute", ATTRIBUTE},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (!strcmp(row[i].name, name))
			step[nstep++].what = row[i].what;
}

static void read_steps(const char *path, unsigned first, unsigned end)
{
	struct trace *t = trace_open(path);
	struct trace_event e;
	unsigned n = 0;

	if (!t)
		die("no recording");
	while (n < end && nstep < STEPS && trace_next(t, &e))
		if (e.kind == TRACE_LAUNCH && n++ >= first && e.launch.params)
			add_launch(&e.launch);
		else if (e.kind == TRACE_CALL && n > first)
			add_call(e.name);
	/* Not closed: the kernels are its. */
}

static void place(void)
{
	for (unsigned i = 0; i < nstep; i++)
		if (step[i].what == LAUNCH)
			memory_note(&step[i].op);
	if (!memory_make())
		die("no memory at the recorded addresses");
	for (unsigned i = 0; i < nstep; i++)
		if (step[i].what == LAUNCH)
			memory_fill(&step[i].op);
}

/* Libraries shall not lie where the recorded program had its memory. */
static void settle(char **argv)
{
	int now = personality(0xffffffff);

	if (now >= 0 && !(now & ADDR_NO_RANDOMIZE) &&
	    personality((unsigned)now | ADDR_NO_RANDOMIZE) >= 0)
		execv("/proc/self/exe", argv);
}

static void load(void)
{
	static const char image[] = "// none of it is compiled\n.version 8.0\n";
	CUmodule module;

	for (unsigned i = 0; i < nstep; i++)
		if (step[i].what == LAUNCH && work_register(&step[i].launch))
			die("too many kernels");
	if (cuModuleLoadData(&module, image))
		die("no module");
	for (unsigned i = 0; i < nstep; i++) {
		struct step *s = &step[i];

		if (s->what != LAUNCH)
			continue;
		if (cuModuleGetFunction(&s->function, module, s->launch.kernel->name))
			die("no function");
		if (s->launch.shmem > SHMEM_PLAIN &&
		    cuFuncSetAttribute(s->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				       (int)s->launch.shmem))
			die("no shared memory");
	}
}

static void litter(struct step *s)
{
	for (unsigned k = 0; k < s->op.nslot; k++) {
		const struct slot *b = &s->op.slot[k];

		for (unsigned i = 0; b->role == ROLE_NONE && i < b->bytes; i += 8) {
			uint64_t r = draw();

			memcpy(s->params + b->offset + i, &r, b->bytes - i < 8 ? b->bytes - i : 8);
		}
	}
}

/* Of the next launch's kernel, as programs do before those that want much shared memory. */
static CUresult attribute(const struct step *s)
{
	for (; s < step + nstep; s++)
		if (s->what == LAUNCH)
			return cuFuncSetAttribute(s->function,
						  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
						  (int)s->launch.shmem);
	return CUDA_SUCCESS;
}

static CUresult call(const struct step *s)
{
	CUstreamCaptureStatus status;
	unsigned flags;
	int active, device;
	CUcontext ctx;

	switch (s->what) {
	case LAUNCH:
		return cuLaunchKernel(s->function, s->launch.grid[0], s->launch.grid[1],
				      s->launch.grid[2], s->launch.block[0], s->launch.block[1],
				      s->launch.block[2], s->launch.shmem, NULL, s->param, NULL);
	case DEVICE:
		return cuCtxGetDevice(&device);
	case STATE:
		return cuDevicePrimaryCtxGetState(0, &flags, &active);
	case CURRENT:
		return cuCtxGetCurrent(&ctx);
	case CAPTURING:
		return cuStreamIsCapturing(NULL, &status);
	case SYNCHRONIZE:
		return cuStreamSynchronize(NULL);
	case ATTRIBUTE:
		return attribute(s);
	}
	return CUDA_ERROR_UNKNOWN;
}

/* A pass that is not quite like the others: what comes instead of step i, or none. */
static bool mixed(unsigned i, unsigned *end)
{
	if (!mix || draw_from(&mix) % MIX_EACH)
		return false;
	switch (draw_from(&mix) % 4) {
	case 0: /* another launch */
		i = (unsigned)(draw_from(&mix) % nstep);
		if (step[i].what == LAUNCH && call(&step[i]))
			die("another launch failed");
		return true;
	case 1: /* none */
		return true;
	case 2:
		if (cuCtxSynchronize())
			die("a kernel failed");
		return false;
	default:
		*end = i + (unsigned)(draw_from(&mix) % (nstep - i));
		return false;
	}
}

/* Reads some of a memory larger than the near caches. */
__attribute__((noinline)) static void forget(void)
{
	enum { ALL = 8 << 20, SOME = 128 << 10, LINE = 64 };
	static unsigned char *memory;
	static unsigned at;
	volatile unsigned char *from;

	if (!memory && !(memory = calloc(1, ALL)))
		die("out of memory");
	from = memory + at;
	for (unsigned i = 0; i < SOME; i += LINE)
		from[i] = (unsigned char)(from[i] + 1);
	at = (at + SOME) % ALL;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void run(void)
{
	for (unsigned i = 0, end = nstep; i < end; i++) {
		if (cold && step[i].what == LAUNCH)
			forget();
		if (think && step[i].what == LAUNCH)
			for (uint64_t start = now(); now() - start < think;)
				;
		CUresult r = mixed(i, &end) ? CUDA_SUCCESS : call(&step[i]);

		if (!r)
			continue;
		fprintf(stderr, "eager: error %d, %s\n", r,
			step[i].what == LAUNCH ? step[i].launch.kernel->name : "no launch");
		exit(1);
	}
}

/* For those who count instructions: what comes after the first passes. */
__attribute__((noinline)) void steady(void);
__attribute__((noinline)) void steady(void)
{
	run();
}

int main(int argc, char **argv)
{
	const unsigned passes = argc > 4 ? (unsigned)atoi(argv[4]) : PASSES,
		       warm = argc > 5 ? (unsigned)atoi(argv[5]) : 0;
	const bool idle = getenv("EAGER_IDLE") != NULL;
	uint64_t hash = 0, ns = 0;
	CUcontext ctx;

	settle(argv);
	if (argc < 4 || cuInit(0) || cuDevicePrimaryCtxRetain(&ctx, 0) || cuCtxSetCurrent(ctx))
		die("usage: eager RECORDING FIRST END [PASSES [WARM]]");
	cold = getenv("EAGER_COLD") != NULL;
	if (getenv("EAGER_THINK"))
		think = strtoull(getenv("EAGER_THINK"), NULL, 0);
	if (getenv("EAGER_MIX"))
		mix = strtoull(getenv("EAGER_MIX"), NULL, 0);
	read_steps(argv[1], (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
	place();
	load();
	for (unsigned p = 0; p < passes; p++) {
		uint64_t start;

		for (unsigned i = 0; i < nstep; i++)
			litter(&step[i]);
		if (p == warm)
			softgpu_idle(idle);
		memory_begin(p);
		start = now();
		if (p < warm)
			run();
		else
			steady();
		if (idle && p < warm)
			usleep(PAUSE_US); /* kernels are loaded meanwhile */
		ns += p < warm ? 0 : now() - start;
		if (cuCtxSynchronize())
			die("a kernel failed");
		if (!idle || p < warm)
			hash = memory_hash(hash);
	}
	printf("%016llx\n", (unsigned long long)hash);
	fprintf(stderr, "%u launches, %u other calls a pass; %.0f ns a launch\n", nlaunch,
		nstep - nlaunch, (double)ns / (passes - warm) / nlaunch);
	return 0;
}
