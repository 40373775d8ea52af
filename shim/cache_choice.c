// SPDX-License-Identifier: Apache-2.0
#include "shim/cache_choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NEAR = 8 }; /* times as many rows, or as few, are much the same */

static const char *const word[] = {[CHOICE_WRITTEN] = "",
				   [CHOICE_GENERATED] = "generated",
				   [CHOICE_ONLY_GENERATED] = "only-generated"};

void choice_text(const struct candidate *c, const struct choice *by, char *text)
{
	size_t len;

	candidate_name(c, text);
	len = strlen(text);
	if (by->kernel != CHOICE_WRITTEN)
		snprintf(text + len, CHOICE_TEXT_MAX - len, ":%s@%" PRId64, word[by->kernel],
			 by->rows);
}

int choice_parse(const char *text, struct candidate *c, struct choice *by)
{
	const char *colon = strchr(text, ':');
	char name[CANDIDATE_NAME_MAX], kernel[16], rest;
	size_t len = colon ? (size_t)(colon - text) : strlen(text);

	*by = (struct choice){CHOICE_WRITTEN, 0};
	if (len >= sizeof(name))
		return -1;
	snprintf(name, sizeof(name), "%.*s", (int)len, text);
	if (candidate_parse(name, c))
		return -1;
	if (!colon)
		return 0;
	if (sscanf(colon + 1, "%15[a-z-]@%" SCNd64 "%c", kernel, &by->rows, &rest) != 2 ||
	    by->rows < 1)
		return -1;
	for (by->kernel = CHOICE_GENERATED; by->kernel <= CHOICE_ONLY_GENERATED; by->kernel++)
		if (!strcmp(kernel, word[by->kernel]))
			return 0;
	return -1;
}

bool choice_generated(const struct choice *by, int64_t rows)
{
	if (by->kernel == CHOICE_ONLY_GENERATED)
		return true;
	return by->kernel == CHOICE_GENERATED && rows / NEAR <= by->rows && by->rows / NEAR <= rows;
}
