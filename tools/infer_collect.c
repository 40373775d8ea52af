// SPDX-License-Identifier: Apache-2.0
/* Which kernels of a recording to probe, and how they were launched. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/hash.h"
#include "tools/infer.h"

struct entry {
	const struct kernel *k; /* the trace's */
	unsigned to;            /* in inferred.kernel */
	UT_hash_handle hh;
};

struct collect {
	struct inferred *f;
	struct entry *table;
	struct range *live; /* memory that is allocated */
	unsigned nlive, room;
};

static void allocated(struct collect *c, struct range r)
{
	if (c->nlive == c->room) {
		unsigned room = c->room ? 2 * c->room : 256;
		void *more = realloc(c->live, room * sizeof(*c->live));

		if (!more)
			return;
		c->live = more;
		c->room = room;
	}
	c->live[c->nlive++] = r;
}

static void freed(struct collect *c, struct range r)
{
	for (unsigned i = c->nlive; i-- > 0;)
		if (c->live[i].lo == r.lo) {
			c->live[i] = c->live[--c->nlive];
			return;
		}
}

/* Bytes from the address to the end of its allocation, or 0. */
static uint64_t room_at(const struct collect *c, uint64_t addr)
{
	for (unsigned i = c->nlive; i-- > 0;)
		if (addr >= c->live[i].lo && addr < c->live[i].hi)
			return c->live[i].hi - addr;
	return 0;
}

static bool refuse(struct infer_kernel *to, const char *why)
{
	snprintf(to->reason, sizeof(to->reason), "%s", why);
	return false;
}

/* Is it a kernel that an operation of opcode.def could be? */
static bool looks_like(struct infer_kernel *to, const struct kernel *k)
{
	if (strlen(k->name) > INFER_NAME)
		return refuse(to, "its name is too long for a line of a configuration");
	if (!k->nparam)
		return refuse(to, "its parameters are not known");
	if (k->nparam > INFER_PARAMS || k->param_bytes > INFER_BYTES)
		return refuse(to, "it has more parameters than any known operation needs");
	for (uint32_t i = 0; i < k->nparam; i++)
		if (k->param[i].bytes > 8 || k->param[i].bytes & (k->param[i].bytes - 1)) {
			snprintf(
				to->reason, sizeof(to->reason),
				"parameter %u is a structure of %u bytes, which may hold addresses",
				i + 1, k->param[i].bytes);
			return false;
		}
	return true;
}

static struct infer_kernel *kernel_of(struct collect *c, const struct kernel *k)
{
	struct entry *e;
	struct infer_kernel *more, *to;

	HASH_FIND_PTR(c->table, &k, e);
	if (e)
		return &c->f->kernel[e->to];
	more = realloc(c->f->kernel, (c->f->n + 1) * sizeof(*more));
	e = calloc(1, sizeof(*e));
	if (more)
		c->f->kernel = more;
	if (!more || !e) {
		free(e);
		return NULL;
	}
	to = &more[c->f->n];
	memset(to, 0, sizeof(*to));
	to->name = strdup(k->name);
	e->k = k;
	e->to = c->f->n++;
	HASH_ADD_PTR(c->table, k, e);
	if (looks_like(to, k)) {
		to->nparam = k->nparam;
		to->param_bytes = k->param_bytes;
		memcpy(to->param, k->param, k->nparam * sizeof(*k->param));
	}
	return to;
}

static uint64_t threads(const uint32_t grid[3], const uint32_t block[3])
{
	uint64_t n = 1;

	for (int i = 0; i < 3; i++)
		n *= (uint64_t)grid[i] * block[i];
	return n;
}

/* Which parameters point to memory. False: one may point to memory that nobody saw. */
static bool rooms(const struct collect *c, const struct infer_kernel *k, const struct launch *l,
		  uint64_t *room)
{
	bool any = false;
	uint64_t v;

	for (uint32_t i = 0; i < k->nparam; i++) {
		room[i] = 0;
		if (k->param[i].bytes != 8)
			continue;
		memcpy(&v, l->params + k->param[i].offset, 8);
		room[i] = room_at(c, v);
		any |= room[i] > 0;
		if (!room[i] && v >> 32 && v >> 47 == 0)
			return false;
	}
	return any;
}

/* Do the launches differ in more than addresses? */
static bool differ(const struct infer_kernel *k, const struct infer_seen *a,
		   const struct infer_seen *b)
{
	if (memcmp(a->grid, b->grid, sizeof(a->grid)) ||
	    memcmp(a->block, b->block, sizeof(a->block)))
		return true;
	for (uint32_t i = 0; i < k->nparam; i++)
		if (!k->room[i] && memcmp(a->params + k->param[i].offset,
					  b->params + k->param[i].offset, k->param[i].bytes))
			return true;
	return false;
}

/* Small launches are tried sooner; of very small ones the larger say more. */
static uint64_t cost(const struct infer_seen *s)
{
	enum { FEW = 128 };
	uint64_t n = threads(s->grid, s->block);

	return n < FEW ? UINT64_MAX - n : n;
}

/* Keeps a small launch, the largest, and another one. */
static void keep(struct infer_kernel *k, const struct infer_seen *s, const uint64_t *room)
{
	bool smaller = k->nseen && cost(s) < cost(&k->seen[0]);

	if (!k->nseen) {
		memcpy(k->room, room, sizeof(k->room));
		k->seen[k->nseen++] = *s;
		return;
	}
	for (uint32_t i = 0; i < k->nparam; i++)
		if (!k->room[i] != !room[i])
			return; /* an operand that is not there: another case */
	for (unsigned i = 0; i < k->nseen; i++)
		if (!differ(k, s, &k->seen[i]))
			return;
	if (smaller) {
		memcpy(k->room, room, sizeof(k->room));
		if (k->nseen < INFER_LAUNCHES)
			k->seen[k->nseen++] = k->seen[0];
		k->seen[0] = *s;
	} else if (k->nseen < INFER_LAUNCHES) {
		k->seen[k->nseen++] = *s;
	} else if (threads(s->grid, s->block) > threads(k->seen[1].grid, k->seen[1].block)) {
		k->seen[1] = *s;
	}
}

static void launched(struct collect *c, const struct trace_event *e)
{
	const struct launch *l = &e->launch;
	struct infer_kernel *k = l->kernel->decoder ? NULL : kernel_of(c, l->kernel);
	uint64_t room[INFER_PARAMS] = {0};
	struct infer_seen s = {.shmem = l->shmem};

	if (!k)
		return;
	k->launches++;
	k->device = l->device;
	if (e->code.file && !k->file) {
		k->file = strdup(e->code.file);
		k->offset = e->code.offset;
		k->bytes = e->code.bytes;
	}
	if (!k->nparam || !l->params || (l->attrs & LAUNCH_EXTRA && !l->kernel->nparam))
		return;
	if (!LAUNCH_PLAIN(l->attrs)) {
		refuse(k, "it is launched with attributes (cooperative, cluster, ...)");
		return;
	}
	memcpy(s.grid, l->grid, sizeof(s.grid));
	memcpy(s.block, l->block, sizeof(s.block));
	memcpy(s.params, l->params, k->param_bytes);
	if (rooms(c, k, l, room))
		keep(k, &s, room);
	else if (!k->nseen)
		refuse(k, "its parameters do not point to memory that was seen being allocated");
}

int infer_collect(struct inferred *f, const char *recording)
{
	struct collect c = {.f = f};
	struct trace *t = trace_open(recording);
	struct entry *e, *next;
	struct trace_event ev;

	if (!t)
		return -1;
	while (trace_next(t, &ev))
		if (ev.kind == TRACE_LAUNCH)
			launched(&c, &ev);
		else if (ev.kind == TRACE_ALLOC && ev.flags & TRACE_DEVICE)
			allocated(&c, ev.range);
		else if (ev.kind == TRACE_FREE)
			freed(&c, ev.range);
	HASH_ITER(hh, c.table, e, next)
	{
		HASH_DEL(c.table, e);
		free(e);
	}
	free(c.live);
	trace_close(t);
	return 0;
}
