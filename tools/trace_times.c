// SPDX-License-Identifier: Apache-2.0
/* The lines that say what became of launches: c, t and g (docs/TRACE_FORMAT.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace_line.h"

static int bad(char *err, unsigned errsize, const char *what)
{
	snprintf(err, errsize, "%s", what);
	return -1;
}

static bool integer(json_t *line, const char *key, json_int_t max, json_int_t *out)
{
	json_t *v = json_object_get(line, key);

	*out = json_integer_value(v);
	return json_is_integer(v) && *out >= 0 && *out <= max;
}

static bool launches(json_t *line, struct sent *s)
{
	json_t *list = json_object_get(line, "n"), *v;
	size_t i;

	if (!json_is_array(list) || !json_array_size(list) ||
	    json_array_size(list) > GROUP_MAX_MEMBERS)
		return false;
	json_array_foreach(list, i, v)
	{
		if (!json_is_integer(v) || json_integer_value(v) < 0)
			return false;
		s->launch[s->n++] = (uint64_t)json_integer_value(v);
	}
	return true;
}

static int word(json_t *line, const char *key, const char *const *of, unsigned n)
{
	const char *w = json_string_value(json_object_get(line, key));

	for (unsigned i = 0; w && i < n; i++)
		if (!strcmp(w, of[i]))
			return (int)i;
	return -1;
}

static int sent(json_t *line, struct trace_event *e, char *err, unsigned errsize)
{
	static const char *const how[] = {
		[SENT_OWN] = "own", [SENT_FUSED] = "fused", [SENT_CHECK] = "check"};
	const char *key = json_string_value(json_object_get(line, "key"));
	int h = word(line, "how", how, 3);
	json_int_t id, rows = 0, second = 0;

	if (!integer(line, "id", UINT32_MAX, &id) || h < 0 || !launches(line, &e->sent))
		return bad(err, errsize,
			   "expected \"id\", \"how\" own, fused or check, and \"n\" [launches]");
	if (json_object_get(line, "rows") && !integer(line, "rows", INT64_MAX, &rows))
		return bad(err, errsize, "\"rows\": expected a number");
	if (json_object_get(line, "second") && !integer(line, "second", UINT32_MAX, &second))
		return bad(err, errsize, "\"second\": expected a number");
	if (key && (strlen(key) != 32 ||
		    sscanf(key, "%16llx%16llx", (unsigned long long *)&e->sent.key.hash[0],
			   (unsigned long long *)&e->sent.key.hash[1]) != 2))
		return bad(err, errsize, "\"key\": expected 32 hex digits");
	e->sent.id = (uint32_t)id;
	e->sent.how = (uint8_t)h;
	e->sent.rows = rows;
	e->sent.second = (uint32_t)second;
	return 1;
}

static int ran(json_t *line, struct trace_event *e, char *err, unsigned errsize)
{
	json_int_t id, at, ns;

	if (!integer(line, "id", UINT32_MAX, &id) || !integer(line, "at", INT64_MAX, &at) ||
	    !integer(line, "ns", INT64_MAX, &ns))
		return bad(err, errsize, "expected the numbers \"id\", \"at\" and \"ns\"");
	e->ran.id = (uint32_t)id;
	e->ran.at.start = (uint64_t)at;
	/* A time of nothing is a time: it counts as known. */
	e->ran.at.ns = ns < 1 ? 1 : ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
	e->ran.in_graph = json_is_true(json_object_get(line, "graph"));
	return 1;
}

static int outcome(json_t *line, struct trace_event *e, char *err, unsigned errsize)
{
	static const char *const is[] = {
		[TRACE_FUSED] = "fused", [TRACE_CHECKED] = "checked", [TRACE_REFUSED] = "refused"};
	const char *why = json_string_value(json_object_get(line, "why"));
	int s = word(line, "is", is, 3);
	json_int_t id = 0;

	e->why = why ? reason_parse(why) : REASON_NONE;
	if (s < 0 || !launches(line, &e->sent))
		return bad(err, errsize,
			   "expected \"is\" fused, checked or refused, and \"n\" [launches]");
	if (e->why == REASON_COUNT || (s == TRACE_REFUSED) != (e->why != REASON_NONE))
		return bad(err, errsize, "\"why\": expected the reason of a refusal");
	e->state = (enum trace_state)s;
	if (e->kind == TRACE_IN_GRAPH && !integer(line, "id", INT32_MAX, &id))
		return bad(err, errsize, "expected \"id\" of the executable graph");
	e->sent.id = (uint32_t)id;
	return 1;
}

/* One of the numbers that the recorder writes. */
static bool take(const char **text, const char *before, uint64_t max, uint64_t *out)
{
	size_t n = strlen(before);
	char *end;

	if (strncmp(*text, before, n) || (*text)[n] < '0' || (*text)[n] > '9')
		return false;
	*out = strtoull(*text + n, &end, 10);
	*text = end;
	return *out <= max;
}

bool trace_times_quick(const char *text, struct trace_event *e)
{
	uint64_t id, at, ns, launch;

	if (take(&text, "{\"k\":\"t\",\"id\":", UINT32_MAX, &id)) {
		if (!take(&text, ",\"at\":", INT64_MAX, &at) ||
		    !take(&text, ",\"ns\":", UINT32_MAX, &ns) || strcmp(text, "}\n"))
			return false;
		memset(e, 0, sizeof(*e));
		e->kind = TRACE_RAN;
		e->ran = (struct ran){(uint32_t)id, {at, ns ? (uint32_t)ns : 1}, false};
		return true;
	}
	if (!take(&text, "{\"k\":\"c\",\"id\":", UINT32_MAX, &id) ||
	    !take(&text, ",\"how\":\"own\",\"n\":[", INT64_MAX, &launch) || strcmp(text, "]}\n"))
		return false;
	memset(e, 0, sizeof(*e));
	e->kind = TRACE_SENT;
	e->sent = (struct sent){.id = (uint32_t)id, .how = SENT_OWN, .n = 1, .launch = {launch}};
	return true;
}

int trace_line_times(json_t *line, struct trace_event *e, char *err, unsigned errsize)
{
	return e->kind == TRACE_SENT  ? sent(line, e, err, errsize)
	       : e->kind == TRACE_RAN ? ran(line, e, err, errsize)
				      : outcome(line, e, err, errsize);
}
