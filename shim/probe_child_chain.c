/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/probe_child_chain.h"

#include <stdlib.h>
#include <string.h>

#include "config/log.h"

enum { ELEMENTS_MOST = 1 << 24 }; /* of a second try */

/* A member by itself. */
static void solo_make(const struct probe *p, unsigned i, struct probe *q)
{
	struct probe_member *m = &q->member[0];
	const struct op *op = &p->member[i].m.op;

	*q = *p;
	*m = p->member[i];
	m->m.launch.kernel = &m->kernel;
	m->m.launch.params = m->params[0];
	q->nmember = 1;
	q->arena = 0;
	q->asked = (struct group){.member = {&m->m}, .rows = op->rows, .cols = op->cols};
	if (op->rows <= 1) {
		q->asked.rows = op->cols > 1 && !row_pick_reduces(op) ? op->cols : 1;
		q->asked.cols = row_pick_reduces(op) ? op->cols : 1;
	}
}

/* Is it the launch of an earlier one, but for addresses? Then its pick is known. */
static bool same_member(const struct probe_member *a, const struct probe_member *b)
{
	const struct op *x = &a->m.op, *y = &b->m.op;

	if (a->image != b->image || strcmp(a->kernel.name, b->kernel.name) || x->code != y->code ||
	    x->rows != y->rows || x->cols != y->cols || x->noperand != y->noperand ||
	    memcmp(a->m.launch.block, b->m.launch.block, sizeof(a->m.launch.block)) ||
	    memcmp(a->m.launch.grid, b->m.launch.grid, sizeof(a->m.launch.grid)) ||
	    a->m.launch.shmem != b->m.launch.shmem || x->nscalar != y->nscalar ||
	    memcmp(x->scalar, y->scalar, sizeof(x->scalar)) || x->eps != y->eps ||
	    key_site(&a->m.launch, x) != key_site(&b->m.launch, y))
		return false;
	for (unsigned i = 0; i < x->noperand; i++) {
		const struct operand *o = &x->operand[i], *q = &y->operand[i];

		/* Where it begins may choose a kernel's way through it. */
		if (o->role != q->role || o->dtype != q->dtype || o->ndim != q->ndim ||
		    (o->addr ^ q->addr) % 64 || memcmp(o->size, q->size, sizeof(o->size)) ||
		    memcmp(o->stride, q->stride, sizeof(o->stride)))
			return false;
	}
	return true;
}

/*
 * Fewer rows than the program has are launched by a rule that its grid only seems to follow,
 * perhaps. What fails with them is tried as the program has it. step: to be done once there is an
 * arena.
 */
static bool at_some_size(struct probe *p, bool (*step)(struct probe *))
{
	if (!probe_arena_open(p))
		return false;
	if (step(p))
		return true;
	if (p->why != REASON_NOT_EXACT || p->group.rows == p->asked.rows ||
	    p->asked.rows > ELEMENTS_MOST / p->asked.cols)
		return false;
	p->why = REASON_NONE;
	return probe_arena_size(p, p->asked.rows) == PROBE_SIZED && step(p);
}

static bool member(struct probe *p, unsigned i, struct probe *q)
{
	char name[ROW_PICK_NAME_MAX];
	bool ok;

	for (unsigned k = 0; k < i; k++)
		if (same_member(&p->member[k], &p->member[i])) {
			p->pick[i] = p->pick[k];
			return true;
		}
	solo_make(p, i, q);
	q->pick[0] = p->pick[i];
	ok = at_some_size(q, probe_behaviour) && (p->tools->known[i] || pick_search(q));
	if (q->arena)
		p->cu.cuMemFree_v2(q->arena);
	p->pick[i] = q->pick[0];
	p->why = q->why;
	p->lasting = q->lasting;
	memcpy(p->detail, q->detail, sizeof(p->detail));
	if (!ok)
		return false;
	row_pick_name(&p->pick[i], name);
	log_debug("probe: %s is %s", p->member[i].kernel.name, name);
	return true;
}

static bool members(struct probe *p)
{
	struct probe *q = malloc(sizeof(*q));
	bool ok = q != NULL;

	if (!ok)
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	for (unsigned i = 0; ok && i < p->nmember; i++)
		ok = member(p, i, q);
	free(q);
	probe_lap("the members");
	return ok;
}

bool probe_chain_ask(struct probe *p)
{
	struct row_member m[GROUP_MAX_MEMBERS];
	struct row *r = malloc(sizeof(*r));
	enum reason why = REASON_NO_VERDICT;

	for (unsigned i = 0; r && i < p->nmember; i++) {
		m[i] = (struct row_member){.op = &p->member[i].m.op};
		m[i].pick.order = row_order_usual(32);
	}
	if (r && !(why = row_build(r, m, p->nmember))) {
		p->asked.rows = row_rows(r);
		p->asked.cols = r->cols;
	}
	free(r);
	return !why || probe_fail(p, why, "the members do not form a row program");
}

int probe_chain_name(const struct probe *p, char *text, size_t size)
{
	size_t len = 0;

	for (unsigned i = 0; i < p->nmember; i++) {
		char name[ROW_PICK_NAME_MAX];
		int n;

		row_pick_name(&p->pick[i], name);
		n = snprintf(text + len, size - len, "%s%s", i ? "+" : "", name);
		if (n < 0 || (size_t)n >= size - len)
			return -1;
		len += (size_t)n;
	}
	return (int)len;
}

bool probe_chain_parse(struct probe *p, const char *text)
{
	unsigned n = 0;

	for (size_t len; n < p->nmember; text += len + 1) {
		char name[ROW_PICK_NAME_MAX];

		len = strcspn(text, "+");
		if (len >= sizeof(name))
			return false;
		snprintf(name, sizeof(name), "%.*s", (int)len, text);
		if (row_pick_parse(name, &p->pick[n++]))
			return false;
		if (!text[len])
			return n == p->nmember;
	}
	return false;
}

/* The row program of the members where the arena has their operands. */
static bool say(struct probe *p, struct row *r)
{
	struct row_member m[GROUP_MAX_MEMBERS];
	enum reason why;

	for (unsigned i = 0; i < p->nmember; i++) {
		m[i].op = &p->member[i].run.op;
		m[i].pick = p->pick[i];
	}
	why = row_build(r, m, p->nmember);
	return !why || probe_fail(p, why, "the members do not form one row program");
}

/* A kernel of the program's, unless it is there. */
static bool make(struct probe *p, const struct row *r, struct probe_kernel *k)
{
	const char *cannot = gen_cannot(r, &p->limits);
	char *text = NULL;
	bool ok = !cannot || probe_fail(p, REASON_NO_KERNEL, "%s", cannot);

	ok = ok && !gen_launch(r, &p->limits, &k->launch);
	if (ok && (!k->module || k->hash != row_hash(r))) {
		if (k->module)
			p->cu.cuModuleUnload(k->module);
		k->module = NULL;
		ok = (text = gen_text(r, &p->limits)) &&
		     probe_compile(p, p->asked.pattern->name, text, &k->module);
		k->hash = row_hash(r);
		free(text);
	}
	ok = ok &&
	     probe_ok(p, p->cu.cuModuleGetFunction(&k->function, k->module, k->launch.kernel),
		      k->launch.kernel) &&
	     probe_ok(p,
		      p->cu.cuFuncSetAttribute(k->function,
					       CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
					       (int)p->limits.max_shmem),
		      k->launch.kernel);
	return ok;
}

bool probe_chain_build(struct probe *p)
{
	struct probe_tools *t = p->tools;
	struct row *r = malloc(sizeof(*r));
	struct gen_parts *parts = malloc(sizeof(*parts));
	bool ok = r && parts && say(p, r);

	if (ok && gen_split(r, parts))
		ok = probe_fail(p, REASON_OVERLAP, "stores that have to wait cannot");
	t->nkernel = ok ? parts->n : 0;
	for (unsigned i = 0; ok && i < t->nkernel; i++)
		ok = make(p, &parts->row[i], &t->kernel[i]);
	free(parts);
	free(r);
	return ok || probe_fail(p, REASON_NO_VERDICT, "out of memory");
}

bool probe_chain_launch(struct probe *p)
{
	bool ok = true;

	for (unsigned i = 0; ok && i < p->tools->nkernel; i++) {
		struct probe_kernel *k = &p->tools->kernel[i];
		struct gen_launch *l = &k->launch;
		void *params[] = {l->params};

		ok = probe_ok(p,
			      p->cu.cuLaunchKernel(k->function, l->grid[0], l->grid[1], l->grid[2],
						   l->block[0], l->block[1], l->block[2], l->shmem,
						   p->stream, params, NULL),
			      l->kernel);
	}
	return ok;
}

static bool together(struct probe *p)
{
	bool ok = probe_chain_build(p);

	probe_lap("the chain's kernel");
	ok = ok && probe_chain_confirm(p);
	probe_lap("the chain in the members' place");
	return ok;
}

void probe_chain(struct probe *p)
{
	if (probe_device_open_theirs(p) && probe_purity(p) && members(p) &&
	    at_some_size(p, together)) {
		p->proven_rows = p->group.rows;
		probe_time(p);
		probe_lap("which is faster");
	}
}
