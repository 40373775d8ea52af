/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search: which candidates leave what the program's kernels leave, on every batch? Spellings
 * are told apart first, on rows whose squares add up alike in every order; then orders, with the
 * spellings that are left. A candidate wins only if every other one that is not the same arithmetic
 * was told apart from the program's kernels by some batch.
 */
#include "shim/probe_child_search.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "config/log.h"

enum {
	PAIRS_MAX = 1 << 18,
	SINGLES =
		24, /* rows to go through one by one: each tells a good part of those left apart */
	FEW = 16,   /* candidates for which whole batches are no waste */
	/* Batches of the families that separate, while more than one candidate is left. */
	ROUNDS_MIN = 24,
	ROUNDS_MAX = 400,
	ROUNDS_ELEMENTS = 1 << 19,
	IDLE_ROWS = 48, /* that told nothing apart, before many candidates are given up */
	CLOSE_BEST = 8, /* numerics = close: spellings, then orders, that go on */
};

bool search_allowed(const struct probe *p, enum probe_family f)
{
	const char *name = probe_family_name(f), *at = p->inputs;
	size_t len = strlen(name);

	if (!at[0])
		return true;
	for (; *at; at += strcspn(at, ", "), at += strspn(at, ", "))
		if (strcspn(at, ", ") == len && !strncmp(at, name, len))
			return true;
	return false;
}

bool search_filter(struct search *s, struct probe_batch *batch, enum probe_family f)
{
	unsigned before = s->n;
	const struct candidate *hint;

	/* Beside the largest float, being close to it or Inf is a matter of luck. */
	if (!s->n || !search_allowed(s->p, f) || (s->close && f == PROBE_FAMILY_overflow))
		return true;
	/* Inputs hard for one of those that are left. */
	hint = &s->trial[++s->seed % s->n].c;
	if (candidate_unpack(hint->code, &batch->hint))
		memset(&batch->hint, 0, sizeof(batch->hint));
	batch->eps = candidate_eps(&s->p->group, hint);
	probe_batch_fill(batch, f, s->seed);
	if (!bench_reference(s->p, &s->bench, batch) ||
	    !bench_filter(s->p, &s->bench, batch, s->trial, &s->n, s->close))
		return false;
	log_debug("probe: %s, %lld rows: %u of %u candidates left", probe_family_name(f),
		  (long long)batch->rows, s->n, before);
	if (s->n)
		return true;
	return s->p->close && !s->close
		       ? true
		       : probe_fail(s->p, REASON_NOT_EXACT,
				    "no candidate gives the same bytes (family %s)",
				    probe_family_name(f));
}

/* Row after row, while many candidates are left. */
static bool filter_singles(struct search *s, enum probe_family f, enum probe_family g)
{
	for (unsigned i = 0; i < SINGLES && s->n > FEW; i++)
		if (!search_filter(s, &s->one, i % 2 ? g : f))
			return false;
	return true;
}

/* Short rows tell little each, but cost little. */
static unsigned rounds(const struct search *s)
{
	int64_t n = ROUNDS_ELEMENTS / (s->many.rows * s->many.cols);

	return n < ROUNDS_MIN ? ROUNDS_MIN : n > ROUNDS_MAX ? ROUNDS_MAX : (unsigned)n;
}

bool search_ambiguous(const struct search *s, unsigned *other)
{
	const struct group *g = &s->p->group;

	for (*other = 1; *other < s->n; (*other)++) {
		const struct candidate *x = &s->trial[0].c, *y = &s->trial[*other].c;

		if (!candidate_same(g, x, y) && !(s->table && candidate_same_product(g, x, y)))
			return true;
	}
	return false;
}

static int by_differ(const void *a, const void *b)
{
	const struct trial *x = a, *y = b;

	return x->differ < y->differ ? -1 : x->differ > y->differ;
}

void search_keep_best(struct search *s)
{
	if (!s->close || s->n <= CLOSE_BEST)
		return;
	qsort(s->trial, s->n, sizeof(*s->trial), by_differ);
	s->n = CLOSE_BEST;
}

/* All spellings with one order, on the families that ask nothing of the order. */
static bool spellings(struct search *s, const struct candidate *order)
{
	struct candidate *list = malloc(CANDIDATE_MAX_SPELLINGS * sizeof(*list));
	unsigned other;

	if (!list)
		return probe_fail(s->p, REASON_NO_VERDICT, "out of memory");
	s->n = candidate_spellings(&s->p->group, list, CANDIDATE_MAX_SPELLINGS);
	for (unsigned i = 0; i < s->n; i++)
		s->trial[i] = (struct trial){.c = candidate_join(order, &list[i])};
	free(list);
	if (!filter_singles(s, PROBE_FAMILY_exact, PROBE_FAMILY_exact))
		return false;
	/* Rows of 16-bit numbers tell little each: as many as it takes. */
	for (unsigned i = 0; i < rounds(s) && (!i || (!s->close && search_ambiguous(s, &other)));
	     i++)
		if (!search_filter(s, &s->many, PROBE_FAMILY_exact) ||
		    !search_filter(s, &s->many, PROBE_FAMILY_tiny) ||
		    !search_filter(s, &s->many, PROBE_FAMILY_extreme))
			return false;
	search_keep_best(s);
	return true;
}

/* All orders with the spellings that are left. */
static bool pairs(struct search *s, const struct candidate *order, unsigned norder)
{
	unsigned nspelling = s->n;
	struct trial *spelling = malloc((nspelling + 1) * sizeof(*spelling));

	if (!spelling)
		return probe_fail(s->p, REASON_NO_VERDICT, "out of memory");
	if ((uint64_t)nspelling * norder > PAIRS_MAX) {
		free(spelling);
		s->p->lasting = true;
		return probe_fail(s->p, REASON_NO_VERDICT,
				  "not separated: the inputs leave %u spellings and %u orders",
				  nspelling, norder);
	}
	memcpy(spelling, s->trial, nspelling * sizeof(*spelling));
	s->n = 0;
	for (unsigned o = 0; o < norder; o++)
		for (unsigned i = 0; i < nspelling; i++) {
			struct fields f, g;
			struct trial *t = &s->trial[s->n++];

			/* The spelling's fields with this order's. */
			candidate_unpack(spelling[i].c.code, &f);
			candidate_unpack(order[o].code, &g);
			memcpy(&f, &g, offsetof(struct fields, mean));
			*t = spelling[i];
			t->c.code = candidate_pack(&f);
		}
	free(spelling);
	if (!filter_singles(s, PROBE_FAMILY_wide,
			    s->one.type == DT_f16 ? PROBE_FAMILY_wide : PROBE_FAMILY_overflow))
		return false;
	search_keep_best(s);
	return true;
}

bool search_all_families(struct search *s)
{
	static const enum probe_family apart[] = {PROBE_FAMILY_wide, PROBE_FAMILY_overflow,
						  PROBE_FAMILY_exact, PROBE_FAMILY_epsilon,
						  PROBE_FAMILY_tiny};
	unsigned other;
	int64_t idle = 0;

	for (unsigned f = 0; f < PROBE_FAMILIES; f++)
		if (!search_filter(s, &s->many, (enum probe_family)f))
			return false;
	for (unsigned i = 0; i < rounds(s) && !s->close && search_ambiguous(s, &other); i++) {
		unsigned before = s->n;

		for (unsigned k = 0; k < sizeof(apart) / sizeof(*apart); k++)
			if (!search_filter(s, &s->many, apart[k]))
				return false;
		/* Do these inputs not do it (the `inputs` option)? */
		idle = s->n == before ? idle + s->many.rows : 0;
		if (s->n > FEW && idle > IDLE_ROWS)
			break;
	}
	return true;
}

/* The candidate among those left that the `candidates` option allows. */
static bool choose(struct search *s)
{
	char name[CANDIDATE_NAME_MAX], second[CANDIDATE_NAME_MAX];
	unsigned other;

	if (!s->close && search_ambiguous(s, &other)) {
		candidate_name(&s->trial[0].c, name);
		candidate_name(&s->trial[other].c, second);
		s->p->lasting = true;
		return probe_fail(s->p, REASON_NO_VERDICT, "not separated: %s and %s", name,
				  second);
	}
	if (s->close)
		qsort(s->trial, s->n, sizeof(*s->trial), by_differ);
	for (unsigned i = 0; i < s->n; i++) {
		candidate_name(&s->trial[i].c, name);
		if (s->p->candidates[0] && fnmatch(s->p->candidates, name, 0))
			continue;
		s->p->winner = s->trial[i].c;
		return true;
	}
	return probe_fail(s->p, REASON_NOT_EXACT, "%s gives the same bytes, but is not allowed",
			  name);
}

static bool search(struct search *s, const struct candidate *order, unsigned norder)
{
	if (s->p->group.pattern == &pattern_silu_mul)
		return search_silu(s);
	return spellings(s, &order[0]) && pairs(s, order, norder) && search_all_families(s);
}

bool probe_search(struct probe *p)
{
	enum dtype t = (enum dtype)p->group.bound[probe_slots(&p->group)->a].dtype;
	struct candidate *order = malloc(CANDIDATE_MAX_ORDERS * sizeof(*order));
	struct search s = {.p = p, .trial = malloc(PAIRS_MAX * sizeof(*s.trial))};
	bool silu = p->group.pattern == &pattern_silu_mul;
	int64_t rows = silu ? search_silu_rows(p) : probe_batch_rows(t, p->group.cols);
	int64_t few = silu ? search_silu_few(p) : 1;
	unsigned norder;
	bool ok;

	if (!order || !s.trial)
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	if (!bench_batch_rows(p, &s.one, few) || !bench_batch_rows(p, &s.many, rows))
		return false;
	norder = candidate_orders(&p->group, order, CANDIDATE_MAX_ORDERS);
	ok = bench_open(p, &s.bench, rows) && search(&s, order, norder);
	if (ok && !s.n && p->close) {
		s.close = true;
		ok = search(&s, order, norder);
	}
	ok = ok && (s.n || probe_fail(p, REASON_NOT_EXACT, "no candidate gives the same bytes")) &&
	     choose(&s);
	free(order);
	free(s.trial);
	probe_batch_free(&s.one);
	probe_batch_free(&s.many);
	return ok;
}
