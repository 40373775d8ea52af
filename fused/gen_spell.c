/* SPDX-License-Identifier: Apache-2.0 */
/* How single statements are spelled. Declared in gen_body.h. */
#include "fused/gen_body.h"

#include <stdlib.h>

static const struct {
	const char *type, *ftz, *memory;
} spelled[DT_COUNT] = {
	[DT_f32] = {"t_f32<false>", "t_f32<true>", "float"},
	[DT_f64] = {"t_f64", "t_f64", "double"},
	[DT_f16] = {"t_f16", "t_f16", "uint16_t"},
	[DT_bf16] = {"t_bf16", "t_bf16", "uint16_t"},
	[DT_i64] = {"t_i64", "t_i64", "int64_t"},
	[DT_i32] = {"t_i32", "t_i32", "int32_t"},
	[DT_i16] = {"t_i16", "t_i16", "int16_t"},
	[DT_i8] = {"t_i8", "t_i8", "int8_t"},
	[DT_u8] = {"t_u8", "t_u8", "uint8_t"},
	[DT_bool] = {"t_bool", "t_bool", "uint8_t"},
	[DT_e4m3] = {"t_e4m3", "t_e4m3", "uint8_t"},
	[DT_e5m2] = {"t_e5m2", "t_e5m2", "uint8_t"},
};

const char *gen_type(enum dtype t)
{
	return spelled[t].type;
}

const char *gen_memory(enum dtype t)
{
	return spelled[t].memory;
}

const char *gen_ops(const struct row_stmt *s, enum dtype t)
{
	return s->flags & ROW_FTZ ? spelled[t].ftz : spelled[t].type;
}

void gen_expression(FILE *f, const struct row *r, unsigned i, const char *const arg[3])
{
	const struct row_stmt *s = &r->stmt[i];
	enum dtype t = (enum dtype)s->type;
	unsigned n = row_code_nargs((enum row_code)s->code);

	if (s->code == ROW_CONST) {
		fprintf(f, "af::number<%s>::of(p.imm[%u])", gen_memory(t), s->at);
		return;
	}
	if (s->code == ROW_CAST) {
		fprintf(f, "af::cast<af::%s, af::%s, %d>::f(%s)", gen_type(t),
			gen_type((enum dtype)r->stmt[s->arg[0]].type), s->flags & ROW_FTZ ? 1 : 0,
			arg[0]);
		return;
	}
	/* Comparisons are of their arguments' type, all others of their own. */
	if (s->code == ROW_EQ || s->code == ROW_NE || s->code == ROW_LT || s->code == ROW_LE)
		t = (enum dtype)r->stmt[s->arg[0]].type;
	fprintf(f, "af::%s::%s(", gen_ops(s, t), row_code_name((enum row_code)s->code));
	for (unsigned k = 0; k < n; k++)
		fprintf(f, "%s%s", k ? ", " : "", arg[k]);
	fprintf(f, ")");
}

unsigned gen_align(const struct row_operand *o, int64_t shift)
{
	uint64_t bits =
		1ull << o->align | 16 | (uint64_t)llabs(shift) * dtype_bytes((enum dtype)o->dtype);

	return (unsigned)(bits & -bits);
}
