/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that a probe makes: this process is there to be thrown away, so the compiler may run in
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/log.h"
#include "shim/cache.h"
#include "shim/cache_image.h"
#include "shim/nvrtc.h"
#include "shim/probe_child_chain.h"

enum { PLACES = 32, LOCK_SECONDS = 60 };

/* Takes the lines of places apart, in place. */
static void take_places(char *text, struct nvrtc_places *to, const char **loaded, const char **dir)
{
	to->loaded = loaded;
	to->dir = dir;
	for (char *line = text, *end; line && *line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		if (!strncmp(line, "option ", 7))
			to->option = line + 7;
		else if (!strncmp(line, "loaded ", 7) && to->nloaded < PLACES)
			loaded[to->nloaded++] = line + 7;
		else if (!strncmp(line, "dir ", 4) && to->ndir < PLACES)
			dir[to->ndir++] = line + 4;
	}
}

static bool load(struct probe *p, unsigned driver)
{
	struct probe_tools *t = p->tools;
	const char *loaded[PLACES], *dir[PLACES];
	struct nvrtc_places places = {.driver = driver};
	char why[256], *text;
	bool ok;

	if (t->nvrtc)
		return true;
	t->nvrtc = calloc(1, sizeof(*t->nvrtc));
	text = strdup(t->places ? t->places : "");
	if (!t->nvrtc || !text)
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	take_places(text, &places, loaded, dir);
	ok = !nvrtc_load(t->nvrtc, &places, why, sizeof(why));
	free(text);
	return ok || probe_fail(p, REASON_NOT_COMPILED, "%.150s", why);
}

bool probe_compiler(struct probe *p)
{
	int driver = 0;

	return probe_ok(p, p->cu.cuDriverGetVersion(&driver), "cuDriverGetVersion") &&
	       load(p, (unsigned)driver);
}

bool probe_compile(struct probe *p, const char *name, const char *text, CUmodule *module)
{
	struct image_label label = {.cc = p->cc};
	struct image_from from = {.text = text, .len = strlen(text), .cc = p->cc};
	struct image_key key;
	char why[512] = "";
	void *image = NULL;
	size_t bytes = 0;
	int driver = 0, lock;
	bool ok;

	if (!probe_ok(p, p->cu.cuDriverGetVersion(&driver), "cuDriverGetVersion") ||
	    !load(p, (unsigned)driver))
		return false;
	from.driver = (unsigned)driver;
	from.build = fused_build_id();
	from.nvrtc = label.nvrtc = p->tools->nvrtc->version;
	snprintf(label.name, sizeof(label.name), "%s", name);
	key = cache_image_key(&from);
	lock = cache_image_lock(key, LOCK_SECONDS);
	image = cache_image_get(key, &bytes);
	log_debug("probe: %s: %zu bytes of image %s", name, bytes,
		  image ? "from the cache" : "to be compiled");
	if (!image &&
	    !nvrtc_compile(p->tools->nvrtc, text, p->cc, &image, &bytes, NULL, why, sizeof(why)))
		cache_image_put(key, &label, image, bytes, p->tools->image_bytes);
	cache_image_unlock(key, lock);
	if (!image) {
		why[strcspn(why, "\n")] = '\0';
		return probe_fail(p, REASON_NOT_COMPILED, "%.150s", why);
	}
	ok = probe_ok(p, p->cu.cuModuleLoadData(module, image), "loading a kernel that was made");
	free(image);
	return ok;
}
