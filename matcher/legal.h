/* SPDX-License-Identifier: Apache-2.0 */
/* Legality on byte ranges (rules of one group, and of launches that run between its members). */
#ifndef AF_MATCHER_LEGAL_H
#define AF_MATCHER_LEGAL_H

#include "matcher/group.h"

/*
 * May `later` run before `held` although the program launched it after? True if neither writes
 * what the other touches. Otherwise *why says what conflicts, from held's side (INPUT_OVERWRITTEN,
 * OUTPUT_READ, OUTPUT_OVERWRITTEN, UNKNOWN_KERNEL if `later` is opaque), or UNPROVEN_KERNEL:
 * nothing does, but `later` is not vetted.
 */
bool legal_cross(const struct op *held, const struct op *later, enum reason *why);

/* Do the joins of pattern node `node` hold between the members so far and `op`? */
bool legal_joins(const struct pattern *p, const struct member *const *member, uint8_t node,
		 const struct op *op);

/*
 * The rules a complete group must pass that need nothing but its members: attributes, streams,
 * devices, then the pattern's bind(). Memory kinds and verdicts are asked of the policy (seq.h).
 */
enum reason legal_group(struct group *g);

/* Bytes moved by the members on their own and by what stands in for them. Broadcast operands count
 * once. */
void legal_bytes(const struct group *g, uint64_t *unfused, uint64_t *fused);
/* Kernels that stand in for the group: 1, or 2 where stores of a chain have to wait (row_split). */
unsigned legal_kernels(const struct group *g);
/* No more bytes than before; and fewer of them, or fewer launches. */
bool legal_pays(const struct group *g);

#endif
