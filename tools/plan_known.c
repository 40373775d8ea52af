// SPDX-License-Identifier: Apache-2.0
/* The kernels that a decoder knows, each with what its first launch reads and writes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/plan.h"

static void spell(const struct op *op, char *text, size_t size)
{
	int n = snprintf(text, size, "%s", opcode_name(op->code));

	for (unsigned i = 0; i < op->noperand && n > 0 && (size_t)n < size; i++) {
		const struct operand *o = &op->operand[i];

		n += snprintf(text + n, size - (size_t)n, "%s%s%s ", i ? ", " : ": ",
			      o->access & ACCESS_WRITE ? "=> " : "", role_name((enum role)o->role));
		for (unsigned d = 0; d < o->ndim && (size_t)n < size; d++)
			n += snprintf(text + n, size - (size_t)n, "%s%" PRId64, d ? "x" : "",
				      o->size[d]);
		if ((size_t)n < size)
			n += snprintf(text + n, size - (size_t)n, " %s",
				      dtype_name((enum dtype)o->dtype));
	}
}

void plan_add_known(struct plan_result *r, const struct kernel *k, const struct op *op)
{
	struct plan_known *grown;

	for (size_t i = 0; i < r->nknown; i++)
		if (r->known[i].kernel == k) {
			r->known[i].launches++;
			return;
		}
	grown = realloc(r->known, (r->nknown + 1) * sizeof(*grown));
	if (!grown)
		return;
	r->known = grown;
	grown[r->nknown] = (struct plan_known){.kernel = k, .launches = 1};
	spell(op, grown[r->nknown].what, sizeof(grown->what));
	r->nknown++;
}

static int more_launches(const void *a, const void *b)
{
	const struct plan_known *x = a, *y = b;

	if (x->launches != y->launches)
		return x->launches < y->launches ? 1 : -1;
	return strcmp(x->kernel->name, y->kernel->name);
}

void plan_sort_known(struct plan_result *r)
{
	if (r->nknown)
		qsort(r->known, r->nknown, sizeof(*r->known), more_launches);
}

void plan_print_known(const struct plan_result *r, FILE *f, size_t most)
{
	uint64_t launches = 0;

	for (size_t i = 0; i < r->nknown; i++)
		launches += r->known[i].launches;
	if (!launches)
		return;
	fprintf(f,
		"\n%" PRIu64 " launches of %zu kernels that are known, and what the first does:\n",
		launches, r->nknown);
	for (size_t i = 0; i < r->nknown && i < most; i++) {
		bool cut = strlen(r->known[i].kernel->name) > 80;

		fprintf(f, "  %7" PRIu64 "  %.*s%s\n           %s\n", r->known[i].launches,
			cut ? 80 : 999, r->known[i].kernel->name, cut ? "..." : "",
			r->known[i].what);
	}
	if (r->nknown > most)
		fprintf(f, "  and %zu more; --json lists all, with full names\n", r->nknown - most);
}
