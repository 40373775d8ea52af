// SPDX-License-Identifier: Apache-2.0
/* Which patterns the configuration switches on and off: [pattern] sections, then the option. */
#include "config/config.h"

#include <string.h>

#include "config/options.h"

/* Walks the words of the `patterns` option: true while there is one; *on and name are its parts. */
static bool next_word(const char **p, bool *on, char *name, size_t size)
{
	size_t len;

	*p += strspn(*p, " ,\t");
	if (!**p)
		return false;
	*on = **p != '-';
	*p += **p == '-' || **p == '+';
	len = strcspn(*p, " ,\t");
	snprintf(name, size, "%.*s", (int)len, *p);
	*p += len;
	return true;
}

bool config_pattern(const struct config *c, const char *name)
{
	const char *p = c->opt.patterns ? c->opt.patterns : "";
	char word[64];
	bool on = true, v;

	for (const struct config_switch *s = c->pattern; s; s = s->next)
		if (!strcmp(s->pattern, name))
			on = s->enable;
	while (next_word(&p, &v, word, sizeof(word)))
		if (!strcmp(word, name) || !strcmp(word, "all"))
			on = v;
	return on;
}

void config_patterns_each(const struct config *c,
			  void (*fn)(void *arg, const char *name, const char *where), void *arg)
{
	const char *p = c->opt.patterns ? c->opt.patterns : "";
	char word[64], where[4200];
	bool v;

	for (const struct config_switch *s = c->pattern; s; s = s->next) {
		snprintf(where, sizeof(where), "%s:%d", s->file, s->line);
		fn(arg, s->pattern, where);
	}
	while (next_word(&p, &v, word, sizeof(word)))
		if (strcmp(word, "all"))
			fn(arg, word, c->origin ? c->origin[OPTION_patterns] : "patterns");
}
