/* SPDX-License-Identifier: Apache-2.0 */
/* Which of two kernels with the same arithmetic stands in for a pattern's group: as records of the
 * cache, answers of probes and reports say it, behind the candidate's name. */
#ifndef AF_SHIM_CACHE_CHOICE_H
#define AF_SHIM_CACHE_CHOICE_H

#include "fused/fused.h"

enum choice_kernel {
	CHOICE_WRITTEN,   /* by hand; nothing is said behind the name */
	CHOICE_GENERATED, /* of the candidate's row program; until it is there, the one by hand */
	CHOICE_ONLY_GENERATED, /* the one by hand is slower than the program's own */
};

struct choice {
	enum choice_kernel kernel;
	int64_t rows; /* at which that was measured */
};

enum { CHOICE_TEXT_MAX = CANDIDATE_NAME_MAX + 40 };
/* "NAME", "NAME:generated@ROWS" or "NAME:only-generated@ROWS". parse: 0 or -1. */
void choice_text(const struct candidate *c, const struct choice *by,
		 char *text /* CHOICE_TEXT_MAX */);
int choice_parse(const char *text, struct candidate *c, struct choice *by);

/* Is it the generated one that stands in with so many rows? Far from where it was measured that is
 * not known, and the one by hand is taken. */
bool choice_generated(const struct choice *by, int64_t rows);

#endif
