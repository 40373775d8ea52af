/* SPDX-License-Identifier: Apache-2.0 */
#include "fused/gen_body.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_INSTANCES = 1024, NAME = 24 };

/* A statement's value in the columns (c ^ pair) + move. */
struct instance {
	uint8_t stmt, pair;
	int32_t move;
	int16_t arg[3]; /* instances; -1: a value of the row */
	int16_t pack;   /* of what comes from memory */
	int16_t sum[2]; /* two packs, of which it is the sum of 16-bit floats; -1 */
	bool used;
};
/* Elements of memory, or kept ones, that a chunk begins with. */
struct pack {
	uint8_t stmt;
	bool kept;
	int32_t move;
};

struct body {
	FILE *f;
	const struct gen *g;
	const struct gen_goal *goal;
	unsigned ninstance, npack;
	bool failed;
	struct instance instance[MAX_INSTANCES];
	struct pack pack[MAX_INSTANCES];
};

static bool is_kept(const struct body *b, unsigned i)
{
	return b->g->keep[i] && b->g->made[i] < b->goal->phase;
}

static int16_t pack_of(struct body *b, unsigned stmt, int32_t move, bool kept)
{
	for (unsigned i = 0; i < b->npack; i++)
		if (b->pack[i].stmt == stmt && b->pack[i].move == move && b->pack[i].kept == kept)
			return (int16_t)i;
	b->pack[b->npack] = (struct pack){(uint8_t)stmt, kept, move};
	return (int16_t)b->npack++;
}

/* Is it the sum of two chunks of 16-bit floats, rounded once, as one operation does it on two? */
static void find_sum(const struct body *b, struct instance *n)
{
	const struct row_stmt *stmt = b->g->r->stmt, *s = &stmt[n->stmt], *sum, *c;
	const struct instance *a, *of;

	if (s->code != ROW_CAST || (s->type != DT_bf16 && s->type != DT_f16) ||
	    s->flags & ROW_FTZ || b->goal->value >= 0 || n->pair || n->arg[0] < 0)
		return;
	a = &b->instance[n->arg[0]];
	sum = &stmt[a->stmt];
	if (a->pack >= 0 || sum->code != ROW_ADD || sum->type != DT_f32 || sum->flags & ROW_FTZ)
		return;
	for (unsigned k = 0; k < 2; k++) {
		of = a->arg[k] < 0 ? NULL : &b->instance[a->arg[k]];
		if (!of)
			return;
		c = &stmt[of->stmt];
		if (of->pack >= 0 || c->code != ROW_CAST || c->flags & ROW_FTZ || of->arg[0] < 0 ||
		    stmt[c->arg[0]].type != s->type || b->instance[of->arg[0]].pack < 0 ||
		    b->instance[of->arg[0]].pair)
			return;
	}
	for (unsigned k = 0; k < 2; k++)
		n->sum[k] = b->instance[b->instance[a->arg[k]].arg[0]].pack;
}

/* The instance, and before it all that it takes. -1: it is a value of the row. */
static int16_t take(struct body *b, unsigned i, unsigned pair, int32_t move)
{
	const struct row_stmt *s = &b->g->r->stmt[i];
	struct instance n = {.stmt = (uint8_t)i,
			     .pair = (uint8_t)pair,
			     .move = move,
			     .arg = {-1, -1, -1},
			     .pack = -1,
			     .sum = {-1, -1}};

	if (!b->g->varies[i] || b->failed)
		return -1;
	for (unsigned k = 0; k < b->ninstance; k++)
		if (b->instance[k].stmt == i && b->instance[k].pair == pair &&
		    b->instance[k].move == move)
			return (int16_t)k;
	if (is_kept(b, i) || s->code == ROW_LOAD) {
		n.pack = pack_of(b, i, move, is_kept(b, i));
	} else {
		for (unsigned k = 0; k < gen_nargs(b->g->r, i); k++) {
			if (s->code == ROW_PAIR && move % 2)
				b->failed = true; /* neither one nor the other column */
			n.arg[k] = take(b, s->arg[k], s->code == ROW_PAIR ? pair ^ 1 : pair,
					s->code == ROW_SHIFT ? move + s->shift : move);
		}
	}
	if (b->failed || b->ninstance == MAX_INSTANCES) {
		b->failed = true;
		return -1;
	}
	find_sum(b, &n);
	b->instance[b->ninstance] = n;
	return (int16_t)b->ninstance++;
}

/* Marks what a value takes, but for what lies behind a sum of packs. */
static void use(struct body *b, int16_t k)
{
	struct instance *n = k < 0 ? NULL : &b->instance[k];

	if (!n || n->used)
		return;
	n->used = true;
	for (unsigned a = 0; a < 3 && n->sum[0] < 0; a++)
		use(b, n->arg[a]);
}

static const char *memory_of(const struct body *b, unsigned stmt)
{
	return gen_memory((enum dtype)b->g->r->stmt[stmt].type);
}

/* A value's name, inside the loop over elements. */
static void name_of(const struct body *b, int16_t instance, unsigned stmt, char *name)
{
	if (instance >= 0)
		snprintf(name, NAME, "v%d", instance);
	else
		snprintf(name, NAME, "w.v%u", stmt);
}

static void load_text(const struct body *b, unsigned n)
{
	const struct pack *k = &b->pack[n];
	const struct row *r = b->g->r;
	const struct row_stmt *s = &r->stmt[k->stmt];
	const struct row_operand *o = &r->operand[s->at];
	const char *m = memory_of(b, k->stmt);
	int64_t move = (int64_t)k->move + s->shift;
	bool flat = b->g->form == GEN_FLAT,
	     apart = !flat && o->step != (int64_t)dtype_bytes((enum dtype)o->dtype);
	char width[32];

	if (row_is_elementwise(r))
		snprintf(width, sizeof(width), "p.cols");
	else
		snprintf(width, sizeof(width), "%lld", (long long)o->width);
	if (apart)
		fprintf(b->f, "\t\taf::load_apart<%s, V>(l%u, w.p%u, c + %lld, p.step[%u], %s);\n",
			m, n, s->at, (long long)move, s->at, width);
	else if (flat || (!move && o->width == r->cols))
		fprintf(b->f, "\t\taf::load<%s, V, %u>(l%u, w.p%u, c);\n", m, gen_align(o, 0), n,
			s->at);
	else
		fprintf(b->f, "\t\taf::load_within<%s, V, %u>(l%u, w.p%u, c + %lld, %s);\n", m,
			gen_align(o, move), n, s->at, (long long)move, width);
}

static void kept_text(const struct body *b, unsigned n)
{
	const struct pack *k = &b->pack[n];
	const struct row_operand full = {.dtype = b->g->r->stmt[k->stmt].type, .align = 4};
	const char *m = memory_of(b, k->stmt);

	if (!k->move)
		fprintf(b->f, "\t\tkept.get%u(l%u, c);\n", k->stmt, n);
	else
		fprintf(b->f, "\t\taf::load_within<%s, V, %u>(l%u, kept.at + %u, c + %d, %lld);\n",
			m, gen_align(&full, k->move), n, b->g->shared[k->stmt], k->move,
			(long long)b->g->r->cols);
}

/* The column of element j, as text. */
static void column_of(const struct body *b, const struct instance *n, char *text)
{
	snprintf(text, 2 * NAME, n->pair ? "(c + (j ^ 1) + %d)" : "(c + j + %d)", n->move);
	if (b->g->vec == 1)
		snprintf(text, 2 * NAME, "(c + %d)", n->move);
}

/* A quotient that may be had together with others: see div_try. */
static bool is_quotient(const struct body *b, unsigned k)
{
	const struct instance *n = &b->instance[k];
	const struct row_stmt *s = &b->g->r->stmt[n->stmt];

	return n->used && n->pack < 0 && s->code == ROW_DIV && s->type == DT_f32 &&
	       !(s->flags & ROW_FTZ);
}

enum division { DIVISION_PLAIN, DIVISION_TRY, DIVISION_SURE };

static void value_text(const struct body *b, unsigned k, enum division division)
{
	const struct instance *n = &b->instance[k];
	const struct row *r = b->g->r;
	const struct row_stmt *s = &r->stmt[n->stmt];
	char name[3][NAME], column[2 * NAME];
	const char *arg[3] = {name[0], name[1], name[2]};

	for (unsigned a = 0; a < gen_nargs(r, n->stmt); a++)
		name_of(b, n->arg[a], s->arg[a], name[a]);
	column_of(b, n, column);
	fprintf(b->f, "\t\t\tconst %s v%u = ", memory_of(b, n->stmt), k);
	if (n->pack >= 0)
		fprintf(b->f, "l%d.get(%s)", n->pack, n->pair ? "j ^ 1" : "j");
	else if (n->sum[0] >= 0)
		fprintf(b->f, "a%u.get(j)", k);
	else if (division == DIVISION_TRY && is_quotient(b, k))
		fprintf(b->f, "af::div_try<%d>(%s, %s, bad)", n->arg[1] < 0, name[0], name[1]);
	else if (division == DIVISION_SURE && is_quotient(b, k))
		fprintf(b->f, "af::div_sure<af::arith<false> >(%s, %s)", name[0], name[1]);
	else if (s->code == ROW_COL)
		fprintf(b->f, "(int32_t)%s", column);
	else if (s->code == ROW_ROW)
		fprintf(b->f, "(int32_t)(c + j)");
	else if (s->code == ROW_SHIFT || s->code == ROW_PAIR)
		fprintf(b->f, "%s", name[0]);
	else if (s->code == ROW_CAT && b->g->vec > 1 && (s->shift - n->move) % (int)b->g->vec == 0)
		fprintf(b->f, "c + %d < %d ? %s : %s", n->move, s->shift, name[0], name[1]);
	else if (s->code == ROW_CAT)
		fprintf(b->f, "%s < %d ? %s : %s", column, s->shift, name[0], name[1]);
	else
		gen_expression(b->f, r, n->stmt, arg);
	fprintf(b->f, ";\n");
}

static void store_text(const struct body *b, unsigned i)
{
	const struct row *r = b->g->r;
	const struct row_stmt *s = &r->stmt[i];
	const struct row_operand *o = &r->operand[s->at];
	const char *m = memory_of(b, i);
	bool flat = b->g->form == GEN_FLAT;
	char width[32];

	if (row_is_elementwise(r))
		snprintf(width, sizeof(width), "p.cols");
	else
		snprintf(width, sizeof(width), "%lld", (long long)o->width);
	if (!row_operand_kept_whole(o) && flat)
		snprintf(width, sizeof(width), "p.rows");
	for (unsigned k = 0; k <= o->nhole && !row_operand_kept_whole(o); k++) {
		if (gen_some_rows(r, o))
			fprintf(b->f, "\t\tif (w.h%u)\n\t", s->at);
		fprintf(b->f, "\t\taf::store_some<%s, V, %u>(w.p%u, c + %d, ", m,
			gen_align(o, s->shift), s->at, s->shift);
		if (flat)
			fprintf(b->f, "sizeof(%s)", m);
		else
			fprintf(b->f, "p.step[%u]", s->at);
		fprintf(b->f, ", %s, p.keep[%u], p.keep[%u], s%u);\n", width, gen_keep(s->at, k),
			gen_keep(s->at, k) + 1, i);
	}
	if (!row_operand_kept_whole(o))
		return;
	if (gen_some_rows(r, o))
		fprintf(b->f, "\t\tif (w.h%u)\n\t", s->at);
	if (!flat && o->step != (int64_t)dtype_bytes((enum dtype)o->dtype))
		fprintf(b->f, "\t\taf::store_apart<%s, V>(w.p%u, c + %d, p.step[%u], %s, s%u);\n",
			m, s->at, s->shift, s->at, width, i);
	else if (flat || (!s->shift && o->width == r->cols))
		fprintf(b->f, "\t\taf::store<%s, V, %u>(w.p%u, c, s%u);\n", m, gen_align(o, 0),
			s->at, i);
	else
		fprintf(b->f, "\t\taf::store_within<%s, V, %u>(w.p%u, c + %d, %s, s%u);\n", m,
			gen_align(o, s->shift), s->at, s->shift, width, i);
}

/* A value that another statement's goal asks for: by its own name where it is of the row. */
static void goal_name(struct body *b, unsigned stmt, char *name)
{
	name_of(b, take(b, stmt, 0, 0), stmt, name);
}

static const char params[] = "const PARAMS &p", row_in[] = "const ROW &w";

/* What is made of each element. */
static void elements_text(struct body *b, enum division division)
{
	const struct gen_goal *goal = b->goal;
	const struct row *r = b->g->r;
	char name[NAME];

	fprintf(b->f, "#pragma unroll\n\t\tfor (int j = 0; j < V; j++) {\n");
	for (unsigned n = 0; n < b->ninstance; n++)
		if (b->instance[n].used)
			value_text(b, n, division);
	for (unsigned i = 0; i < r->nstmt; i++) {
		if (goal->store[i] || goal->keep[i]) {
			goal_name(b, goal->store[i] ? r->stmt[i].arg[0] : i, name);
			fprintf(b->f, "\t\t\ts%u.set(j, %s);\n", i, name);
		} else if (goal->extreme[i]) {
			goal_name(b, r->stmt[i].arg[0], name);
			fprintf(b->f, "\t\t\tw.x%u = af::by_%s<af::%s>::join(w.x%u, %s);\n", i,
				row_code_name((enum row_code)r->stmt[i].code),
				gen_ops(&r->stmt[i], (enum dtype)r->stmt[i].type), i, name);
		}
	}
	fprintf(b->f, "\t\t}\n");
}

/* One value, of element j. */
static void one_text(struct body *b)
{
	char name[NAME];

	fprintf(b->f,
		"\ttemplate <class KEPT> __device__ __forceinline__ %s value(%s, %s, const KEPT "
		"&kept, int64_t c, int j)\n\t{\n",
		memory_of(b, (unsigned)b->goal->value), row_in, params);
	for (unsigned n = 0; n < b->npack; n++)
		if (b->pack[n].kept)
			kept_text(b, n);
	for (unsigned n = 0; n < b->ninstance; n++)
		value_text(b, n, DIVISION_PLAIN);
	goal_name(b, (unsigned)b->goal->value, name);
	fprintf(b->f, "\t\treturn %s;\n\t}\n", name);
}

static void run_text(struct body *b)
{
	const struct gen_goal *goal = b->goal;
	const struct row *r = b->g->r;
	bool together = false;

	fprintf(b->f,
		"\ttemplate <class KEPT> __device__ __forceinline__ void run(ROW &w, %s, KEPT "
		"&&kept, "
		"int64_t c)\n\t{\n",
		params);
	for (unsigned i = 0; i < r->nstmt; i++)
		if (goal->store[i] || goal->keep[i]) {
			if (!goal->store[i] || !goal->late)
				fprintf(b->f, "\t\taf::pack<%s, V> s%u;\n", memory_of(b, i), i);
			fprintf(b->f, "\t\ts%u.clear();\n", i);
		}
	for (unsigned n = 0; n < b->npack; n++)
		if (b->pack[n].kept)
			kept_text(b, n);
	for (unsigned n = 0; n < b->ninstance; n++) {
		const struct instance *k = &b->instance[n];

		together |= is_quotient(b, n);
		if (k->used && k->sum[0] >= 0)
			fprintf(b->f,
				"\t\tconst af::pack<%s, V> a%u = af::sums<af::%s>(l%d, l%d);\n",
				memory_of(b, k->stmt), n,
				b->g->r->stmt[k->stmt].type == DT_f16 ? "f16" : "bf16", k->sum[0],
				k->sum[1]);
	}
	for (unsigned i = 0; i < r->nstmt; i++)
		together &= !goal->extreme[i]; /* which would have the wrong ones, too */
	if (together)
		fprintf(b->f, "\t\tbool bad = false;\n");
	elements_text(b, together ? DIVISION_TRY : DIVISION_PLAIN);
	if (together) {
		fprintf(b->f, "\t\tif (bad) {\n");
		elements_text(b, DIVISION_SURE);
		fprintf(b->f, "\t\t}\n");
	}
	for (unsigned i = 0; i < r->nstmt; i++)
		if (goal->keep[i])
			fprintf(b->f, "\t\tkept.put%u(s%u, c);\n", i, i);
	if (goal->late)
		fprintf(b->f,
			"\t}\n\t__device__ __forceinline__ void put(%s, %s, int64_t c)\n\t{\n",
			row_in, params);
	for (unsigned i = 0; i < r->nstmt; i++)
		if (goal->store[i])
			store_text(b, i);
	fprintf(b->f, "\t}\n");
}

int gen_body(FILE *f, const struct gen *g, const struct gen_goal *goal)
{
	struct body *b = calloc(1, sizeof(*b));
	const struct row *r = g->r;
	int ret = -1;

	if (!b)
		return -1;
	b->f = f;
	b->g = g;
	b->goal = goal;
	for (unsigned i = 0; i < r->nstmt; i++) {
		if (goal->store[i] || goal->extreme[i])
			use(b, take(b, r->stmt[i].arg[0], 0, 0));
		if (goal->keep[i])
			use(b, take(b, i, 0, 0));
	}
	if (goal->value >= 0)
		take(b, (unsigned)goal->value, 0, 0);
	if (b->failed)
		goto out;
	fprintf(f, "template <int V> struct %s {\n", goal->name);
	for (unsigned n = 0; n < b->npack; n++)
		fprintf(f, "\taf::pack<%s, V> l%u;\n", memory_of(b, b->pack[n].stmt), n);
	for (unsigned i = 0; goal->late && i < r->nstmt; i++)
		if (goal->store[i])
			fprintf(f, "\taf::pack<%s, V> s%u;\n", memory_of(b, i), i);
	fprintf(f, "\t__device__ __forceinline__ void load(%s, %s, int64_t c)\n\t{\n", row_in,
		params);
	for (unsigned n = 0; n < b->npack; n++)
		if (!b->pack[n].kept)
			load_text(b, n);
	fprintf(f, "\t}\n");
	if (goal->value >= 0)
		one_text(b);
	else
		run_text(b);
	fprintf(f, "};\n");
	ret = 0;
out:
	free(b);
	return ret;
}
