/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of decoders on recorded launches: the recording's marks, and ops as text. */
#ifndef AF_TESTS_UNIT_ATENS_H
#define AF_TESTS_UNIT_ATENS_H

#include <inttypes.h>

#include <zlib.h>

#include "command.h"
#include "matcher/decode.h"
#include "matcher/reason.h"
#include "tools/trace.h"

/* "add out=bf16[32768] in0=bf16[32768] in1=bf16[4096+0]": + and the stride in bytes where it is not
 * that of a dense operand. */
__attribute__((unused)) static const char *atens_spell(const struct op *op)
{
	static char text[2048];
	int n = snprintf(text, sizeof(text), "%s", opcode_name(op->code));

	for (unsigned i = 0; i < op->noperand; i++) {
		const struct operand *o = &op->operand[i];
		int64_t dense = dtype_bytes((enum dtype)o->dtype), d;

		n += snprintf(text + n, sizeof(text) - (size_t)n, " %s%s=%s[", role_name(o->role),
			      o->access == ACCESS_READ && o->role == ROLE_out ? "<" : "",
			      dtype_name((enum dtype)o->dtype));
		for (d = 0; d < o->ndim; d++) {
			dense = dtype_bytes((enum dtype)o->dtype);
			for (int64_t k = d + 1; k < o->ndim; k++)
				dense *= o->size[k];
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%" PRId64,
				      d ? "x" : "", o->size[d]);
			if (o->stride[d] != dense && o->size[d] != 1)
				n += snprintf(text + n, sizeof(text) - (size_t)n, "+%" PRId64,
					      o->stride[d]);
		}
		n += snprintf(text + n, sizeof(text) - (size_t)n, "]");
	}
	for (unsigned i = 0; i < op->nscalar; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %g", op->scalar[i]);
	return text;
}

/* The recording's marks with their lines; -1 before the first. */
struct atens_marks {
	long n, line[512];
	char name[512][64];
};

__attribute__((unused)) static void atens_marks_read(struct atens_marks *m, const char *path)
{
	static char text[1 << 20];
	gzFile f = gzopen(path, "r");

	assert_non_null(f);
	m->n = 0;
	for (long line = 1; gzgets(f, text, sizeof(text)); line++)
		if (sscanf(text, "{\"k\":\"mark\",\"f\":\"%63[^\"]", m->name[m->n]) == 1) {
			assert_true(m->n < 511);
			m->line[m->n++] = line;
		}
	gzclose(f);
}

__attribute__((unused)) static long atens_mark(const struct atens_marks *m, long line)
{
	long i = m->n - 1;

	while (i >= 0 && m->line[i] > line)
		i--;
	return i;
}

#endif
