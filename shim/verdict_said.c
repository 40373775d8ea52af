/* SPDX-License-Identifier: Apache-2.0 */
/* A verdict's candidate as text, for caches and people. Declared in verdict.h. */
#include <stdio.h>
#include <string.h>

#include "matcher/row_pick.h"
#include "shim/verdict.h"

void verdict_said(const struct verdict *v, char *text)
{
	size_t len = 0;

	if (!v->chain) {
		choice_text(&v->candidate, &v->choice, text);
		return;
	}
	*text = '\0';
	for (unsigned i = 0; i < v->nmember; i++) {
		char name[ROW_PICK_NAME_MAX];
		struct row_pick p;

		if (row_pick_unpack(v->pick[i], &p))
			continue;
		row_pick_name(&p, name);
		len += (size_t)snprintf(text + len, CACHE_CANDIDATE_MAX - len, "%s%s", i ? "+" : "",
					name);
	}
}

static int parse_picks(struct verdict *v, const char *text)
{
	uint64_t pick[GROUP_MAX_MEMBERS];
	unsigned n = 0;

	for (const char *at = text;; at++) {
		size_t len = strcspn(at, "+");
		char name[ROW_PICK_NAME_MAX];
		struct row_pick p;

		if (!len || len >= sizeof(name) || n == v->nmember)
			return -1;
		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		if (row_pick_parse(name, &p))
			return -1;
		pick[n++] = row_pick_pack(&p);
		at += len;
		if (!*at)
			break;
	}
	if (n != v->nmember)
		return -1;
	memcpy(v->pick, pick, n * sizeof(*pick));
	v->as_planned = !memcmp(v->pick, v->planned, n * sizeof(*pick));
	return 0;
}

int verdict_parse(struct verdict *v, const char *text)
{
	struct candidate c;
	struct choice by;

	if (v->chain)
		return parse_picks(v, text);
	if (choice_parse(text, &c, &by))
		return -1;
	v->candidate = c;
	v->choice = by;
	return 0;
}
