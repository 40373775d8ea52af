// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <stdlib.h>
#include <string.h>

#include "config/inifile.h"
#include "config/options.h"

/* What is to come back from a line. */
struct wanted {
	const char *key, *value;
	bool same;
};

static bool any_section(void *arg, const char *kind, const char *name, int line)
{
	return true;
}

static bool is_wanted(void *arg, const char *key, const char *value, int line)
{
	struct wanted *w = arg;

	w->same = line == 2 && !strcmp(key, w->key) && !strcmp(value, w->value);
	return true;
}

static void not_wanted(void *arg, int line, const char *expected)
{
	((struct wanted *)arg)->same = false;
}

/* Prints key and value on a line that reads back as them, or as a comment if no line does: a blank
 * before ';' begins a comment, there is no newline in a value, and lines have a greatest length. */
static void print_pair(FILE *f, const char *key, const char *value)
{
	static const char *const form[] = {"[-]\n%s = %s\n", "[-]\n%s=%s\n"};
	const size_t size = strlen(key) + strlen(value) + sizeof("[-]\n = \n");
	struct wanted w = {key, value, false};
	const struct inifile_sink sink = {&w, any_section, is_wanted, not_wanted};
	char *text = malloc(size);

	for (unsigned i = 0; text && i < 2 && !w.same; i++) {
		int n = snprintf(text, size, form[i], key, value);

		inifile_read(text, (size_t)n, &sink);
	}
	if (w.same) {
		fputs(text + strlen("[-]\n"), f);
	} else {
		fprintf(f, "; no line of a file can say this value: %s = ", key);
		for (; *value; value++)
			putc((unsigned char)*value < ' ' ? '?' : *value, f);
		putc('\n', f);
	}
	free(text);
}

void config_print(const struct config *c, FILE *f)
{
	char buf[64];

	fprintf(f, "[autofuse]\n");
	for (int i = 0; i < OPTION_COUNT; i++) {
		fprintf(f, "; %s (%s)\n; origin: %s\n", option_row[i].help, option_row[i].env,
			c->origin && c->origin[i] ? c->origin[i] : "?");
		print_pair(f, option_row[i].name, option_format(&c->opt, i, buf, sizeof(buf)));
	}
	for (const struct config_switch *s = c->pattern; s; s = s->next)
		fprintf(f, "\n; origin: %s:%d\n[pattern %s]\nenable = %s\n", s->file, s->line,
			s->pattern, s->enable ? "yes" : "no");
	for (const struct config_kernel *k = c->kernel; k; k = k->next) {
		fprintf(f, "\n; origin: %s:%d\n[kernel %s]\n", k->file, k->line, k->label);
		for (unsigned i = 0; i < k->npair; i++)
			print_pair(f, k->pair[i].key, k->pair[i].value);
	}
}
