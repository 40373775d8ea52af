/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images of generated kernels in this process, one for each row program (row_hash) and compute
 * capability: compiled or taken from the cache (compile.h) and loaded into contexts on background
 * threads. Whoever asks is told what there is and never waits.
 */
#ifndef AF_SHIM_GENERATED_H
#define AF_SHIM_GENERATED_H

#include "fused/gen.h"
#include "shim/ours.h"

enum generated_state {
	GENERATED_MAKING, /* it is being compiled, or loaded into that context */
	GENERATED_READY,
	GENERATED_FAILED, /* for good */
};

struct generated;

/*
 * The image of the program's kernels for the GPU of o; at first sight it is asked for. name: for
 * people (chain_name). NULL: out of memory, the process has as many as it may (option
 * generated_max), or no kernel can be made of the program. Lives until the process ends.
 */
struct generated *generated_get(const struct row *r, const struct ours *o, const char *name);
/* The one there is, or NULL. */
struct generated *generated_find(uint64_t row_hash, const struct ours *o);
/* In the context of o: where it is not loaded yet, that is asked for. */
enum generated_state generated_state(struct generated *i, const struct ours *o);
/* A group that it would stand in for was met: what is met most is compiled first. */
void generated_met(struct generated *i);
/* Of a FAILED one, a sentence; else "". */
const char *generated_why(const struct generated *i);

/* Is it that of this program? */
bool generated_fits(const struct generated *i, const struct row *r);

/* The launch for these addresses and sizes of a program of the same hash. False unless READY in the
 * context. */
bool generated_launch(struct generated *i, const struct row *r, const struct ours *o,
		      struct gen_launch *l, CUfunction *f);

/* The context is about to go (destroyed or reset). */
void generated_drop_context(CUcontext ctx);

#endif
