/* SPDX-License-Identifier: Apache-2.0 */
#include "fused/gen_eval.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fused/gen.h"

static const char kernel[] =
#define GEN_PRELUDE(line) line "\n"
#include "gen_eval_kernel.def"
	;
static const char order[] =
#include "gen_eval_order.def"
#undef GEN_PRELUDE
	;

/* Does the kernel have the statement in that type? Some types are only moved and converted. */
static bool has(enum row_code c, enum dtype t)
{
	if (t == DT_NONE || t == DT_f64 || t == DT_i64)
		return false;
	if (c == ROW_LOAD || c == ROW_STORE || c == ROW_CONST || c == ROW_COL || c == ROW_ROW ||
	    c == ROW_CAST)
		return true;
	return t == DT_f32 || t == DT_f16 || t == DT_bf16 || t == DT_i32 || t == DT_u8 ||
	       t == DT_bool;
}

struct packing {
	const struct row *r;
	struct eval_program *p;
	unsigned nstep;
	bool failed;
};

/* Adds what statement s needs, and s, to the steps of the stage that began at `from`. Reductions
 * have been done by then. */
static void need(struct packing *k, unsigned from, uint8_t s)
{
	const struct row_stmt *st = &k->r->stmt[s];
	const enum row_code code = (enum row_code)st->code;

	for (unsigned i = from; i < k->nstep; i++)
		if (k->p->step[i] == s)
			return;
	for (unsigned i = 0; i < row_code_nargs(code) && !row_code_reduces(code); i++)
		need(k, from, st->arg[i]);
	if (k->nstep == EVAL_STEPS)
		k->failed = true;
	else
		k->p->step[k->nstep++] = s;
}

static bool end_stage(struct packing *k, uint8_t reduction)
{
	if (k->p->nstage == EVAL_STAGES)
		return false;
	k->p->end[k->p->nstage] = (uint8_t)k->nstep;
	k->p->reduction[k->p->nstage++] = reduction;
	return !k->failed;
}

static bool pack_stages(struct packing *k)
{
	const struct row *r = k->r;
	unsigned from;

	for (uint8_t i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];

		if (!row_code_reduces((enum row_code)s->code) || s->code == ROW_WELFORD_M2)
			continue;
		from = k->nstep;
		for (unsigned a = 0; a < row_code_nargs((enum row_code)s->code); a++)
			need(k, from, s->arg[a]);
		if (!end_stage(k, i))
			return false;
	}
	from = k->nstep;
	for (uint8_t i = 0; i < r->nstmt; i++)
		if (r->stmt[i].code == ROW_STORE)
			need(k, from, i);
	return end_stage(k, EVAL_NONE);
}

static bool pack_statement(const struct row *r, unsigned i, struct eval_stmt *to)
{
	const struct row_stmt *s = &r->stmt[i];

	*to = (struct eval_stmt){.code = s->code,
				 .type = s->type,
				 .flags = s->flags,
				 .at = s->at,
				 .from = s->arg[0] == ROW_NONE ? 0 : r->stmt[s->arg[0]].type};
	memcpy(to->arg, s->arg, sizeof(to->arg));
	return has((enum row_code)s->code,
		   (enum dtype)(s->code >= ROW_EQ && s->code <= ROW_LE ? to->from : s->type)) &&
	       !s->shift && !(s->flags & ROW_DEAD) && s->code != ROW_SHIFT && s->code != ROW_PAIR &&
	       s->code != ROW_CAT;
}

int eval_pack(const struct row *r, struct eval_program *p)
{
	struct packing k = {.r = r, .p = p};

	memset(p, 0, sizeof(*p));
	if (r->nstmt > EVAL_STMTS || r->noperand > EVAL_OPERANDS || r->nimm > EVAL_IMM)
		return -1;
	for (unsigned i = 0; i < r->nstmt; i++)
		if (!pack_statement(r, i, &p->stmt[i]))
			return -1;
	for (unsigned i = 0; i < r->nimm; i++)
		p->imm[i] = (uint32_t)r->imm[i];
	for (unsigned i = 0; i < r->noperand; i++) {
		const struct row_operand *o = &r->operand[i];

		if (!row_operand_kept_whole(o))
			return -1;
		p->operand[i] =
			(struct eval_operand){.addr = o->addr, .step = o->step, .width = o->width};
		memcpy(p->operand[i].stride, o->stride, sizeof(p->operand[i].stride));
	}
	p->ndim = r->ndim;
	memcpy(p->size, r->size, sizeof(p->size));
	p->cols = r->cols;
	return pack_stages(&k) ? 0 : -1;
}

struct row_order eval_row_order(const struct eval_order *o)
{
	struct row_order r = {0};

	if (!o->f.threads)
		return r;
#define FIELD(name, bits) r.name = o->f.name;
#define VALUE(field, value, token)
#include "matcher/order.def"
#undef FIELD
#undef VALUE
	r.fast = o->fast;
	return r;
}

/* The numbers and structs that the kernel's text takes for granted. */
static void put_names(FILE *f)
{
	fputs("enum {\n", f);
	for (unsigned i = 0; i < ROW_CODE_COUNT; i++)
		fprintf(f, "ROW_%s = %u,\n", row_code_name((enum row_code)i), i);
	for (unsigned i = 1; i < DT_COUNT; i++)
		fprintf(f, "DT_%s = %u,\n", dtype_name((enum dtype)i), i);
#define FIELD(name, bits)
#define VALUE(field, value, token)                                                                 \
	fprintf(f, "FIELD_%s_%s = %d,\n", #field, #value, FIELD_##field##_##value);
#include "fused/candidate.def"
#undef FIELD
#undef VALUE
	fputs("};\nstruct fields {\n", f);
#define FIELD(name, bits) fputs("\tuint16_t " #name ";\n", f);
#define VALUE(field, value, token)
#include "fused/candidate.def"
#undef FIELD
#undef VALUE
	fputs("};\n", f);
}

char *eval_text(void)
{
	static const char here[] = "#include \"fused/order.inc\"\n";
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fputs(gen_prelude(), f);
	put_names(f);
	for (const char *at = kernel, *next; *at; at = next) {
		next = strstr(at, here);
		if (!next) {
			fputs(at, f);
			break;
		}
		fwrite(at, 1, (size_t)(next - at), f);
		fputs(order, f);
		next += sizeof(here) - 1;
	}
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
