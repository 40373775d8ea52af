/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/check.h"

#include <string.h>

#include "config/log.h"
#include "matcher/legal.h"
#include "shim/arena.h"
#include "shim/check_body.h"
#include "shim/check_chain.h"
#include "shim/report.h"
#include "shim/times.h"
#include "shim/worker.h"

static bool send(CUstream stream, const struct standin *s)
{
	if (standin_send(s, stream))
		return false;
	COUNT(own, s->n);
	return true;
}

static bool launch(const struct ours *o, CUstream stream, const struct fused_launch *l)
{
	struct standin s;

	return standin_ours(l, o, &s) && send(stream, &s);
}

/* Onto a stream. */
struct queue {
	const struct ours *ours;
	CUstream stream;
	const struct group *group; /* with check_run */
	struct verdict *verdict;
};

static bool queue_copy(void *arg, uint64_t to, uint64_t from, uint64_t bytes)
{
	const struct queue *q = arg;

	if (real.cuMemcpyDtoDAsync_v2(to, from, bytes, q->stream))
		return false;
	COUNT(own, 1);
	return true;
}

static bool queue_fill(void *arg, uint64_t at, unsigned char value, uint64_t bytes)
{
	const struct queue *q = arg;

	return !real.cuMemsetD8Async(at, value, bytes, q->stream);
}

static bool queue_launch(void *arg, const struct standin *s)
{
	const struct queue *q = arg;

	return send(q->stream, s);
}

static bool queue_candidate(void *arg, const struct standin *s, int64_t rows)
{
	const struct queue *q = arg;
	bool ok;

	if (times_on)
		times_before();
	ok = send(q->stream, s);
	if (times_on)
		times_after_group(q->group, s->n, &q->verdict->key, rows, true);
	return ok;
}

static const struct check_sink queue_sink = {.copy = queue_copy,
					     .fill = queue_fill,
					     .launch = queue_launch,
					     .candidate = queue_candidate};

static bool snapshot(struct check *c, const struct ours *o, CUstream stream, struct range r,
		     uint64_t most)
{
	struct queue q = {.ours = o, .stream = stream};

	return check_snapshot(c, r, most, &queue_sink, &q);
}

/* Queues the signal that ends the use of the arena. On failure the arena stays busy for good: what
 * is still queued in it cannot be told from what is done. */
static void publish(struct check *c, const struct ours *o, CUstream stream, struct verdict *v,
		    int64_t rows)
{
	struct arena *a = c->arena;
	struct fused_launch l;
	uint64_t ticket = __atomic_add_fetch(&a->tickets, 1, __ATOMIC_RELAXED);

	memset(c, 0, sizeof(*c));
	fused_publish(a->counter, arena_slot(a, 0), ticket, &l);
	if (!launch(o, stream, &l)) {
		log_warn_once("a live check could not be queued; no more checks in this context");
		return;
	}
	a->signal[0].verdict = v;
	a->signal[0].rows = rows;
	__atomic_store_n(&a->signal[0].ticket, ticket, __ATOMIC_RELEASE);
	worker_poll(&worker_device);
}

/* The arena of o as it is, after asking for so many bytes. */
static struct arena *arena_now(const struct ours *o, uint64_t bytes)
{
	struct arena *a = arena_get(o, bytes);

	return a ? a : arena_get(o, 1);
}

/* The arena of o, with room for what the whole group may read and write beside its first member,
 * twice what that does, at least soon. */
static struct arena *arena_for(const struct ours *o, const struct member *m, unsigned *reads)
{
	uint64_t all = 0;

	*reads = 0;
	for (unsigned i = 0; i < m->op.noperand; i++) {
		struct range r = operand_range(&m->op.operand[i]);

		all += r.hi - r.lo;
		*reads += (m->op.operand[i].access & ACCESS_READ) != 0;
	}
	return arena_now(o, 2 * all + (1 << 16));
}

static bool ready(const struct ours *o, const struct member *m, unsigned *reads)
{
	const struct arena *a = arena_for(o, m, reads);

	return a && !__atomic_load_n(&a->busy, __ATOMIC_ACQUIRE);
}

bool check_ready(const struct ours *o, const struct member *m)
{
	unsigned reads;

	return ready(o, m, &reads) && reads;
}

bool check_ready_group(const struct ours *o, const struct member *m)
{
	unsigned reads;

	return ready(o, m, &reads);
}

/* The arena is c's, if there is one and no other check has it. */
static bool claim(struct check *c, struct arena *a)
{
	int idle = 0;

	memset(c, 0, sizeof(*c));
	if (!a || !__atomic_compare_exchange_n(&a->busy, &idle, 1, false, __ATOMIC_ACQ_REL,
					       __ATOMIC_RELAXED))
		return false;
	if (!a->memory.bytes) { /* given back between the look and the claim */
		__atomic_store_n(&a->busy, 0, __ATOMIC_RELEASE);
		return false;
	}
	c->arena = a;
	return true;
}

bool check_begin(struct check *c, const struct ours *o, CUstream stream, const struct member *m)
{
	unsigned reads;
	struct arena *a = arena_for(o, m, &reads);
	uint64_t share;

	if (!reads || !claim(c, a))
		return false;
	share = a->memory.bytes / 2 / reads - 2 * CHECK_ALIGN;
	for (unsigned i = 0; i < m->op.noperand; i++)
		if ((m->op.operand[i].access & ACCESS_READ) &&
		    !snapshot(c, o, stream, operand_range(&m->op.operand[i]), share)) {
			check_cancel(c, o, stream);
			return false;
		}
	return true;
}

bool check_begin_group(struct check *c, const struct ours *o, CUstream stream,
		       const struct group *g)
{
	const uint64_t all = check_bytes(g) + (1 << 16);
	/* A part will do where it can. */
	struct arena *a = !g->row || check_chain_in_part(g) ? arena_now(o, all) : arena_get(o, all);
	struct range r[GROUP_MAX_SLOTS];
	uint64_t most;
	unsigned n;

	if (!claim(c, a))
		return false;
	n = check_copies(c, g, r);
	most = n && arena_bytes(a) < all ? arena_bytes(a) / 2 / n - 2 * CHECK_ALIGN : all;
	for (unsigned i = 0; i < n; i++)
		if (!snapshot(c, o, stream, r[i], most)) {
			check_cancel(c, o, stream);
			return false;
		}
	return true;
}

bool check_last(struct check *c, const struct ours *o, CUstream stream, const struct group *g)
{
	struct range r[GROUP_MAX_SLOTS];
	unsigned n = check_copies(c, g, r);

	for (unsigned i = 0; i < n; i++)
		if (!snapshot(c, o, stream, r[i], c->arena->memory.bytes / 8))
			return false;
	return true;
}

void check_run(struct check *c, const struct ours *o, CUstream stream, const struct group *g,
	       struct verdict *v)
{
	struct queue q = {.ours = o, .stream = stream, .group = g, .verdict = v};
	bool ok = check_body(c, g, v, o, &queue_sink, &q);

	publish(c, o, stream, ok ? v : NULL, ok ? g->rows : 0);
}

void check_cancel(struct check *c, const struct ours *o, CUstream stream)
{
	if (c->arena)
		publish(c, o, stream, NULL, 0);
}

void check_first_use(const struct ours *o, CUstream stream, struct verdict *v)
{
	struct arena *a = arena_get(o, 0);
	struct fused_launch l;
	int s;

	if (!a || (s = arena_signal(a, v, 0)) < 0)
		return;
	v->first_use_over = true; /* one signal is enough */
	fused_publish(a->counter, arena_slot(a, s), a->signal[s].ticket, &l);
	if (!launch(o, stream, &l))
		log_debug("no completion signal for a first use");
}

bool check_poll(void)
{
	return arena_poll();
}

bool check_release_memory(void)
{
	return arena_release_memory();
}

void check_drop_context(CUcontext ctx)
{
	arena_drop_context(ctx);
}

void check_context_gone(CUcontext ctx)
{
	arena_context_gone(ctx);
}
