// SPDX-License-Identifier: Apache-2.0
/* The trace event format; what an event means there: "X" a span, "M" a name, "s"/"f" an arrow. */
#include <inttypes.h>
#include <string.h>

#include "config/json.h"
#include "config/log.h"
#include "tools/timeline.h"

enum { BEFORE = 1, AFTER = 2 };

struct writing {
	const struct listing *l;
	FILE *f;
	uint32_t stream;
	bool any;
};

static void begin(struct writing *w)
{
	fputs(w->any ? ",\n{" : "{", w->f);
	w->any = true;
}

static void name(struct writing *w, int pid, long long tid, const char *what, const char *text)
{
	begin(w);
	fprintf(w->f, "\"ph\":\"M\",\"pid\":%d,\"name\":\"%s\",\"args\":{\"name\":", pid, what);
	json_text(w->f, text);
	fputc('}', w->f);
	if (tid >= 0)
		fprintf(w->f, ",\"tid\":%lld", tid);
	fputc('}', w->f);
}

/* From the middle of a member to the middle of the fused kernel. */
static void arrow(struct writing *w, const char *ph, int pid, uint32_t id, double at)
{
	begin(w);
	fprintf(w->f,
		"\"ph\":\"%s\",\"pid\":%d,\"tid\":%u,\"id\":%u,\"ts\":%.4f,\"name\":\"fused\","
		"\"cat\":"
		"\"fused\"%s}",
		ph, pid, w->stream, id, at / 1e3, *ph == 'f' ? ",\"bp\":\"e\"" : "");
}

static void span(void *arg, const struct timeline_span *s)
{
	struct writing *w = arg;
	const struct listing_launch *m = &w->l->launch[s->launch];
	const struct listing_group *g = m->group == LISTING_NONE ? NULL : &w->l->group[m->group];
	const char *kernel = w->l->kernel[m->kernel].name;
	char shape[64];
	int pid = s->after ? AFTER : BEFORE;

	listing_shape(w->l, m->shape, shape, sizeof(shape));
	begin(w);
	fprintf(w->f,
		"\"ph\":\"X\",\"pid\":%d,\"tid\":%u,\"ts\":%.4f,\"dur\":%.4f,\"cat\":\"%s\","
		"\"name\":",
		pid, w->stream, s->start / 1e3, s->ns / 1e3,
		s->group ? "fused"
		: g      ? "member"
			 : "launch");
	json_text(w->f, s->group ? s->group->pattern->name : kernel ? kernel : "?");
	fprintf(w->f, ",\"args\":{\"launch\":%u", s->launch);
	if (shape[0]) {
		fputs(",\"shape\":", w->f);
		json_text(w->f, shape);
	}
	if (s->guessed)
		fputs(",\"duration\":\"not measured\"", w->f);
	if (g && g->state == LISTED_REFUSED) {
		fprintf(w->f, ",\"not fused\":\"%s\"", reason_word(g->why));
	}
	fputs("}}", w->f);
	if (!g || g->state != LISTED_FUSED)
		return;
	if (s->group)
		for (unsigned i = 0; i < g->n; i++)
			arrow(w, "f", pid, g->launch[i] + 1, s->start + s->ns / 2);
	else
		arrow(w, "s", pid, s->launch + 1, s->start + s->ns / 2);
}

void perfetto_write(const struct listing *l, uint64_t launches, FILE *f)
{
	struct writing w = {.l = l, .f = f};
	uint64_t left = launches;
	char text[64];

	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", f);
	name(&w, BEFORE, -1, "process_name",
	     l->ns ? "before: the program's launches" : "before (no device times: 1 µs each)");
	name(&w, AFTER, -1, "process_name",
	     l->ns ? "after: as they ran" : "after (no device times: 1 µs each)");
	for (uint32_t i = 0; i < l->nstream; i++) {
		uint64_t n = l->stream[i].launches < left ? l->stream[i].launches : left;

		snprintf(text, sizeof(text), "stream %" PRIx64, l->stream[i].handle);
		name(&w, BEFORE, i, "thread_name", text);
		name(&w, AFTER, i, "thread_name", text);
		w.stream = i;
		timeline_each(l, i, 0, n, span, &w);
		left -= n;
	}
	fputs("\n]}\n", f);
	if (l->launches > launches)
		log_warn("the timeline has the first %" PRIu64 " of %" PRIu64 " launches", launches,
			 l->launches);
}
