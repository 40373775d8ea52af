/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains in a window (matcher/seq.h): the policy's answers that concern them, and what is done with
 * those that end while all their members are held. A chain is held only where one with a verdict
 * began before, and where its kernel is loaded; so a live check of it needs no guess: its members
 * are at hand. All under the window's lock.
 */
#ifndef AF_SHIM_WINDOW_CHAIN_H
#define AF_SHIM_WINDOW_CHAIN_H

#include "shim/window_state.h"

/* Are chains looked for in programs at all? */
bool window_chains_on(void);

/* Answers of the policy. */
bool window_chain_may(void *arg, const struct launch *l, const struct op *op);
bool window_chain_join(void *arg, const struct member *last, const struct member *m);
bool window_chain_hold(struct window *w, const struct member *m, uint8_t place);
enum reason window_chain_verdict(struct window *w, struct group *g, bool all_held);

/* May launches at that site be held for the chain that was fused there last? */
bool window_chain_recall(const struct window *w, const struct site *s);

/* Sends what stands for the chains of `out`, or checks it, or sends their members. The first error
 * of the program's own launches. */
CUresult window_chains(struct window *w, const struct seq_out *out);

/* A live check of a chain: true if its members were sent (r: what the driver says of them), with
 * our kernel and the compare behind them; v is its verdict. */
bool window_chain_check(struct window *w, const struct group *g, struct verdict *v, CUresult *r);

/* Nothing comes of the group: chains end before its last member from now on. */
void window_chain_leave(const struct group *g);

#endif
