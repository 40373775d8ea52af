/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/compile.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fused/fused.h"
#include "shim/cache.h"
#include "shim/cache_image.h"
#include "shim/cache_nvrtc.h"
#include "shim/nvrtc.h"
#include "shim/serve_child.h"

enum { PLACES_MAX = 32, SECONDS = 110 };

struct request {
	struct image_from from;
	struct image_label label;
	uint64_t search, limit;
	const char *cache, *option, *loaded[PLACES_MAX], *dir[PLACES_MAX];
	unsigned nloaded, ndir;
};

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

/* The compiler, found once for all requests that look for it in the same way. Found by name, it is
 * known by the file that it came from. */
static bool find(struct nvrtc *n, const struct request *r, char *why, unsigned size)
{
	static uint64_t found;
	const struct nvrtc_places p = {r->option, r->loaded, r->nloaded,
				       r->dir,    r->ndir,   r->from.driver};
	Dl_info at;

	if (n->lib && found == r->search)
		return true;
	if (n->lib)
		dlclose(n->lib);
	if (nvrtc_load(n, &p, why, size))
		return false;
	found = r->search;
	cache_nvrtc_put(r->search, n->version,
			dladdr((void *)n->Version, &at) && at.dli_fname ? at.dli_fname : n->path);
	return true;
}

static void serve(struct serve_in *in, struct nvrtc *n, int out)
{
	char why[1000] = "", line[1100];
	struct request r = {.cache = "none"};
	void *image = NULL;
	size_t bytes = 0;
	bool kept = false;
	int len;

	if (!parse(in->text, &r) || in->nfd != 1) {
		snprintf(why, sizeof(why), "the request to compile is not understood");
	} else {
		cache_open(r.cache, r.from.build);
		if (find(n, &r, why, sizeof(why)))
			image = get(&r, n, &bytes, &kept, why, sizeof(why));
	}
	for (char *c = why; *c; c++)
		if (*c == '\n')
			*c = ' ';
	if (image && hand_over(in->fd[0], image, bytes))
		len = snprintf(line, sizeof(line), "image %u %zu %s\n", n->version, bytes,
			       kept ? "kept" : "made");
	else
		len = snprintf(line, sizeof(line), "%s %s\n", n->lib ? "reason" : "none",
			       image ? "the image could not be handed over" : why);
	free(image);
	serve_write(out, line, (size_t)len);
}

int compile_child_serve(int in, int out)
{
	struct nvrtc *n = calloc(1, sizeof(*n));
	struct serve_in request = {0};
	bool more = n != NULL;

	out = serve_begin(out);
	while (more && serve_next(&request, in)) {
		alarm(SECONDS); /* the parent may be gone */
		serve(&request, n, out);
		alarm(0);
		more = request.asked < SERVE_REQUESTS;
		serve_more(out, !more);
	}
	return 0;
}
