/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates by their fields, and the space of those that could equal a group's members.
 *
 * The space is a product: any order of additions (how the sum of squares comes about) with any
 * spelling (what is done with it). A search need not walk the product: on inputs whose squares add
 * up exactly in every order only the spelling matters.
 */
#ifndef AF_FUSED_CANDIDATE_H
#define AF_FUSED_CANDIDATE_H

#include "fused/fields.h"
#include "fused/fused.h"
#include "fused/silu_mul.h"

/* Between the code and the fields. unpack: -1 if a field holds a value that candidate.def lacks. */
uint64_t candidate_pack(const struct fields *f);
int candidate_unpack(uint64_t code, struct fields *f);

/* The same for candidates of silu_mul, which have no order: their code's lowest bits are 0. */
uint64_t candidate_pack_silu(const struct silu_fields *f);
int candidate_unpack_silu(uint64_t code, struct silu_fields *f);

enum { CANDIDATE_MAX_ORDERS = 4096, CANDIDATE_MAX_SPELLINGS = 32768 };

/*
 * The orders for this group's row length and for the threads that its reducing member's block can
 * mean, most likely first; fields of the spelling are 0. Orders that are alike in whatever rows of
 * this length hold are listed once if the row is short enough to tell cheaply. At most max.
 */
unsigned candidate_orders(const struct group *g, struct candidate *out, unsigned max);
/* The spellings for this group's types, eps and row length; fields of the order are 0. */
unsigned candidate_spellings(const struct group *g, struct candidate *out, unsigned max);
/* All candidates for a group of silu_mul. */
unsigned candidate_silus(const struct group *g, struct candidate *out, unsigned max);
/* Are the products of two silu_mul candidates the same arithmetic? */
bool candidate_same_product(const struct group *g, const struct candidate *a,
			    const struct candidate *b);
bool candidate_same_silu(const struct group *g, const struct candidate *a,
			 const struct candidate *b);
/* The candidate with the order of one and the spelling (and eps) of the other. */
struct candidate candidate_join(const struct candidate *order, const struct candidate *spelling);

/* eps that the candidate means for this group, before rounding to float: the signature's, else the
 * number whose shortest decimal is the candidate's. */
double candidate_eps(const struct group *g, const struct candidate *c);

/*
 * Hash of the canonical tree of additions of the order over a row of cols elements: equal for two
 * orders exactly if they are the same arithmetic for every row (up to the order of two addends).
 * exact_squares: squares of elements have no rounding error, so fusing makes no difference.
 */
uint64_t candidate_tree(const struct fields *f, int64_t cols, bool exact_squares);

#endif
