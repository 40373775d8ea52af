// SPDX-License-Identifier: Apache-2.0
/* What the planner saw, kept until the whole recording is read. */
#include "tools/listing.h"

#include <stdlib.h>
#include <string.h>

#include "config/hash.h"
#include "matcher/dead.h"
#include "matcher/legal.h"
#include "tools/listing_lines.h"
#include "tools/names.h"
#include "tools/outcomes.h"

/* By name: a recording learns a kernel's image, and with it another record, as it goes on. */
struct kernel_index {
	uint32_t number;
	UT_hash_handle hh;
};

/* Makes room for one more; lists are full at powers of two. */
static bool room_for(struct listing *l, void **list, uint32_t n, size_t size)
{
	void *grown = *list;

	if (!(n & (n - 1)))
		grown = realloc(*list, (n ? 2 * (size_t)n : 1) * size);
	if (grown)
		*list = grown;
	else
		l->failed = true;
	return grown != NULL;
}

static uint32_t kernel_number(struct listing *l, const struct kernel *k)
{
	struct kernel_index *e;

	if (l->last != LISTING_NONE && l->kernel[l->last].k == k)
		return l->last;
	HASH_FIND_STR(l->index, k->name, e);
	if (e) {
		l->kernel[e->number].k = k;
		return l->last = e->number;
	}
	e = calloc(1, sizeof(*e));
	if (!e || !room_for(l, (void **)&l->kernel, l->nkernel, sizeof(*l->kernel))) {
		l->failed = true;
		free(e);
		return LISTING_NONE;
	}
	e->number = l->nkernel;
	HASH_ADD_KEYPTR(hh, l->index, k->name, strlen(k->name), e);
	l->kernel[l->nkernel] = (struct listing_kernel){.k = k, .name = name_readable(k->name)};
	return l->nkernel++;
}

/* A handful of shapes is met again and again: the newest first. */
static uint32_t shape_number(struct listing *l, int64_t rows, int64_t cols, unsigned dtype,
			     unsigned opcode)
{
	for (uint32_t i = l->nshape, looks = 0; i-- > 0 && looks < 64; looks++) {
		const struct listing_shape *s = &l->shape[i];

		if (s->rows == rows && s->cols == cols && s->dtype == dtype && s->opcode == opcode)
			return i;
	}
	if (!room_for(l, (void **)&l->shape, l->nshape, sizeof(*l->shape)))
		return LISTING_NONE;
	l->shape[l->nshape] = (struct listing_shape){rows, cols, (uint8_t)dtype, (uint8_t)opcode};
	return l->nshape++;
}

static uint32_t stream_number(struct listing *l, const struct launch *launch, uint64_t thread)
{
	for (uint32_t i = 0; i < l->nstream; i++)
		if (l->stream[i].context == launch->context &&
		    l->stream[i].handle == launch->stream && l->stream[i].thread == thread)
			return i;
	if (!room_for(l, (void **)&l->stream, l->nstream, sizeof(*l->stream)))
		return LISTING_NONE;
	l->stream[l->nstream] = (struct listing_stream){
		.context = launch->context, .handle = launch->stream, .thread = thread};
	return l->nstream++;
}

static const struct operand *written(const struct op *op)
{
	for (unsigned i = 0; i < op->noperand; i++)
		if (op->operand[i].access & ACCESS_WRITE)
			return &op->operand[i];
	return NULL;
}

static void on_launch(void *arg, const struct launch *launch, uint64_t thread, const struct op *op,
		      enum reason why)
{
	struct listing *l = arg;
	uint32_t kernel, stream;
	struct listing_stream *s;
	const struct operand *out;

	l->launches++;
	if (launch->index >= LISTING_LAUNCHES)
		return;
	kernel = kernel_number(l, launch->kernel);
	stream = stream_number(l, launch, thread);
	if (kernel == LISTING_NONE || stream == LISTING_NONE)
		return;
	l->kernel[kernel].launches++;
	l->kernel[kernel].why = why;
	while (l->nlaunch <= launch->index) { /* numbers of lines that could not be read */
		if (!room_for(l, (void **)&l->launch, l->nlaunch, sizeof(*l->launch)))
			return;
		l->launch[l->nlaunch++] = (struct listing_launch){.kernel = LISTING_NONE,
								  .shape = LISTING_NONE,
								  .group = LISTING_NONE,
								  .stream = LISTING_NONE};
	}
	s = &l->stream[stream];
	if (!room_for(l, (void **)&s->launch, (uint32_t)s->launches, sizeof(*s->launch)))
		return;
	s->launch[s->launches++] = (uint32_t)launch->index;
	l->launch[launch->index].kernel = kernel;
	l->launch[launch->index].stream = stream;
	out = written(op);
	if (op->code != OP_opaque)
		l->launch[launch->index].shape = shape_number(
			l, op->rows, op->cols, out ? out->dtype : DT_NONE, (unsigned)op->code);
}

/* Sizes and bytes, if the members fit together at all. */
static void measure(struct listing *l, struct listing_group *to, const struct group *g)
{
	const unsigned last = group_size(g) - 1u;
	const struct op *op = &g->member[last]->op;
	const struct operand *out = written(op);
	struct group mine = *g;

	to->kernels = legal_kernels(g);
	to->shape =
		shape_number(l, op->rows, op->cols, out ? out->dtype : DT_NONE, (unsigned)op->code);
	if (mine.row) { /* a chain has all it needs */
		legal_bytes(&mine, &to->unfused, &to->fused);
		return;
	}
	/* Without its program, a refused chain is only what its members move. */
	if (!mine.pattern->bind || mine.pattern->bind(&mine)) {
		mine.nbound = 0;
		legal_bytes(&mine, &to->unfused, &to->fused);
		to->fused = 0;
		return;
	}
	dead_apply(&mine, g->dropped);
	legal_bytes(&mine, &to->unfused, &to->fused);
}

static void on_group(void *arg, const struct group *g, enum reason why)
{
	struct listing *l = arg;
	struct listing_group *to;

	for (unsigned i = 0; i < group_size(g); i++)
		if (g->member[i]->launch.index >= l->nlaunch)
			return;
	if (!room_for(l, (void **)&l->group, l->ngroup, sizeof(*l->group)))
		return;
	to = &l->group[l->ngroup];
	*to = (struct listing_group){.pattern = g->pattern,
				     .n = group_size(g),
				     .state = why ? LISTED_REFUSED : LISTED_FUSED,
				     .why = why};
	for (unsigned i = 0; i < group_size(g); i++) {
		struct listing_launch *m = &l->launch[g->member[i]->launch.index];

		to->launch[i] = (uint32_t)g->member[i]->launch.index;
		/* A launch may be in several refused groups; the fused one, or the first, has it.
		 */
		if (m->group == LISTING_NONE || !why)
			m->group = l->ngroup;
	}
	measure(l, to, g);
	l->ngroup++;
}

struct listing *listing_new(void)
{
	struct listing *l = calloc(1, sizeof(*l));

	if (l)
		l->last = LISTING_NONE;
	if (l)
		l->watch = (struct plan_watch){l, on_launch, on_group};
	return l;
}

void listing_free(struct listing *l)
{
	struct kernel_index *e, *next;

	if (!l)
		return;
	HASH_ITER(hh, l->index, e, next)
	{
		HASH_DEL(l->index, e);
		free(e);
	}
	for (uint32_t i = 0; i < l->nkernel; i++)
		free(l->kernel[i].name);
	for (uint32_t i = 0; i < l->nstream; i++) {
		free(l->stream[i].launch);
		free(l->stream[i].loops);
	}
	free(l->kernel);
	free(l->launch);
	free(l->shape);
	free(l->group);
	free(l->stream);
	free(l->line);
	free(l);
}

/* The time of one kernel on the device, for the launch or the group that it stood for. */
static void timed(void *arg, const struct sent *s, const struct time_span *at)
{
	struct listing *l = arg;
	struct listing_launch *m =
		s->n && s->launch[0] < l->nlaunch ? &l->launch[s->launch[0]] : NULL;

	if (s->how != SENT_CHECK) {
		l->ns += at->ns;
		l->timed++;
	}
	if (!m)
		return;
	if (s->how == SENT_OWN) {
		m->at = *at;
		if (m->kernel != LISTING_NONE) {
			l->kernel[m->kernel].ns += at->ns;
			l->kernel[m->kernel].timed++;
		}
	} else if (m->group != LISTING_NONE) {
		struct listing_group *g = &l->group[m->group];

		/* A check works on as many rows as its memory holds. */
		if (s->how == SENT_FUSED ||
		    (g->shape != LISTING_NONE && s->rows == l->shape[g->shape].rows))
			g->at = *at;
	}
}

void listing_switch_off(struct listing *l)
{
	l->off = true;
	for (uint32_t i = 0; i < l->ngroup; i++)
		if (l->group[i].state != LISTED_REFUSED) {
			l->group[i].state = LISTED_REFUSED;
			l->group[i].why = REASON_DISABLED;
			l->group[i].off = true;
		}
}

void listing_finish(struct listing *l, struct times *t, const struct outcomes *o)
{
	if (t) {
		times_join(t, timed, l);
		l->graph_ns = t->graph_ns;
		l->graph_kernels = t->graph_kernels;
		l->ran = t->nran;
	}
	for (uint32_t i = 0; o && i < l->ngroup; i++) {
		struct listing_group *g = &l->group[i];
		const struct outcome_of *was = outcomes_find(o, g->launch, g->n);

		if (!was)
			continue;
		g->state =
			was->fused ? was->checked ? LISTED_CHECKED : LISTED_FUSED : LISTED_REFUSED;
		g->why = was->why;
	}
	listing_lines(l);
}
