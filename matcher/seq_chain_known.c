// SPDX-License-Identifier: Apache-2.0
/*
 * What was worked out before. Programs go round, and make the same launches on the same memory:
 * what members come to together is looked up by all that it depends on, and not worked out again.
 */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "matcher/decode.h"
#include "matcher/seq_chain_state.h"

enum {
	JOINS = 2048, /* a new one takes the place of what is there */
	ROWS = 512,
	OP_WORDS = 16, /* of an op, and of an operand: */
	OPERAND_WORDS = 2 + 2 * OP_MAX_DIMS,
};

struct met {
	uint64_t sum[2]; /* 0, 0: empty */
	struct outcome is;
};

/* A program without the unused ends of its lists. */
struct packed {
	uint64_t sum[2];
	uint8_t bytes[]; /* of the row up to stmt[], then of its lists */
};

struct known {
	struct met join[JOINS];
	struct packed *row[ROWS];
};

static uint64_t bits_of(double d)
{
	uint64_t u;

	memcpy(&u, &d, sizeof(u));
	return u;
}

/* All of a member that chain_build looks at: the op but for its slots, and what row_pick_known
 * asks of the launch. */
static void member_sum(struct seq_member *m)
{
	const struct op *op = &m->m.op;
	const struct op_order *o = &op->order;
	const struct launch *l = &m->m.launch;
	uint64_t word[OP_WORDS + OP_MAX_OPERANDS * OPERAND_WORDS];
	unsigned n = 0;
	XXH128_hash_t h;

	word[n++] = (uint64_t)op->code | (uint64_t)op->noperand << 8 | (uint64_t)op->nscalar << 16 |
		    (uint64_t)op->compute << 24 | (uint64_t)op->has_eps << 32 |
		    (uint64_t)op->plus_one << 33 | (uint64_t)(o->width != 0) << 34;
	word[n++] = (uint64_t)op->rows;
	word[n++] = (uint64_t)op->cols;
	word[n++] = op->has_eps ? bits_of(op->eps) : 0;
	for (unsigned i = 0; i < OP_MAX_SCALARS; i++)
		word[n++] = bits_of(op->scalar[i]);
	if (o->width) { /* else the rest means nothing */
		word[n++] = o->width | (uint64_t)o->height << 16 | (uint64_t)o->vt << 32 |
			    (uint64_t)o->vector << 48 | (uint64_t)o->along_x << 56 |
			    (uint64_t)o->along_y << 57;
		word[n++] = o->blocks | (uint64_t)o->step << 32;
		word[n++] = o->mult[0] | (uint64_t)o->mult[1] << 32;
		word[n++] = o->mult[2];
	}
	word[n++] = (uint64_t)l->block[0] * l->block[1] * l->block[2];
	word[n++] = (uintptr_t)l->kernel->decoder;
	for (unsigned i = 0; i < op->noperand; i++) {
		const struct operand *x = &op->operand[i];

		word[n++] = x->addr;
		word[n++] = x->ndim | (uint64_t)x->dtype << 8 | (uint64_t)x->role << 16 |
			    (uint64_t)x->access << 24;
		for (unsigned d = 0; d < x->ndim; d++) {
			word[n++] = (uint64_t)x->size[d];
			word[n++] = (uint64_t)x->stride[d];
		}
	}
	h = XXH3_128bits(word, n * sizeof(word[0]));
	m->sum[0] = h.low64;
	m->sum[1] = h.high64;
	m->summed = true;
}

static void sum_of(struct seq_member *const *m, unsigned n, uint64_t sum[2])
{
	uint64_t all[GROUP_MAX_MEMBERS][2];
	XXH128_hash_t h;

	for (unsigned i = 0; i < n; i++) {
		if (!m[i]->summed)
			member_sum(m[i]);
		memcpy(all[i], m[i]->sum, sizeof(all[i]));
	}
	h = XXH3_128bits(all, n * sizeof(all[0]));
	sum[0] = h.low64;
	sum[1] = h.high64;
}

static bool is(const uint64_t a[2], const uint64_t b[2])
{
	return a[0] == b[0] && a[1] == b[1];
}

bool chain_outcome(struct chains *c, struct seq_member *const *member, unsigned n,
		   struct outcome *to)
{
	struct met *j = NULL;
	uint64_t sum[2];

	if (!c->known)
		c->known = calloc(1, sizeof(*c->known));
	if (c->known) {
		sum_of(member, n, sum);
		j = &c->known->join[sum[0] % JOINS];
		if (is(j->sum, sum)) {
			*to = j->is;
			return false;
		}
	}
	to->traffic = 0;
	to->why = chain_build(&c->row, &to->traffic, member, n, false);
	to->cols = c->row.cols;
	if (j) {
		memcpy(j->sum, sum, sizeof(sum));
		j->is = *to;
	}
	return true;
}

/* The lists of a program, one behind the other. */
enum { LISTS = 4, HEAD = offsetof(struct row, stmt) };
static void lists_of(struct row *r, void *list[LISTS], size_t bytes[LISTS])
{
	list[0] = r->stmt;
	bytes[0] = r->nstmt * sizeof(r->stmt[0]);
	list[1] = r->operand;
	bytes[1] = r->noperand * sizeof(r->operand[0]);
	list[2] = r->imm;
	bytes[2] = r->nimm * sizeof(r->imm[0]);
	list[3] = r->order;
	bytes[3] = r->norder * sizeof(r->order[0]);
}

void chain_know(struct chains *c, struct seq_member *const *member, unsigned n, struct row *r)
{
	size_t bytes[LISTS], all = sizeof(struct packed) + HEAD;
	uint8_t *to;
	void *list[LISTS];
	struct packed *p, **at;
	uint64_t sum[2];

	if (!c->known)
		return;
	lists_of(r, list, bytes);
	for (unsigned i = 0; i < LISTS; i++)
		all += bytes[i];
	sum_of(member, n, sum);
	at = &c->known->row[sum[0] % ROWS];
	if (!(p = realloc(*at, all)))
		return;
	*at = p;
	memcpy(p->sum, sum, sizeof(sum));
	memcpy(p->bytes, r, HEAD);
	to = p->bytes + HEAD;
	for (unsigned i = 0; i < LISTS; to += bytes[i++])
		memcpy(to, list[i], bytes[i]);
}

bool chain_recall(const struct chains *c, struct seq_member *const *member, unsigned n,
		  struct row *r)
{
	const struct packed *p;
	const uint8_t *from;
	size_t bytes[LISTS];
	void *list[LISTS];
	uint64_t sum[2];

	if (!c->known)
		return false;
	sum_of(member, n, sum);
	p = c->known->row[sum[0] % ROWS];
	if (!p || !is(p->sum, sum))
		return false;
	memcpy(r, p->bytes, HEAD);
	lists_of(r, list, bytes);
	from = p->bytes + HEAD;
	for (unsigned i = 0; i < LISTS; from += bytes[i++])
		memcpy(list[i], from, bytes[i]);
	return true;
}

void chain_known_free(struct chains *c)
{
	for (unsigned i = 0; c->known && i < ROWS; i++)
		free(c->known->row[i]);
	free(c->known);
}
