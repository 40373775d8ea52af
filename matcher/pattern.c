// SPDX-License-Identifier: Apache-2.0
#include "matcher/pattern.h"

#include <stdio.h>
#include <string.h>

static const struct pattern *const table[PATTERN_COUNT] = {
#define PATTERN(name, symbol, help) &symbol,
#include "matcher/pattern.def"
#undef PATTERN
};

const struct pattern *pattern_get(enum pattern_id id)
{
	return (unsigned)id < PATTERN_COUNT ? table[id] : NULL;
}

enum pattern_id pattern_id(const struct pattern *p)
{
	unsigned i = 0;

	while (i < PATTERN_COUNT && table[i] != p)
		i++;
	return (enum pattern_id)i;
}

enum pattern_id pattern_parse(const char *name)
{
	unsigned i = 0;

	while (i < PATTERN_COUNT && strcmp(table[i]->name, name))
		i++;
	return (enum pattern_id)i;
}

static void check_name(void *arg, const char *name, const char *where)
{
	char names[256] = "";
	size_t len = 0;

	if (pattern_parse(name) != PATTERN_COUNT)
		return;
	for (unsigned i = 0; i < PATTERN_COUNT && len < sizeof(names); i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, " %s", table[i]->name);
	log_warn("%s: no pattern \"%s\"; there are:%s", where, name, names);
	++*(unsigned *)arg;
}

unsigned pattern_switches(const struct config *c, bool on[PATTERN_COUNT])
{
	unsigned bad = 0;

	for (unsigned i = 0; i < PATTERN_COUNT; i++)
		on[i] = config_pattern(c, table[i]->name);
	config_patterns_each(c, check_name, &bad);
	return bad;
}
