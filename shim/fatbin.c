/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/fatbin.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
	FATBIN_MAGIC = 0xba55ed50,
	FLAG_LZ4 = 0x2000,
	FLAG_ZSTD = 0x8000,
	FULL_MAX = 1 << 30, /* of one piece; what claims to be larger is damaged */
};

/* Field positions as nvcc 11 to 13 write them; the tests check them against the nvcc at hand. */
struct header {
	uint32_t magic;
	uint16_t version, bytes;
	uint64_t payload;
};

struct entry {
	uint16_t kind, version;
	uint32_t bytes; /* of this header */
	uint64_t payload;
	uint32_t compressed; /* bytes of payload that count, if compressed */
	uint32_t unknown_a[2];
	uint32_t arch;
	uint32_t unknown_b[2];
	uint64_t flags;
	uint64_t unknown_c;
	uint64_t full;
};
_Static_assert(sizeof(struct header) == 16 && sizeof(struct entry) == 64, "layout of fatbins");

static int each_entry(const char *p, size_t bytes,
		      int (*fn)(void *arg, const struct fatbin_code *code), void *arg)
{
	while (bytes >= sizeof(struct entry)) {
		struct entry e;
		struct fatbin_code c;
		int ret;

		memcpy(&e, p, sizeof(e));
		if (e.bytes < sizeof(e) || e.bytes > bytes || e.payload > bytes - e.bytes)
			return -1;
		c.kind = e.kind == FATBIN_ELF ? FATBIN_ELF : FATBIN_PTX;
		c.arch = e.arch;
		c.data = p + e.bytes;
		c.bytes = c.full = (size_t)e.payload;
		c.compression = e.flags & FLAG_ZSTD  ? FATBIN_ZSTD
				: e.flags & FLAG_LZ4 ? FATBIN_LZ4
						     : FATBIN_PLAIN;
		if (c.compression != FATBIN_PLAIN) {
			if (e.compressed && e.compressed <= e.payload)
				c.bytes = e.compressed;
			if (!e.full || e.full > FULL_MAX)
				return -1;
			c.full = (size_t)e.full;
		}
		if (e.kind == FATBIN_ELF || e.kind == FATBIN_PTX) {
			ret = fn(arg, &c);
			if (ret)
				return ret;
		}
		p += e.bytes + e.payload;
		bytes -= e.bytes + (size_t)e.payload;
	}
	return 0;
}

int fatbin_each(const void *image, size_t bytes,
		int (*fn)(void *arg, const struct fatbin_code *code), void *arg)
{
	const char *p = image;
	struct fatbin_code whole = {.data = image, .bytes = bytes, .full = bytes};
	struct header h;

	if (bytes < sizeof(h))
		return -1;
	memcpy(&h, p, sizeof(h));
	if (h.magic == FATBIN_MAGIC) {
		if (h.bytes < sizeof(h) || h.bytes > bytes || h.payload > bytes - h.bytes)
			return -1;
		return each_entry(p + h.bytes, (size_t)h.payload, fn, arg);
	}
	if (!memcmp(p, "\177ELF", 4)) {
		whole.kind = FATBIN_ELF;
		return fn(arg, &whole);
	}
	/* PTX is text; its first directive follows comments at most. */
	if (!memchr(p, '\0', bytes < 64 ? bytes : 64) && memmem(p, bytes, ".version", 8)) {
		whole.kind = FATBIN_PTX;
		return fn(arg, &whole);
	}
	return -1;
}

struct pick {
	unsigned cc;
	bool found;
	struct fatbin_code *best;
};

static int better(void *arg, const struct fatbin_code *c)
{
	struct pick *p = arg;
	unsigned arch = c->arch ? c->arch : p->cc;

	if (arch > p->cc || (c->kind == FATBIN_ELF && arch / 10 != p->cc / 10))
		return 0;
	if (!p->found || (c->kind == FATBIN_ELF && p->best->kind == FATBIN_PTX) ||
	    (c->kind == p->best->kind && arch > p->best->arch)) {
		*p->best = *c;
		p->best->arch = arch;
		p->found = true;
	}
	return 0;
}

bool fatbin_pick(const void *image, size_t bytes, unsigned cc, struct fatbin_code *out)
{
	struct pick p = {.cc = cc, .best = out};

	return !fatbin_each(image, bytes, better, &p) && p.found;
}

void *fatbin_copy(const struct fatbin_code *c)
{
	char *out = malloc(c->full + 1);
	bool ok = out != NULL;

	if (ok && c->compression == FATBIN_PLAIN)
		memcpy(out, c->data, c->bytes);
	else if (ok && c->compression == FATBIN_ZSTD)
		ok = ZSTD_decompress(out, c->full, c->data, c->bytes) == c->full;
	else if (ok)
		ok = LZ4_decompress_safe(c->data, out, (int)c->bytes, (int)c->full) == (int)c->full;
	if (!ok) {
		free(out);
		return NULL;
	}
	out[c->full] = '\0';
	return out;
}
