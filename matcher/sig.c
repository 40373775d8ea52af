// SPDX-License-Identifier: Apache-2.0
#include "matcher/sig.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "matcher/sig_table.h"

/*
 * The set in use, the section read last first: a user's signature goes before a shipped one that
 * matches the same name. Kernel records point into sets, so replaced sets are kept (in `old`).
 */
static struct {
	struct sig *first, *old;
	unsigned count;
} set;

/* A later section of the same label takes the place of this one. */
static bool replaced(const struct config_kernel *k)
{
	for (const struct config_kernel *o = k->next; o; o = o->next)
		if (!strcmp(o->label, k->label))
			return true;
	return false;
}

unsigned sig_compile(const struct config *c)
{
	struct sig **old = &set.old;
	unsigned bad = 0;

	while (*old)
		old = &(*old)->next;
	*old = set.first;
	set.first = NULL;
	set.count = 0;
	for (const struct config_kernel *k = c->kernel; k; k = k->next) {
		struct sig *s;

		if (replaced(k))
			continue;
		s = sig_from_section(k);
		if (!s) {
			bad++;
			continue;
		}
		s->next = set.first;
		set.first = s;
		set.count += s->code != OP_opaque;
	}
	return bad;
}

static void forget(struct sig **list)
{
	while (*list) {
		struct sig *next = (*list)->next;

		sig_free(*list);
		*list = next;
	}
}

void sig_forget(void)
{
	forget(&set.first);
	forget(&set.old);
	set.count = 0;
}

unsigned sig_count(void)
{
	return set.count;
}

static bool names(const struct sig *s, const char *name)
{
	for (unsigned i = 0; i < s->nmatch; i++)
		if (!fnmatch(s->match[i], name, 0))
			return true;
	return false;
}

bool sig_matches(const char *name)
{
	for (const struct sig *s = set.first; s; s = s->next)
		if (names(s, name))
			return s->code != OP_opaque;
	return false;
}

/* Does the parameter layout allow what the signature says each argument is? */
static bool fits(const struct sig *s, const struct kernel *k)
{
	if (s->narg != k->nparam)
		return false;
	for (unsigned i = 0; i < s->narg; i++) {
		uint32_t bytes = k->param[i].bytes;

		switch (role_kind((enum role)s->arg[i].role)) {
		case ROLE_KIND_OPERAND:
			if (bytes != 8)
				return false;
			break;
		case ROLE_KIND_EXTENT:
		case ROLE_KIND_SCALAR:
			if (bytes != 4 && bytes != 8)
				return false;
			break;
		default:
			if (s->arg[i].demand != SIG_ANY && bytes != 1 && bytes != 2 && bytes != 4 &&
			    bytes != 8)
				return false;
		}
		if ((uint64_t)k->param[i].offset + bytes > k->param_bytes ||
		    k->param[i].offset > UINT16_MAX)
			return false;
	}
	return true;
}

const void *sig_find(const struct kernel *k)
{
	for (const struct sig *s = set.first; s; s = s->next) {
		if (!names(s, k->name))
			continue;
		if (s->code == OP_opaque)
			return NULL; /* said to be unknown on purpose */
		if (fits(s, k))
			return s;
		log_debug("%s matches [kernel %s] but has other parameters", k->name, s->label);
	}
	return NULL;
}
