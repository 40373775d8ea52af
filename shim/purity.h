/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Purity: can what a kernel does be judged by its operands alone? Read from its code, before it
 * runs: variables of the module, user constants, textures and surfaces, calls out of the module
 * (printf, assert, malloc), calls through pointers, and atomics, whose order is anybody's guess.
 */
#ifndef AF_SHIM_PURITY_H
#define AF_SHIM_PURITY_H

#include <stddef.h>
#include <stdint.h>
#include "matcher/reason.h"
#include "fused/fatbin.h"

struct purity {
	/* NONE; NOT_PURE; NOT_DETERMINISTIC (atomics on floating-point numbers, or compare-and-swap
	 * loops, which is what those become); NO_VERDICT (its code was not found or not
	 * understood). */
	enum reason why;
	char detail[128]; /* "uses the module variable calls" */
};

/* kernel: mangled name. cc: compute capability * 10 of the device. */
void purity_check(const void *image, size_t bytes, unsigned cc, const char *kernel,
		  struct purity *out);

/* Calls fn for every variable of the module (.global and .const, also file-local ones). */
void purity_variables(const void *image, size_t bytes, unsigned cc,
		      void (*fn)(void *arg, const char *name, size_t size), void *arg);

/* The two halves; code is what fatbin_copy gave. */
void purity_elf(void *code, size_t bytes, const char *kernel, struct purity *out);
void purity_ptx(const char *text, const char *kernel, struct purity *out);
void purity_elf_variables(void *code, size_t bytes,
			  void (*fn)(void *arg, const char *name, size_t size), void *arg);

/* Notes a finding; the first one of the gravest kind stays (variables before atomics). */
void purity_note(struct purity *p, enum reason why, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
