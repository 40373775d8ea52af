// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "tools/plan.h"

static const struct {
	const char *name;
	enum plan_class class;
} row[] = {
#define CALL(name, class, why) {#name, PLAN_##class},
#include "matcher/calls.def"
#undef CALL
};

/* A row also speaks for the same call with _v2 and for a per-thread stream. */
static size_t base_length(const char *name)
{
	size_t len = strlen(name);

	if (len > 5 && (!strcmp(name + len - 5, "_ptsz") || !strcmp(name + len - 5, "_ptds")))
		len -= 5;
	if (len > 3 && name[len - 3] == '_' && name[len - 2] == 'v')
		len -= 3;
	return len;
}

static int find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (strlen(row[i].name) == len && !memcmp(row[i].name, name, len))
			return (int)i;
	return -1;
}

enum plan_class plan_class(const char *call, bool has_stream)
{
	int i = find(call, strlen(call));

	if (i < 0)
		i = find(call, base_length(call));
	if (i >= 0)
		return row[i].class;
	return has_stream ? PLAN_stream : PLAN_all;
}
