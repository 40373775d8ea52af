/* SPDX-License-Identifier: Apache-2.0 */
/* What a body is made of, and what gen_body*.c do for each other. Used by those only. */
#ifndef AF_FUSED_GEN_BODY_PARTS_H
#define AF_FUSED_GEN_BODY_PARTS_H

#include "fused/gen_body.h"

enum { BODY_MAX_INSTANCES = 1024 };

/* A statement's value in the columns (c ^ pair) + move. */
struct instance {
	uint8_t stmt, pair;
	int32_t move;
	int16_t arg[3]; /* instances; -1: a value of the row */
	int16_t pack;   /* of what comes from memory */
	int16_t sum[2]; /* two packs, of which it is the sum of 16-bit floats; -1 */
	bool used;
};
/* Elements of memory, or kept ones, that a chunk begins with. */
struct pack {
	uint8_t stmt;
	bool kept;
	int32_t move;
};

struct body {
	FILE *f;
	const struct gen *g;
	const struct gen_goal *goal;
	unsigned ninstance, npack;
	bool failed;
	struct instance instance[BODY_MAX_INSTANCES];
	struct pack pack[BODY_MAX_INSTANCES];
};

/* The instance, and before it all that it takes. -1: it is a value of the row. (gen_body_find.c) */
int16_t body_take(struct body *b, unsigned i, unsigned pair, int32_t move);
/* Marks what a value takes, but for what lies behind a sum of packs. */
void body_use(struct body *b, int16_t k);

/* A pack's load from memory; its load from where kept values are; a STORE. (gen_body_access.c) */
void body_load_text(const struct body *b, unsigned n);
void body_kept_text(const struct body *b, unsigned n);
void body_store_text(const struct body *b, unsigned i);

/* The C type that a statement's value has in memory. */
static inline const char *body_memory(const struct body *b, unsigned stmt)
{
	return gen_memory((enum dtype)b->g->r->stmt[stmt].type);
}

#endif
