// SPDX-License-Identifier: Apache-2.0
#include "tools/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "config/log.h"
#include "tools/trace_line.h"

enum { LINE_MAX_BYTES = 8 << 20, FIRST_BYTES = 64 << 10 };

struct trace {
	const char *path;
	gzFile f; /* reads plain files as they are */
	long line;
	unsigned errors;
	bool ended, recording;
	char *text; /* the current line */
	size_t room;
	json_t *json;
	struct trace_params params;
	struct trace_kernels *kernels;
};

struct trace *trace_open(const char *path)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->path = path;
	t->room = FIRST_BYTES;
	t->text = malloc(t->room);
	t->kernels = trace_kernels_new();
	errno = 0;
	t->f = t->text && t->kernels ? gzopen(path, "rb") : NULL;
	if (t->f)
		return t;
	log_warn("%s: %s", path, errno ? strerror(errno) : "out of memory");
	trace_close(t);
	return NULL;
}

/* The current line is bad: says so and makes *e the event of a line that nobody could read. */
static bool bad_line(struct trace *t, struct trace_event *e, const char *what)
{
	const char *k = json_string_value(json_object_get(t->json, "k"));

	log_warn("%s:%ld: %s", t->path, t->line, what);
	t->errors++;
	memset(e, 0, sizeof(*e));
	e->kind = TRACE_BAD;
	e->line = t->line;
	e->launched = k && (!strcmp(k, "l") || !strcmp(k, "lx") || !strcmp(k, "n"));
	return true;
}

/* The file's own errors: a cut or damaged gzip stream. */
static void check_file(struct trace *t)
{
	int code = Z_OK;
	const char *text = gzerror(t->f, &code);

	if (code == Z_OK || code == Z_STREAM_END)
		return;
	log_warn("%s: ends early after line %ld: %s", t->path, t->line,
		 code == Z_BUF_ERROR ? "the gzip stream is truncated" : text);
	t->errors++;
}

/* One line into t->text: its length, or -1 at the end of the file. Over-long lines are cut. */
static long read_line(struct trace *t)
{
	size_t len = 0;

	for (;;) {
		if (!gzgets(t->f, t->text + len, (int)(t->room - len)))
			break;
		len += strlen(t->text + len);
		if (len && t->text[len - 1] == '\n')
			break;
		if (len + 1 < t->room)
			break; /* the last line has no newline, or holds a NUL */
		if (t->room < LINE_MAX_BYTES) {
			char *grown = realloc(t->text, 2 * t->room);

			if (grown) {
				t->text = grown;
				t->room *= 2;
				continue;
			}
		}
		len = t->room / 2; /* keep reading to the end of the line; it is refused anyway */
	}
	return len ? (long)len : -1;
}

bool trace_next(struct trace *t, struct trace_event *e)
{
	char err[256];
	json_error_t json_err;

	while (!t->ended) {
		long len = read_line(t);
		int got;

		if (len < 0) {
			t->ended = true;
			check_file(t);
			break;
		}
		t->line++;
		if (strspn(t->text, " \t\r\n") == (size_t)len)
			continue;
		json_decref(t->json);
		t->json = NULL;
		if (trace_times_quick(t->text, e)) {
			e->line = t->line;
			return true;
		}
		t->json = json_loadb(t->text, (size_t)len, 0, &json_err);
		if (!t->json) {
			snprintf(err, sizeof(err), "expected one JSON object: %.160s",
				 json_err.text);
			return bad_line(t, e, err);
		}
		got = trace_line(t->json, t->kernels, &t->params, e, err, sizeof(err));
		if (got < 0)
			return bad_line(t, e, err);
		if (!got) {
			const char *k = json_string_value(json_object_get(t->json, "k"));

			t->recording |= !strcmp(k, "version");
			continue;
		}
		e->line = t->line;
		return true;
	}
	return false;
}

bool trace_is_recording(const struct trace *t)
{
	return t->recording;
}

unsigned trace_errors(const struct trace *t)
{
	return t->errors;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	if (t->f)
		gzclose(t->f);
	json_decref(t->json);
	trace_kernels_free(t->kernels);
	free(t->params.bytes);
	free(t->text);
	free(t);
}
