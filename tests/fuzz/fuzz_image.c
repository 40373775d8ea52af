// SPDX-License-Identifier: Apache-2.0
/* Files of compiled images, and the note of a compiler. The first byte of the input says which
 * checksums are put right, so that what stands behind them is looked at. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "shim/cache.h"
#include "shim/cache_image_file.h"
#include "shim/cache_nvrtc.h"

static char dir[] = "/tmp/autofuse-fuzz-XXXXXX", image[128], note[64];
static const struct image_key key = {{1, 2}};

static void leave(void)
{
	unlink(image);
	unlink(note);
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char name[IMAGE_NAME];

	fuzz_quiet();
	if (!mkdtemp(dir) || cache_open(dir, 1))
		abort();
	image_file_name(name, key, "");
	snprintf(image, sizeof(image), "%s/%.90s", dir, name);
	snprintf(note, sizeof(note), "%s/nvrtc-%016x", dir, 7);
	atexit(leave);
	return 0;
}

static void listed(void *arg, const struct image_entry *e)
{
	fprintf(fuzz_sink(), "%s %s %u", e->file, e->label.name, e->label.cc);
}

static void write_file(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned char copy[1 << 16];
	struct image_header h;
	size_t bytes = 0;
	unsigned char how;
	int n;

	if (size < 1 || size > sizeof(copy) - 64)
		return 0;
	how = *data++;
	size--;
	memcpy(copy, data, size);
	if (size >= sizeof(h)) {
		memcpy(&h, copy, sizeof(h));
		if (how & 1) {
			memcpy(h.magic, IMAGE_MAGIC, sizeof(h.magic));
			h.key = key;
		}
		if (how & 2)
			h.bytes = size - sizeof(h);
		if (how & 4 && h.bytes == size - sizeof(h))
			image_seal(&h, copy + sizeof(h));
		else if (how & 8)
			h.own = XXH3_64bits(&h, offsetof(struct image_header, own));
		memcpy(copy, &h, sizeof(h));
	}
	write_file(image, copy, size);
	cache_image_each(listed, NULL);
	free(cache_image_get(key, &bytes));
	n = how & 16 ? snprintf((char *)copy + size, 64, "\n#%016llx\n",
				(unsigned long long)XXH3_64bits(data, size))
		     : 0;
	write_file(note, copy, size + (size_t)n);
	fprintf(fuzz_sink(), "%u", cache_nvrtc_get(7));
	return 0;
}
