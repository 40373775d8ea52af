// SPDX-License-Identifier: Apache-2.0
/*
 * Puts wrong evidence into a cache of verdicts: every candidate with `FROM` in its name becomes the
 * one with `TO` instead, as if a probe had found it (usable: and live checks had passed). Live
 * checks must find out.
 * usage: cache_forge DIRECTORY FROM TO [usable]; prints how many records were forged.
 */
#include <stdio.h>
#include <string.h>

#include "fused/fused.h"
#include "shim/cache.h"

enum { RECORDS = 256 };

static struct {
	const char *from, *to;
	enum cache_kind kind;
	struct cache_record record[RECORDS];
	unsigned n;
} forge;

static void take(void *arg, const struct cache_record *r)
{
	const char *at = strstr(r->candidate, forge.from);
	struct cache_record *to = &forge.record[forge.n];
	size_t before;

	if (!at || r->kind == CACHE_REJECT || forge.n == RECORDS)
		return;
	forge.n++;
	*to = *r;
	to->kind = forge.kind;
	to->passed = 0;
	before = (size_t)(at - r->candidate);
	snprintf(to->candidate + before, sizeof(to->candidate) - before, "%s%s", forge.to,
		 at + strlen(forge.from));
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	forge.from = argv[2];
	forge.to = argv[3];
	forge.kind = argc > 4 ? CACHE_VERDICT : CACHE_PROBED;
	if (cache_open(argv[1], fused_build_id()))
		return 1;
	cache_each(take, NULL);
	for (unsigned i = 0; i < forge.n; i++)
		if (cache_put(&forge.record[i]))
			return 1;
	printf("%u\n", forge.n);
	return 0;
}
