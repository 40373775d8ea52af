// SPDX-License-Identifier: Apache-2.0
#include "config/sections.h"

#include <stdlib.h>
#include <string.h>

#include "config/inifile.h"
#include "config/options.h"

struct reading {
	struct config *c;
	const char *file;
	unsigned errors;
	struct config_kernel *kernel; /* the open section, at most one of these two, */
	char *pattern;                /* or neither: [autofuse] */
	int pattern_line;             /* where a [pattern] began that has no enable yet, or 0 */
};

static void complain(struct reading *r, int line, const char *what)
{
	log_warn("%s:%d: %s", r->file, line, what);
	r->errors++;
}

static void bad_line(void *arg, int line, const char *expected)
{
	char what[128];

	snprintf(what, sizeof(what), "expected %s", expected);
	complain(arg, line, what);
}

static bool open_kernel(struct reading *r, const char *label, int line)
{
	struct config_kernel *k = calloc(1, sizeof(*k));

	for (const struct config_kernel *o = r->c->kernel; o; o = o->next)
		if (o->file == r->file && !strcmp(o->label, label)) {
			log_warn("%s:%d: [kernel %s] stands in line %d already; this one counts",
				 r->file, line, label, o->line);
			r->errors++;
		}
	if (!k || !(k->label = strdup(label))) {
		free(k);
		return false;
	}
	k->file = r->file;
	k->line = line;
	*r->c->kernel_tail = k;
	r->c->kernel_tail = &k->next;
	r->kernel = k;
	return true;
}

static void close_section(struct reading *r)
{
	if (r->pattern && r->pattern_line)
		bad_line(r, r->pattern_line, "enable = yes or enable = no in this section");
	r->kernel = NULL;
	free(r->pattern);
	r->pattern = NULL;
}

static bool open_section(void *arg, const char *kind, const char *name, int line)
{
	struct reading *r = arg;

	close_section(r);
	if (!strcmp(kind, "autofuse") && !*name)
		return true;
	if (!strcmp(kind, "pattern") && *name) {
		r->pattern_line = line;
		return (r->pattern = strdup(name)) != NULL;
	}
	if (!strcmp(kind, "kernel") && *name)
		return open_kernel(r, name, line);
	bad_line(r, line, "[autofuse], [pattern NAME] or [kernel LABEL]");
	return false;
}

static bool option_key(struct reading *r, const char *key, const char *value, int line)
{
	char where[4200], err[512];

	snprintf(where, sizeof(where), "%s:%d", r->file, line);
	if (!config_set(r->c, key, value, "?", err, sizeof(err))) {
		if (r->c->origin)
			r->c->origin[option_find(key)] = config_keep(r->c, where);
		return true;
	}
	complain(r, line, err);
	return false;
}

static bool pattern_key(struct reading *r, const char *key, const char *value, int line)
{
	struct options o = {0};
	struct config_switch *s;
	char err[512];

	r->pattern_line = 0;
	/* A switch is spelled like the option of the same name. */
	if (strcmp(key, "enable") || option_parse(&o, OPTION_enable, value, err, sizeof(err))) {
		bad_line(r, line, "enable = yes or enable = no");
		return false;
	}
	s = calloc(1, sizeof(*s));
	if (!s || !(s->pattern = strdup(r->pattern))) {
		free(s);
		return false;
	}
	s->enable = o.enable;
	s->file = r->file;
	s->line = line;
	*r->c->pattern_tail = s;
	r->c->pattern_tail = &s->next;
	return true;
}

static bool kernel_key(struct config_kernel *k, const char *key, const char *value, int line)
{
	struct config_pair *p = realloc(k->pair, (k->npair + 1) * sizeof(*p));

	if (!p)
		return false;
	k->pair = p;
	p += k->npair;
	p->key = strdup(key);
	p->value = strdup(value);
	p->line = line;
	if (!p->key || !p->value) {
		free(p->key);
		free(p->value);
		return false;
	}
	k->npair++;
	return true;
}

static bool on_key(void *arg, const char *key, const char *value, int line)
{
	struct reading *r = arg;

	if (r->kernel)
		return kernel_key(r->kernel, key, value, line);
	if (r->pattern)
		return pattern_key(r, key, value, line);
	return option_key(r, key, value, line);
}

unsigned sections_read(struct config *c, const char *name, const char *text, size_t size)
{
	struct reading r = {.c = c, .file = config_keep(c, name)};
	const struct inifile_sink sink = {&r, open_section, on_key, bad_line};

	inifile_read(text, size, &sink);
	close_section(&r);
	c->errors += r.errors;
	return r.errors;
}

void sections_free(struct config *c)
{
	while (c->kernel) {
		struct config_kernel *k = c->kernel;

		c->kernel = k->next;
		for (unsigned i = 0; i < k->npair; i++) {
			free(k->pair[i].key);
			free(k->pair[i].value);
		}
		free(k->pair);
		free(k->label);
		free(k);
	}
	while (c->pattern) {
		struct config_switch *s = c->pattern;

		c->pattern = s->next;
		free(s->pattern);
		free(s);
	}
}
