/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/elf.h"

#include <string.h>

/* glibc relocates the addresses in .dynamic in place, other loaders (and the vDSO) do not. */
static const void *dynamic_ptr(const struct elf *o, uintptr_t value)
{
	return (const void *)(value < o->lo ? value + o->base : value);
}

static void read_dynamic(struct elf *o, const ElfW(Dyn) * dyn)
{
	uintptr_t soname = 0;

	for (; dyn->d_tag != DT_NULL; dyn++) {
		switch (dyn->d_tag) {
		case DT_SYMTAB:
			o->sym = dynamic_ptr(o, dyn->d_un.d_ptr);
			break;
		case DT_STRTAB:
			o->str = dynamic_ptr(o, dyn->d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			o->gnu_hash = dynamic_ptr(o, dyn->d_un.d_ptr);
			break;
		case DT_HASH:
			o->sysv_hash = dynamic_ptr(o, dyn->d_un.d_ptr);
			break;
		case DT_SONAME:
			soname = dyn->d_un.d_val;
			break;
		}
	}
	if (!o->str)
		o->sym = NULL;
	else if (soname)
		o->soname = o->str + soname;
}

static void fill(struct elf *o, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *dyn = NULL;

	memset(o, 0, sizeof(*o));
	o->base = info->dlpi_addr;
	o->path = info->dlpi_name ? info->dlpi_name : "";
	o->soname = "";
	o->phdr = info->dlpi_phdr;
	o->nphdr = info->dlpi_phnum;
	o->lo = UINTPTR_MAX;
	for (unsigned i = 0; i < o->nphdr; i++) {
		const ElfW(Phdr) *p = &o->phdr[i];
		uintptr_t at = o->base + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC)
			dyn = (const void *)at;
		if (p->p_type != PT_LOAD)
			continue;
		o->lo = at < o->lo ? at : o->lo;
		o->hi = at + p->p_memsz > o->hi ? at + p->p_memsz : o->hi;
	}
	if (dyn)
		read_dynamic(o, dyn);
}

struct walk {
	bool (*fn)(void *arg, const struct elf *o);
	void *arg;
};

static int step(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct walk *w = arg;
	struct elf o;

	fill(&o, info);
	return w->fn(w->arg, &o);
}

bool elf_each(bool (*fn)(void *arg, const struct elf *o), void *arg)
{
	struct walk w = {fn, arg};

	return dl_iterate_phdr(step, &w) != 0;
}

struct at {
	uintptr_t addr;
	struct elf *o;
};

static bool holds(void *arg, const struct elf *o)
{
	struct at *a = arg;

	if (a->addr < o->lo || a->addr >= o->hi)
		return false;
	*a->o = *o;
	return true;
}

bool elf_at(const void *addr, struct elf *o)
{
	struct at a = {(uintptr_t)addr, o};

	return elf_each(holds, &a);
}

static void *function(const struct elf *o, const ElfW(Sym) * s)
{
	int type = s->st_info & 0xf; /* the same in both ELF classes */

	if (s->st_shndx == SHN_UNDEF || !s->st_value || (type != STT_FUNC && type != STT_NOTYPE))
		return NULL;
	return (void *)(o->base + s->st_value);
}

/* The tables of DT_GNU_HASH: a header of four words, a bloom filter, buckets, chains. */
struct gnu {
	uint32_t nbucket, first;
	const uint32_t *bucket, *chain;
};

static struct gnu gnu_tables(const uint32_t *h)
{
	struct gnu g = {.nbucket = h[0], .first = h[1]};

	g.bucket = h + 4 + h[2] * (sizeof(ElfW(Addr)) / 4);
	g.chain = g.bucket + g.nbucket;
	return g;
}

static void *gnu_lookup(const struct elf *o, const char *name)
{
	struct gnu g = gnu_tables(o->gnu_hash);
	uint32_t hash = 5381, i;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	i = g.nbucket ? g.bucket[hash % g.nbucket] : 0;
	for (; i >= g.first && i; i++) {
		uint32_t word = g.chain[i - g.first];
		void *f;

		if ((word | 1) == (hash | 1) && !strcmp(o->str + o->sym[i].st_name, name) &&
		    (f = function(o, &o->sym[i])))
			return f;
		if (word & 1)
			break;
	}
	return NULL;
}

static void *sysv_lookup(const struct elf *o, const char *name)
{
	uint32_t nbucket = o->sysv_hash[0], hash = 0;
	const uint32_t *bucket = o->sysv_hash + 2, *chain = bucket + nbucket;

	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	for (uint32_t i = nbucket ? bucket[hash % nbucket] : 0; i; i = chain[i]) {
		void *f;

		if (!strcmp(o->str + o->sym[i].st_name, name) && (f = function(o, &o->sym[i])))
			return f;
	}
	return NULL;
}

void *elf_symbol(const struct elf *o, const char *name)
{
	if (!o->sym)
		return NULL;
	return o->gnu_hash ? gnu_lookup(o, name) : o->sysv_hash ? sysv_lookup(o, name) : NULL;
}

const char *elf_name(const struct elf *o, const void *wanted)
{
	struct gnu g;

	if (!o->sym || !o->gnu_hash)
		return NULL;
	g = gnu_tables(o->gnu_hash);
	for (uint32_t b = 0; b < g.nbucket; b++)
		for (uint32_t i = g.bucket[b]; i >= g.first && i; i++) {
			if (function(o, &o->sym[i]) == wanted)
				return o->str + o->sym[i].st_name;
			if (g.chain[i - g.first] & 1)
				break;
		}
	return NULL;
}
