// SPDX-License-Identifier: Apache-2.0
/*
 * A chain was fused because something came that it could not go on with. The next time that is
 * known, and its kernel is launched when its last member comes: on the way from there they are held
 * no more. Declared in window_memo.h.
 */
#include <stdlib.h>
#include <string.h>

#include "shim/window_memo.h"

/* Takes some out of a list; both ascend. Returns how many are left. */
static unsigned strike(uint16_t *list, unsigned n, const uint16_t *gone, unsigned ngone)
{
	unsigned kept = 0;

	for (unsigned i = 0, k = 0; i < n; i++)
		if (k < ngone && gone[k] == list[i])
			k++;
		else
			list[kept++] = list[i];
	return kept;
}

/* False: it is not in the list, though it has to be. */
static bool number_of(const uint16_t *list, unsigned n, uint16_t place, uint8_t *number)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i] == place) {
			*number = (uint8_t)i;
			return true;
		}
	return false;
}

/* The same acts when these were not held. False: an act is about one of them, so there are none. */
static bool without(uint16_t *place, unsigned *n, struct act *act, unsigned nact,
		    const uint16_t *gone, unsigned ngone)
{
	uint16_t was[MEMO_HELD], is[MEMO_HELD], out[GROUP_MAX_MEMBERS];
	unsigned nwas = *n, nis;

	memcpy(was, place, nwas * sizeof(was[0]));
	*n = nis = strike(place, nwas, gone, ngone);
	memcpy(is, place, nis * sizeof(is[0]));
	for (struct act *a = act; a < act + nact; a++) {
		for (unsigned i = 0; i < a->n; i++) {
			out[i] = was[a->held[i]];
			if (!number_of(is, nis, out[i], &a->held[i]))
				return false;
		}
		nwas = strike(was, nwas, out, a->n);
		nis = strike(is, nis, out, a->n);
	}
	return true;
}

bool memo_earlier(struct memo *m, const struct group *g, struct verdict *v, const struct standin *s)
{
	uint16_t place[GROUP_MAX_MEMBERS], list[MEMO_HELD];
	const unsigned n = g->nmember;
	struct act mine = {.n = 0}, *a;
	unsigned left;
	struct entry *last = NULL;
	struct step *to;

	for (unsigned i = 0; i < n; i++)
		if (!memo_take(m, &mine, g->member[i]))
			return false;
	for (unsigned i = 0; i < n; i++) {
		last = m->held[mine.held[i]].entry;
		last->goes_on |= i + 1 < n;
		place[i] = m->held[mine.held[i]].place;
	}
	if (!last || !last->step || last->goes_on ||
	    !(to = malloc(sizeof(*to) + (last->step->nact + 1) * sizeof(*a) +
			  last->step->nheld * sizeof(to->place[0]))))
		return false;
	memcpy(to, last->step, sizeof(*to) + last->step->nact * sizeof(*a));
	to->place =
		memcpy(to->act + to->nact + 1, last->step->place, to->nheld * sizeof(to->place[0]));
	a = &to->act[to->nact++];
	*a = (struct act){.whole = memo_whole(g, v, s)};
	if (!a->whole) {
		free(to);
		return false;
	}
	to->own = SEQ_FUSE;
	left = to->nheld;
	memcpy(list, to->place, left * sizeof(list[0]));
	for (struct act *b = to->act; b < a; b++) {
		uint16_t out[GROUP_MAX_MEMBERS];

		for (unsigned i = 0; i < b->n; i++)
			out[i] = list[b->held[i]];
		left = strike(list, left, out, b->n);
	}
	for (a->n = 0; a->n + 1u < n; a->n++)
		if (!number_of(list, left, place[a->n], &a->held[a->n])) {
			memo_free_whole(a->whole);
			free(to);
			return false;
		}
	free(last->step);
	last->step = to;
	for (struct entry *e = m->behind; e != last; e = e->before)
		if (e->step && !without(e->step->place, &e->step->nheld, e->step->act,
					e->step->nact, place, n)) {
			memo_set_step(e, NULL);
			m->spoilt = true;
		}
	if (m->in_hand && !without(m->before, &m->nbefore, m->act, m->nact, place, n))
		m->spoilt = true;
	memo_taken(m, &mine);
	return true;
}
