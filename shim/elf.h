/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ELF objects loaded in this process, read in place: no allocation, no dlerror state changed,
 * no lock but the loader's own. This is what the dlsym path stands on.
 */
#ifndef AF_SHIM_ELF_H
#define AF_SHIM_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct elf {
	uintptr_t base;     /* load bias */
	uintptr_t lo, hi;   /* addresses its segments span, half-open */
	const char *path;   /* as the loader names it; "" for the main program */
	const char *soname; /* "" if it has none */
	const ElfW(Phdr) * phdr;
	unsigned nphdr;
	/* Dynamic symbols; sym is NULL if there are none. */
	const ElfW(Sym) * sym;
	const char *str;
	const uint32_t *gnu_hash, *sysv_hash; /* one may be NULL */
};

/* Calls fn for every object in load order until it returns true; returns that. */
bool elf_each(bool (*fn)(void *arg, const struct elf *o), void *arg);
/* The object that holds an address. */
bool elf_at(const void *addr, struct elf *o);
/* The function defined under that name, or NULL. */
void *elf_symbol(const struct elf *o, const char *name);
/* The name under which a function is defined, or NULL. Slow. */
const char *elf_name(const struct elf *o, const void *function);

#endif
