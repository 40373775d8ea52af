/* SPDX-License-Identifier: Apache-2.0 */
/* A guess as the lines of a [kernel] section. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shim/probe_child_infer.h"

struct out {
	char *text;
	size_t size, used;
};

static void add(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct out *o, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(o->text + o->used, o->size - o->used, fmt, ap);
	va_end(ap);
	o->used += n > 0 ? (size_t)n : 0;
	if (o->used >= o->size)
		o->used = o->size - 1; /* infer_section sees that it is full */
}

bool infer_real(const struct infer_arg *a, const uint8_t *params, double *v)
{
	float f;

	if (a->pointer || (a->bytes != 4 && a->bytes != 8))
		return false;
	if (a->bytes == 8) {
		memcpy(v, params + a->offset, 8);
	} else {
		memcpy(&f, params + a->offset, 4);
		*v = f;
	}
	return isfinite(*v) && fabs(*v) > 1e-20 && fabs(*v) < 1e20;
}

void infer_set_real(const struct infer_arg *a, uint8_t *params, double v)
{
	float f = (float)v;

	memcpy(params + a->offset, a->bytes == 8 ? (void *)&v : (void *)&f, a->bytes);
}

/* " -=7": the value is a constant of what was seen. */
static void demand(struct out *o, const struct infer_arg *a, const uint8_t *params)
{
	uint64_t bits = 0;
	double v;
	char real[40];

	if (a->bytes > 8) {
		add(o, " -");
		return;
	}
	memcpy(&bits, params + a->offset, a->bytes);
	if (infer_real(a, params, &v)) {
		snprintf(real, sizeof(real), a->bytes == 8 ? "%.17g" : "%.9g", v);
		add(o, " -=%s%s", real, strpbrk(real, ".e") ? "" : ".0");
	} else if (a->bytes == 4) {
		add(o, " -=%" PRId32, (int32_t)bits);
	} else {
		add(o, " -=%" PRId64, (int64_t)bits);
	}
}

static void word(struct out *o, const struct infer_facts *f, const struct infer_guess *g,
		 unsigned i, const uint8_t *params)
{
	const struct infer_arg *a = &f->arg[i];

	if (g->role[i]) {
		add(o, " %s", i == f->out && g->inout ? "inout" : role_name((enum role)g->role[i]));
		if (g->dtypes[i])
			add(o, ":%s", dtype_name((enum dtype)g->dtypes[i]));
		return;
	}
	if (g->eps_arg == (int)i) {
		add(o, " eps");
		return;
	}
	for (unsigned u = 0; u < g->space.nuse; u++)
		if (g->space.use[u].arg == i) {
			add(o, " %s", g->space.use[u].word);
			if (g->pinned[i])
				add(o, "=%" PRId64, a->value);
			return;
		}
	if (a->pointer || g->free[i])
		add(o, " -");
	else
		demand(o, a, params);
}

bool infer_section(const struct infer_facts *f, const struct infer_guess *g, const uint8_t *params,
		   char *text, size_t size)
{
	enum { LINE = 150 }; /* a line holds 198 characters */
	struct out o = {text, size, 0};
	size_t line;

	add(&o, "op    = %s\nargs  =", opcode_name(g->code));
	line = o.used;
	for (unsigned i = 0; i < f->narg; i++) {
		if (o.used - line > LINE) {
			add(&o, "\nargs  =");
			line = o.used;
		}
		word(&o, f, g, i, params);
	}
	add(&o, "\n%sdtype = %s\n", g->space.keys, dtype_name(g->type));
	if (g->eps_known)
		add(&o, "eps   = %.9g\n", g->eps);
	if (g->plus_one)
		add(&o, "weight = 1+w\n");
	return o.used < size - 1;
}
