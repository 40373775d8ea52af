/* SPDX-License-Identifier: Apache-2.0 */
/* What `autofuse scan` finds in files: pieces of device code, and the kernels in them. */
#ifndef AF_TOOLS_SCAN_H
#define AF_TOOLS_SCAN_H

#include <stdio.h>

#include "config/hash.h"
#include "fused/cubin.h"
#include "fused/fatbin.h"
#include "matcher/launch.h"

/* One piece of code: a cubin, a PTX text, or something else. */
struct scan_code {
	const char *file, *where; /* where: section, archive member, or "" */
	enum fatbin_kind kind;
	enum fatbin_compression compression;
	unsigned arch;
	char variant;
	bool relocatable; /* for a linker, not for the driver */
	bool damaged;
	uint64_t bytes, full;
	unsigned kernels;
};

/* One kernel in one target's code. */
struct scan_target {
	unsigned arch;
	char variant;
	enum fatbin_kind kind;
	int registers, shared; /* -1: not said */
};

/* A kernel, by name and parameter layout, with all its targets. Of several copies for one target,
 * the largest figures stand. */
struct scan_kernel {
	struct kernel k; /* decoded */
	bool params_known;
	uint64_t pointers; /* bit i: parameter i (below 64) is known to be a pointer */
	const char *file;  /* where it was seen first */
	struct scan_target *target;
	unsigned ntarget, copies;
	char *key;
	UT_hash_handle hh;
};

struct scan {
	bool linked_too; /* also relocatable code where there is linked code */
	struct scan_code *code;
	size_t ncode, code_room;
	struct scan_kernel *table;
	unsigned cubins, ptx, other, damaged;
	uint64_t entries; /* kernels in cubins, each target counted */
	char **text;      /* strings that live as long as this */
	size_t ntext;
	bool no_memory;
};

/* Reads one file. 0; or -1 with a sentence on stderr. A file without device code is not an error.
 * path: what to open; name: what to call it. */
int scan_file(struct scan *s, const char *path, const char *name);
/* The files that a process has mapped. 0 or -1 likewise. */
int scan_pid(struct scan *s, int pid);

/* Takes one piece; code->data holds its stored bytes (OTHER: may be NULL). where is copied. */
void scan_add(struct scan *s, const char *file, const char *where, bool relocatable,
	      const struct fatbin_code *code);
/* Notes a piece or a table of pieces that cannot be read. */
void scan_damaged(struct scan *s, const char *file, const char *where);
/* A copy of text that lives as long as s. */
const char *scan_keep(struct scan *s, const char *text);
void scan_free(struct scan *s);

/* The kernels whose mangled or readable name matches the glob (NULL: all), known ones first, then
 * by name; free the array. */
struct scan_kernel **scan_sorted(const struct scan *s, const char *glob, size_t *n);

/* "sm_90a", "compute_80"; text has 24 places. */
const char *scan_arch(enum fatbin_kind kind, unsigned arch, char variant, char *text);
/* What a decoder calls it: the label of the signature, or the decoder's name. NULL: unknown. */
const char *scan_known(const struct scan_kernel *k);

void scan_print_text(const struct scan *s, const char *what, const char *glob, FILE *f);
void scan_print_json(const struct scan *s, const char *what, const char *glob, FILE *f);
/* [kernel] sections to complete, for the kernels that no decoder knows. */
void scan_suggest(const struct scan *s, const char *what, const char *glob, FILE *f);

#endif
