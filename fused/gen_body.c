// SPDX-License-Identifier: Apache-2.0
#include "fused/gen_body.h"

#include <stdlib.h>

#include "fused/gen_body_parts.h"

enum { NAME = 24 };

/* A value's name, inside the loop over elements. */
static void name_of(const struct body *b, int16_t instance, unsigned stmt, char *name)
{
	if (instance >= 0)
		snprintf(name, NAME, "v%d", instance);
	else
		snprintf(name, NAME, "w.v%u", stmt);
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
	fprintf(b->f, "\t\t\tconst %s v%u = ", body_memory(b, n->stmt), k);
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

/* A value that another statement's goal asks for: by its own name where it is of the row. */
static void goal_name(struct body *b, unsigned stmt, char *name)
{
	name_of(b, body_take(b, stmt, 0, 0), stmt, name);
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
		body_memory(b, (unsigned)b->goal->value), row_in, params);
	for (unsigned n = 0; n < b->npack; n++)
		if (b->pack[n].kept)
			body_kept_text(b, n);
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
				fprintf(b->f, "\t\taf::pack<%s, V> s%u;\n", body_memory(b, i), i);
			fprintf(b->f, "\t\ts%u.clear();\n", i);
		}
	for (unsigned n = 0; n < b->npack; n++)
		if (b->pack[n].kept)
			body_kept_text(b, n);
	for (unsigned n = 0; n < b->ninstance; n++) {
		const struct instance *k = &b->instance[n];

		together |= is_quotient(b, n);
		if (k->used && k->sum[0] >= 0)
			fprintf(b->f,
				"\t\tconst af::pack<%s, V> a%u = af::sums<af::%s>(l%d, l%d);\n",
				body_memory(b, k->stmt), n,
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
			body_store_text(b, i);
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
			body_use(b, body_take(b, r->stmt[i].arg[0], 0, 0));
		if (goal->keep[i])
			body_use(b, body_take(b, i, 0, 0));
	}
	if (goal->value >= 0)
		body_take(b, (unsigned)goal->value, 0, 0);
	if (b->failed)
		goto out;
	fprintf(f, "template <int V> struct %s {\n", goal->name);
	for (unsigned n = 0; n < b->npack; n++)
		fprintf(f, "\taf::pack<%s, V> l%u;\n", body_memory(b, b->pack[n].stmt), n);
	for (unsigned i = 0; goal->late && i < r->nstmt; i++)
		if (goal->store[i])
			fprintf(f, "\taf::pack<%s, V> s%u;\n", body_memory(b, i), i);
	fprintf(f, "\t__device__ __forceinline__ void load(%s, %s, int64_t c)\n\t{\n", row_in,
		params);
	for (unsigned n = 0; n < b->npack; n++)
		if (!b->pack[n].kept)
			body_load_text(b, n);
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
