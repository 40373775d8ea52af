/* SPDX-License-Identifier: Apache-2.0 */
/* The live answers to the planner's questions (matcher/seq.h). All run under the window's lock. */
#include "config/log.h"
#include "matcher/key.h"
#include "shim/control.h"
#include "shim/judge.h"
#include "shim/memory.h"
#include "shim/process.h"
#include "shim/report.h"
#include "shim/window_chain.h"

enum {
	SHMEM_PLAIN = 48 << 10, /* dynamic shared memory that needs no opt-in attribute */
	GRID_YZ_MAX = 65535,
	CHECK_ANY = 61, /* every so manieth match is checked while a verdict waits for its check */
};

/* A held launch answers success before the driver has seen it: only shapes that cannot be refused.
 */
static bool shape_proven(const struct launch *l)
{
	return l->shmem <= SHMEM_PLAIN && l->grid[0] && l->grid[1] && l->grid[2] &&
	       l->grid[1] <= GRID_YZ_MAX && l->grid[2] <= GRID_YZ_MAX && l->grid[0] <= INT32_MAX;
}

/*
 * Is the match that now begins at s one to check instead of being held? Groups of several verdicts
 * may begin at one site (each residual add of a model feeds another norm), and which one it is
 * shows when its last member comes. Programs repeat themselves: the guess is that as many others
 * come in between as the last time. Now and then any will do, should the guess never be right.
 */
static bool check_now(const struct window *w, struct site *s, const struct member *m)
{
	const struct verdict *v = s->open;

	if (process.config.opt.verify == VERIFY_ALWAYS)
		return s->expected || v;
	if (s->hints >> s->begins % 64 & 1 && check_ready(w->ours, m)) {
		s->hints &= ~(UINT64_C(1) << s->begins % 64);
		return true;
	}
	if (!v)
		return false;
	if (!judge_wants_check(v)) {
		s->open = NULL;
		return false;
	}
	if (s->begins - v->seen != v->gap && s->begins % CHECK_ANY)
		return false;
	/* No memory for checks, or in use: what is proven is fused meanwhile. */
	return check_ready(w->ours, m);
}

/* Is this a stream and a time at which launches can be held at all? */
bool window_holding(const struct window *w)
{
	return w->kind != STREAM_PER_THREAD && !process.launch_blocking && w->ours->ready &&
	       !__atomic_load_n(&window_captures, __ATOMIC_ACQUIRE) && process.on && control_on();
}

uint64_t window_doubts(void)
{
	return verdict_unvetted() + memory_aliased();
}

bool window_may_recall(const struct window *w, const struct site *s)
{
	return window_holding(w) && s->expected && !s->skip && !s->open &&
	       process.config.opt.verify != VERIFY_ALWAYS;
}

bool window_may_refuse(const struct window *w, const struct verdict *v)
{
	return window_holding(w) && verdict_state(v) == VERDICT_USABLE;
}

void window_seen(struct site *s, struct verdict *v)
{
	v->gap = s->begins - v->seen;
	v->seen = s->begins;
	s->misses = s->skip = 0; /* what begins here does complete */
	if (!s->open && judge_wants_check(v))
		s->open = v;
}

/* Others pass it by their addresses: it shall have no memory that shows at another one, too. */
static bool at_one_address(const struct window *w, const struct op *op)
{
	for (unsigned i = 0; i < op->noperand && memory_aliased(); i++)
		if (memory_check(operand_range(&op->operand[i]), w->ours->device, 1))
			return false;
	return true;
}

static bool may_hold(void *arg, const struct member *m, const struct pattern *p, uint8_t node)
{
	struct window *w = arg;
	struct site *s;

	if (!window_holding(w) || !at_one_address(w, &m->op))
		return false;
	if (p->nnode == 0)
		return shape_proven(&m->launch) && window_chain_hold(w, m, node);
	if (node)
		return shape_proven(&m->launch);
	s = verdict_site_find(key_noted(&m->launch, &m->op));
	if (!s)
		return false;
	s->begins++;
	if (check_now(w, s, m)) {
		w->want_check = true;
		return false;
	}
	if (!s->expected || process.config.opt.verify == VERIFY_ALWAYS || !shape_proven(&m->launch))
		return false;
	if (s->skip) {
		s->skip--;
		return false;
	}
	return true;
}

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	struct window *w = arg;

	return memory_check(r, w->ours->device, surviving);
}

static bool enabled(void *arg, const struct pattern *p)
{
	return process.pattern_on[pattern_id(p)] && control_on();
}

/* A check that began with the group's first launch comes to nothing: the kernel that it is for is
 * still on its way. */
static void drop_check(struct window *w, const struct group *g, struct site *s)
{
	bool pushed;

	if (s)
		s->open = NULL;
	if (!w->check.arena || w->check_index != g->member[0]->launch.index)
		return;
	pushed = window_enter(w);
	check_cancel(&w->check, w->ours, w->stream);
	window_leave(pushed);
}

/* Where the group began. Those are not remembered of which nothing may ever come: where parameters
 * are others each time, each launch has its own. */
static struct site *site_of(const struct group *g, int state)
{
	const uint64_t hash = key_noted(&g->member[0]->launch, &g->member[0]->op);
	struct site *s = state == VERDICT_NEW ? verdict_site_find(hash) : verdict_site(hash);

	if (s && !s->begins) /* it did, once */
		s->begins = 1;
	return s;
}

static enum reason verdict(void *arg, struct group *g, bool all_held)
{
	struct window *w = arg;
	struct verdict *v;
	enum reason why;
	struct site *s;
	bool slower;
	int state;

	if (w->kind == STREAM_PER_THREAD)
		return REASON_PER_THREAD_STREAM;
	if (__atomic_load_n(&window_captures, __ATOMIC_ACQUIRE))
		return REASON_CAPTURE;
	if (g->row)
		return window_chain_verdict(w, g, all_held);
	why = judge(g, w->ours, &v);
	if (!v)
		return why;
	state = verdict_state(v);
	s = site_of(g, state);
	slower = verdict_slower(v, g->rows);
	if (s) {
		s->expected = !slower && (state == VERDICT_USABLE ||
					  (s->expected && state != VERDICT_REJECTED));
		window_seen(s, v);
	}
	if (why && state == VERDICT_CHECKING)
		drop_check(w, g, s);
	if (why || state == VERDICT_REJECTED) /* just now, by another thread */
		return why ? why : v->why;
	if (w->finish_check) /* the launch completes another group, which is checked */
		return REASON_NO_VERDICT;
	if (w->check.arena && w->check_index == g->member[0]->launch.index) {
		verdict_mark(v);
		w->finish_check = true;
		w->checked = *g;
		w->verdict = v;
		return REASON_NO_VERDICT;
	}
	if (state == VERDICT_CHECKING) {
		verdict_wants(v, g->rows);
		return REASON_NO_VERDICT;
	}
	if (g->rows > __atomic_load_n(&v->rows, __ATOMIC_ACQUIRE)) {
		verdict_wants(v, g->rows);
		if (s && !s->open)
			s->open = v;
		return REASON_NO_VERDICT;
	}
	w->verdict = v;
	judge_vet(v);
	return REASON_NONE;
}

/* A match ended. Fused groups are reported once their kernel is launched, checked ones here. */
static void done(void *arg, const struct group *g, enum reason why)
{
	struct window *w = arg;

	if (w->finish_check && w->check_index == g->member[0]->launch.index) {
		report_group(g, OUTCOME_CHECKED, why);
	} else if (why != REASON_NONE) {
		report_group(g, OUTCOME_REJECTED, why);
		window_note_refused(w, g, why);
	}
}

const struct seq_policy window_policy = {.may_hold = may_hold,
					 .memory = memory,
					 .enabled = enabled,
					 .verdict = verdict,
					 .done = done,
					 .may_chain = window_chain_may,
					 .may_join = window_chain_join};
