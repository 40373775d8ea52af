// SPDX-License-Identifier: Apache-2.0
/* What is kept between runs: where, what, and away with it. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "fused/fused.h"
#include "shim/cache.h"
#include "shim/cache_dir.h"
#include "shim/cache_image.h"
#include "shim/cache_profile.h"
#include "tools/args.h"
#include "tools/commands.h"
#include "tools/utf8.h"

static const char *const kind_word[] = {[CACHE_PROBED] = "probed, live checks are due",
					[CACHE_VERDICT] = "proven",
					[CACHE_REJECT] = "not used"};

struct list {
	struct cache_record *r;
	size_t n;
};

static void collect(void *arg, const struct cache_record *r)
{
	struct list *l = arg;
	void *grown = realloc(l->r, (l->n + 1) * sizeof(*l->r));

	if (!grown)
		return;
	l->r = grown;
	l->r[l->n++] = *r;
}

static int order(const void *a, const void *b)
{
	const struct cache_record *x = a, *y = b;
	int by_text = strcmp(x->detail, y->detail);

	if (x->kind != y->kind)
		return x->kind == CACHE_VERDICT   ? -1
		       : y->kind == CACHE_VERDICT ? 1
						  : (int)x->kind - (int)y->kind;
	return by_text ? by_text : memcmp(&x->key, &y->key, sizeof(x->key));
}

/* Files of ours in the directory: verdicts of any build, markers, locks, images, the profile. fn is
 * called with each name. 0, or -1: the directory cannot be read (warned). */
static int each_file(void (*fn)(void *arg, const char *name), void *arg)
{
	int fd = dup(cache_dirfd());
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		log_warn("%s: %m", cache_dir());
		if (fd >= 0)
			close(fd);
		return -1;
	}
	rewinddir(d);
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, "verdicts-", 9) || !strncmp(e->d_name, "mark-", 5) ||
		    !strncmp(e->d_name, "probe-", 6) || cache_image_file(e->d_name) ||
		    cache_profile_file(e->d_name))
			fn(arg, e->d_name);
	closedir(d);
	return 0;
}

struct removal {
	unsigned gone, left;
};

static void remove_file(void *arg, const char *name)
{
	struct removal *r = arg;

	if (!unlinkat(cache_dirfd(), name, 0)) {
		r->gone++;
	} else if (errno != ENOENT) { /* nobody else was quicker */
		log_warn("%s/%s: %m", cache_dir(), name);
		r->left++;
	}
}

static int clear(void)
{
	struct removal r = {0};

	if (each_file(remove_file, &r))
		return EXIT_FAILED;
	printf("%u file%s removed from %s", r.gone, r.gone == 1 ? "" : "s", cache_dir());
	if (r.left)
		printf(", %u could not be", r.left);
	putchar('\n');
	return r.left ? EXIT_FAILED : 0;
}

struct others {
	char own[64]; /* this build's verdicts */
	unsigned n;
};

/* What `list` does not show otherwise. */
static void other_file(void *arg, const char *name)
{
	struct others *o = arg;

	o->n += strcmp(name, o->own) && !cache_image_file(name) && !cache_profile_file(name);
}

static void count_shape(void *arg, const struct profile_row *r)
{
	++*(unsigned *)arg;
}

static void print_text(const struct list *l, FILE *f)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct cache_record *r = &l->r[i];

		fprintf(f, "%016" PRIx64 "%016" PRIx64 "  %s\n", r->key.hash[0], r->key.hash[1],
			kind_word[r->kind]);
		if (r->kind == CACHE_REJECT)
			fprintf(f, "    %s: %s\n", reason_word(r->why), reason_text(r->why));
		else
			fprintf(f, "    up to %" PRId64 " rows, by %s\n", r->rows, r->candidate);
		if (r->detail[0] && strcmp(r->detail, "-"))
			fprintf(f, "    %s\n", r->detail);
	}
}

struct images {
	FILE *f;
	json_t *json;
	uint64_t bytes;
	unsigned n;
};

static void image(void *arg, const struct image_entry *e)
{
	struct images *all = arg;
	unsigned v = e->label.nvrtc;
	char version[24];
	json_t *one;

	all->n++;
	all->bytes += e->bytes;
	snprintf(version, sizeof(version), "%u.%u", v / 1000, v % 1000 / 10);
	if (all->f && e->damaged)
		fprintf(all->f, "%s  damaged\n", e->file + 6);
	else if (all->f)
		fprintf(all->f, "%s  compiled\n    %s for sm_%u by NVRTC %s, %" PRIu64 " bytes\n",
			e->file + 6, e->label.name, e->label.cc, version, e->bytes);
	if (!all->json)
		return;
	one = json_pack("{s:s, s:o, s:i, s:s, s:I, s:I, s:b}", "key", e->file + 6, "name",
			utf8_json(e->label.name), "cc", (int)e->label.cc, "nvrtc", version, "bytes",
			(json_int_t)e->bytes, "used", (json_int_t)e->used, "damaged", e->damaged);
	if (one)
		json_array_append_new(all->json, one);
}

static void print_json(const struct list *l, unsigned shapes, FILE *f)
{
	static const char *const word[] = {
		[CACHE_PROBED] = "probed", [CACHE_VERDICT] = "verdict", [CACHE_REJECT] = "reject"};
	json_t *list = json_array(), *all;
	struct images images = {.json = json_array()};

	for (size_t i = 0; i < l->n; i++) {
		const struct cache_record *r = &l->r[i];
		char key[33];
		json_t *one;

		snprintf(key, sizeof(key), "%016" PRIx64 "%016" PRIx64, r->key.hash[0],
			 r->key.hash[1]);
		one = json_pack("{s:s, s:s, s:s, s:I, s:s, s:o}", "key", key, "kind", word[r->kind],
				"reason", reason_word(r->why), "rows", (json_int_t)r->rows,
				"candidate", r->candidate, "detail", utf8_json(r->detail));
		if (one)
			json_array_append_new(list, one);
	}
	cache_image_each(image, &images);
	all = json_pack("{s:o, s:o, s:o, s:i}", "path", utf8_json(cache_dir()), "records", list,
			"images", images.json, "shapes_measured", (int)shapes);
	json_dumpf(all, f, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	fputc('\n', f);
	json_decref(all);
}

static int list(bool json)
{
	struct list l = {0};
	struct images images = {.f = stdout};
	struct others other = {.n = 0};
	unsigned shapes = 0;

	cache_each(collect, &l);
	if (l.n)
		qsort(l.r, l.n, sizeof(*l.r), order);
	snprintf(other.own, sizeof(other.own), "verdicts-%016" PRIx64, fused_build_id());
	cache_profile_each(count_shape, &shapes);
	if (each_file(other_file, &other)) {
		free(l.r);
		return EXIT_FAILED;
	}
	if (json) {
		print_json(&l, shapes, stdout);
	} else {
		print_text(&l, stdout);
		cache_image_each(image, &images);
		printf("%zu record%s of this build in %s", l.n, l.n == 1 ? "" : "s", cache_dir());
		if (images.n)
			printf("; %u compiled image%s of %" PRIu64 " bytes", images.n,
			       images.n == 1 ? "" : "s", images.bytes);
		if (shapes)
			printf("; times of %u shape%s in the profile", shapes,
			       shapes == 1 ? "" : "s");
		if (other.n)
			printf("; %u file%s of other builds or of processes under way", other.n,
			       other.n == 1 ? "" : "s");
		putchar('\n');
	}
	free(l.r);
	return 0;
}

static int act(const char *what, const char *dir, bool json)
{
	if (!strcmp(what, "path")) {
		puts(dir);
		return 0;
	}
	if (access(dir, F_OK)) { /* looking at it should not make it */
		if (errno != ENOENT && errno != ENOTDIR) {
			log_warn("%s: %m", dir);
			return EXIT_FAILED;
		}
		if (json)
			printf("{\"path\": null, \"records\": [], \"images\": [], "
			       "\"shapes_measured\": 0}\n");
		else
			printf("nothing is kept: %s does not exist\n", dir);
		return 0;
	}
	if (cache_open(dir, fused_build_id()))
		return EXIT_FAILED;
	return strcmp(what, "list") ? clear() : list(json);
}

int command_cache(int argc, char **argv)
{
	const char *what = NULL, *option;
	bool json = false, bad = false;
	char dir[4096];
	struct config c;
	int rc;

	for (int i = 1; i < argc && !bad;) {
		enum args_got got = args_take(argc, argv, &i);

		if (got != ARGS_OTHER) {
			bad = got == ARGS_BAD;
		} else if (!strcmp(argv[i], "--json")) {
			json = true;
			i++;
		} else {
			bad = what || (strcmp(argv[i], "list") && strcmp(argv[i], "clear") &&
				       strcmp(argv[i], "path"));
			what = argv[i++];
		}
	}
	if (bad) {
		log_warn("usage: autofuse cache [list [--json] | clear | path] [--cache=DIR]");
		return EXIT_USAGE;
	}
	config_load(&c, true);
	args_apply(&c, argc, argv);
	option = c.opt.cache;
	if (option && !strcmp(option, "none")) {
		log_warn("the option cache is \"none\": nothing is kept");
		rc = 0;
	} else if (cache_dir_resolve(option, dir, sizeof(dir))) {
		log_warn("there is no place for a cache: neither HOME nor XDG_CACHE_HOME is set");
		rc = EXIT_FAILED;
	} else {
		rc = act(what ? what : "list", dir, json);
	}
	config_free(&c);
	return rc;
}
