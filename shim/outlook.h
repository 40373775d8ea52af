/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which launches are worth a look. Programs repeat themselves: a launch is known again by its
 * kernel and grid and the three kernels that its thread launched before it. Where a group begins
 * that waits for evidence, neither that launch nor the group's others are looked at, so that
 * nothing is made of parts of it, but now and then: all such looks together take no more than a
 * small part of the time. Where nothing came of the last looks at a known family's (PyTorch's)
 * kernels (no group began there, or it was refused for good), only some are looked at, ever fewer.
 * All of it is guesses, shared and racy: to pass over a launch while nothing is open means to send
 * it as the program made it.
 */
#ifndef AF_SHIM_OUTLOOK_H
#define AF_SHIM_OUTLOOK_H

#include <stdbool.h>
#include <stdint.h>

struct kernel_rec;

/* For each launch of this thread's, in order. */
void outlook_seen(const struct kernel_rec *rec);
/* Where the last one is; never 0. */
uint32_t outlook_here(uint32_t grid);
/* Both to be asked while nothing is open: is the launch to be sent on unseen? Launch number
 * `index`, there, for what begins there waits; or since nothing came of its like. */
bool outlook_waits(uint32_t here, uint64_t index);
bool outlook_pass(uint32_t here);
/* A group that began there, and ended `extent` launches later, has a future; `waits`: not yet. 0 is
 * nowhere. */
void outlook_promise(uint32_t here, uint64_t extent, bool waits);

#endif
