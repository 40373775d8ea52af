/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The winner as a generated kernel: compiled, and put in the members' place. Whatever fails here
 * says nothing about the kernel by hand, which has passed.
 */
#include <stdlib.h>

#include "config/log.h"
#include "fused/candidate_row.h"
#include "shim/probe_child_chain.h"

static bool load(struct probe *p, const struct row *r)
{
	struct probe_tools *t = p->tools;
	struct probe_kernel *k = &t->kernel[0];
	const char *cannot = gen_cannot(r, &p->limits);
	char name[GEN_KERNELS][GEN_NAME], *text;
	bool ok;

	if (cannot)
		return probe_fail(p, REASON_NO_KERNEL, "%s", cannot);
	if (k->module)
		p->cu.cuModuleUnload(k->module);
	k->module = NULL;
	text = gen_text(r, &p->limits);
	ok = text && probe_compile(p, p->asked.pattern->name, text, &k->module);
	free(text);
	for (unsigned i = 0, n = gen_kernels(r, &p->limits, name); ok && i < n; i++)
		ok = probe_ok(p, p->cu.cuModuleGetFunction(&k->function, k->module, name[i]),
			      name[i]) &&
		     probe_ok(p,
			      p->cu.cuFuncSetAttribute(
				      k->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				      (int)p->limits.max_shmem),
			      name[i]);
	t->hash = ok ? row_hash(r) : 0;
	return ok;
}

bool probe_generated_place(struct probe *p)
{
	struct probe_tools *t = p->tools;
	struct probe_kernel *k = &t->kernel[0];
	struct row *r = malloc(sizeof(*r));
	enum reason why = r ? candidate_row(&p->group, &p->winner, r) : REASON_NO_MEMORY;
	bool ok = !why || probe_fail(p, why, "it cannot be said");

	/* The arena may have other rows by now: the program stays the same, as a rule. */
	ok = ok && (t->hash == row_hash(r) || load(p, r)) &&
	     !gen_launch(r, &p->limits, &k->launch) &&
	     probe_ok(p, p->cu.cuModuleGetFunction(&k->function, k->module, k->launch.kernel),
		      k->launch.kernel);
	t->nkernel = 1;
	free(r);
	return ok;
}

bool probe_generated(struct probe *p)
{
	bool ok;

	/* What a GPU of software takes says nothing: no need to make what is not going to be used.
	 */
	if (p->stand_in == STAND_IN_WRITTEN || p->close ||
	    (p->softgpu && p->stand_in == STAND_IN_MEASURED && !getenv("SOFTGPU_TIMES_COUNT")))
		return false;
	ok = probe_generated_place(p) && probe_generated_confirm(p);
	if (ok) {
		log_debug("probe: a generated kernel leaves the same bytes");
	} else {
		log_debug("probe: no generated kernel: %s", p->detail);
		p->tools->hash = 0;
		p->why = REASON_NONE;
		p->detail[0] = '\0';
	}
	return ok;
}
