/* SPDX-License-Identifier: Apache-2.0 */
/* How many threads do what: measured on an H200. Declared in gen_plan.h. */
#include "fused/gen_plan.h"

unsigned gen_load_bytes(const struct gen *g, unsigned phase)
{
	unsigned bytes = 0;

	for (unsigned i = 0; i < g->r->nstmt; i++)
		if (g->live[i] && g->r->stmt[i].code == ROW_LOAD && g->varies[i] &&
		    (g->form == GEN_LONG || g->made[i] == phase))
			bytes += g->vec * (unsigned)dtype_bytes((enum dtype)g->r->stmt[i].type);
	return bytes;
}

/* The logical threads of the sums, if a thread can have the columns of several as its own. */
static unsigned strided_threads(const struct gen *g)
{
	const struct row *r = g->r;
	unsigned threads = 0;

	for (unsigned i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];
		const struct row_order *o = &r->order[s->at];

		if (!g->live[i])
			continue;
		if (s->code == ROW_SHIFT || s->code == ROW_CAT || s->code == ROW_PAIR ||
		    s->code == ROW_WELFORD || s->code == ROW_WELFORD_M2)
			return 0;
		if (!gen_reduces(r, i) || gen_extreme(r, i))
			continue;
		for (unsigned k = 0; k < gen_nargs(r, i); k++)
			if (!g->varies[s->arg[k]])
				return 0;
		if (o->walk != ORDER_walk_STRIDED || o->vec || o->part || o->acc ||
		    (o->block != ORDER_block_FIRSTDESC && o->block != ORDER_block_FIRSTASC &&
		     o->block != ORDER_block_SERIAL) ||
		    (threads && threads != o->threads))
			return 0;
		threads = o->threads;
	}
	return threads;
}

/* What a chunk of `own` columns has in registers, in words; 0: an access would be less than one. */
static unsigned own_words(const struct gen *g, unsigned own)
{
	unsigned words = 0;

	for (unsigned i = 0; i < g->r->nstmt; i++) {
		const struct row_stmt *s = &g->r->stmt[i];
		const bool load = s->code == ROW_LOAD;
		const unsigned bytes = own * (unsigned)dtype_bytes((enum dtype)s->type);

		if (!g->live[i] || !g->varies[i] || (!load && !g->keep[i]))
			continue;
		if (load && own == 1 && bytes < 4)
			return 0;
		words += (bytes + 3) / 4;
	}
	return words;
}

unsigned gen_own(const struct gen *g, unsigned *threads)
{
	enum { MAX_WORDS = 128, MAX_CHUNKS = 32, REGISTERS = 65536, OTHERS = 48 };
	const struct row *r = g->r;
	unsigned n = strided_threads(g), own = n >= 512 ? 4 : 2;
	int64_t chunks, words;

	if (g->form != GEN_ROWS || g->late)
		return 0;
	while (own > 1 && g->vec % own)
		own /= 2;
	if (!n || n % (32 * own) || r->cols < n)
		return 0;
	for (; own && own_words(g, own); own /= 2) {
		*threads = n / own;
		chunks = (r->cols / own + *threads - 1) / *threads;
		words = chunks * own_words(g, own);
		if (chunks <= MAX_CHUNKS && words <= MAX_WORDS &&
		    *threads * (words + OTHERS) <= REGISTERS)
			return own;
	}
	return 0;
}

static unsigned pow2_up(int64_t n, unsigned least, unsigned most)
{
	unsigned p = least;

	while (p < most && p < n)
		p *= 2;
	return p;
}

/* Chunks that a thread of FLAT has under way at a time: 16 bytes are enough. */
static unsigned flat_each(const struct gen *g)
{
	unsigned bytes = 0;

	for (unsigned i = 0; i < g->r->noperand; i++)
		if (g->r->operand[i].use & ROW_READ)
			bytes += g->vec * (unsigned)dtype_bytes((enum dtype)g->r->operand[i].dtype);
	return bytes <= 16 ? 2 : 1;
}

/* Little work for each thread where there is little to do: words of 4 bytes of what is narrowest.
 */
static unsigned small_vec(const struct gen *g)
{
	unsigned vec = g->vec > 4 ? g->vec / 4 : 1;

	for (unsigned i = 0; i < g->r->nstmt; i++)
		if (g->live[i] && g->r->stmt[i].code == ROW_PAIR && vec < 2)
			vec = 2;
	return vec;
}

static unsigned cells_shapes(const struct gen *g, struct gen_shape *s)
{
	s[0] = (struct gen_shape){.threads = 128, .vec = small_vec(g), .each = 1, .suffix = 'e'};
	s[1] = (struct gen_shape){.threads = g->form == GEN_FLAT ? 128 : 256,
				  .vec = g->vec,
				  .each = g->form == GEN_FLAT ? flat_each(g) : 1,
				  .suffix = 'c'};
	return 2;
}

static unsigned shared_out(int64_t chunks, unsigned rounds)
{
	const unsigned t = (unsigned)((chunks + rounds - 1) / rounds + 31) / 32 * 32;

	return t < 256 ? 256 : t;
}

/* Many rows, a block for each: as full as the registers that a thread wants let it be, so that some
 * blocks load while others add up. */
static struct gen_shape many_rows(const struct gen *g, unsigned max_shmem)
{
	const int64_t chunks = gen_chunks(g);
	struct gen_shape s = {.vec = g->vec, .under_way = 64, .suffix = 'm'};
	unsigned bytes = 0, threads = 1024; /* on a processor */

	for (unsigned q = 0; q < g->nphase; q++)
		if (gen_load_bytes(g, q) > bytes)
			bytes = gen_load_bytes(g, q);
	if (chunks <= 1024) {
		s.threads = shared_out(chunks, 1);
		if (g->nphase > 1)
			threads = bytes <= 32 ? 2048 : 1536;
		if (g->nphase > 2) { /* no threads that wait while others add up */
			s.threads = 256;
			if (chunks > 512)
				threads = 1536;
		}
	} else if (chunks <= 2048) {
		s.threads = shared_out(chunks, 4);
		s.under_way = 128;
	} else {
		s.threads = shared_out(chunks, (unsigned)((chunks + 1023) / 1024));
	}
	s.blocks = threads / s.threads ? threads / s.threads : 1;
	while (s.blocks > 1 && s.blocks * g->group_bytes > max_shmem)
		s.blocks--;
	return s;
}

unsigned gen_shapes(const struct gen *g, unsigned max_shmem, struct gen_shape *s)
{
	enum { WARPS = 4, WARP_CHUNKS = 64 };
	int64_t chunks = gen_chunks(g);
	unsigned n = 0, t, own;

	if (g->form == GEN_FLAT || g->form == GEN_CELLS)
		return cells_shapes(g, s);
	if (g->form == GEN_LONG) {
		s[n++] = (struct gen_shape){.threads = 1024,
					    .blocks = 1,
					    .vec = g->vec,
					    .under_way = 64,
					    .suffix = 'l'};
		return n;
	}
	/* One row as fast as it goes: in registers, or a chunk or two for each thread. */
	own = gen_own(g, &t);
	if (own) {
		s[n++] = (struct gen_shape){
			.threads = t, .blocks = 1, .vec = own, .own = true, .suffix = 'o'};
	} else {
		t = pow2_up(chunks > 512 ? (chunks + 1) / 2 : chunks, 32, 1024);
		s[n++] = (struct gen_shape){.threads = t,
					    .vec = g->vec,
					    .under_way = 64,
					    .ahead = chunks <= 2 * (int64_t)t,
					    .suffix = 'f'};
	}
	if (chunks <= WARP_CHUNKS && WARPS * g->group_bytes <= 48 << 10 &&
	    WARPS * g->group_bytes <= max_shmem)
		s[n++] = (struct gen_shape){.threads = WARPS * 32,
					    .vec = g->vec,
					    .under_way = 64,
					    .warp = true,
					    .ahead = chunks <= 32,
					    .suffix = 'w'};
	else
		s[n++] = many_rows(g, max_shmem);
	return n;
}
