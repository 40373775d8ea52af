/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sweep: every float there is through the program's silu -> mul and through the candidates that
 * are left. A kernel of ours makes gates and factors on the device, another compares; chunk after
 * chunk is queued and only counts come back. Where the program's kernels cannot be launched with as
 * many elements as that takes, and on the software GPU, gates from all over the floats are tried
 * instead, a bounded number of them. SOFTGPU_SWEEP (tests/softgpu/README.md) adds a stretch there.
 */
#include "shim/probe_child_sweep.h"

#include <stdlib.h>

#include "config/log.h"

enum {
	ELEMENTS_LEAST = 1 << 18,
	ELEMENTS_SOFTGPU = 1 << 14,
	GATES_SOFTGPU = 1 << 18,
	LAUNCHES = 4096, /* of the program's own size */
	LAUNCHES_SOFTGPU = 64,
};

/* Memory for as many elements as there is any for. */
static bool enlarge(struct sweep *w)
{
	struct probe *p = w->p;
	int64_t most = p->softgpu ? ELEMENTS_SOFTGPU : SWEEP_ELEMENTS,
		least = p->softgpu ? 1 : ELEMENTS_LEAST;
	enum probe_sized sized;

	for (int64_t n = most; p->scale != PROBE_SCALE_NONE && n >= least; n /= 2) {
		n = n < p->group.cols ? p->group.cols : n;
		sized = probe_arena_size(p, probe_rows_near(p, n / p->group.cols));
		if (sized == PROBE_SIZED)
			sized = sweep_open(w);
		if (sized == PROBE_SIZED || sized == PROBE_SIZED_FAILED)
			return sized == PROBE_SIZED;
		if (sized == PROBE_SIZED_NEVER || n == p->group.cols)
			break;
	}
	if (p->scale != PROBE_SCALE_NONE)
		log_debug("probe: no sizes or no memory for more elements");
	p->scale = PROBE_SCALE_NONE;
	if (!probe_plain(p))
		return false;
	return sweep_open(w) == PROBE_SIZED ||
	       probe_fail(p, REASON_NO_VERDICT, "no memory to compare every float in");
}

/* Adds up what a row of chunks gave. */
static void tally(struct sweep *w, const struct sweep_counts *c, int64_t chunk)
{
	for (unsigned i = 0; i < w->s->n; i++, c++) {
		bool bad = c->silu[0] || (w->s->close ? c->out[1] > 1 : c->out[0] != 0);

		w->s->trial[i].differ += w->s->close ? c->out[0] : 0;
		w->differ[i] += c->silu[0] > c->out[0] ? c->silu[0] : c->out[0];
		if (bad && w->chunk[i] < 0)
			w->chunk[i] = chunk;
	}
}

/* Drops those that differed, if one did not. False: all did. */
static bool drop(struct sweep *w)
{
	struct search *s = w->s;
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++)
		n += w->chunk[i] < 0;
	if (!n)
		return false;
	for (unsigned i = n = 0; i < s->n; i++) {
		if (w->chunk[i] >= 0)
			continue;
		s->trial[n] = s->trial[i];
		w->differ[n] = w->differ[i];
		w->chunk[n++] = -1;
	}
	s->n = n;
	return true;
}

/* *left: candidates are. */
static bool go_through(struct sweep *w, const struct stretch *t, bool *left)
{
	struct probe *p = w->p;
	struct sweep_counts *c = calloc(SWEEP_TOGETHER * SWEEP_MOST, sizeof(*c));
	bool ok = c != NULL;

	*left = true;
	for (int64_t from = 0; ok && *left && from < t->chunks; from += SWEEP_TOGETHER) {
		int64_t n = t->chunks - from < SWEEP_TOGETHER ? t->chunks - from : SWEEP_TOGETHER;
		size_t row = w->s->n * sizeof(*c);

		ok = probe_ok(p, p->cu.cuMemsetD8Async(w->counts, 0, (size_t)n * row, p->stream),
			      "cuMemsetD8Async");
		for (int64_t i = 0; ok && i < n; i++)
			ok = sweep_queue(w, t, from + i, w->counts + (size_t)i * row);
		ok = ok &&
		     probe_ok(p,
			      p->cu.cuMemcpyDtoHAsync_v2(c, w->counts, (size_t)n * row, p->stream),
			      "download") &&
		     probe_ok(p, p->cu.cuStreamSynchronize(p->stream),
			      "the sweep through all floats");
		for (int64_t i = 0; ok && i < n; i++)
			tally(w, c + i * w->s->n, from + i);
		w->tried += (uint64_t)(n * w->elements);
		*left = !ok || drop(w);
	}
	free(c);
	return ok || probe_fail(p, REASON_NO_VERDICT, "out of memory");
}

/* All floats; as many as go, if that is not possible. */
static struct stretch all_floats(const struct sweep *w)
{
	const struct probe *p = w->p;
	uint64_t whole = (SWEEP_FLOATS + (uint64_t)w->elements - 1) / (uint64_t)w->elements;
	uint64_t most = p->scale == PROBE_SCALE_NONE ? LAUNCHES : SWEEP_FLOATS;
	uint64_t few = GATES_SOFTGPU / (uint64_t)w->elements + 1;
	struct stretch t = {.step = 1};

	if (p->softgpu)
		most = few < LAUNCHES_SOFTGPU ? few : LAUNCHES_SOFTGPU;
	t.chunks = (int64_t)(whole < most ? whole : most);
	if (whole > most)
		t.step = (uint32_t)(SWEEP_FLOATS / (most * (uint64_t)w->elements));
	return t;
}

static bool forced(const struct sweep *w, struct stretch *t)
{
	const char *s = w->p->softgpu ? getenv("SOFTGPU_SWEEP") : NULL;
	char *end;
	uint64_t n;

	if (!s)
		return false;
	t->first = (uint32_t)strtoul(s, &end, 16);
	n = *end == ':' ? strtoul(end + 1, NULL, 16) : 1;
	t->step = 1;
	t->chunks = (int64_t)((n + (uint64_t)w->elements - 1) / (uint64_t)w->elements);
	return true;
}

static bool sweep_all(struct sweep *w)
{
	struct probe *p = w->p;
	struct stretch t = all_floats(w);
	unsigned before = w->s->n;
	bool whole = t.step == 1, left;

	if (!go_through(w, &t, &left))
		return false;
	if (left && forced(w, &t) && !go_through(w, &t, &left))
		return false;
	if (!left && p->close && !w->s->close) { /* the next search may */
		w->s->n = 0;
		return true;
	}
	if (!left)
		return sweep_say_where(w, &t);
	w->s->table = whole && !w->s->close;
	if (w->theirs.rows > p->proven_rows)
		p->proven_rows = w->theirs.rows;
	log_debug("probe: %llu gates, %s: %u of %u candidates left", sweep_tried(w),
		  whole ? "all there are" : "from all over the floats", w->s->n, before);
	return true;
}

bool search_sweep(struct search *s)
{
	struct probe *p = s->p;
	struct sweep w = {.s = s, .p = p};
	int64_t rows = p->group.rows;
	enum probe_scale scale = p->scale;
	bool ok;

	if (!s->n)
		return true;
	if (s->n > SWEEP_MOST) {
		log_debug("probe: %u candidates are too many for every float", s->n);
		return true;
	}
	if (p->group.rows > 1 &&
	    !(p->group.bound[SILU_MUL_GATE].pitch && p->group.bound[SILU_MUL_UP].pitch)) {
		log_debug("probe: one row serves all: not every float is tried");
		return true;
	}
	for (unsigned i = 0; i < SWEEP_MOST; i++)
		w.chunk[i] = -1;
	ok = enlarge(&w) && sweep_all(&w);
	sweep_close(&w);
	/* The search goes on with what it began with. */
	p->scale = scale;
	return ok && (p->group.rows == rows || probe_arena_size(p, rows) == PROBE_SIZED ||
		      probe_fail(p, REASON_NO_VERDICT, "no memory to go on"));
}
