/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search for silu -> mul: elements are independent, so candidates are told apart by elements.
 * All gates there are go through the activation: what is left after that computes the same. For
 * 16-bit types they are a batch; for f32 a batch is a gate of each of many equal stretches of all
 * floats, and what it leaves goes through all of them on the device (probe_child_sweep.c).
 */
#include <stdlib.h>

#include "config/log.h"
#include "shim/probe_child_search.h"

enum {
	FEW_ELEMENTS = 4096, /* that leave but a few candidates */
	TABLE = 1 << 16,     /* gates of a 16-bit type */
	FLOATS = 1 << 15,    /* of all floats */
	/* Runs of the program's kernels for a small batch and a large one, where one takes few. */
	FEW_RUNS = 256,
	RUNS = 1024,
	ROUNDS = 6,
};

static int64_t rows_of(const struct probe *p, int64_t elements, int64_t runs)
{
	int64_t rows = (elements + p->group.cols - 1) / p->group.cols, most = runs * p->group.rows;

	return p->scale == PROBE_SCALE_NONE && rows > most ? most : rows;
}

int64_t search_silu_few(const struct probe *p)
{
	return rows_of(p, FEW_ELEMENTS, FEW_RUNS);
}

int64_t search_silu_rows(const struct probe *p)
{
	if (p->group.bound[SILU_MUL_GATE].dtype != DT_f32)
		return rows_of(p, TABLE, TABLE);
	return rows_of(p, FLOATS, RUNS);
}

/* What every gate left alike goes on as one, for each way to multiply. */
static void keep_kinds(struct search *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++) {
		bool seen = false;

		for (unsigned k = 0; k < n; k++)
			seen |= candidate_same_product(&s->p->group, &s->trial[k].c,
						       &s->trial[i].c);
		if (!seen)
			s->trial[n++] = s->trial[i];
	}
	s->n = n;
}

bool search_silu(struct search *s)
{
	static const enum probe_family first[] = {PROBE_FAMILY_normal, PROBE_FAMILY_tiny,
						  PROBE_FAMILY_extreme, PROBE_FAMILY_wide};
	struct candidate *list = malloc(CANDIDATE_MAX_SPELLINGS * sizeof(*list));
	unsigned before, other;

	if (!list)
		return probe_fail(s->p, REASON_NO_VERDICT, "out of memory");
	s->n = candidate_silus(&s->p->group, list, CANDIDATE_MAX_SPELLINGS);
	for (unsigned i = 0; i < s->n; i++)
		s->trial[i] = (struct trial){.c = list[i]};
	free(list);
	for (unsigned i = 0; i < sizeof(first) / sizeof(*first); i++)
		if (!search_filter(s, &s->one, first[i]))
			return false;
	search_keep_best(s);
	s->seed = 0;
	for (unsigned i = 0; i < ROUNDS; i++) {
		before = s->n;
		if (!search_filter(s, &s->many, PROBE_FAMILY_exact))
			return false;
		if (s->many.type != DT_f32 && !s->close) {
			s->table = search_allowed(s->p, PROBE_FAMILY_exact);
			break;
		}
		if (i && (s->n == before || !search_ambiguous(s, &other)))
			break;
	}
	if (s->many.type == DT_f32 && search_allowed(s->p, PROBE_FAMILY_exact) && !search_sweep(s))
		return false;
	if (s->table && !s->p->candidates[0])
		keep_kinds(s);
	return search_all_families(s);
}
