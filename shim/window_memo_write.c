// SPDX-License-Identifier: Apache-2.0
/*
 * Ways are written: while the planner is asked launch by launch, from one before which it knew of
 * nothing, what is done at each is put down. Declared in window_state.h and window_memo.h.
 */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "matcher/key.h"
#include "shim/budget.h"
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
	TIMES = 128, /* so much longer than the planner took for a known way, it has no other */
};

bool memo_time(const struct memo *m)
{
	return budget_clock() >= m->again_at && budget_left();
}

bool window_on_way(const struct window *w)
{
	return w->memo && (w->memo->at || w->memo->writing);
}

void memo_end(struct memo *m)
{
	struct entry *e = m->begun;
	const bool resumed = m->resumed;

	m->in_hand = NULL;
	if (m->again) {
		m->again_at = budget_clock() + TIMES * m->took;
		m->again = false;
	}
	m->took = 0;
	if (!m->writing)
		return;
	m->writing = false;
	m->written = m->resumed = 0;
	m->begun = m->behind = NULL;
	if (!e)
		return;
	if (resumed) { /* the planner did not see all of it */
		e->waits |= m->waits;
		return;
	}
	e->looks = m->waits && m->changes == e->changes ? e->looks + 1 : 0;
	e->rest = e->looks < LOOKS              ? 1
		  : e->looks < LOOKS + REST_LOG ? 1u << (e->looks - LOOKS)
						: 1u << REST_LOG;
	e->waits = m->waits;
	e->changes = m->changes;
}

/* Was there a launch that said the same? What is another each time begins no way and goes on none.
 */
static bool seen(struct memo *m, const struct launch *l, const struct op *op)
{
	uint64_t hash = (uintptr_t)l->kernel ^ (uint64_t)l->grid[0] << 48;
	uint8_t bytes[HEED_BYTES];
	struct heed h;
	uint32_t *tag;
	bool known;

	if (!heed_of(l, op, &h))
		return false;
	hash = XXH3_64bits_withSeed(bytes, heed_take(&h, l->params, bytes), hash);
	tag = &m->seen[hash % MEMO_SEEN];
	known = *tag == (uint32_t)(hash >> 32);
	*tag = (uint32_t)(hash >> 32);
	return known;
}

/* Is one to be begun with this launch? The planner then holds nothing. It may know of launches
 * before: should something come of them yet, the way is none. */
static bool begin(struct window *w, struct memo *m, const struct launch *l, const struct op *op)
{
	struct entry *e;

	if (seq_held(w->seq) || op->code == OP_opaque || !l->params || record_on || times_on ||
	    process.config.opt.verify == VERIFY_ALWAYS || !window_holding(w))
		return false;
	e = memo_find(memo_root(m, l->kernel), l);
	if (!e && seq_open(w->seq) && !m->astray && ++m->away < AWAY)
		return false;
	if (m->fresh > FRESH && ++m->starts % FRESH_EACH)
		return false;
	if (!seen(m, l, op)) {
		m->astray = true; /* behind it, then */
		return false;
	}
	m->writing = true;
	m->from = l->index;
	m->astray = m->waits = false;
	m->away = m->nheld = 0;
	m->begun = m->behind = NULL;
	m->changes = verdict_changes();
	return true;
}

void window_note(struct window *w, const struct launch *l, const struct op *op)
{
	struct memo *m = w->memo;
	bool skip;

	if (!m) {
		if (!w->fused || !(m = w->memo = calloc(1, sizeof(*m))))
			return;
		__atomic_add_fetch(&window_ways, 1, __ATOMIC_RELAXED);
	}
	skip = m->skip;
	m->skip = false;
	if (m->written >= MEMO_CUT && !m->nheld && !seq_open(w->seq))
		memo_end(m);
	if (m->resumed && m->written == m->resumed && l->params && !seen(m, l, op))
		memo_end(m);
	if (w->check.arena || w->nfree || !l->kernel || m->written == MEMO_LONG)
		memo_end(m);
	else if (m->writing || (!skip && begin(w, m, l, op))) {
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

bool memo_take(struct memo *m, struct act *a, const struct member *member)
{
	for (unsigned i = 0; i < m->nheld; i++)
		if (m->held[i].index == member->launch.index) {
			a->held[a->n++] = (uint8_t)i;
			return true;
		}
	return false;
}

void memo_taken(struct memo *m, const struct act *a)
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

	if (!m || !m->in_hand)
		return;
	m->waits |= n > 0; /* held in vain: the planner holds less there, if it is asked */
	for (unsigned i = 0; i < n; i++) {
		struct act *a = next_act(m);

		if (!a || !memo_take(m, a, member[i])) {
			m->spoilt = true;
			return;
		}
		memo_taken(m, a);
	}
}

void window_note_refused(struct window *w, const struct group *g, enum reason why)
{
	struct memo *m = w->memo;
	struct act *a;

	if (!m || !m->writing)
		return;
	m->waits |= why == REASON_NO_VERDICT || why == REASON_UNPREDICTED;
	/* Of one that began before the way nothing was held: there is nothing to do about it. */
	if (g->member[0]->launch.index < m->from || !m->in_hand || !(a = next_act(m)))
		return;
	a->refused = true;
	a->pattern = (uint8_t)pattern_id(g->pattern);
	a->why = (uint8_t)why;
}

void window_note_fused(struct window *w, const struct group *g, struct verdict *v,
		       const struct standin *s)
{
	struct memo *m = w->memo;
	const unsigned n = group_size(g);
	struct step *first;
	struct act *a;

	if (!m || !m->writing || w->cut || (g->row && memo_earlier(m, g, v, s)) || !m->in_hand ||
	    !(a = next_act(m)))
		return;
	for (unsigned i = 0; i < n; i++)
		if (!memo_take(m, a, g->member[i]) && i + 1 < n)
			m->spoilt = true;
	first = a->n ? m->held[a->held[0]].entry->step : NULL;
	if (!g->row && first) /* it is a pattern's first member */
		first->begins = verdict_site(key_noted(&g->member[0]->launch, &g->member[0]->op));
	memo_taken(m, a);
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
	step = calloc(1, sizeof(*step) + m->nact * sizeof(step->act[0]) +
				 m->nbefore * sizeof(step->place[0]));
	if (!step)
		return false;
	step->own = act;
	step->nheld = m->nbefore;
	step->place = (uint16_t *)(step->act + m->nact);
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

void window_note_took(struct window *w, uint64_t ticks)
{
	if (w->memo && w->memo->again)
		w->memo->took += ticks;
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
