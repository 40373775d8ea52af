/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A candidate as a row program (matcher/row.h): the same arithmetic that our kernel by hand does
 * for it, from which a kernel can be generated. It is made of the group's bound slots, so it goes
 * where they go: to copies of the program's memory, to fewer rows, without a store that nobody
 * needs.
 */
#ifndef AF_FUSED_CANDIDATE_ROW_H
#define AF_FUSED_CANDIDATE_ROW_H

#include "fused/candidate.h"
#include "matcher/row.h"

/* NONE, canonical, row_check passed and every operand is a slot; or why it cannot be said. */
enum reason candidate_row(const struct group *g, const struct candidate *c, struct row *r);

/*
 * Kept for groups that look alike (row_hash of their programs is the same): making a program takes
 * some microseconds, moving one well under one.
 */
struct candidate_form {
	uint64_t look;
	struct row row;
	uint8_t slot[ROW_MAX_OPERANDS]; /* the group's slot that each operand is */
};
/* What of a group's slots its program depends on, besides the candidate, as a hash. */
uint64_t candidate_look(const struct group *g);
enum reason candidate_form(const struct group *g, const struct candidate *c,
			   struct candidate_form *f);
/* The program of a group that looks like that. */
void candidate_form_place(const struct candidate_form *f, const struct group *g, struct row *to);

#endif
