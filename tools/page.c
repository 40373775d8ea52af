// SPDX-License-Identifier: Apache-2.0
/*
 * The page: tools/page.html with the data as JSON in it. Its size is bounded whatever the recording
 * holds: so many lines, so many spans of a stretch in the middle, for a few streams. Names come
 * from the recorded program: "<" is escaped in the JSON, and the page shows text as text.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "config/hash.h"
#include "tools/timeline.h"
#include "tools/utf8.h"

enum { LINES = 400, SPANS = 600, LANES = 4, STREAMS = 16 };

static const char *const page[] = {
#define PAGE(line) line,
#include "page.def"
#undef PAGE
};

struct name_index {
	uint32_t kernel;
	unsigned number;
	UT_hash_handle hh;
};

struct building {
	const struct listing *l;
	json_t *names, *spans;
	struct name_index *index;
};

static const char *kind_of(const struct listing *l, const struct listing_launch *m)
{
	const struct listing_group *g = m->group == LISTING_NONE ? NULL : &l->group[m->group];

	if (g)
		return g->state == LISTED_REFUSED ? "could" : "fused";
	return l->kernel[m->kernel].k->decoder && m->shape != LISTING_NONE ? "other" : "unknown";
}

static unsigned name_number(struct building *b, uint32_t kernel, const char *name)
{
	struct name_index *e;

	HASH_FIND(hh, b->index, &kernel, sizeof(kernel), e);
	if (e)
		return e->number;
	json_array_append_new(b->names, json_string(name ? name : "?"));
	e = calloc(1, sizeof(*e));
	if (!e)
		return (unsigned)json_array_size(b->names) - 1;
	e->kernel = kernel;
	e->number = (unsigned)json_array_size(b->names) - 1;
	HASH_ADD(hh, b->index, kernel, sizeof(e->kernel), e);
	return e->number;
}

static void span(void *arg, const struct timeline_span *s)
{
	struct building *b = arg;
	const struct listing_launch *m = &b->l->launch[s->launch];
	unsigned name = s->group ? name_number(b, LISTING_NONE - 1 - pattern_id(s->group->pattern),
					       s->group->pattern->name)
				 : name_number(b, m->kernel, b->l->kernel[m->kernel].name);

	json_array_append_new(b->spans, json_pack("[i, f, f, i, s, b]", s->after, s->start, s->ns,
						  (int)name, kind_of(b->l, m), s->guessed));
}

/* A stretch from the middle: the beginning is seldom like the rest. */
static json_t *lanes(struct building *b, char *window, unsigned size)
{
	const struct listing *l = b->l;
	json_t *list = json_array();
	char name[32];

	snprintf(window, size, "All launches in order. Above: before, below: after.");
	for (uint32_t i = 0; i < l->nstream && i < LANES; i++) {
		uint64_t n = l->stream[i].launches, first = n > SPANS ? (n - SPANS) / 2 : 0;

		if (n > SPANS)
			snprintf(
				window, size,
				"%d launches from the middle of each stream. Above: before, below: "
				"after.",
				SPANS);
		b->spans = json_array();
		timeline_each(l, i, first, SPANS, span, b);
		snprintf(name, sizeof(name), "%" PRIx64, l->stream[i].handle);
		json_array_append_new(list,
				      json_pack("{s:s, s:o}", "name", name, "spans", b->spans));
	}
	return list;
}

static json_t *line_of(const struct listing *l, const struct listing_line *line)
{
	const struct listing_group *g = line->group;
	char kernels[512], where[64], says[640], shape[64];
	json_t *one;

	listing_kernels(l, line, LINE_KERNELS, kernels, sizeof(kernels));
	listing_where(line, where, sizeof(where));
	listing_verdict(l, line, says, sizeof(says));
	listing_shape(l, line->shape, shape, sizeof(shape));
	one = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "kernels", kernels, "where", where,
			"says", says, "kind",
			g ? g->state == LISTED_REFUSED ? "could" : "fused"
			: line->nunknown || line->nmisfit ? "unknown"
							  : "other",
			"count", (json_int_t)line->count, "saved_bytes",
			(json_int_t)line->saved_bytes);
	if (!one)
		return NULL;
	if (shape[0]) {
		json_object_set_new(one, "shape", json_string(shape));
		json_object_set_new(one, "elements",
				    json_real((double)l->shape[line->shape].rows *
					      (double)l->shape[line->shape].cols));
	}
	if (line->device_ns) {
		json_object_set_new(one, "device_ns", json_integer((json_int_t)line->device_ns));
		json_object_set_new(one, "each_ns",
				    json_real((double)line->device_ns / (double)line->count));
	}
	if (line->saves_ns) {
		json_object_set_new(one, "saves_ns", json_real(line->saves_ns));
		json_object_set_new(one, "estimated", json_boolean(line->estimated));
	}
	return one;
}

static json_t *data(const struct listing *l, const struct listing_view *v)
{
	struct building b = {.l = l, .names = json_array()};
	struct name_index *e, *next;
	struct timeline_sums sums;
	json_t *streams = json_array(), *lines = json_array(), *all, *in_window;
	uint64_t bytes = 0, fused = 0;
	char window[128], name[32];

	timeline_sum(l, &sums);
	for (uint32_t i = 0; i < l->ngroup; i++)
		if (l->group[i].state == LISTED_FUSED && l->group[i].fused) {
			bytes += l->group[i].unfused;
			fused += l->group[i].fused;
		}
	for (uint32_t i = 0; i < l->nstream && i < STREAMS; i++) {
		snprintf(name, sizeof(name), "%" PRIx64, l->stream[i].handle);
		json_array_append_new(streams,
				      json_pack("{s:s, s:s}", "name", name, "loops",
						l->stream[i].loops ? l->stream[i].loops : ""));
	}
	for (uint32_t i = 0; i < l->nline && i < LINES; i++)
		json_array_append_new(lines, line_of(l, &l->line[i]));
	in_window = lanes(&b, window, sizeof(window));
	all = json_pack(
		"{s:o, s:I, s:I, s:I, s:s*, s:o, s:i, s:{s:I, s:f, s:b, s:I}, s:{s:I, s:f, s:I}, "
		"s:s, s:o, s:o, s:o, s:i}",
		"title", utf8_json(v->source ? v->source : "recording"), "launches",
		(json_int_t)l->launches, "kernels", (json_int_t)l->nkernel, "device_ns",
		(json_int_t)l->ns, "no_times", v->times_note, "streams", streams, "more_streams",
		l->nstream > STREAMS ? (int)(l->nstream - STREAMS) : 0, "before", "launches",
		(json_int_t)sums.before, "ns", sums.before_ns, "guessed", sums.guessed, "bytes",
		(json_int_t)bytes, "after", "launches", (json_int_t)sums.after, "ns", sums.after_ns,
		"bytes", (json_int_t)fused, "window", window, "names", b.names, "lanes", in_window,
		"lines", lines, "more", l->nline > LINES ? (int)(l->nline - LINES) : 0);
	HASH_ITER(hh, b.index, e, next)
	{
		HASH_DEL(b.index, e);
		free(e);
	}
	return all;
}

/* JSON has "<" in strings only: nothing in it can end the script element. */
static void put_data(const char *json, FILE *f)
{
	for (; *json; json++)
		if (*json == '<')
			fputs("\\u003c", f);
		else
			fputc(*json, f);
	fputc('\n', f);
}

void page_write(const struct listing *l, const struct listing_view *v, FILE *f)
{
	json_t *all = data(l, v);
	char *text = all ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;

	for (size_t i = 0; i < sizeof(page) / sizeof(page[0]); i++)
		if (strcmp(page[i], "<!--DATA-->"))
			fprintf(f, "%s\n", page[i]);
		else
			put_data(text ? text : "{}", f);
	free(text);
	json_decref(all);
}
