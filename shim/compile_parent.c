/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "config/log.h"
#include "fused/fused.h"
#include "shim/cache.h"
#include "shim/cache_image.h"
#include "shim/cache_nvrtc.h"
#include "shim/child.h"
#include "shim/compile.h"
#include "shim/elf.h"
#include "shim/process.h"
#include "shim/serve.h"
#include "shim/verdict.h"
#include "shim/worker.h"

enum { ANSWER_MAX = 1024, SECONDS = 120, PLACES_MAX = 16, FAILURES_MAX = 3 };

struct job {
	struct worker_job job;
	struct compile_want want;
	char name[64];
};

/* What tells the child where to look, as lines of its request. */
struct places {
	char text[PLACES_MAX * 4200];
	size_t len;
	unsigned n;
};

/* It is no use to ask any more: there is no compiler, or it failed too often. */
static char given_up[512]; /* read where `gave_up` is seen */
static bool gave_up;       /* atomic */
static unsigned failures;  /* atomic */

static __thread struct serve child; /* of this thread of the worker's */

static bool place(void *arg, const struct elf *o)
{
	static const char *const beside[] = {"libcudart.so.", "libcublas.so.", "libcublasLt.so.",
					     "libcudnn",      "libtorch_cuda", "libcupti.so."};
	bool nvrtc = !strncmp(o->soname, "libnvrtc.so.", 12), other = false;
	const char *slash = strrchr(o->path, '/');
	struct places *p = arg;
	char line[4200];
	int n;

	for (unsigned i = 0; i < sizeof(beside) / sizeof(*beside); i++)
		other |= !strncmp(o->soname, beside[i], strlen(beside[i]));
	if (!slash || p->n == PLACES_MAX || (!nvrtc && !other) || strchr(o->path, '\n'))
		return false;
	n = nvrtc ? snprintf(line, sizeof(line), "loaded %s\n", o->path)
		  : snprintf(line, sizeof(line), "dir %.*s\n", (int)(slash - o->path), o->path);
	if (n <= 0 || (size_t)n >= sizeof(line) || strstr(p->text, line))
		return false;
	memcpy(p->text + p->len, line, (size_t)n + 1);
	p->len += (size_t)n;
	p->n++;
	return false;
}

char *compile_places(void)
{
	const char *option = process.config.opt.nvrtc;
	struct places *p = calloc(1, sizeof(*p));
	char *text = NULL;

	if (!p)
		return NULL;
	elf_each(place, p);
	if (asprintf(&text, "%s%s%s%s", option && option[0] ? "option " : "", option ? option : "",
		     option && option[0] ? "\n" : "", p->text) < 0)
		text = NULL;
	free(p);
	return text;
}

/* All that decides which NVRTC is found. */
static uint64_t search_of(const struct places *p, unsigned driver)
{
	static const char *const from[] = {"LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH"};
	const char *option = process.config.opt.nvrtc;
	uint64_t h = XXH3_64bits_withSeed(p->text, p->len, driver);

	if (option)
		h = XXH3_64bits_withSeed(option, strlen(option), h);
	for (unsigned i = 0; i < sizeof(from) / sizeof(*from); i++) {
		const char *v = getenv(from[i]);

		h = XXH3_64bits_withSeed(v ? v : "", v ? strlen(v) : 0, h + 1);
	}
	return h;
}

static bool read_image(int fd, struct compile_answer *a)
{
	struct stat st;
	size_t got = 0;
	ssize_t n;

	if (fstat(fd, &st) || (size_t)st.st_size != a->bytes || !a->bytes)
		return false;
	a->image = calloc(1, a->bytes + 16);
	while (a->image && got < a->bytes &&
	       (n = pread(fd, (char *)a->image + got, a->bytes - got, (off_t)got)) > 0)
		got += (size_t)n;
	return a->image && got == a->bytes;
}

static char *request(const struct job *j, const struct places *p, uint64_t search, unsigned driver,
		     size_t *len)
{
	const char *option = process.config.opt.nvrtc, *cache = process.config.opt.cache;
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f)
		return NULL;
	fprintf(f,
		"cc %u\ndriver %u\nbuild %016" PRIx64 "\nsearch %016" PRIx64
		"\ncache %s\nlimit %" PRIu64 "\nname %s\n",
		j->want.cc, driver, fused_build_id(), search, cache ? cache : "",
		(uint64_t)process.config.opt.cache_size, j->name);
	if (option && option[0])
		fprintf(f, "option %s\n", option);
	fprintf(f, "%stext %zu\n%s", p->text, strlen(j->want.text), j->want.text);
	fclose(f);
	return text;
}

/* The child's line, or why there is none. */
static void read_answer(char *why, int status, int fd, struct compile_answer *a, bool *none)
{
	char how[8] = "";

	if (!strncmp(why, "image ", 6) &&
	    sscanf(why, "image %u %zu %7s", &a->nvrtc, &a->bytes, how) == 3 && read_image(fd, a)) {
		a->how = !strcmp(how, "kept") ? COMPILE_KEPT : COMPILE_MADE;
	} else if (!strncmp(why, "reason ", 7)) {
		memmove(why, why + 7, strlen(why + 7) + 1);
	} else if (!strncmp(why, "none ", 5)) {
		memmove(why, why + 5, strlen(why + 5) + 1);
		*none = true;
	} else {
		snprintf(why, ANSWER_MAX,
			 status == SERVE_FAILED ? "the compiler's process could not be started"
			 : status == SERVE_LATE ? "the compiler took too long"
			 : WIFSIGNALED(status)  ? "the compiler died by signal %d"
						: "the compiler ended with status %d and no image",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
}

/* By the child. why: ANSWER_MAX bytes. *none: there is nothing to compile with. */
static void make(const struct job *j, const struct places *p, uint64_t search, unsigned driver,
		 struct compile_answer *a, char *why, bool *none)
{
	int fd = (int)syscall(SYS_memfd_create, "autofuse-image", 1u /* MFD_CLOEXEC */);
	struct serve_request r = {.kind = SERVE_COMPILE, .fd = &fd, .nfd = 1, .seconds = SECONDS};
	char path[4096], *text = request(j, p, search, driver, &r.bytes);

	if (fd < 0 || !text || child_command(path, sizeof(path))) {
		snprintf(why, ANSWER_MAX,
			 "the autofuse command was not found beside libautofuse.so");
		*none = true;
	} else {
		r.text = text;
		read_answer(why, serve_ask(&child, &r, why, ANSWER_MAX), fd, a, none);
	}
	if (fd >= 0)
		close(fd);
	free(text);
}

static void rest(void)
{
	serve_end(&child);
}

struct worker worker_build = {.name = "autofuse-build",
			      .lock = PTHREAD_MUTEX_INITIALIZER,
			      .more = PTHREAD_COND_INITIALIZER,
			      .most = serve_children,
			      .rest = rest};

/* From now on nothing is asked for. */
static void give_up(const char *why)
{
	static bool once;

	if (__atomic_exchange_n(&once, true, __ATOMIC_ACQ_REL))
		return;
	snprintf(given_up, sizeof(given_up), "%s", why);
	__atomic_store_n(&gave_up, true, __ATOMIC_RELEASE);
}

static void run(struct worker_job *wj)
{
	struct job *j = (struct job *)wj;
	struct compile_answer a = {.how = COMPILE_NONE};
	char why[ANSWER_MAX] = "";
	struct places *p = calloc(1, sizeof(*p));
	bool none = false;
	int driver = 0;
	uint64_t search = 0;

	verdict_load(); /* opens the cache */
	real.cuDriverGetVersion(&driver);
	if (p) {
		elf_each(place, p);
		search = search_of(p, (unsigned)driver);
		a.nvrtc = cache_nvrtc_get(search);
	}
	if (a.nvrtc) {
		struct image_from from = {j->want.text, strlen(j->want.text), j->want.cc,
					  a.nvrtc,      (unsigned)driver,     fused_build_id()};

		a.image = cache_image_get(cache_image_key(&from), &a.bytes);
		if (a.image)
			a.how = COMPILE_KEPT;
	}
	if (!a.image && p && !__atomic_load_n(&gave_up, __ATOMIC_ACQUIRE)) {
		make(j, p, search, (unsigned)driver, &a, why, &none);
		if (a.how == COMPILE_NONE &&
		    (none || __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED) == FAILURES_MAX))
			give_up(why);
		if (a.how == COMPILE_NONE)
			log_warn_once("no kernel is generated: %s", why);
	}
	if (a.how == COMPILE_NONE) {
		free(a.image);
		a.image = NULL;
		a.why = why[0]                                        ? why
			: __atomic_load_n(&gave_up, __ATOMIC_ACQUIRE) ? given_up
								      : "out of memory";
	} else {
		a.hash = XXH3_64bits(a.image, a.bytes);
		log_debug("%s: %zu bytes of image %s, NVRTC %u.%u", j->name, a.bytes,
			  a.how == COMPILE_KEPT ? "from the cache" : "compiled", a.nvrtc / 1000,
			  a.nvrtc % 1000 / 10);
	}
	j->want.done(j->want.arg, &a);
	free(p);
	free(j->want.text);
	free(j);
}

int compile_start(const struct compile_want *w)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return -1;
	j->job.run = run;
	j->job.weight = w->weight;
	j->want = *w;
	snprintf(j->name, sizeof(j->name), "%s", w->name);
	for (char *c = j->name; *c; c++)
		if (*c == '\n')
			*c = ' ';
	if (!worker_post(&worker_build, &j->job))
		return 0;
	free(j);
	return -1;
}
