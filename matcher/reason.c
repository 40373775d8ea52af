// SPDX-License-Identifier: Apache-2.0
#include "matcher/reason.h"

#include <string.h>

static const struct {
	const char *word, *text;
} row[REASON_COUNT] = {
#define REASON(id, word, text) {word, text},
#include "matcher/reason.def"
#undef REASON
};

const char *reason_word(enum reason r)
{
	return (unsigned)r < REASON_COUNT ? row[r].word : "?";
}

const char *reason_text(enum reason r)
{
	return (unsigned)r < REASON_COUNT ? row[r].text : "?";
}

enum reason reason_parse(const char *word)
{
	for (unsigned i = 0; i < REASON_COUNT; i++)
		if (!strcmp(word, row[i].word))
			return (enum reason)i;
	return REASON_COUNT;
}
