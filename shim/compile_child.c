/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/compile.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fused/fused.h"
#include "shim/cache.h"
#include "shim/cache_image.h"
#include "shim/cache_nvrtc.h"
#include "shim/nvrtc.h"

enum { REQUEST_MAX = 64 << 20, PLACES_MAX = 32, SECONDS = 110, NICE = 10 };

struct request {
	struct image_from from;
	struct image_label label;
	uint64_t search, limit;
	const char *cache, *option, *loaded[PLACES_MAX], *dir[PLACES_MAX];
	unsigned nloaded, ndir;
	int image;
};

static char *read_all(int fd)
{
	size_t have = 0, room = 1 << 16;
	char *text = malloc(room + 1), *grown;
	ssize_t n;

	while (text && (n = read(fd, text + have, room - have)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		have += (size_t)n;
		if (have == room) {
			room *= 2;
			grown = room > REQUEST_MAX ? NULL : realloc(text, room + 1);
			if (!grown) {
				free(text);
				return NULL;
			}
			text = grown;
		}
	}
	if (text)
		text[have] = '\0';
	return text;
}

/* Takes the lines apart in place. */
static bool parse(char *text, struct request *r)
{
	char *end;

	for (char *line = text; (end = strchr(line, '\n')); line = end + 1) {
		char *value = strchr(line, ' ');

		*end = '\0';
		if (!value)
			return false;
		*value++ = '\0';
		if (!strcmp(line, "cc"))
			r->from.cc = (unsigned)atoi(value);
		else if (!strcmp(line, "driver"))
			r->from.driver = (unsigned)atoi(value);
		else if (!strcmp(line, "build"))
			r->from.build = strtoull(value, NULL, 16);
		else if (!strcmp(line, "search"))
			r->search = strtoull(value, NULL, 16);
		else if (!strcmp(line, "cache"))
			r->cache = value;
		else if (!strcmp(line, "limit"))
			r->limit = strtoull(value, NULL, 10);
		else if (!strcmp(line, "name"))
			snprintf(r->label.name, sizeof(r->label.name), "%s", value);
		else if (!strcmp(line, "image"))
			r->image = atoi(value);
		else if (!strcmp(line, "option"))
			r->option = value;
		else if (!strcmp(line, "loaded") && r->nloaded < PLACES_MAX)
			r->loaded[r->nloaded++] = value;
		else if (!strcmp(line, "dir") && r->ndir < PLACES_MAX)
			r->dir[r->ndir++] = value;
		else if (!strcmp(line, "text")) {
			r->from.text = end + 1;
			r->from.len = strlen(end + 1);
			return r->from.cc && r->from.len == strtoull(value, NULL, 10);
		}
	}
	return false;
}

static int answer(int out, const char *text)
{
	size_t len = strlen(text), put = 0;
	ssize_t n;

	while (put < len && (n = write(out, text + put, len - put)) > 0)
		put += (size_t)n;
	return put == len ? 0 : 1;
}

static bool hand_over(int fd, const void *image, size_t bytes)
{
	size_t put = 0;
	ssize_t n;

	while (put < bytes &&
	       (n = pwrite(fd, (const char *)image + put, bytes - put, (off_t)put)) > 0)
		put += (size_t)n;
	return put == bytes;
}

/* The image, from another process that made it meanwhile or by the compiler. */
static void *get(struct request *r, const struct nvrtc *n, size_t *bytes, bool *kept, char *why,
		 unsigned size)
{
	struct image_key key;
	void *image;
	int lock;

	r->from.nvrtc = r->label.nvrtc = n->version;
	r->label.cc = r->from.cc;
	key = cache_image_key(&r->from);
	lock = cache_image_lock(key, SECONDS);
	image = cache_image_get(key, bytes);
	*kept = image != NULL;
	if (!image && !nvrtc_compile(n, r->from.text, r->from.cc, &image, bytes, NULL, why, size))
		cache_image_put(key, &r->label, image, *bytes, r->limit);
	cache_image_unlock(key, lock);
	return image;
}

/* What is printed while it loads or compiles is not the answer. */
static int aside(int out)
{
	int kept = dup(out);

	if (kept >= 0)
		dup2(2, out);
	return kept >= 0 ? kept : out;
}

int compile_child_main(int in, int out)
{
	char why[1000] = "", line[1100], *text;
	struct request r = {.image = -1};
	struct nvrtc *n = calloc(1, sizeof(*n));
	size_t bytes = 0;
	bool kept = false;
	void *image = NULL;
	Dl_info at;

	signal(SIGPIPE, SIG_IGN);
	alarm(SECONDS); /* the parent may be gone */
	if (nice(NICE) < 0)
		errno = 0; /* the program's own threads go first, where that can be said */
	out = aside(out);
	text = read_all(in);
	if (!text || !n || !parse(text, &r)) {
		answer(out, "reason the request to compile is not understood\n");
	} else {
		struct nvrtc_places p = {r.option, r.loaded, r.nloaded,
					 r.dir,    r.ndir,   r.from.driver};

		cache_open(r.cache ? r.cache : "none", r.from.build);
		if (!nvrtc_load(n, &p, why, sizeof(why))) {
			/* Found by name, it is known by the file that it came from. */
			cache_nvrtc_put(r.search, n->version,
					dladdr((void *)n->Version, &at) && at.dli_fname
						? at.dli_fname
						: n->path);
			image = get(&r, n, &bytes, &kept, why, sizeof(why));
		}
		for (char *c = why; *c; c++)
			if (*c == '\n')
				*c = ' ';
		if (image && hand_over(r.image, image, bytes))
			snprintf(line, sizeof(line), "image %u %zu %s\n", n->version, bytes,
				 kept ? "kept" : "made");
		else
			snprintf(line, sizeof(line), "%s %s\n", n->lib ? "reason" : "none",
				 image ? "the image could not be handed over" : why);
		answer(out, line);
	}
	free(image);
	free(text);
	free(n);
	return 0;
}
