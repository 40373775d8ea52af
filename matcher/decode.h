/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders turn launches into ops. One row in decoders.def and one file each. */
#ifndef AF_MATCHER_DECODE_H
#define AF_MATCHER_DECODE_H

#include <stddef.h>

#include "matcher/launch.h"
#include "matcher/op.h"
#include "matcher/reason.h"

struct decoder {
	const char *name;
	/* Does this decoder know the kernel (name, parameter layout)? Returns data to hand to
	 * decode, owned by the decoder and never freed, or NULL. Thread-safe. */
	const void *(*knows)(const struct kernel *k);
	/* Fills *op from one launch of such a kernel. REASON_NONE, or why this launch is opaque
	 * after all (REASON_SHAPE: sizes and geometry contradict each other). No allocation.
	 * Thread-safe. */
	enum reason (*decode)(const void *data, const struct launch *l, struct op *op);
	/* The opcodes that decode may give, one bit each (OP_opaque need not be among them). */
	uint64_t (*ops)(const void *data);
};

/* Are kernels of known families decoded, or only those that a signature describes? To be set before
 * the first decode_kernel; true unless it is. */
extern bool decode_families;

/* Sets k->decoder, k->decoder_data, k->ops and k->family by the first decoder that knows k, or all
 * to 0. */
void decode_kernel(struct kernel *k);

/*
 * Decodes one launch. REASON_NONE, or why it is opaque: op->code is then OP_opaque without operands
 * (REASON_UNKNOWN_KERNEL: no decoder; REASON_SHAPE: the decoder found the arguments implausible).
 */
enum reason decode_launch(const struct launch *l, struct op *op);

/* Makes *op that of a launch that may touch anything. */
void op_opaque(struct op *op);

#endif
