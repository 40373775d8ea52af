// SPDX-License-Identifier: Apache-2.0
/* The file of verdicts. Every line of the input gets the checksum it needs to be looked at, except
 * those that begin with '!'. */
#include "tests/fuzz/fuzz.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "shim/cache.h"

static char dir[] = "/tmp/autofuse-fuzz-XXXXXX", file[64];

static void leave(void)
{
	unlink(file);
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	fuzz_quiet();
	if (!mkdtemp(dir))
		abort();
	snprintf(file, sizeof(file), "%s/verdicts-%016x", dir, 1);
	atexit(leave);
	return 0;
}

static void record(void *arg, const struct cache_record *r)
{
	fprintf(fuzz_sink(), "%s %s %" PRId64, r->candidate, r->detail, r->rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;
	FILE *f;

	unlink(file);
	f = fopen(file, "w");
	if (!f)
		abort();
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl ? nl : end) - p);

		fwrite(p, 1, n, f);
		if (n && *p != '!')
			fprintf(f, "#%016" PRIx64, (uint64_t)XXH3_64bits(p, n));
		if (nl)
			fputc('\n', f);
		p += n + 1;
	}
	fclose(f);
	if (cache_open(dir, 1))
		abort();
	cache_each(record, NULL);
	return 0;
}
