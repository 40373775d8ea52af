// SPDX-License-Identifier: Apache-2.0
#include "tools/listing_lines.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "config/hash.h"
#include "tools/fold.h"
#include "tools/text.h"

enum {
	LOOPS_TEXT = 256,
	STEP_SHARE = 8, /* a loop of less than a stream's launches / 8 is no step */
};

struct line_index {
	uint64_t key;
	uint32_t number;
	UT_hash_handle hh;
};

/* One walk over one stream. */
struct cutting {
	struct listing *l;
	struct line_index **index;
	uint32_t stream, top, rounds;
	struct listing_line run; /* launches in no group since the last cut; count 0: none */
	XXH3_state_t *hash;
	struct text loops; /* the sequence in short */
	bool comma;
	uint64_t plain; /* launches since the last loop, not told yet */
	unsigned again; /* inside so many rounds that are not the first */
};

static struct listing_line *line_of(struct cutting *c, const struct listing_line *like)
{
	struct listing *l = c->l;
	struct line_index *e;

	HASH_FIND(hh, *c->index, &like->key, sizeof(like->key), e);
	if (e)
		return &l->line[e->number];
	if (!(l->nline & (l->nline - 1))) {
		struct listing_line *grown =
			realloc(l->line, (l->nline ? 2 * (size_t)l->nline : 1) * sizeof(*grown));

		if (!grown) {
			l->failed = true;
			return NULL;
		}
		l->line = grown;
	}
	e = calloc(1, sizeof(*e));
	if (!e) {
		l->failed = true;
		return NULL;
	}
	e->key = like->key;
	e->number = l->nline;
	HASH_ADD(hh, *c->index, key, sizeof(e->key), e);
	l->line[l->nline] = *like;
	l->line[l->nline].count = l->line[l->nline].ns = l->line[l->nline].timed =
		l->line[l->nline].device_ns = 0;
	return &l->line[l->nline++];
}

static void place(const struct cutting *c, struct listing_line *line)
{
	for (unsigned i = 0; i < line->nplace; i++) {
		struct listing_place *p = &line->place[i];

		if (p->stream == c->stream &&
		    (p->top == c->top || (p->rounds == 1 && c->rounds == 1))) {
			p->count++;
			return;
		}
	}
	if (line->nplace == LINE_PLACES)
		line->elsewhere++;
	else
		line->place[line->nplace++] =
			(struct listing_place){c->stream, c->top, c->rounds, 1};
}

/* The launches since the last cut are a sequence of their own. */
static void cut(struct cutting *c)
{
	struct listing_line *line;

	if (!c->run.nkernel)
		return;
	c->run.key = XXH3_64bits_digest(c->hash);
	line = line_of(c, &c->run);
	if (line) {
		line->count++;
		if (line->shape != c->run.shape)
			line->shape = LISTING_NONE;
		line->device_ns += c->run.ns;
		if (c->run.timed == c->run.nkernel) {
			line->timed++;
			line->ns += c->run.ns;
		}
		place(c, line);
	}
	memset(&c->run, 0, sizeof(c->run));
	XXH3_64bits_reset(c->hash);
}

static void add_kernel(struct listing_line *line, uint32_t kernel)
{
	if (line->nkernel < LINE_KERNELS)
		line->kernel[line->nkernel] = kernel;
	line->nkernel++;
}

static void in_no_group(struct cutting *c, const struct listing_launch *m)
{
	struct listing_line *r = &c->run;
	const struct listing_kernel *k = &c->l->kernel[m->kernel];

	if (!r->nkernel)
		r->shape = m->shape;
	else if (m->shape != LISTING_NONE && r->shape != LISTING_NONE && r->shape != m->shape)
		r->shape = LISTING_NONE;
	add_kernel(r, m->kernel);
	if (!k->k->decoder) {
		if (!r->nunknown++)
			r->unknown = m->kernel;
	} else if (m->shape == LISTING_NONE && !r->nmisfit++) {
		r->misfit = m->kernel;
	}
	r->ns += m->at.ns;
	r->timed += m->at.ns != 0;
	XXH3_64bits_update(c->hash, &m->kernel, sizeof(m->kernel));
}

/* The kernel that stands between the members, for the reason unknown-kernel. */
static uint32_t in_the_way(const struct listing *l, const struct listing_group *g)
{
	const struct listing_launch *m = l->launch;

	for (uint32_t i = g->launch[0] + 1; i < g->launch[g->n - 1]; i++)
		if (m[i].kernel != LISTING_NONE && m[i].stream == m[g->launch[0]].stream &&
		    m[i].shape == LISTING_NONE)
			return m[i].kernel;
	return LISTING_NONE;
}

static void in_group(struct cutting *c, const struct listing_group *g)
{
	struct listing *l = c->l;
	struct listing_line like = {.group = g, .shape = g->shape, .unknown = LISTING_NONE}, *line;
	struct {
		const void *pattern;
		uint32_t kernel[GROUP_MAX_MEMBERS], shape, state;
	} key;
	uint64_t ns = 0;
	bool timed = true;

	memset(&key, 0, sizeof(key));
	key.pattern = g->pattern;
	key.shape = g->shape;
	for (unsigned i = 0; i < g->n; i++) {
		const struct listing_launch *m = &l->launch[g->launch[i]];

		add_kernel(&like, m->kernel);
		key.kernel[i] = m->kernel;
		timed &= m->at.ns != 0;
		ns += m->at.ns;
	}
	if (g->why == REASON_UNKNOWN_KERNEL)
		like.unknown = in_the_way(l, g);
	like.kind = XXH3_64bits(&key, sizeof(key));
	key.state = g->state == LISTED_REFUSED ? g->why : 0;
	like.key = XXH3_64bits(&key, sizeof(key));
	like.saved_bytes = g->fused && g->unfused > g->fused ? g->unfused - g->fused : 0;
	line = line_of(c, &like);
	if (!line)
		return;
	line->count++;
	line->device_ns += ns;
	if (g->at.ns) {
		line->fusedn++;
		line->fused_ns += g->at.ns;
		line->device_ns += g->state == LISTED_FUSED ? g->at.ns : 0;
	}
	if (timed) {
		line->timed++;
		line->ns += ns;
	}
	place(c, line);
}

static void on_item(void *arg, uint64_t at, uint32_t kernel)
{
	struct cutting *c = arg;
	uint32_t number = c->l->stream[c->stream].launch[at];
	const struct listing_launch *m = &c->l->launch[number];
	const struct listing_group *g = m->group == LISTING_NONE ? NULL : &c->l->group[m->group];

	c->plain += !c->again;
	if (!g) {
		in_no_group(c, m);
		return;
	}
	cut(c);
	if (number == g->launch[g->n - 1])
		in_group(c, g);
}

/* The sequence in short: numbers of launches, loops in brackets; told in the first round of each.
 */
static void tell_plain(struct cutting *c)
{
	if (c->plain)
		text_add(&c->loops, "%s%llu", c->comma ? ", " : "", (unsigned long long)c->plain);
	c->comma |= c->plain != 0;
	c->plain = 0;
}

static void on_begin(void *arg, uint32_t round, uint32_t rounds, uint64_t length)
{
	struct cutting *c = arg;

	if (length == 1) /* one kernel again and again stays with its neighbours */
		return;
	cut(c);
	c->again += round != 0;
	if (c->again)
		return;
	tell_plain(c);
	text_add(&c->loops, "%s%u × (", c->comma ? ", " : "", rounds);
	c->comma = false;
}

static void on_end(void *arg, uint32_t round, uint64_t length)
{
	struct cutting *c = arg;

	if (length == 1)
		return;
	cut(c);
	if (!c->again) {
		tell_plain(c);
		text_add(&c->loops, ")");
		c->comma = true;
	}
	c->again -= round != 0;
}

/* A loop that is no more than an episode is not the program's step. */
static void on_top(void *arg, uint32_t top, uint32_t rounds, uint64_t length)
{
	struct cutting *c = arg;

	c->top = top;
	c->rounds = rounds * length * STEP_SHARE < c->l->stream[c->stream].launches ? 1 : rounds;
}

static void one_stream(struct listing *l, uint32_t stream, struct line_index **index,
		       XXH3_state_t *hash)
{
	struct listing_stream *s = &l->stream[stream];
	struct cutting c = {.l = l, .index = index, .stream = stream, .hash = hash};
	const struct fold_visitor v = {&c, on_top, on_begin, on_end, on_item};
	struct fold *f = fold_new();
	char loops[LOOPS_TEXT];

	if (!f) {
		l->failed = true;
		return;
	}
	text_start(&c.loops, loops, sizeof(loops));
	XXH3_64bits_reset(hash);
	for (uint64_t i = 0; i < s->launches; i++)
		if (fold_add(f, l->launch[s->launch[i]].kernel)) {
			l->failed = true;
			break;
		}
	fold_walk(f, &v);
	cut(&c);
	tell_plain(&c);
	s->loops = strdup(loops);
	fold_free(f);
}

static int more_to_gain(const void *a, const void *b)
{
	const struct listing_line *x = a, *y = b;
	double sx = x->saves_ns * (double)x->count, sy = y->saves_ns * (double)y->count;
	uint64_t bx = x->saved_bytes * x->count, by = y->saved_bytes * y->count;

	if (!x->group != !y->group)
		return x->group ? -1 : 1;
	if (sx != sy)
		return sx > sy ? -1 : 1;
	if (bx != by)
		return bx > by ? -1 : 1;
	if (x->device_ns != y->device_ns)
		return x->device_ns > y->device_ns ? -1 : 1;
	if (x->count * x->nkernel != y->count * y->nkernel)
		return x->count * x->nkernel > y->count * y->nkernel ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

void listing_lines(struct listing *l)
{
	struct line_index *index = NULL, *e, *next;
	XXH3_state_t *hash = XXH3_createState();

	for (uint32_t i = 0; hash && i < l->nstream; i++)
		one_stream(l, i, &index, hash);
	listing_savings(l);
	if (l->nline)
		qsort(l->line, l->nline, sizeof(*l->line), more_to_gain);
	XXH3_freeState(hash);
	HASH_ITER(hh, index, e, next)
	{
		HASH_DEL(index, e);
		free(e);
	}
}
