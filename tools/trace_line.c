// SPDX-License-Identifier: Apache-2.0
#include "tools/trace_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_PARAM_BYTES = 1 << 20, /* far above the driver's limit */
	MAX_PARAMS = 4096,
	NEWEST_VERSION = 1,
};

struct parse {
	struct trace_params *p;
	struct trace_kernels *kernels;
	char *err;
	unsigned errsize;
};

__attribute__((format(printf, 2, 3))) static int bad(struct parse *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->err, s->errsize, fmt, ap);
	va_end(ap);
	return -1;
}

/* "0x7f00" or "(nil)" as printf's %p has it, or a number. */
static int handle(struct parse *s, json_t *line, const char *key, uint64_t *out, bool *there)
{
	json_t *v = json_object_get(line, key);
	const char *text = json_string_value(v);
	char *end;

	if (there)
		*there = v != NULL;
	*out = 0;
	if (!v || (text && !strcmp(text, "(nil)")))
		return 0;
	if (json_is_integer(v)) {
		*out = (uint64_t)json_integer_value(v);
		return 0;
	}
	if (text && !strncmp(text, "0x", 2)) {
		*out = strtoull(text, &end, 16);
		if (end > text + 2 && !*end)
			return 0;
	}
	return bad(s, "\"%s\": expected a handle such as \"0x7f00\"", key);
}

static int number(struct parse *s, json_t *line, const char *key, int64_t min, int64_t max,
		  int64_t otherwise, int64_t *out)
{
	json_t *v = json_object_get(line, key);

	*out = otherwise;
	if (!v && otherwise >= min)
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < min || json_integer_value(v) > max)
		return bad(s, "\"%s\": expected a number from %lld to %lld", key, (long long)min,
			   (long long)max);
	*out = json_integer_value(v);
	return 0;
}

static int triple(struct parse *s, json_t *line, const char *key, uint32_t out[3])
{
	json_t *v = json_object_get(line, key);

	for (size_t i = 0; i < 3; i++) {
		json_t *n = json_array_get(v, i);

		if (!json_is_integer(n) || json_integer_value(n) < 0 ||
		    json_integer_value(n) > UINT32_MAX)
			return bad(s, "\"%s\": expected three numbers", key);
		out[i] = (uint32_t)json_integer_value(n);
	}
	return 0;
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool unhex(uint8_t *out, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		int hi = nibble(text[2 * i]), lo = hi < 0 ? -1 : nibble(text[2 * i + 1]);

		if (lo < 0)
			return false;
		out[i] = (uint8_t)(hi << 4 | lo);
	}
	return text[2 * bytes] == 0;
}

static int reserve(struct parse *s, uint32_t bytes)
{
	uint8_t *grown;

	if (bytes <= s->p->room)
		return 0;
	grown = realloc(s->p->bytes, bytes);
	if (!grown)
		return bad(s, "out of memory");
	s->p->bytes = grown;
	s->p->room = bytes;
	return 0;
}

/* [[offset, bytes, "hex"], ...]. Fills param; *end is where the last one ends. */
static int layout(struct parse *s, json_t *list, struct param *param, uint32_t *n, uint32_t *end)
{
	json_t *v;
	size_t i;

	*n = *end = 0;
	if (!json_is_array(list) || json_array_size(list) > MAX_PARAMS)
		return bad(s, "\"p\": expected a list of parameters");
	json_array_foreach(list, i, v)
	{
		json_t *o = json_array_get(v, 0), *b = json_array_get(v, 1);
		json_int_t offset = json_integer_value(o), bytes = json_integer_value(b);
		const char *text = json_string_value(json_array_get(v, 2));

		if (!json_is_integer(o) || !json_is_integer(b) || offset < *end || bytes < 1 ||
		    offset > MAX_PARAM_BYTES || bytes > MAX_PARAM_BYTES)
			return bad(
				s,
				"\"p\": expected [offset, bytes, hex digits] in order of offsets");
		param[i] = (struct param){(uint32_t)offset, (uint32_t)bytes};
		if (reserve(s, (uint32_t)(offset + bytes)))
			return -1;
		memset(s->p->bytes + *end, 0, (size_t)offset - *end);
		if (!text || !unhex(s->p->bytes + offset, text, (size_t)bytes))
			return bad(s, "\"p\": expected %lld bytes of hex digits", (long long)bytes);
		*end = (uint32_t)(offset + bytes);
	}
	*n = (uint32_t)json_array_size(list);
	return 0;
}

/* "p", or "x": without a layout, so that the launch cannot be decoded. */
static int params(struct parse *s, json_t *line, struct param *param, uint32_t *n, uint32_t *bytes,
		  bool *extra)
{
	json_t *x = json_object_get(line, "x"), *size = json_array_get(x, 0);
	const char *text = json_string_value(json_array_get(x, 1));

	*extra = x != NULL;
	if (!x)
		return layout(s, json_object_get(line, "p"), param, n, bytes);
	if (!json_is_integer(size) || json_integer_value(size) < 0 ||
	    json_integer_value(size) > MAX_PARAM_BYTES || !text)
		return bad(s, "\"x\": expected [bytes, hex digits]");
	*bytes = (uint32_t)json_integer_value(size);
	*n = 0;
	if (reserve(s, *bytes))
		return -1;
	return unhex(s->p->bytes, text, *bytes)
		       ? 0
		       : bad(s, "\"x\": expected %u bytes of hex digits", *bytes);
}

/* ["file", offset, bytes] */
static int code(struct parse *s, json_t *list, struct trace_code *c)
{
	json_t *offset = json_array_get(list, 1), *bytes = json_array_get(list, 2);

	if (!list)
		return 0;
	c->file = json_string_value(json_array_get(list, 0));
	c->offset = (uint64_t)json_integer_value(offset);
	c->bytes = (uint64_t)json_integer_value(bytes);
	if (c->file && json_is_integer(offset) && json_is_integer(bytes) &&
	    json_integer_value(offset) >= 0 && json_integer_value(bytes) > 0)
		return 0;
	return bad(s, "\"code\": expected [file, offset, bytes]");
}

static int launch(struct parse *s, json_t *line, struct trace_event *e)
{
	const char *name = json_string_value(json_object_get(line, "f"));
	const char *img = json_string_value(json_object_get(line, "img"));
	struct launch *l = &e->launch;
	struct param param[MAX_PARAMS];
	uint64_t image[2] = {0, 0};
	int64_t shmem, na, attrs, prio, device;
	uint32_t n = 0, bytes = 0;
	bool extra;

	if (!name)
		return bad(s, "\"f\": expected the kernel's name");
	/* Traces that only count attributes do not say which they were. */
	if (triple(s, line, "g", l->grid) || triple(s, line, "b", l->block) ||
	    number(s, line, "sm", 0, UINT32_MAX, 0, &shmem) ||
	    number(s, line, "na", 0, 4096, 0, &na) ||
	    number(s, line, "attrs", 0, UINT32_MAX, na ? LAUNCH_OTHER_ATTR : 0, &attrs) ||
	    number(s, line, "prio", INT32_MIN, INT32_MAX, 0, &prio) ||
	    number(s, line, "dev", 0, 4096, 0, &device) ||
	    params(s, line, param, &n, &bytes, &extra) ||
	    code(s, json_object_get(line, "code"), &e->code))
		return -1;
	if (img && sscanf(img, "%16llx%16llx", (unsigned long long *)&image[0],
			  (unsigned long long *)&image[1]) != 2)
		return bad(s, "\"img\": expected 32 hex digits");
	l->kernel = trace_kernel(s->kernels, name, image, param, n, bytes);
	if (!l->kernel)
		return bad(s, "out of memory");
	l->shmem = (uint32_t)shmem;
	l->attrs = (uint32_t)attrs | (extra ? LAUNCH_EXTRA : 0);
	l->priority = (int)prio;
	l->context = e->context;
	l->stream = e->stream;
	l->device = (int)device;
	l->params = s->p->bytes;
	return 1;
}

static int range(struct parse *s, json_t *line, bool must, struct trace_event *e)
{
	bool lo, hi;

	if (handle(s, line, "lo", &e->range.lo, &lo) || handle(s, line, "hi", &e->range.hi, &hi))
		return -1;
	if (lo != hi || (must && !lo) || e->range.lo > e->range.hi)
		return bad(s, "expected a range from \"lo\" to \"hi\"");
	return 1;
}

static int alloc(struct parse *s, json_t *line, struct trace_event *e)
{
	int64_t device;

	if (number(s, line, "dev", 0, 4096, 0, &device))
		return -1;
	e->device = (int)device;
	return range(s, line, true, e);
}

static int edge(struct parse *s, json_t *line, struct trace_event *e)
{
	int64_t from, to, type, port;

	if (number(s, line, "a", 0, INT32_MAX, -1, &from) ||
	    number(s, line, "b", 0, INT32_MAX, -1, &to) ||
	    number(s, line, "ty", 0, INT32_MAX, 0, &type) ||
	    number(s, line, "port", 0, INT32_MAX, 0, &port))
		return -1;
	e->from = (unsigned)from;
	e->to = (unsigned)to;
	e->flags = (unsigned)(type | port);
	return 1;
}

static int graph(struct parse *s, json_t *line, struct trace_event *e)
{
	json_t *in = json_object_get(line, "in");
	const char *opt = json_string_value(json_object_get(line, "opt"));
	struct trace_graph *g = &e->graph;

	if (number(s, line, "id", -1, INT32_MAX, -1, &g->number))
		return -1;
	g->why = json_string_value(json_object_get(line, "why"));
	g->off = opt && !strcmp(opt, "off");
	g->child = in != NULL;
	for (size_t i = 0; in && i < 2; i++) {
		json_t *n = json_array_get(in, i);

		if (!json_is_integer(n) || json_integer_value(n) < 0 ||
		    json_integer_value(n) > INT32_MAX)
			return bad(s, "\"in\": expected [part, node]");
		g->in[i] = (unsigned)json_integer_value(n);
	}
	return 1;
}

/* ["0x7f00", bytes, rows, pitch, slices, slice] */
static int box(struct parse *s, json_t *line, const char *key, struct graph_box *b)
{
	json_t *list = json_object_get(line, key);
	const char *addr = json_string_value(json_array_get(list, 0));
	int64_t *to[] = {&b->bytes, &b->rows, &b->pitch, &b->slices, &b->slice};
	char *end = NULL;
	bool good = addr && !strncmp(addr, "0x", 2);

	if (!list)
		return 0;
	b->addr = good ? strtoull(addr, &end, 16) : 0;
	good = good && end > addr + 2 && !*end;
	for (size_t i = 0; i < sizeof(to) / sizeof(*to); i++) {
		good = good && json_is_integer(json_array_get(list, i + 1));
		*to[i] = json_integer_value(json_array_get(list, i + 1));
	}
	return good && graph_box_sane(b)
		       ? 0
		       : bad(s, "\"%s\": expected [\"0x7f00\", bytes, rows, pitch, slices, slice]",
			     key);
}

static int other_node(struct parse *s, json_t *line, struct trace_event *e)
{
	e->touches = json_object_get(line, "to") != NULL;
	return box(s, line, "to", &e->written) || box(s, line, "from", &e->copied) ? -1 : 1;
}

static int kernel_node(struct parse *s, json_t *line, struct trace_event *e)
{
	int64_t updatable;

	if (number(s, line, "upd", 0, 1, 0, &updatable))
		return -1;
	e->updatable = updatable;
	return launch(s, line, e);
}

int trace_line(json_t *line, struct trace_kernels *kernels, struct trace_params *p,
	       struct trace_event *e, char *err, unsigned errsize)
{
	static const struct {
		const char *k;
		int kind;
	} row[] = {{"l", TRACE_LAUNCH},    {"lx", TRACE_LAUNCH},   {"a", TRACE_CALL},
		   {"alloc", TRACE_ALLOC}, {"free", TRACE_FREE},   {"stream", TRACE_STREAM},
		   {"inst", TRACE_GRAPH},  {"n", TRACE_KERNEL},    {"node", TRACE_NODE},
		   {"edge", TRACE_EDGE},   {"c", TRACE_SENT},      {"t", TRACE_RAN},
		   {"g", TRACE_OUTCOME},   {"gg", TRACE_IN_GRAPH}, {"times", TRACE_CLOCK},
		   {"timer", TRACE_TIMER}, {"version", -1}};
	struct parse s = {p, kernels, err, errsize};
	const char *k = json_string_value(json_object_get(line, "k"));
	int64_t v, flags, type;
	size_t i = 0;

	if (!k)
		return bad(&s, "expected an object with a \"k\"");
	while (i < sizeof(row) / sizeof(row[0]) && strcmp(k, row[i].k))
		i++;
	if (i == sizeof(row) / sizeof(row[0]))
		return 0;
	if (row[i].kind < 0)
		return number(&s, line, "v", 1, NEWEST_VERSION, 1, &v);
	memset(e, 0, sizeof(*e));
	e->kind = (enum trace_kind)row[i].kind;
	e->name = json_string_value(json_object_get(line, "f"));
	if (e->kind == TRACE_SENT || e->kind == TRACE_RAN || e->kind == TRACE_OUTCOME ||
	    e->kind == TRACE_IN_GRAPH)
		return trace_line_times(line, e, err, errsize);
	if (number(&s, line, "t", 0, INT64_MAX, 0, &v) ||
	    handle(&s, line, "st", &e->stream, &e->has_stream) ||
	    handle(&s, line, "ctx", &e->context, NULL) ||
	    number(&s, line, "flags", 0, INT32_MAX, 0, &flags) ||
	    number(&s, line, "type", 0, INT32_MAX, 0, &type))
		return -1;
	e->thread = (uint64_t)v;
	e->flags = (unsigned)(e->kind == TRACE_NODE ? type : flags);
	switch (e->kind) {
	case TRACE_LAUNCH:
		return launch(&s, line, e);
	case TRACE_KERNEL:
		return kernel_node(&s, line, e);
	case TRACE_NODE:
		return other_node(&s, line, e);
	case TRACE_GRAPH:
		return graph(&s, line, e);
	case TRACE_ALLOC:
		return alloc(&s, line, e);
	case TRACE_FREE:
		return range(&s, line, true, e);
	case TRACE_EDGE:
		return edge(&s, line, e);
	case TRACE_CALL:
		return e->name ? range(&s, line, false, e)
			       : bad(&s, "\"f\": expected the call's name");
	default:
		return 1;
	}
}
