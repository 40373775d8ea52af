/* SPDX-License-Identifier: Apache-2.0 */
/* Small traces, written launch by launch, and what `autofuse plan` says of them. */
#ifndef AF_TESTS_UNIT_PLANS_H
#define AF_TESTS_UNIT_PLANS_H

#include "command.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	A = 0x10000,
	B = 0x20000,
	S = 0x30000,
	W = 0x40000,
	OUT = 0x50000,
	X = 0x60000,
	Y = 0x70000,
	Z = 0x80000
};

static const char ini[] =
	"[kernel add]\nmatch = add\nop = add\nargs = out in0 in1 n\ndtype = f32\n"
	"[kernel norm]\nmatch = norm\nop = rmsnorm\nargs = out in0 weight cols rows\ndtype = f32\n"
	"eps = 1e-5\n";

static char trace[65536];

static inline void put(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline void put(const char *fmt, ...)
{
	size_t len = strlen(trace);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(trace + len, sizeof(trace) - len, fmt, ap);
	va_end(ap);
}

/* One parameter, little-endian. */
static inline void put_param(unsigned offset, unsigned bytes, uint64_t v)
{
	put("%s[%u,%u,\"", offset ? "," : "", offset, bytes);
	for (unsigned i = 0; i < bytes; i++)
		put("%02x", (unsigned)(v >> 8 * i & 0xff));
	put("\"]");
}

static const char *kind = "l"; /* "n" in a graph */
static const char *more = "";  /* further keys of the launches to come */

static inline void put_launch(const char *name)
{
	put("{\"k\":\"%s\",\"t\":1,\"f\":\"%s\",\"g\":[1,1,1],\"b\":[64,1,1],\"sm\":0,\"na\":0%s",
	    kind, name, more);
}

static inline void put_add(uint64_t out, uint64_t a, uint64_t b)
{
	put_launch("add");
	put(",\"p\":[");
	put_param(0, 8, out);
	put_param(8, 8, a);
	put_param(16, 8, b);
	put_param(24, 4, 64);
	put("]}\n");
}

static inline void put_norm(uint64_t out, uint64_t x)
{
	put_launch("norm");
	put(",\"p\":[");
	put_param(0, 8, out);
	put_param(8, 8, x);
	put_param(16, 8, W);
	put_param(24, 4, 16);
	put_param(28, 4, 4);
	put("]}\n");
}

static inline void put_unknown(void)
{
	put_launch("mystery");
	put(",\"p\":[]}\n");
}

static inline void put_call(const char *name)
{
	put("{\"k\":\"a\",\"t\":1,\"f\":\"%s\"%s}\n", name, more);
}

static inline int setup(void **arg)
{
	FILE *f = fopen(command_scratch("plan.ini"), "w");

	*trace = 0;
	kind = "l";
	more = "";
	fputs(ini, f);
	fclose(f);
	return 0;
}

static inline int teardown(void **arg)
{
	unlink(command_scratch("plan.ini"));
	unlink(command_scratch("plan.jsonl"));
	return 0;
}

static inline json_t *plan_file(const char *options)
{
	json_error_t err;
	json_t *all;
	char *text = command("plan --json %s 2>&1", options);

	all = json_loads(text, 0, &err);
	if (!all)
		fail_msg("no JSON: %s", text);
	return all;
}

/* "first-last:fused" or "first-last:reason" for each group, in order. */
static inline const char *groups_of(json_t *all)
{
	static char text[4096];
	json_t *g;
	size_t i, len = 0;

	*text = 0;
	json_array_foreach(json_object_get(all, "groups"), i, g)
	{
		json_t *launches = json_object_get(g, "launches");
		const char *reason = json_string_value(json_object_get(g, "reason"));

		/* Chains have tests of their own. */
		if (strcmp(json_string_value(json_object_get(g, "pattern")), "add_rmsnorm") != 0)
			continue;
		assert_int_equal(json_is_true(json_object_get(g, "fused")), reason == NULL);
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%d-%d:%s",
					len ? " " : "",
					(int)json_integer_value(json_array_get(launches, 0)),
					(int)json_integer_value(json_array_get(launches, 1)),
					reason ? reason : "fused");
	}
	return text;
}

static int64_t launches;

/* Plans what was put. */
static inline const char *plan(const char *options)
{
	FILE *f = fopen(command_scratch("plan.jsonl"), "w");
	const char *groups;
	char line[9000];
	json_t *all;

	fputs(trace, f);
	fclose(f);
	snprintf(line, sizeof(line), "-f %s %s %s", command_scratch("plan.ini"), options,
		 command_scratch("plan.jsonl"));
	all = plan_file(line);
	groups = groups_of(all);
	launches = json_integer_value(json_object_get(all, "launches"));
	json_decref(all);
	return groups;
}

static inline void put_graph(const char *edges)
{
	put("%s", edges);
}

#define EDGE(a, b) "{\"k\":\"edge\",\"a\":" #a ",\"b\":" #b ",\"ty\":0,\"port\":0}\n"
#define INST "{\"k\":\"inst\",\"f\":\"cuGraphInstantiate\"}\n"

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
