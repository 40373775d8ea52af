/* SPDX-License-Identifier: Apache-2.0 */
/* How the program's kernels behave: alike every time, within their operands, by nothing else. */
#include <stdlib.h>
#include <string.h>

#include "shim/probe_child_bench.h"
#include "shim/probe_child_chain.h"
#include "shim/purity.h"

bool probe_purity(struct probe *p)
{
	for (unsigned i = 0; i < p->nmember; i++) {
		const struct probe_member *m = &p->member[i];
		struct purity found;

		purity_check(m->image->bytes, m->image->size, p->cc, m->kernel.name, &found);
		if (found.why)
			return probe_fail(p, found.why, "%s %s", m->kernel.name, found.detail);
	}
	return true;
}

/* Host images of the arena: what was put there, and what runs left. */
struct images {
	char *start, *other, *first, *again;
};

/* Rows of that family, among other garbage. */
static void fill(const struct probe *p, struct probe_batch *batch, enum probe_family f,
		 uint64_t number, uint64_t garbage, char *image)
{
	if (p->chain) {
		probe_chain_fill(p, f, number, garbage, image);
		return;
	}
	probe_batch_fill(batch, f, number);
	bench_fill(p, batch, 0, garbage, image);
}

static bool open_batch(struct probe *p, struct probe_batch *batch)
{
	memset(batch, 0, sizeof(*batch));
	return p->chain || bench_batch(p, batch);
}

static bool images_open(struct probe *p, struct images *m)
{
	m->start = malloc(p->arena_bytes);
	m->other = malloc(p->arena_bytes);
	m->first = malloc(p->arena_bytes);
	m->again = malloc(p->arena_bytes);
	return (m->start && m->other && m->first && m->again) ||
	       probe_fail(p, REASON_NO_VERDICT, "out of memory");
}

static void images_close(struct images *m)
{
	free(m->start);
	free(m->other);
	free(m->first);
	free(m->again);
}

/* Is this byte of the arena one that the group may write? */
static bool *written_map(const struct probe *p)
{
	const struct probe_slots *slots = probe_slots(&p->group);
	const unsigned slot[] = {slots->mid, slots->out};
	bool *map = calloc(p->arena_bytes, 1);

	if (map && p->chain)
		probe_chain_written(p, map);
	for (unsigned i = 0; map && i < 2 && !p->chain; i++) {
		const struct bound *b = &p->group.bound[slot[i]];

		for (int64_t r = 0; r < p->group.rows; r++)
			memset(map + (probe_arena_row(p, NULL, slot[i], r) - (char *)NULL), true,
			       (size_t)p->group.cols * dtype_bytes((enum dtype)b->dtype));
	}
	return map;
}

/* Outputs that depend on what was around and under them. */
static bool same_outputs(const struct probe *p, const bool *map, const char *x, const char *y)
{
	for (size_t i = 0; i < p->arena_bytes; i++)
		if (map[i] && x[i] != y[i])
			return false;
	return true;
}

static bool repeatable(struct probe *p, struct images *m)
{
	if (!probe_arena_cycle(p, m->start, m->first) || !probe_arena_cycle(p, m->start, m->again))
		return false;
	if (memcmp(m->first, m->again, p->arena_bytes))
		return probe_fail(p, REASON_NOT_DETERMINISTIC,
				  "two runs on the same inputs differ");
	/* Other work in between. */
	if (!probe_arena_cycle(p, m->other, m->again) || !probe_arena_cycle(p, m->start, m->again))
		return false;
	if (memcmp(m->first, m->again, p->arena_bytes))
		return probe_fail(p, REASON_NOT_DETERMINISTIC,
				  "runs on the same inputs differ when others come between");
	return true;
}

/* *wrong: what is wrong with what the kernels wrote, or NULL. False once the answer is known. */
static bool look_at_written(struct probe *p, struct images *m, struct probe_batch *batch,
			    uint64_t number, const char **wrong)
{
	bool *map = written_map(p), ok = map != NULL;

	*wrong = NULL;
	for (size_t i = 0; ok && i < p->arena_bytes; i++)
		if (!map[i] && m->first[i] != m->start[i])
			*wrong = "a kernel writes where its signature names no output";
	if (ok && !*wrong) {
		/* The same inputs among other garbage. */
		fill(p, batch, PROBE_FAMILY_normal, number, 77, m->other);
		ok = probe_arena_cycle(p, m->other, m->again);
		if (ok && !same_outputs(p, map, m->first, m->again))
			*wrong = "a kernel leaves part of its output, or reads beyond its operands";
	}
	free(map);
	return ok || probe_fail(p, REASON_NO_VERDICT, "out of memory");
}

static bool within_operands(struct probe *p, struct images *m, struct probe_batch *batch,
			    uint64_t number)
{
	const char *wrong;

	return look_at_written(p, m, batch, number, &wrong) &&
	       (!wrong || probe_fail(p, REASON_NOT_EXACT, "%s", wrong));
}

bool probe_arena_whole(struct probe *p, bool *whole)
{
	struct images m;
	struct probe_batch batch;
	const char *wrong = NULL;
	bool ok = open_batch(p, &batch) && images_open(p, &m);

	if (!ok)
		return false;
	fill(p, &batch, PROBE_FAMILY_normal, 3, 7, m.start);
	ok = probe_arena_cycle(p, m.start, m.first) && look_at_written(p, &m, &batch, 3, &wrong);
	*whole = ok && !wrong;
	images_close(&m);
	probe_batch_free(&batch);
	return ok;
}

/* Variables of the program's modules, as the driver knows them. */
struct variables {
	struct probe *p;
	CUmodule module;
	unsigned n;
	struct {
		char name[96];
		CUdeviceptr at;
		size_t bytes;
		unsigned char *before, *now;
	} v[32];
};

static void add_variable(void *arg, const char *name, size_t size)
{
	struct variables *vs = arg;
	struct probe *p = vs->p;
	CUdeviceptr at;
	size_t bytes;

	enum { LARGEST = 1 << 20 };

	if (vs->n == sizeof(vs->v) / sizeof(*vs->v) || strlen(name) >= sizeof(vs->v[0].name) ||
	    p->cu.cuModuleGetGlobal_v2(&at, &bytes, vs->module, name) != CUDA_SUCCESS || !bytes ||
	    bytes > LARGEST)
		return;
	strcpy(vs->v[vs->n].name, name);
	vs->v[vs->n].at = at;
	vs->v[vs->n].bytes = bytes;
	vs->v[vs->n].before = malloc(bytes);
	vs->v[vs->n].now = malloc(bytes);
	if (vs->v[vs->n].before && vs->v[vs->n].now)
		vs->n++;
}

static bool fetch(struct probe *p, void *to, CUdeviceptr from, size_t bytes)
{
	return probe_ok(p, p->cu.cuMemcpyDtoHAsync_v2(to, from, bytes, p->stream), "download") &&
	       probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "download");
}

static bool put(struct probe *p, CUdeviceptr to, const void *from, size_t bytes)
{
	return probe_ok(p, p->cu.cuMemcpyHtoDAsync_v2(to, from, bytes, p->stream), "upload") &&
	       probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "upload");
}

static bool variables_untouched(struct variables *vs, struct images *m)
{
	struct probe *p = vs->p;

	for (unsigned i = 0; i < vs->n; i++)
		if (!fetch(p, vs->v[i].before, vs->v[i].at, vs->v[i].bytes))
			return false;
	if (!probe_arena_cycle(p, m->start, m->again))
		return false;
	for (unsigned i = 0; i < vs->n; i++) {
		if (!fetch(p, vs->v[i].now, vs->v[i].at, vs->v[i].bytes))
			return false;
		if (memcmp(vs->v[i].before, vs->v[i].now, vs->v[i].bytes))
			return probe_fail(p, REASON_NOT_PURE,
					  "a kernel changes the module variable %s", vs->v[i].name);
	}
	return true;
}

static bool variables_unread(struct variables *vs, struct images *m)
{
	struct probe *p = vs->p;
	bool ok = true;

	for (unsigned i = 0; i < vs->n; i++) {
		for (size_t k = 0; k < vs->v[i].bytes; k++)
			vs->v[i].now[k] = vs->v[i].before[k] ^ 0x5a;
		ok = ok && put(p, vs->v[i].at, vs->v[i].now, vs->v[i].bytes);
	}
	ok = ok && probe_arena_cycle(p, m->start, m->again);
	for (unsigned i = 0; i < vs->n; i++)
		ok = ok && put(p, vs->v[i].at, vs->v[i].before, vs->v[i].bytes);
	if (ok && memcmp(m->first, m->again, p->arena_bytes))
		return probe_fail(p, REASON_NOT_PURE,
				  "a kernel depends on variables of its module");
	return ok;
}

/* The code showed no use of variables; do the kernels leave them alone when they run, too? */
static bool no_hidden_state(struct probe *p, struct images *m)
{
	struct variables *vs = calloc(1, sizeof(*vs));
	bool ok;

	if (!vs)
		return probe_fail(p, REASON_NO_VERDICT, "out of memory");
	vs->p = p;
	for (unsigned i = 0; i < p->nimage; i++) {
		vs->module = p->image[i].module;
		purity_variables(p->image[i].bytes, p->image[i].size, p->cc, add_variable, vs);
	}
	ok = !vs->n || (variables_untouched(vs, m) && variables_unread(vs, m));
	for (unsigned i = 0; i < vs->n; i++) {
		free(vs->v[i].before);
		free(vs->v[i].now);
	}
	free(vs);
	return ok;
}

bool probe_behaviour(struct probe *p)
{
	struct images m;
	struct probe_batch batch;
	bool ok = open_batch(p, &batch) && images_open(p, &m);

	if (!ok)
		return false;
	fill(p, &batch, PROBE_FAMILY_wide, 1, 3, m.other);
	fill(p, &batch, PROBE_FAMILY_normal, 2, 5, m.start);
	ok = repeatable(p, &m) && within_operands(p, &m, &batch, 2) && no_hidden_state(p, &m);
	images_close(&m);
	probe_batch_free(&batch);
	return ok;
}
