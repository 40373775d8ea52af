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

static bool same_match(const struct sig *a, const struct sig *b)
{
	if (a->nmatch != b->nmatch)
		return false;
	for (unsigned i = 0; i < a->nmatch; i++)
		if (strcmp(a->match[i].text, b->match[i].text))
			return false;
	return true;
}

/* An alternative is asked after s; a section that takes the names back ends them. */
static const struct sig *alternative(const struct sig *s)
{
	const struct sig *o = s->next;

	while (o && !same_match(s, o))
		o = o->next;
	return o && o->code != OP_opaque ? o : NULL;
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
		s->other = alternative(s);
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
		if (s->match[i].glob ? !fnmatch(s->match[i].text, name, 0)
				     : !strcmp(s->match[i].text, name))
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

bool sig_fits(const struct sig *s, const struct kernel *k)
{
	if (s->narg != k->nparam)
		return false;
	for (unsigned i = 0; i < s->narg; i++) {
		const struct sig_arg *a = &s->arg[i];
		uint32_t bytes = k->param[i].bytes;

		switch (role_kind((enum role)a->role)) {
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
			if (a->name >= 0 && bytes != 4 && bytes != 8)
				return false;
			if (a->demand != SIG_ANY && bytes != 1 && bytes != 2 && bytes != 4 &&
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
		if (sig_fits(s, k))
			return s;
		log_debug("%s matches [kernel %s] but has other parameters", k->name, s->label);
	}
	return NULL;
}
