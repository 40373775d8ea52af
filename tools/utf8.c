// SPDX-License-Identifier: Apache-2.0
#include "tools/utf8.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

/* Bytes of the character that begins here, 0 if none does. */
static size_t character(const char *p)
{
	for (size_t n = 1; n <= 4; n++) {
		json_t *one = json_stringn(p, n);

		json_decref(one);
		if (one)
			return n;
		if (!p[n])
			break;
	}
	return 0;
}

json_t *utf8_json(const char *text)
{
	json_t *j = json_string(text ? text : "?");
	char *copy, *to;

	if (j)
		return j;
	to = copy = malloc(strlen(text) * (sizeof(REPLACEMENT) - 1) + 1);
	while (copy && *text) {
		size_t n = character(text);
		const char *from = n ? text : REPLACEMENT;
		size_t bytes = n ? n : sizeof(REPLACEMENT) - 1;

		memcpy(to, from, bytes);
		to += bytes;
		text += n ? n : 1;
	}
	if (copy)
		*to = 0;
	j = json_string(copy ? copy : "?");
	free(copy);
	return j;
}
