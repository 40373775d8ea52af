// SPDX-License-Identifier: Apache-2.0
/*
 * Ways are written: while the planner is asked launch by launch, from one before which it knew of
 * nothing, what is done at each is put down. Declared in window_state.h and window_memo.h.
 */
#include <stdlib.h>
#include <string.h>

#include "matcher/key.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/times.h"
#include "shim/window_memo.h"

enum {
	ENTRIES = 16384, /* then all are forgotten */
	FRESH = 4096,    /* entries made since a group was known again: ways are not written, but */
	FRESH_EACH = 8,  /* one in so many */
	AWAY = 1024,     /* launches on no way, before one is begun though matches are open */
	/* A way on which something waits is the planner's every other time, that often. If nothing
	 * comes of it, it is followed ever more often in between, up to 2^8 times. */
	LOOKS = 16,
	REST_LOG = 8,
};

bool window_on_way(const struct window *w)
{
	return w->memo && (w->memo->at || w->memo->writing);
}

void memo_end(struct memo *m)
{
	struct entry *e = m->begun;

	m->in_hand = NULL;
	if (!m->writing)
		return;
	m->writing = false;
	m->begun = m->behind = NULL;
	if (!e)
		return;
	e->looks = m->waits && m->changes == e->changes ? e->looks + 1 : 0;
	e->rest = e->looks < LOOKS              ? 1
		  : e->looks < LOOKS + REST_LOG ? 1u << (e->looks - LOOKS)
						: 1u << REST_LOG;
	e->waits = m->waits;
	e->changes = m->changes;
}

/* Is one to be begun with this launch? The planner then knows of nothing. */
static bool begin(struct window *w, struct memo *m, const struct launch *l, const struct op *op)
{
	if (seq_held(w->seq) || op->code == OP_opaque || !l->params || record_on || times_on ||
	    process.config.opt.verify == VERIFY_ALWAYS || !window_holding(w))
		return false;
	if (seq_open(w->seq) && !m->astray && ++m->away < AWAY &&
	    !memo_find(memo_root(m, l->kernel), l))
		return false;
	if (m->fresh > FRESH && ++m->starts % FRESH_EACH)
		return false;
	if (seq_open(w->seq)) /* dead matches are for reports only */
		seq_clear(w->seq);
	m->writing = true;
	m->astray = m->waits = false;
	m->away = m->written = m->nheld = 0;
	m->begun = m->behind = NULL;
	m->changes = verdict_changes();
	return true;
}

void window_note(struct window *w, const struct launch *l, const struct op *op)
{
	struct memo *m = w->memo;

	if (!m && (!w->fused || !(m = w->memo = calloc(1, sizeof(*m)))))
		return;
	if (w->check.arena || w->nfree || !l->kernel || m->written == MEMO_LONG)
		memo_end(m);
	else if (m->writing || begin(w, m, l, op)) {
		if (m->n >= ENTRIES) {
			memo_forget(m);
			return;
		}
		m->in_hand = memo_entry(m, m->behind, l, op);
		if (!m->in_hand)
			memo_end(m);
		m->nact = 0;
		m->spoilt = false;
		m->nbefore = m->nheld;
		for (unsigned i = 0; i < m->nheld; i++)
			m->before[i] = m->held[i].place;
	}
}

void window_note_checked(struct window *w)
{
	struct memo *m = w->memo;

	if (m && m->writing)
		m->waits = m->spoilt = true;
}

static struct act *next_act(struct memo *m)
{
	struct act *a = m->nact < MEMO_ACTS ? &m->act[m->nact++] : NULL;

	if (a)
		*a = (struct act){.n = 0};
	else
		m->spoilt = true;
	return a;
}

/* The member goes out by that act, if it was held. */
static bool take(struct memo *m, struct act *a, const struct member *member)
{
	for (unsigned i = 0; i < m->nheld; i++)
		if (m->held[i].index == member->launch.index) {
			a->held[a->n++] = (uint8_t)i;
			return true;
		}
	return false;
}

/* They are held no more. Their numbers ascend, as members are in program order. */
static void taken(struct memo *m, const struct act *a)
{
	unsigned kept = 0;

	for (unsigned i = 0, k = 0; i < m->nheld; i++)
		if (k < a->n && a->held[k] == i)
			k++;
		else
			m->held[kept++] = m->held[i];
	m->nheld = kept;
}

void window_note_sent(struct window *w, const struct member *const *member, unsigned n)
{
	struct memo *m = w->memo;

	for (unsigned i = 0; m && m->in_hand && i < n; i++) {
		struct act *a = next_act(m);

		if (!a || !take(m, a, member[i])) {
			m->spoilt = true;
			return;
		}
		taken(m, a);
	}
}

void window_note_refused(struct window *w, const struct group *g, enum reason why)
{
	struct memo *m = w->memo;
	struct act *a;

	if (!m || !m->writing)
		return;
	m->waits |= why == REASON_NO_VERDICT || why == REASON_UNPREDICTED;
	if (!m->in_hand || !(a = next_act(m)))
		return;
	a->refused = true;
	a->pattern = (uint8_t)pattern_id(g->pattern);
	a->why = (uint8_t)why;
}

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

static uint8_t number_of(const uint16_t *list, unsigned n, uint16_t place)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i] == place)
			return (uint8_t)i;
	return 0;
}

/* The same acts when these were not held: no act is about them. */
static void without(uint16_t *place, unsigned *n, struct act *act, unsigned nact,
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
			a->held[i] = number_of(is, nis, out[i]);
		}
		nwas = strike(was, nwas, out, a->n);
		nis = strike(is, nis, out, a->n);
	}
}

/*
 * A chain was fused because something came that it could not go on with. The next time that is
 * known, and its kernel is launched when its last member comes: on the way from there they are held
 * no more. False: that cannot be, or it was seen to go on.
 */
static bool earlier(struct memo *m, const struct group *g, struct verdict *v,
		    const struct standin *s)
{
	uint16_t place[GROUP_MAX_MEMBERS], list[MEMO_HELD];
	const unsigned n = g->nmember;
	struct act mine = {.n = 0}, *a;
	unsigned left, of = 0;
	struct entry *last = NULL;
	struct step *to;

	for (unsigned i = 0; i < n; i++)
		if (!take(m, &mine, g->member[i]))
			return false;
	for (unsigned i = 0; i < n; i++) {
		last = m->held[mine.held[i]].entry;
		last->goes_on |= i + 1 < n;
		place[i] = m->held[mine.held[i]].place;
	}
	if (!last || last->goes_on ||
	    !(to = malloc(sizeof(*to) + (last->step->nact + 1) * sizeof(*a))))
		return false;
	memcpy(to, last->step, sizeof(*to) + last->step->nact * sizeof(*a));
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
	while (of + 1 < n)
		a->held[of] = number_of(list, left, place[of]), of++;
	a->n = (uint8_t)of;
	free(last->step);
	last->step = to;
	for (struct entry *e = m->behind; e != last; e = e->before)
		without(e->step->place, &e->step->nheld, e->step->act, e->step->nact, place, n);
	if (m->in_hand)
		without(m->before, &m->nbefore, m->act, m->nact, place, n);
	taken(m, &mine);
	return true;
}

void window_note_fused(struct window *w, const struct group *g, struct verdict *v,
		       const struct standin *s)
{
	struct memo *m = w->memo;
	const unsigned n = group_size(g);
	struct act *a;

	if (!m || !m->writing || w->cut || (g->row && earlier(m, g, v, s)) || !m->in_hand ||
	    !(a = next_act(m)))
		return;
	for (unsigned i = 0; i < n; i++)
		if (!take(m, a, g->member[i]) && i + 1 < n)
			m->spoilt = true;
	if (!g->row && a->n) /* its first member is a pattern's */
		m->held[a->held[0]].entry->step->begins =
			verdict_site(key_noted(&g->member[0]->launch, &g->member[0]->op));
	taken(m, a);
	m->waits |= s->provisional;
	if (!(a->whole = memo_whole(g, v, s)))
		m->spoilt = true;
}

/* What was put down at the launch in hand becomes its step. */
static bool keep(struct memo *m, const struct launch *l, enum seq_act act)
{
	struct step *step;

	if (act == SEQ_HOLD && m->nheld == MEMO_HELD)
		return false;
	step = calloc(1, sizeof(*step) + m->nact * sizeof(step->act[0]));
	if (!step)
		return false;
	step->own = act;
	step->nheld = m->nbefore;
	memcpy(step->place, m->before, m->nbefore * sizeof(m->before[0]));
	step->nact = m->nact;
	memcpy(step->act, m->act, m->nact * sizeof(m->act[0]));
	memo_set_step(m->in_hand, step);
	if (act == SEQ_HOLD) {
		m->held[m->nheld].index = l->index;
		m->held[m->nheld].place = (uint16_t)m->written;
		m->held[m->nheld++].entry = m->in_hand;
	}
	m->written++;
	m->behind = m->in_hand;
	m->begun = m->begun ? m->begun : m->in_hand;
	return true;
}

void window_noted(struct window *w, const struct launch *l, enum seq_act act, CUresult r)
{
	struct memo *m = w->memo;

	if (!m || !m->in_hand)
		return;
	if (w->want_check || w->finish_check)
		m->waits = m->spoilt = true;
	if (r || m->spoilt || !keep(m, l, act)) {
		for (unsigned i = 0; i < m->nact; i++)
			memo_free_whole(m->act[i].whole);
		memo_end(m);
	}
	m->in_hand = NULL;
}
