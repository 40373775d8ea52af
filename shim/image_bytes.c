/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/image_bytes.h"

#include <elf.h>
#include <string.h>

#include "matcher/sig.h"

/* Layouts observed in programs built by nvcc 11 to 13. */
struct fatbin_wrapper {
	uint32_t magic, version;
	const void *data, *unused;
};
struct fatbin_data {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes; /* behind the header */
};
enum { WRAPPER_MAGIC = 0x466243b1, DATA_MAGIC = 0xba55ed50 - (1ll << 32) };

static uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static const Elf64_Shdr *sections(const Elf64_Ehdr *h)
{
	return (const Elf64_Shdr *)((const char *)h + h->e_shoff);
}

static uint64_t elf_bytes(const Elf64_Ehdr *h)
{
	uint64_t end = max64(h->e_shoff + (uint64_t)h->e_shnum * h->e_shentsize,
			     h->e_phoff + (uint64_t)h->e_phnum * h->e_phentsize);

	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_shentsize != sizeof(Elf64_Shdr))
		return 0;
	for (unsigned i = 0; i < h->e_shnum; i++) {
		const Elf64_Shdr *s = sections(h) + i;

		if (s->sh_type != SHT_NOBITS)
			end = max64(end, s->sh_offset + s->sh_size);
	}
	return max64(end, sizeof(*h));
}

const void *image_bytes(const void *data, uint64_t *bytes)
{
	const struct fatbin_wrapper *w = data;
	const struct fatbin_data *d = data;
	uint32_t magic;

	memcpy(&magic, data, sizeof(magic));
	if (magic == WRAPPER_MAGIC) {
		d = data = w->data;
		memcpy(&magic, data, sizeof(magic));
	}
	if (magic == (uint32_t)DATA_MAGIC)
		*bytes = d->header_bytes + d->bytes;
	else if (!memcmp(data, ELFMAG, SELFMAG))
		*bytes = elf_bytes(data);
	else if (*(const char *)data == '/' || *(const char *)data == '.' ||
		 *(const char *)data == '\n' || *(const char *)data == '\t')
		*bytes = strlen(data) + 1; /* PTX: comments, directives */
	else
		*bytes = 0;
	return *bytes ? data : NULL;
}

bool image_matters(const void *data, uint64_t bytes)
{
	const Elf64_Ehdr *h = data;

	if (!sig_count())
		return false;
	if (bytes < sizeof(*h) || memcmp(data, ELFMAG, SELFMAG))
		return true;
	for (unsigned i = 0; i < h->e_shnum; i++) {
		const Elf64_Shdr *s = sections(h) + i, *str;
		const Elf64_Sym *sym = (const void *)((const char *)data + s->sh_offset);

		if (s->sh_type != SHT_SYMTAB || s->sh_link >= h->e_shnum)
			continue;
		str = sections(h) + s->sh_link;
		for (uint64_t k = 0; k < s->sh_size / sizeof(*sym); k++)
			if (ELF64_ST_TYPE(sym[k].st_info) == STT_FUNC &&
			    sym[k].st_name < str->sh_size &&
			    sig_matches((const char *)data + str->sh_offset + sym[k].st_name))
				return true;
	}
	return false;
}
