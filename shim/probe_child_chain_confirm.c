/* SPDX-License-Identifier: Apache-2.0 */
/* The chain's kernel in the place of the program's: every byte of the arena, on every family. */
#include <stdlib.h>
#include <string.h>

#include "shim/probe_child_chain.h"

static bool has_nan(enum dtype t)
{
	return t == DT_f32 || t == DT_f16 || t == DT_bf16;
}

/* On the software GPU any NaN is like another: makes those of `got` those of `want`. */
static void level_nans(const struct probe *p, char *want, char *got)
{
	for (unsigned i = 0; i < p->nmember; i++) {
		const struct op *op = &p->member[i].run.op;

		for (unsigned k = 0; k < op->noperand; k++) {
			const struct operand *o = &op->operand[k];
			const enum dtype t = (enum dtype)o->dtype;

			if (!(o->access & ACCESS_WRITE) || !has_nan(t))
				continue;
			for (int64_t e = 0; e < probe_chain_elements(o); e++) {
				char *x = probe_chain_element(p, o, want, e),
				     *y = probe_chain_element(p, o, got, e);

				if (probe_is_nan(t, x, 0) && probe_is_nan(t, y, 0))
					memcpy(y, x, dtype_bytes(t));
			}
		}
	}
}

static bool family(struct probe *p, enum probe_family f, char *start, char *want, char *got)
{
	probe_chain_fill(p, f, 100 + f, 9 + f, start);
	if (!probe_arena_cycle(p, start, want) || !probe_arena_upload(p, start) ||
	    !probe_chain_launch(p) ||
	    !probe_ok(p, p->cu.cuStreamSynchronize(p->stream), "the chain's kernel") ||
	    !probe_arena_download(p, got))
		return false;
	if (p->softgpu)
		level_nans(p, want, got);
	return !memcmp(want, got, p->arena_bytes) ||
	       probe_fail(p, REASON_NOT_EXACT,
			  "differs where the program has its operands (family %s)",
			  probe_family_name(f));
}

bool probe_chain_confirm(struct probe *p)
{
	char *start = malloc(p->arena_bytes), *want = malloc(p->arena_bytes),
	     *got = malloc(p->arena_bytes);
	bool ok = (start && want && got) || probe_fail(p, REASON_NO_VERDICT, "out of memory");

	for (unsigned f = 0; ok && f < PROBE_FAMILIES; f++)
		ok = family(p, (enum probe_family)f, start, want, got);
	free(start);
	free(want);
	free(got);
	return ok;
}
