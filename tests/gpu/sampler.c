/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the host time of a program's main thread goes: preloaded beside the library, it notes where
 * the thread is, up to 2,000 times per second of its processor time (the kernel may look less
 * often: each sample says how much it stands for), and writes that to SAMPLER_OUT (%p: process id)
 * at exit:
 *
 *   # object NAME PATH
 *   SECONDS US NAME OFFSET [kernel]     of CLOCK_MONOTONIC; stands for; "-" for code in no object
 *
 * SAMPLER_AFTER=SECONDS: nothing before. SAMPLER_CLOCK=wall: looks at all times, where the kernel
 * sees to processor time a few hundred times per second only; what waits is interrupted, too. When
 * there is no more room it stops. tests/gpu/sampler.py makes a table of it. A program that handles
 * SIGPROF itself takes it away from us.
 */
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { SAMPLES = 1 << 20, PERIOD_NS = 500000, OBJECTS = 1024, PARTS = 4096 };

struct sample {
	uint64_t pc, ns, cpu_ns;
};

/* A segment of code. */
struct part {
	uint64_t lo, hi, base;
	unsigned object;
};

static struct sample *sample; /* [SAMPLES] */
static unsigned nsample;
static uint64_t begin_ns;
static timer_t timer;
static pid_t process;
static char path[4096];

static char *object[OBJECTS]; /* paths */
static struct part part[PARTS];
static unsigned nobject, npart;

static uint64_t clock_ns(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void stop(void)
{
	static const struct itimerspec never;

	timer_settime(timer, 0, &never, NULL);
}

/* Only what a signal handler may do. */
static void on_tick(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	const int e = errno;
	const uint64_t ns = clock_ns(CLOCK_MONOTONIC);

	(void)sig, (void)info;
	if (nsample >= SAMPLES)
		stop();
	else if (ns >= begin_ns)
		sample[nsample++] = (struct sample){(uint64_t)uc->uc_mcontext.gregs[REG_RIP], ns,
						    clock_ns(CLOCK_THREAD_CPUTIME_ID)};
	errno = e;
}

static int add_object(struct dl_phdr_info *o, size_t size, void *arg)
{
	char self[4096];
	const char *name = o->dlpi_name;

	(void)size, (void)arg;
	if (nobject == OBJECTS)
		return 1;
	if (!name || !name[0]) {
		ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

		self[n > 0 ? n : 0] = '\0';
		name = nobject ? "linux-vdso.so.1" : self; /* the program comes first */
	}
	object[nobject] = strdup(name);
	for (unsigned i = 0; i < o->dlpi_phnum && npart < PARTS; i++) {
		const ElfW(Phdr) *h = &o->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && (h->p_flags & PF_X))
			part[npart++] = (struct part){o->dlpi_addr + h->p_vaddr,
						      o->dlpi_addr + h->p_vaddr + h->p_memsz,
						      o->dlpi_addr, nobject};
	}
	nobject++;
	return 0;
}

static const char *base_name(const char *name)
{
	const char *slash = name ? strrchr(name, '/') : NULL;

	return slash ? slash + 1 : name ? name : "-";
}

static void put(FILE *f, unsigned i)
{
	static const uint8_t call[] = {0x0f, 0x05}; /* syscall: the tick came in the kernel */
	const struct sample *s = &sample[i];
	const double us = i ? 1e-3 * (double)(s->cpu_ns - s[-1].cpu_ns) : 1e-3 * PERIOD_NS;

	fprintf(f, "%.6f %.1f ", 1e-9 * (double)s->ns, us);
	for (unsigned k = 0; k < npart; k++)
		if (s->pc >= part[k].lo && s->pc < part[k].hi) {
			const bool kernel =
				s->pc - part[k].lo >= sizeof(call) &&
				!memcmp((void *)(s->pc - sizeof(call)), call, sizeof(call));

			fprintf(f, "%s %llx%s\n", base_name(object[part[k].object]),
				(unsigned long long)(s->pc - part[k].base),
				kernel ? " kernel" : "");
			return;
		}
	fprintf(f, "- %llx\n", (unsigned long long)s->pc);
}

static void finish(void)
{
	FILE *f;

	if (getpid() != process)
		return;
	stop();
	f = fopen(path, "w");
	if (!f)
		return;
	dl_iterate_phdr(add_object, NULL);
	for (unsigned i = 0; i < nobject; i++)
		fprintf(f, "# object %s %s\n", base_name(object[i]), object[i] ? object[i] : "-");
	for (unsigned i = 0; i < nsample; i++)
		put(f, i);
	fclose(f);
}

/* SAMPLER_OUT with the process id in place of %p. */
static bool name_file(const char *out)
{
	const char *p = strstr(out, "%p");
	const int n = p ? snprintf(path, sizeof(path), "%.*s%d%s", (int)(p - out), out,
				   (int)process, p + 2)
			: snprintf(path, sizeof(path), "%s", out);

	return n > 0 && (size_t)n < sizeof(path);
}

__attribute__((constructor)) static void start(void)
{
	const struct itimerspec each = {{0, PERIOD_NS}, {0, PERIOD_NS}};
	struct sigaction a = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigevent to = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
	const char *out = getenv("SAMPLER_OUT"), *after = getenv("SAMPLER_AFTER"),
		   *clock = getenv("SAMPLER_CLOCK");
	const bool wall = clock && !strcmp(clock, "wall");

	process = getpid();
	if (!out || !out[0] || !name_file(out))
		return;
	sample = mmap(NULL, SAMPLES * sizeof(*sample), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sample == MAP_FAILED)
		return;
	begin_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(after ? 1e9 * atof(after) : 0);
	to._sigev_un._tid = (int)syscall(SYS_gettid);
	if (sigaction(SIGPROF, &a, NULL) ||
	    timer_create(wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &to, &timer))
		return;
	if (!timer_settime(timer, 0, &each, NULL))
		atexit(finish);
}
