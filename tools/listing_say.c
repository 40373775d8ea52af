// SPDX-License-Identifier: Apache-2.0
/* Lines in words. */
#include <stdbool.h>

#include "tools/listing.h"
#include "tools/text.h"

enum { NAME_WIDTH = 44 };

void listing_shape(const struct listing *l, uint32_t shape, char *buf, unsigned size)
{
	const struct listing_shape *s = shape == LISTING_NONE ? NULL : &l->shape[shape];
	struct text t;

	text_start(&t, buf, size);
	if (s)
		text_add(&t, "%lld×%lld%s%s", (long long)s->rows, (long long)s->cols,
			 s->dtype ? " " : "", s->dtype ? dtype_name((enum dtype)s->dtype) : "");
}

void listing_kernels(const struct listing *l, const struct listing_line *line, unsigned names,
		     char *buf, unsigned size)
{
	unsigned n = line->nkernel < LINE_KERNELS ? line->nkernel : LINE_KERNELS;
	struct text t;

	if (names < n)
		n = names;
	text_start(&t, buf, size);
	for (unsigned i = 0; i < n;) {
		uint32_t k = line->kernel[i];
		unsigned same = 1;

		while (i + same < n && line->kernel[i + same] == k)
			same++;
		text_add(&t, "%s", i ? " → " : "");
		text_short(&t, l->kernel[k].name ? l->kernel[k].name : "?", NAME_WIDTH);
		if (same > 1)
			text_add(&t, " ×%u", same);
		i += same;
	}
	if (line->nkernel > n)
		text_add(&t, " → %u more", line->nkernel - n);
}

/*
 * A place in a loop: so many times in each of its rounds. The longest loop of a program that
 * repeats itself is its step.
 */
void listing_where(const struct listing_line *line, char *buf, unsigned size)
{
	const struct listing_place *most = NULL;
	uint64_t other = line->count;
	struct text t;

	for (unsigned i = 0; i < line->nplace; i++)
		if (line->place[i].rounds > 1 && (!most || line->place[i].count > most->count))
			most = &line->place[i];
	text_start(&t, buf, size);
	if (!most) {
		text_add(&t, "×");
		text_count(&t, line->count);
		return;
	}
	other -= most->count;
	if (most->count % most->rounds == 0) {
		text_add(&t, "×");
		text_count(&t, most->count / most->rounds);
		text_add(&t, " per step, ");
		text_count(&t, most->rounds);
		text_add(&t, " steps");
	} else { /* alike in kernels, but not in what came of them */
		text_add(&t, "×");
		text_count(&t, most->count);
		text_add(&t, " in ");
		text_count(&t, most->rounds);
		text_add(&t, " steps");
	}
	if (other) {
		text_add(&t, " + ");
		text_count(&t, other);
	}
}

static const char *advice(enum reason r)
{
	switch (r) {
#define ADVICE(reason, text)                                                                       \
	case REASON_##reason:                                                                      \
		return text;
#include "tools/advice.def"
#undef ADVICE
	default:
		return NULL;
	}
}

static void refused(const struct listing *l, const struct listing_line *line, struct text *t)
{
	const struct listing_group *g = line->group;

	if (g->off) {
		text_add(t, "not fused as %s: %s: graphs are left alone; graphs = on fuses it",
			 g->pattern->name, reason_word(g->why));
		return;
	}
	text_add(t, "not fused as %s: %s: %s", g->pattern->name, reason_word(g->why),
		 reason_text(g->why));
	if (line->unknown != LISTING_NONE && l->kernel[line->unknown].name)
		text_add(t, " (%s)", l->kernel[line->unknown].name);
	if (advice(g->why))
		text_add(t, "; %s", advice(g->why));
}

/* Launches in no group: what keeps them out of one. */
static void alone(const struct listing *l, const struct listing_line *line, struct text *t)
{
	if (line->nunknown == line->nkernel && line->nkernel == 1)
		text_add(t,
			 "unknown-kernel: no decoder knows it; describe it in a [kernel] section");
	else if (line->nunknown)
		text_add(
			t,
			"unknown-kernel: no decoder knows %s%s; describe them in [kernel] sections",
			line->nunknown == line->nkernel ? "any of these"
							: l->kernel[line->unknown].name,
			line->nunknown > 1 && line->nunknown < line->nkernel ? " and others" : "");
	else if (line->nmisfit)
		text_add(t, "shape: the arguments of %s do not fit its signature; %s",
			 l->kernel[line->misfit].name, advice(REASON_SHAPE));
	else
		text_add(t, "known, but no pattern has %s",
			 line->nkernel > 1 ? "these in this order on one operand" : "it alone");
}

void listing_verdict(const struct listing *l, const struct listing_line *line, char *buf,
		     unsigned size)
{
	const struct listing_group *g = line->group;
	struct text t;

	text_start(&t, buf, size);
	if (!g) {
		alone(l, line, &t);
		return;
	}
	if (g->state == LISTED_REFUSED)
		refused(l, line, &t);
	else
		text_add(&t, "fuses as %s", g->pattern->name);
	if (line->saves_ns) {
		bool costs = line->saves_ns < 0;

		text_add(&t, "%s%s ", g->state != LISTED_REFUSED ? ", " : "; would ",
			 g->state != LISTED_REFUSED ? costs ? "costs" : "saves"
			 : costs                    ? "cost"
						    : "save");
		text_add(&t, "%s", line->estimated ? "about " : "");
		text_time(&t, costs ? -line->saves_ns : line->saves_ns);
		if (line->saved_bytes)
			text_add(&t, "%s", costs ? ", though it moves fewer bytes by " : " and ");
	} else if (line->saved_bytes) {
		text_add(&t, "%s", g->state != LISTED_REFUSED ? ", saves " : "; would save ");
	}
	if (line->saved_bytes)
		text_bytes(&t, (double)line->saved_bytes);
	if (line->saves_ns || line->saved_bytes)
		text_add(&t, " each time");
}
