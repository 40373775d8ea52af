/* SPDX-License-Identifier: Apache-2.0 */
#include "fused/cubin.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "fused/cubin_info.h"

enum {
	OTHER_ENTRY = 0x10,     /* st_other of a __global__ function */
	RESERVED_SHARED = 1024, /* what the system keeps of a block's, where it says so */
	RESERVED_SINCE_ARCH = 90,
};

/* A section ".nv.info.KERNEL" or ".nv.shared.KERNEL". */
struct part {
	const char *name; /* from ".nv." on */
	size_t section;
};

struct cubin {
	Elf *elf;
	Elf_Data *symbols;
	size_t nsymbol, nsection, names, strings; /* sections of section and symbol names */
	unsigned arch;
	bool linked;    /* relocatable code does not count what the system keeps */
	int *registers; /* by symbol */
	struct part *part;
	size_t npart;
	struct code_param *param;
};

unsigned cubin_arch(const void *code, size_t bytes)
{
	Elf64_Ehdr h;

	if (bytes < sizeof(h))
		return 0;
	memcpy(&h, code, sizeof(h));
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_machine != EM_CUDA)
		return 0;
	/* Where the flags hold the arch moved with CUDA 13, whose files say so. */
	return h.e_ident[EI_ABIVERSION] >= 8 ? h.e_flags >> 8 & 0xff : h.e_flags & 0xff;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct part *)a)->name, ((const struct part *)b)->name);
}

static Elf_Data *data_of(const struct cubin *c, size_t section)
{
	Elf_Data *d = elf_getdata(elf_getscn(c->elf, section), NULL);

	return d && d->d_buf ? d : NULL;
}

/* Symbols first: .nv.info speaks of them by number. */
static bool read_symbols(struct cubin *c)
{
	GElf_Shdr sh;

	for (size_t i = 1; i < c->nsection && !c->symbols; i++) {
		if (!gelf_getshdr(elf_getscn(c->elf, i), &sh) || sh.sh_type != SHT_SYMTAB)
			continue;
		c->symbols = data_of(c, i);
		c->strings = sh.sh_link;
	}
	if (!c->symbols)
		return false;
	c->nsymbol = c->symbols->d_size / gelf_fsize(c->elf, ELF_T_SYM, 1, EV_CURRENT);
	c->registers = malloc((c->nsymbol + 1) * sizeof(*c->registers));
	for (size_t i = 0; c->registers && i < c->nsymbol; i++)
		c->registers[i] = -1;
	return c->registers != NULL;
}

static bool read_sections(struct cubin *c)
{
	c->part = malloc((c->nsection + 1) * sizeof(*c->part));
	c->param = malloc(CODE_MAX_PARAMS * sizeof(*c->param));
	if (!c->part || !c->param)
		return false;
	for (size_t i = 1; i < c->nsection; i++) {
		GElf_Shdr sh;
		Elf_Data *d;
		const char *name = gelf_getshdr(elf_getscn(c->elf, i), &sh)
					   ? elf_strptr(c->elf, c->names, sh.sh_name)
					   : NULL;

		if (!name)
			continue;
		if (!strncmp(name, ".nv.info.", 9) || !strncmp(name, ".nv.shared.", 11))
			c->part[c->npart++] = (struct part){name + 4, i};
		else if (!strcmp(name, ".nv.info") && (d = data_of(c, i)))
			cubin_info_registers(d->d_buf, d->d_size, c->registers, c->nsymbol);
	}
	qsort(c->part, c->npart, sizeof(*c->part), by_name);
	return true;
}

static bool cubin_open(struct cubin *c, const void *code, size_t bytes)
{
	memset(c, 0, sizeof(*c));
	c->arch = cubin_arch(code, bytes);
	if (!c->arch)
		return false;
	c->linked = ((const Elf64_Ehdr *)code)->e_type == ET_EXEC;
	elf_version(EV_CURRENT);
	/* libelf does not write to an image it is given; its interface is older than const. */
	c->elf = elf_memory((char *)(uintptr_t)code, bytes);
	return c->elf && elf_kind(c->elf) == ELF_K_ELF && !elf_getshdrnum(c->elf, &c->nsection) &&
	       !elf_getshdrstrndx(c->elf, &c->names) && read_symbols(c) && read_sections(c);
}

static void cubin_close(struct cubin *c)
{
	free(c->registers);
	free(c->part);
	free(c->param);
	elf_end(c->elf);
}

/* The section ".nv.KIND.KERNEL"; 0 if there is none. */
static size_t part_of(const struct cubin *c, const char *kind, const char *kernel)
{
	size_t lo = 0, hi = c->npart, len = strlen(kind);

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const char *name = c->part[mid].name;
		int cmp = strncmp(kind, name, len);

		if (!cmp)
			cmp = strcmp(kernel, name + len);
		if (!cmp)
			return c->part[mid].section;
		if (cmp < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return 0;
}

static void describe(const struct cubin *c, size_t index, const GElf_Sym *sym,
		     struct code_kernel *k)
{
	size_t info = part_of(c, "info.", k->name), shared = part_of(c, "shared.", k->name);
	Elf_Data *d = info ? data_of(c, info) : NULL;
	GElf_Shdr sh;
	int n = d ? cubin_info_params(d->d_buf, d->d_size, c->param) : -1;

	k->params_known = n >= 0;
	k->nparam = n > 0 ? (uint32_t)n : 0;
	k->param = c->param;
	k->registers = c->registers[index];
	/* Before CUDA 13 the number was also in the top byte of the code section's sh_info. */
	if (k->registers < 0 && gelf_getshdr(elf_getscn(c->elf, sym->st_shndx), &sh) &&
	    sh.sh_info >> 24)
		k->registers = (int)(sh.sh_info >> 24);
	k->shared = 0;
	if (shared && gelf_getshdr(elf_getscn(c->elf, shared), &sh)) {
		k->shared = sh.sh_size < INT32_MAX ? (int)sh.sh_size : -1;
		if (c->linked && c->arch >= RESERVED_SINCE_ARCH && k->shared >= RESERVED_SHARED)
			k->shared -= RESERVED_SHARED;
	}
}

int cubin_each(const void *code, size_t bytes,
	       void (*fn)(void *arg, const struct code_kernel *kernel), void *arg)
{
	struct cubin c;
	int n = 0;
	bool ok = cubin_open(&c, code, bytes);

	for (size_t i = 1; ok && i < c.nsymbol; i++) {
		struct code_kernel k = {0};
		GElf_Sym sym;

		if (!gelf_getsym(c.symbols, (int)i, &sym) ||
		    GELF_ST_TYPE(sym.st_info) != STT_FUNC || !(sym.st_other & OTHER_ENTRY) ||
		    sym.st_shndx == SHN_UNDEF ||
		    (sym.st_shndx >= c.nsection && sym.st_shndx != SHN_XINDEX))
			continue;
		k.name = elf_strptr(c.elf, c.strings, sym.st_name);
		if (!k.name)
			continue;
		describe(&c, i, &sym, &k);
		fn(arg, &k);
		n++;
	}
	cubin_close(&c);
	return ok ? n : -1;
}
