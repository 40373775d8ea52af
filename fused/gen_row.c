/* SPDX-License-Identifier: Apache-2.0 */
/* The struct of a row in generated text. Declared in gen_write.h. */
#include "fused/gen_write.h"

static bool of_the_row(const struct gen *g, unsigned i)
{
	return g->live[i] && !g->varies[i] && g->r->stmt[i].code != ROW_STORE;
}

static void pointers(FILE *f, const struct gen *g)
{
	const struct row *r = g->r;

	if (g->form == GEN_FLAT) {
		for (unsigned i = 0; i < r->noperand; i++)
			fprintf(f, "\t\tp%u = (char *)p.addr[%u];\n", i, i);
		return;
	}
	if (r->ndim == 1)
		fprintf(f, "\t\tconst int64_t i0 = r;\n");
	if (r->ndim == 2)
		fprintf(f, "\t\tconst int64_t i0 = af::divide(r, p.size[1]), i1 = r - i0 * "
			   "p.size[1];\n");
	if (r->ndim == 3)
		fprintf(f,
			"\t\tconst int64_t t = af::divide(r, p.size[2]), i2 = r - t * p.size[2];\n"
			"\t\tconst int64_t i0 = af::divide(t, p.size[1]), i1 = t - i0 * "
			"p.size[1];\n");
	for (unsigned d = 0; d < r->ndim; d++)
		fprintf(f, "\t\t(void)i%u;\n", d);
	for (unsigned i = 0; i < r->noperand; i++) {
		fprintf(f, "\t\tp%u = (char *)p.addr[%u]", i, i);
		/* In rows that it does not have, anything may be loaded: what it has first. */
		for (unsigned d = 0; d < r->ndim; d++) {
			const unsigned at = i * r->ndim + d;

			if (r->operand[i].stride[d] && r->operand[i].most[d])
				fprintf(f, " + (i%u < p.most[%u] ? i%u : 0) * p.stride[%u]", d, at,
					d, at);
			else if (r->operand[i].stride[d])
				fprintf(f, " + i%u * p.stride[%u]", d, at);
		}
		fprintf(f, ";\n");
		if (!gen_some_rows(r, &r->operand[i]))
			continue;
		fprintf(f, "\t\th%u = true", i);
		for (unsigned d = 0; d < r->ndim; d++)
			if (r->operand[i].most[d])
				fprintf(f, " && i%u < p.most[%u]", d, i * r->ndim + d);
		fprintf(f, ";\n");
	}
}

static void value(FILE *f, const struct gen *g, unsigned i, const char *w)
{
	const struct row *r = g->r;
	const struct row_stmt *s = &r->stmt[i];
	char name[3][24];
	const char *arg[3] = {name[0], name[1], name[2]};

	for (unsigned k = 0; k < gen_nargs(r, i); k++)
		snprintf(name[k], sizeof(name[k]), "%sv%u", w, s->arg[k]);
	fprintf(f, "\t\t%sv%u = ", w, i);
	if (s->code == ROW_LOAD)
		fprintf(f, "af::load_one<%s>(%sp%u)", gen_memory((enum dtype)s->type), w, s->at);
	else if (s->code == ROW_ROW)
		fprintf(f, "(int32_t)r");
	else if (s->code == ROW_COL)
		fprintf(f, "0");
	else if (s->code == ROW_SHIFT || s->code == ROW_PAIR)
		fprintf(f, "%s", name[0]);
	else if (s->code == ROW_DIV && s->type == DT_f32)
		fprintf(f, "af::%s::DIV_ROW(%s, %s)", gen_ops(s, DT_f32), arg[0], arg[1]);
	else
		gen_expression(f, r, i, arg);
	fprintf(f, ";\n");
}

void gen_row_values(FILE *f, const struct gen *g, unsigned level, const char *w)
{
	for (unsigned i = 0; i < g->r->nstmt; i++)
		if (of_the_row(g, i) && g->level[i] == level && !gen_reduces(g->r, i))
			value(f, g, i, w);
}

void gen_row_text(FILE *f, const struct gen *g)
{
	const struct row *r = g->r;

	fprintf(f,
		"struct PARAMS {\n\tuint64_t addr[%u];\n\tint64_t stride[%u], step[%u], size[%u], "
		"rows, cols;\n\tuint64_t imm[%u]",
		r->noperand, r->noperand * r->ndim, r->noperand, r->ndim, r->nimm ? r->nimm : 1u);
	if (g->partial)
		fprintf(f, ", keep[%u]", gen_keep(r->noperand, 0));
	if (g->some)
		fprintf(f, ";\n\tint64_t most[%u]", r->noperand * r->ndim);
	fprintf(f, ";\n};\n");
	fprintf(f, "struct ROW {\n");
	for (unsigned i = 0; i < r->noperand; i++)
		fprintf(f, "\tchar *p%u;\n", i);
	for (unsigned i = 0; i < r->noperand; i++)
		if (gen_some_rows(r, &r->operand[i]))
			fprintf(f, "\tbool h%u; /* is the row one of operand %u? */\n", i, i);
	for (unsigned i = 0; i < r->nstmt; i++) {
		if (of_the_row(g, i))
			fprintf(f, "\t%s v%u;\n", gen_memory((enum dtype)r->stmt[i].type), i);
		if (g->live[i] && gen_extreme(r, i))
			fprintf(f, "\t%s x%u;\n", gen_memory((enum dtype)r->stmt[i].type), i);
	}
	fprintf(f, "\t__device__ __forceinline__ ROW(const PARAMS &p, int64_t r)\n\t{\n");
	pointers(f, g);
	gen_row_values(f, g, 0, "");
	for (unsigned i = 0; i < r->nstmt; i++)
		if (g->live[i] && gen_extreme(r, i))
			fprintf(f, "\t\tx%u = af::by_%s<af::%s>::first();\n", i,
				row_code_name((enum row_code)r->stmt[i].code),
				gen_ops(&r->stmt[i], (enum dtype)r->stmt[i].type));
	fprintf(f, "\t}\n};\n");
}

void gen_kept_text(FILE *f, const struct gen *g, bool own)
{
	const struct row *r = g->r;

	fprintf(f, "struct STAGED {\n\tchar *at;\n");
	for (unsigned i = 0; i < r->nstmt; i++) {
		const char *m = gen_memory((enum dtype)r->stmt[i].type);

		if (g->keep[i])
			fprintf(f,
				"\ttemplate <int V> __device__ __forceinline__ void "
				"get%u(af::pack<%s, V> &l, int64_t c) const { af::load<%s, V, "
				"16>(l, "
				"at + %u, c); }\n"
				"\ttemplate <int V> __device__ __forceinline__ void put%u(const "
				"af::pack<%s, V> &s, int64_t c) const { af::store<%s, V, 16>(at + "
				"%u, "
				"c, s); }\n",
				i, m, m, g->shared[i], i, m, m, g->shared[i]);
	}
	fprintf(f, "};\n");
	if (!own)
		return;
	fprintf(f, "template <int V> struct OWN {\n");
	for (unsigned i = 0; i < r->nstmt; i++) {
		const char *m = gen_memory((enum dtype)r->stmt[i].type);

		if (g->keep[i])
			fprintf(f,
				"\taf::pack<%s, V> k%u;\n"
				"\t__device__ __forceinline__ void get%u(af::pack<%s, V> &l, "
				"int64_t) const { l = k%u; }\n"
				"\t__device__ __forceinline__ void put%u(const af::pack<%s, V> &s, "
				"int64_t) { k%u = s; }\n",
				m, i, i, m, i, i, m, i);
	}
	fprintf(f, "};\n");
}

void gen_row_stores(FILE *f, const struct gen *g, const char *who)
{
	const struct row *r = g->r;

	for (unsigned i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];

		if (!g->live[i] || s->code != ROW_STORE || !gen_row_store(g, i))
			continue;
		fprintf(f, "\t\tif (%s", who);
		if (gen_some_rows(r, &r->operand[s->at]))
			fprintf(f, " && w.h%u", s->at);
		for (unsigned k = 0;
		     k <= r->operand[s->at].nhole && !row_operand_kept_whole(&r->operand[s->at]);
		     k++)
			fprintf(f,
				"%s((uint64_t)w.p%u >= p.keep[%u] && (uint64_t)w.p%u < "
				"p.keep[%u])%s",
				k ? " || " : " && (", s->at, gen_keep(s->at, k), s->at,
				gen_keep(s->at, k) + 1, k == r->operand[s->at].nhole ? ")" : "");
		fprintf(f, ")\n\t\t\taf::store_one(w.p%u, w.v%u);\n", s->at, s->arg[0]);
	}
}
