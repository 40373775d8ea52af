/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for a member's pick. Spellings are told apart first where the order of additions makes
 * no difference, then orders with the spellings that are left. A pick is found only if every other
 * one that is not the same arithmetic was told apart from what the member's kernel left.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "config/log.h"
#include "shim/probe_child_chain.h"
#include "shim/probe_child_search.h"

enum {
	PAIRS_MAX = 1 << 20,
	SINGLES = 12, /* single rows, while many are left */
	FEW = 64,
	ROUNDS = 32,
	IDLE_MIN = 10, /* rounds that told nothing apart: the inputs do not do it */
	IDLE_MAX = 200,
	IDLE_ELEMENTS = 1 << 17, /* small shapes say little each time */
	TABLE_RUNS = 256,        /* to go through all numbers of 16 bits */
};

struct hunt {
	struct probe *p;
	struct pick_space s;
	struct pick_bench b;
	uint32_t *pair;
	unsigned n;
	uint64_t number;
	bool table; /* every input there is was tried: those left agree on all */
};

/* As fused/candidate.def has it. */
static struct fields hint_of(const struct row_spelling *s)
{
	return (struct fields){.mean = s->mean,
			       .root = s->root == PICK_root_XDIV       ? FIELD_root_XDIV
				       : s->root == PICK_root_XDIVFAST ? FIELD_root_XDIVFAST
								       : s->root,
			       .product = s->product,
			       .round = s->round,
			       .ftz = s->ftz};
}

/* rows 0: all. False once the answer is known; none left is not an answer yet. */
static bool filter(struct hunt *h, enum probe_family f, int64_t rows)
{
	struct probe *p = h->p;
	unsigned before = h->n;

	if (!h->n || !search_allowed(p, f))
		return true;
	/* Inputs hard for one of those that are left. */
	p->tools->hint = hint_of(&h->s.spelling[h->pair[h->number % h->n] & 0xffff]);
	if (!pick_bench_reference(p, &h->b, f, h->number++) ||
	    !pick_bench_filter(p, &h->b, rows, h->pair, &h->n))
		return false;
	log_debug("probe: %s: %s: %u of %u picks left", opcode_name(h->s.op->code),
		  probe_family_name(f), h->n, before);
	return true;
}

/* tried: all families were, for as long as that makes sense. */
static bool ambiguous(const struct hunt *h, bool tried, unsigned *other)
{
	for (*other = 1; *other < h->n && !h->table; (*other)++)
		if (!pick_same(&h->s, h->pair[0], h->pair[*other]) &&
		    !(tried && pick_same_counts(&h->s, h->pair[0], h->pair[*other])))
			return true;
	return false;
}

/* One contraction among many additions shows in one row of thirty. */
static unsigned patience(const struct hunt *h)
{
	int64_t elements = h->s.op->rows * h->s.op->cols,
		n = elements > 0 && h->n <= FEW ? IDLE_ELEMENTS / elements : 0;

	return n < IDLE_MIN ? IDLE_MIN : n > IDLE_MAX ? IDLE_MAX : (unsigned)n;
}

static bool all_families(struct hunt *h)
{
	/* The last two matter where elements are few: one go has few NaNs or subnormals then. */
	static const enum probe_family apart[] = {
		PROBE_FAMILY_wide,    PROBE_FAMILY_overflow, PROBE_FAMILY_exact,
		PROBE_FAMILY_epsilon, PROBE_FAMILY_extreme,  PROBE_FAMILY_tiny,
		PROBE_FAMILY_normal,  PROBE_FAMILY_special,  PROBE_FAMILY_underflow};
	unsigned other, idle = 0;

	for (unsigned f = 0; f < PROBE_FAMILIES; f++)
		if (!filter(h, (enum probe_family)f, 0))
			return false;
	for (unsigned i = 0;
	     i < ROUNDS + patience(h) && idle < patience(h) && ambiguous(h, false, &other); i++) {
		unsigned before = h->n;

		for (unsigned k = 0; k < sizeof(apart) / sizeof(*apart); k++)
			if (!filter(h, apart[k], 0))
				return false;
		idle = h->n == before ? idle + 1 : 0;
	}
	return true;
}

/* The one operand that an elementwise op reads, or NULL. */
static const struct operand *only_input(const struct op *op)
{
	const struct operand *in = NULL;

	for (unsigned i = 0; i < op->noperand; i++) {
		if (!(op->operand[i].access & ACCESS_READ))
			continue;
		if (in || op->operand[i].role != ROLE_in0)
			return NULL;
		in = &op->operand[i];
	}
	return row_pick_reduces(op) || op->code == OP_amax ? NULL : in;
}

/* All numbers that a 16-bit input can be, where as many launches as that takes are not too many. */
static bool whole_table(struct hunt *h)
{
	const struct operand *in = only_input(h->s.op);
	int64_t n = in ? probe_chain_elements(in) : 0, runs = n ? ((1 << 16) + n - 1) / n : 0;

	if (!in || (in->dtype != DT_bf16 && in->dtype != DT_f16) || runs > TABLE_RUNS ||
	    !search_allowed(h->p, PROBE_FAMILY_exact))
		return true;
	for (h->number = 0; h->n && (int64_t)h->number < runs;)
		if (!filter(h, PROBE_FAMILY_exact, 0))
			return false;
	h->table = true;
	return true;
}

/* Not one of the operations that IEEE rounds, or a choice. */
static bool is_function(enum opcode c)
{
	static const enum opcode list[] = {OP_silu,  OP_gelu_tanh, OP_gelu_erf, OP_pow, OP_sqrt,
					   OP_rsqrt, OP_exp,       OP_log,      OP_sin, OP_cos,
					   OP_tanh,  OP_erf,       OP_sigmoid};

	for (unsigned i = 0; i < sizeof(list) / sizeof(*list); i++)
		if (list[i] == c)
			return true;
	return false;
}

/* Of functions that differ in few places, and of forms that do not differ. */
static bool every_float(struct hunt *h)
{
	const struct operand *in = only_input(h->s.op);
	bool whole = false;

	if (!h->n || !in || in->dtype != DT_f32 || h->p->inputs[0] || !is_function(h->s.op->code))
		return true;
	if (!pick_sweep(h->p, &h->b, &h->s, h->pair, &h->n, &whole))
		return false;
	h->table |= whole;
	return true;
}

static bool elements(struct hunt *h)
{
	for (unsigned i = 0; i < h->s.nspelling; i++)
		h->pair[h->n++] = i;
	return whole_table(h) && all_families(h) && every_float(h);
}

/* Every spelling that is left with every order. */
static bool cross(struct hunt *h, unsigned from, unsigned to)
{
	unsigned nspelling = h->n;
	uint32_t *spelling = malloc((nspelling + 1) * sizeof(*spelling));

	if (!spelling)
		return probe_fail(h->p, REASON_NO_VERDICT, "out of memory");
	memcpy(spelling, h->pair, nspelling * sizeof(*spelling));
	h->n = 0;
	for (unsigned o = from; o < to; o++)
		for (unsigned i = 0; i < nspelling && h->n < PAIRS_MAX; i++)
			h->pair[h->n++] = o << 16 | (spelling[i] & 0xffff);
	free(spelling);
	if ((uint64_t)nspelling * (to - from) <= PAIRS_MAX)
		return true;
	h->p->lasting = true;
	return probe_fail(h->p, REASON_NO_VERDICT,
			  "not separated: the inputs leave %u spellings and %u orders of %s",
			  nspelling, to - from, opcode_name(h->s.op->code));
}

/* With all orders from..to, row by row while they are many. */
static bool orders(struct hunt *h, unsigned from, unsigned to)
{
	/* Sums that cancel; sums of squares have rows of their own. */
	const bool squares = h->s.op->code == OP_rmsnorm;
	const enum probe_family apart[] = {squares ? PROBE_FAMILY_overflow : PROBE_FAMILY_epsilon,
					   PROBE_FAMILY_wide, PROBE_FAMILY_normal};

	if (!cross(h, from, to))
		return false;
	for (unsigned i = 0; i < SINGLES && h->n > FEW; i++)
		if (!filter(h, apart[i % 3], 1))
			return false;
	return all_families(h);
}

static void begin(struct hunt *h, bool welford)
{
	h->n = 0;
	for (unsigned i = 0; i < h->s.nspelling; i++)
		if (pick_welford(&h->s, i) == welford)
			h->pair[h->n++] = i;
}

static bool along_rows(struct hunt *h)
{
	static const enum probe_family any_order[] = {PROBE_FAMILY_exact, PROBE_FAMILY_extreme,
						      PROBE_FAMILY_tiny};
	/* Of softmax, and of small numbers other than squares, only the first is exact. */
	unsigned nfamily = h->s.op->code == OP_rmsnorm ? 3 : h->s.op->code == OP_softmax ? 1 : 2;
	unsigned idle = 0;

	begin(h, false);
	for (unsigned i = 0; i < ROUNDS && idle < 2 && h->n > 1; i++) {
		unsigned before = h->n;

		for (unsigned k = 0; k < nfamily; k++)
			if (!filter(h, any_order[k], 0))
				return false;
		idle = h->n == before ? idle + 1 : 0;
	}
	if (h->n && !orders(h, 0, h->s.nwelford))
		return false;
	if (h->n || h->s.norder == h->s.nwelford)
		return true;
	begin(h, true);
	return orders(h, h->s.nwelford, h->s.norder);
}

static bool choose(struct hunt *h)
{
	char name[ROW_PICK_NAME_MAX] = "", second[ROW_PICK_NAME_MAX];
	const char *op = opcode_name(h->s.op->code);
	struct probe *p = h->p;
	struct row_pick pick;
	unsigned other;

	if (!h->n)
		return probe_fail(p, REASON_NOT_EXACT, "no form of %s gives the same bytes", op);
	if (ambiguous(h, !p->inputs[0], &other)) {
		pick = pick_of(&h->s, h->pair[0]);
		row_pick_name(&pick, name);
		pick = pick_of(&h->s, h->pair[other]);
		row_pick_name(&pick, second);
		p->lasting = true;
		return probe_fail(p, REASON_NO_VERDICT, "not separated: %s %s and %s", op, name,
				  second);
	}
	for (unsigned i = 0; i < h->n; i++) {
		p->pick[0] = pick_of(&h->s, h->pair[i]);
		row_pick_name(&p->pick[0], name);
		if (!p->candidates[0] || !fnmatch(p->candidates, name, 0))
			return true;
	}
	return probe_fail(p, REASON_NOT_EXACT, "%s gives the same bytes, but is not allowed", name);
}

static bool search(struct hunt *h)
{
	h->n = 0;
	h->table = false;
	return row_pick_reduces(h->s.op) ? along_rows(h) : elements(h);
}

bool pick_search(struct probe *p)
{
	struct hunt h = {.p = p, .pair = malloc(PAIRS_MAX * sizeof(*h.pair))};
	bool ok = h.pair != NULL;

	if (!ok)
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	ok = pick_space_open(p, &h.s);
	if (ok && !h.s.data) {
		/* What the whole chain is compared for will do where there is nothing to choose. */
		p->lasting = true;
		ok = (h.s.nspelling == 1 && h.s.norder == 1) ||
		     probe_fail(p, REASON_NO_VERDICT, "forms of %s cannot be compared in this type",
				opcode_name(h.s.op->code));
		h.n = 1;
		h.pair[0] = 0;
	} else if (ok) {
		ok = pick_bench_open(p, &h.b, &h.s) && search(&h) &&
		     (h.n || !pick_bench_made(p) || search(&h));
		pick_bench_close(p, &h.b);
	}
	ok = ok && choose(&h);
	pick_space_close(&h.s);
	free(h.pair);
	return ok;
}
