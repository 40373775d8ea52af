// SPDX-License-Identifier: Apache-2.0
#include "matcher/key.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "matcher/row.h"

/* Elements a thread may handle in a grid rule; beyond, the grid is taken as fixed. */
enum { MAX_PER_THREAD = 64, MAX_ROWS_PER_BLOCK = 64 };

struct text {
	char *at;
	unsigned room; /* including the final NUL; 0 after an overflow */
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (!t->room)
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->at, t->room, fmt, ap);
	va_end(ap);
	if (n < 0 || (unsigned)n >= t->room) {
		t->room = 0;
		return;
	}
	t->at += n;
	t->room -= (unsigned)n;
}

enum { SITE_BYTES = 4096 }; /* no decoder looks at more (CUDA 12.1 allows 32,764) */

/* Does the byte at that offset of the parameter buffer belong to an operand's or extent's slot? */
static bool varies(const struct op *op, uint32_t offset)
{
	for (unsigned i = 0; i < op->nslot; i++) {
		const struct slot *s = &op->slot[i];

		if (role_kind((enum role)s->role) != ROLE_KIND_SCALAR &&
		    offset - s->offset < s->bytes)
			return true;
	}
	return false;
}

static void put_params(struct text *t, const struct launch *l, const struct op *op)
{
	const struct kernel *k = l->kernel;

	for (uint32_t i = 0; i < k->nparam; i++) {
		put(t, "%c", i ? ',' : ' ');
		for (uint32_t b = k->param[i].offset; b < k->param[i].offset + k->param[i].bytes;
		     b++)
			if (varies(op, b))
				put(t, "*");
			else
				put(t, "%02x", l->params[b]);
	}
}

static uint32_t blocks(int64_t n, int64_t each)
{
	int64_t b = n > 0 && each > 0 ? (n + each - 1) / each : 0;

	return b > UINT32_MAX ? 0 : (uint32_t)b;
}

/*
 * How many rows (elements) a block (thread) handles so that n take `grid` blocks; 0: no such
 * number. Several may fit a small n. Those that kernels are written with come first, so that
 * launches of one kernel with other numbers of rows find the same rule: a block, a warp or a thread
 * a row; then powers of two.
 */
static int64_t per_block(int64_t n, int64_t grid, int64_t unit, const int64_t likely[3],
			 int64_t max)
{
	for (unsigned i = 0; i < 3; i++)
		if (likely[i] && blocks(n, likely[i] * unit) == grid)
			return likely[i];
	for (int64_t k = 1; k <= max; k *= 2)
		if (blocks(n, k * unit) == grid)
			return k;
	for (int64_t k = 1; k <= max; k++)
		if (blocks(n, k * unit) == grid)
			return k;
	return 0;
}

void key_grid_rule(const struct launch *l, const struct op *op, char *rule)
{
	const bool by_rows = op->rows > 1 || op_operand(op, ROLE_weight);
	const int64_t threads = (int64_t)l->block[0] * l->block[1] * l->block[2];
	const int64_t row_ways[3] = {1, threads / 32, threads}, element_ways[3] = {1, 0, 0};
	int64_t k = 0;

	if (l->grid[1] == 1 && l->grid[2] == 1 && by_rows)
		k = per_block(op->rows, l->grid[0], 1, row_ways, MAX_ROWS_PER_BLOCK);
	else if (l->grid[1] == 1 && l->grid[2] == 1)
		k = per_block(op->cols, l->grid[0], l->block[0], element_ways, MAX_PER_THREAD);
	if (!k)
		snprintf(rule, 48, "%u,%u,%u", l->grid[0], l->grid[1], l->grid[2]);
	else if (by_rows && k == 1)
		snprintf(rule, 48, "rows");
	else
		snprintf(rule, 48, by_rows ? "rows/%d" : "n/block*%d", (int)k);
}

bool key_grid_apply(const char *rule, const struct op *op, const uint32_t block[3],
		    uint32_t grid[3])
{
	int64_t n, each;

	grid[1] = grid[2] = 1;
	if (!strncmp(rule, "rows", 4)) {
		n = op->rows;
		each = rule[4] == '/' ? atoi(rule + 5) : 1;
	} else if (!strncmp(rule, "n/block*", 8)) {
		n = op->rows * op->cols;
		each = (int64_t)atoi(rule + 8) * block[0];
	} else {
		return false;
	}
	grid[0] = n > 0 && each > 0 ? blocks(n, each) : 0;
	return grid[0] > 0;
}

static void put_member(struct text *t, const struct member *m)
{
	const struct launch *l = &m->launch;
	const struct kernel *k = l->kernel;
	char rule[48];

	key_grid_rule(l, &m->op, rule);
	put(t, "%s %s %016" PRIx64 "%016" PRIx64 " block %u,%u,%u shmem %u grid %s params",
	    opcode_name(m->op.code), k->name, k->image[0], k->image[1], l->block[0], l->block[1],
	    l->block[2], l->shmem, rule);
	put_params(t, l, &m->op);
	if (m->op.has_eps)
		put(t, " eps %.9g", m->op.eps);
	if (m->op.plus_one)
		put(t, " weight 1+w");
	for (unsigned i = 0; i < m->op.noperand; i++)
		put(t, " %s:%s", role_name((enum role)m->op.operand[i].role),
		    dtype_name((enum dtype)m->op.operand[i].dtype));
	put(t, "\n");
}

/* The first slot at the same address: equal numbers mean one address. */
static unsigned alias(const struct group *g, unsigned slot)
{
	unsigned i = 0;

	while (g->bound[i].addr != g->bound[slot].addr)
		i++;
	return i;
}

/* A chain's program as it is planned: its hash has types, alignments and who hands what to whom. */
static void put_row(struct text *t, const struct row *r)
{
	put(t, "row %016" PRIx64, row_hash(r));
	for (unsigned i = 0; i < r->nimm; i++)
		put(t, " %" PRIx64, r->imm[i]);
	put(t, "\n");
}

int key_text(const struct group *g, const char *machine, char *text, unsigned size)
{
	struct text t = {text, size};

	put(&t, "%s cols %" PRId64 "\n", g->pattern->name, g->cols);
	for (unsigned i = 0; i < group_size(g); i++)
		put_member(&t, g->member[i]);
	for (unsigned i = 0; i < g->nbound; i++) {
		const struct bound *b = &g->bound[i];
		int64_t dense = g->cols * dtype_bytes((enum dtype)b->dtype);

		put(&t, "%u: use %u alias %u align %u", i, b->use, alias(g, i),
		    (unsigned)(b->addr % 32));
		if (b->pitch)
			put(&t, " pitch dense%+" PRId64 "\n", b->pitch - dense);
		else
			put(&t, " broadcast\n");
	}
	if (g->row)
		put_row(&t, g->row);
	put(&t, "%s\n", machine);
	return t.room ? (int)(t.at - text) : -1;
}

struct key key_hash(const char *text, unsigned len)
{
	XXH128_hash_t h = XXH3_128bits(text, len);

	return (struct key){{h.high64, h.low64}};
}

uint64_t key_site(const struct launch *l, const struct op *op)
{
	const struct kernel *k = l->kernel;
	const uint32_t head[4] = {l->block[0], l->block[1], l->block[2], l->shmem};
	uint64_t h = XXH3_64bits(k->name, strlen(k->name));
	uint8_t params[SITE_BYTES];
	uint32_t bytes = k->param_bytes < SITE_BYTES ? k->param_bytes : SITE_BYTES;

	h = XXH3_64bits_withSeed(head, sizeof(head), h);
	memset(params, 0, bytes);
	for (uint32_t i = 0; i < k->nparam; i++)
		if (k->param[i].offset + k->param[i].bytes <= bytes)
			memcpy(params + k->param[i].offset, l->params + k->param[i].offset,
			       k->param[i].bytes);
	/* A site is a place in the program: one kernel at one shape. */
	for (unsigned i = 0; i < op->nslot; i++)
		if (role_kind((enum role)op->slot[i].role) != ROLE_KIND_SCALAR &&
		    op->slot[i].role != ROLE_SHAPE &&
		    (uint32_t)op->slot[i].offset + op->slot[i].bytes <= bytes)
			memset(params + op->slot[i].offset, 0, op->slot[i].bytes);
	return XXH3_64bits_withSeed(params, bytes, h);
}
