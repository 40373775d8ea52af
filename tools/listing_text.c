// SPDX-License-Identifier: Apache-2.0
/* The listing for people. */
#include <inttypes.h>

#include "tools/listing.h"
#include "tools/text.h"

enum { NAMES = 4, CELL = 320, VERDICT = 640, WIDEST = 72 };

struct row {
	char where[64], kernels[CELL], shape[48], time[48];
};

static void fill(const struct listing *l, const struct listing_line *line, struct row *r)
{
	struct text t;

	listing_where(line, r->where, sizeof(r->where));
	listing_kernels(l, line, NAMES, r->kernels, sizeof(r->kernels));
	listing_shape(l, line->shape, r->shape, sizeof(r->shape));
	text_start(&t, r->time, sizeof(r->time));
	if (line->device_ns) {
		text_time(&t, (double)line->device_ns / (double)line->count);
		text_add(&t, ", %.1f %%", 100.0 * (double)line->device_ns / (double)l->ns);
	}
}

static void pad(FILE *f, const char *s, size_t width)
{
	size_t have = text_width(s);

	fprintf(f, "%s%*s  ", s, have < width ? (int)(width - have) : 0, "");
}

static void widen(size_t *width, const char *s)
{
	size_t have = text_width(s);

	if (have > *width)
		*width = have < WIDEST ? have : WIDEST;
}

/* What ran in graphs has times, but nobody knows of which node. */
static void in_graphs(const struct listing *l, bool listed, FILE *f)
{
	char buf[256];
	struct text t;

	if (!l->graph_kernels)
		return;
	text_start(&t, buf, sizeof(buf));
	text_count(&t, l->graph_kernels);
	text_add(&t, " kernels more ran in graphs, in ");
	text_time(&t, (double)l->graph_ns);
	fprintf(f, "%s; %s.\n", buf,
		listed ? "the graphs' nodes are listed, without times" : "they are not listed");
}

static void say_stream(const struct listing *l, uint32_t i, FILE *f)
{
	if (l->graphs)
		fprintf(f, "nodes: %s\n", l->stream[i].loops);
	else
		fprintf(f, "stream %" PRIx64 ": %s\n", l->stream[i].handle, l->stream[i].loops);
}

static void head(const struct listing *l, const struct listing *graph, const struct listing_view *v,
		 FILE *f)
{
	char buf[1024];
	struct text t;

	text_start(&t, buf, sizeof(buf));
	if (v->source)
		text_add(&t, "%s: ", v->source);
	text_count(&t, l->launches);
	if (l->graphs)
		text_add(&t, " kernel node%s of %u kernel%s in %u graph%s",
			 l->launches == 1 ? "" : "s", l->nkernel, l->nkernel == 1 ? "" : "s",
			 l->graphs, l->graphs == 1 ? "" : "s");
	else
		text_add(&t, " launch%s of %u kernel%s on %u stream%s",
			 l->launches == 1 ? "" : "es", l->nkernel, l->nkernel == 1 ? "" : "s",
			 l->nstream, l->nstream == 1 ? "" : "s");
	if (l->ns) {
		text_add(&t, ", ");
		text_time(&t, (double)l->ns);
		text_add(&t, " on the device");
	}
	fprintf(f, "%s\n", buf);
	if (v->times_note)
		fprintf(f, "No device times: %s\n", v->times_note);
	if (l->ran && !l->timed && !l->graphs)
		fprintf(f, "%" PRIu64 " device times cannot be tied to launches.\n", l->ran);
	in_graphs(l, graph || l->graphs, f);
	if (l->launches > l->nlaunch)
		fprintf(f, "Only the first %u launches are listed.\n", l->nlaunch);
	if (l->failed)
		fprintf(f, "Memory ran out: part of the recording is not listed.\n");
	for (uint32_t i = 0; i < l->nstream && i < 8; i++)
		if (l->stream[i].loops && *l->stream[i].loops)
			say_stream(l, i, f);
	if (l->nstream > 8)
		fprintf(f, "and %u more streams\n", l->nstream - 8);
}

static void lines(const struct listing *l, const struct listing_view *v, FILE *f)
{
	uint32_t n = l->nline < v->lines ? l->nline : v->lines;
	size_t where = 0, kernels = 0, shape = 0, time = 0;
	char verdict[VERDICT];
	struct row r;

	for (uint32_t i = 0; i < n; i++) {
		fill(l, &l->line[i], &r);
		widen(&where, r.where);
		widen(&kernels, r.kernels);
		widen(&shape, r.shape);
		widen(&time, r.time);
	}
	fprintf(f, "%s", n ? "\n" : "");
	for (uint32_t i = 0; i < n; i++) {
		fill(l, &l->line[i], &r);
		listing_verdict(l, &l->line[i], verdict, sizeof(verdict));
		pad(f, r.where, where);
		pad(f, r.kernels, kernels);
		if (shape)
			pad(f, r.shape, shape);
		if (time)
			pad(f, r.time, time);
		fprintf(f, "%s\n", verdict);
	}
	if (l->nline > n)
		fprintf(f, "and %u more sequences; --all lists them\n", l->nline - n);
}

void listing_text(const struct listing *l, const struct listing *graph,
		  const struct listing_view *v, FILE *f)
{
	struct listing_view mine = {.lines = v->lines, .source = "In graphs"};

	head(l, graph, v, f);
	lines(l, v, f);
	if (!graph)
		return;
	fputc('\n', f);
	head(graph, NULL, &mine, f);
	lines(graph, &mine, f);
}
