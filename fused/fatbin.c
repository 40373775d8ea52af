/* SPDX-License-Identifier: Apache-2.0 */
#include "fused/fatbin.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum {
	MAGIC = 0xba55ed50,
	KIND_PTX = 1,
	KIND_ELF = 2,
	FLAG_LZ4 = 0x2000,
	FLAG_ZSTD = 0x8000,
	FLAG_ARCH = 0x100000,   /* sm_90a */
	FLAG_FAMILY = 0x200000, /* sm_100f */
	FULL_MAX =
		256 << 20, /* of one piece (the largest seen: 43 MB); what claims more is damaged */
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
_Static_assert(sizeof(struct header) == FATBIN_HEADER && sizeof(struct entry) == FATBIN_ENTRY,
	       "layout of fatbins");

bool fatbin_header(const void *p, uint64_t *bytes, uint64_t *entries)
{
	struct header h;

	memcpy(&h, p, sizeof(h));
	*bytes = h.bytes;
	*entries = h.payload;
	return h.magic == MAGIC && h.bytes >= sizeof(h);
}

bool fatbin_entry(const void *p, uint64_t room, struct fatbin_code *c, uint64_t *at, uint64_t *next)
{
	struct entry e;

	memcpy(&e, p, sizeof(e));
	if (e.bytes < sizeof(e) || e.bytes > room || e.payload > room - e.bytes)
		return false;
	*at = e.bytes;
	*next = e.bytes + e.payload;
	memset(c, 0, sizeof(*c));
	c->kind = e.kind == KIND_ELF ? FATBIN_ELF : e.kind == KIND_PTX ? FATBIN_PTX : FATBIN_OTHER;
	c->arch = e.arch;
	c->variant = e.flags & FLAG_ARCH ? 'a' : e.flags & FLAG_FAMILY ? 'f' : 0;
	c->bytes = c->full = (size_t)e.payload;
	c->compression = e.flags & FLAG_ZSTD  ? FATBIN_ZSTD
			 : e.flags & FLAG_LZ4 ? FATBIN_LZ4
					      : FATBIN_PLAIN;
	if (c->compression != FATBIN_PLAIN) {
		if (e.compressed && e.compressed <= e.payload)
			c->bytes = e.compressed;
		c->full = (size_t)e.full;
	}
	return c->full && c->full <= FULL_MAX && c->bytes <= FULL_MAX;
}

static int each_entry(const char *p, uint64_t bytes,
		      int (*fn)(void *arg, const struct fatbin_code *code), void *arg)
{
	while (bytes >= FATBIN_ENTRY) {
		struct fatbin_code c;
		uint64_t at, next;
		int ret;

		if (!fatbin_entry(p, bytes, &c, &at, &next))
			return -1;
		c.data = p + at;
		ret = c.kind == FATBIN_OTHER ? 0 : fn(arg, &c);
		if (ret)
			return ret;
		p += next;
		bytes -= next;
	}
	return 0;
}

int fatbin_each(const void *image, size_t bytes,
		int (*fn)(void *arg, const struct fatbin_code *code), void *arg)
{
	const char *p = image;
	struct fatbin_code whole = {.data = image, .bytes = bytes, .full = bytes};
	uint64_t header, entries;

	if (bytes < FATBIN_HEADER)
		return -1;
	if (fatbin_header(p, &header, &entries)) {
		if (header > bytes || entries > bytes - header)
			return -1;
		return each_entry(p + header, entries, fn, arg);
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

	if (arch > p->cc || (c->variant == 'a' && arch != p->cc) ||
	    ((c->kind == FATBIN_ELF || c->variant) && arch / 10 != p->cc / 10))
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
