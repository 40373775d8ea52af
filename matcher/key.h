/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key of a verdict: everything on which the evidence depends, as text. Two groups with equal
 * keys may share a verdict, whatever their addresses and, up to the proven number, rows.
 */
#ifndef AF_MATCHER_KEY_H
#define AF_MATCHER_KEY_H

#include "matcher/group.h"

struct key {
	uint64_t hash[2]; /* XXH3-128 of the text */
};

/*
 * Writes the key's text: pattern; per member image hash, mangled name, block, dynamic shared
 * memory, grid rule, parameter bytes with OPERAND and EXTENT slots, shapes and padding masked;
 * dtypes, cols, alias pattern, alignment of each base mod 32, pitches relative to dense; then
 * `machine` (architecture, driver version, build) as given. Returns the length, or -1 if it does
 * not fit.
 */
int key_text(const struct group *g, const char *machine, char *text, unsigned size);
struct key key_hash(const char *text, unsigned len);

/*
 * The site of a launch that may begin a match: the kernel's name, block, shared memory and masked
 * parameter bytes, without grid and image. What was learned of a site predicts whether its next
 * launch is worth holding.
 */
uint64_t key_site(const struct launch *l, const struct op *op);
/* The same, taken from the launch where its owner has noted it. */
static inline uint64_t key_noted(const struct launch *l, const struct op *op)
{
	return l->site ? l->site : key_site(l, op);
}

/*
 * How a grid follows the index space: "rows", "rows/K" (ceil, K rows a block), "n/block*K" (ceil, K
 * elements a thread) or the literal numbers. Written to rule (at least 48 bytes).
 */
void key_grid_rule(const struct launch *l, const struct op *op, char *rule);
/* The grid that the rule gives for op's rows and columns; false for literal numbers, which say
 * nothing of other sizes than those they were seen with. */
bool key_grid_apply(const char *rule, const struct op *op, const uint32_t block[3],
		    uint32_t grid[3]);

#endif
