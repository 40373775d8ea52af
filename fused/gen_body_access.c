// SPDX-License-Identifier: Apache-2.0
/* The text of a body's loads and stores. */
#include "fused/gen_body_parts.h"

void body_load_text(const struct body *b, unsigned n)
{
	const struct pack *k = &b->pack[n];
	const struct row *r = b->g->r;
	const struct row_stmt *s = &r->stmt[k->stmt];
	const struct row_operand *o = &r->operand[s->at];
	const char *m = body_memory(b, k->stmt);
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

void body_kept_text(const struct body *b, unsigned n)
{
	const struct pack *k = &b->pack[n];
	const struct row_operand full = {.dtype = b->g->r->stmt[k->stmt].type, .align = 4};
	const char *m = body_memory(b, k->stmt);

	if (!k->move)
		fprintf(b->f, "\t\tkept.get%u(l%u, c);\n", k->stmt, n);
	else
		fprintf(b->f, "\t\taf::load_within<%s, V, %u>(l%u, kept.at + %u, c + %d, %lld);\n",
			m, gen_align(&full, k->move), n, b->g->shared[k->stmt], k->move,
			(long long)b->g->r->cols);
}

void body_store_text(const struct body *b, unsigned i)
{
	const struct row *r = b->g->r;
	const struct row_stmt *s = &r->stmt[i];
	const struct row_operand *o = &r->operand[s->at];
	const char *m = body_memory(b, i);
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
