// SPDX-License-Identifier: Apache-2.0
#include "config/inifile.h"

#include <ini.h>
#include <stdio.h>
#include <string.h>

enum { SECTION_MAX = 49 }; /* characters that inih keeps of a section's name */

struct reader {
	const struct inifile_sink *sink;
	const char *next, *end;
	int line;
	bool pending; /* a line was handed over as `key = value` and no key came back yet */
	bool open;    /* a section that the sink took */
	bool lost;    /* the last section line was bad: skip keys */
};

static void no_key(struct reader *r)
{
	if (r->pending)
		r->sink->bad(r->sink->arg, r->line, "key = value");
	r->pending = false;
}

/* text is a trimmed line that begins with '['. Opens the section, or marks it lost. */
static void section(struct reader *r, char *text)
{
	char *end = strchr(text, ']'), *kind = text + 1, *name;
	const char *rest = end ? end + 1 + strspn(end + 1, " \t") : NULL;

	r->open = false;
	r->lost = true;
	if (!end || (*rest && *rest != ';' && *rest != '#') || end - kind > SECTION_MAX) {
		r->sink->bad(r->sink->arg, r->line,
			     end && end - kind > SECTION_MAX
				     ? "a section name of at most 49 characters"
				     : "[section]");
		return;
	}
	for (*end = 0; end > kind && (end[-1] == ' ' || end[-1] == '\t');)
		*--end = 0;
	kind += strspn(kind, " \t");
	name = kind + strcspn(kind, " \t");
	if (*name)
		*name++ = 0;
	name += strspn(name, " \t");
	r->open = r->sink->section(r->sink->arg, kind, name, r->line);
	r->lost = !r->open;
}

/* inih's fgets. Bad lines and comments reach inih as blank ones. */
static char *next_line(char *out, int size, void *arg)
{
	struct reader *r = arg;
	const char *p = r->next, *eol;
	size_t len;

	no_key(r);
	if (p >= r->end)
		return NULL;
	eol = memchr(p, '\n', (size_t)(r->end - p));
	r->next = eol ? eol + 1 : r->end;
	len = (size_t)((eol ? eol : r->end) - p);
	if (!r->line++ && len >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3, len -= 3; /* a byte order mark */
	while (len && strchr(" \t\r\f\v", p[len - 1]) && p[len - 1])
		len--;
	while (len && strchr(" \t\f\v", *p) && *p)
		p++, len--;
	out[0] = '\n';
	out[1] = 0;
	if (!len || *p == ';' || *p == '#')
		return out;
	if (memchr(p, 0, len) || len + 2 > (size_t)size) {
		char expected[64];

		snprintf(expected, sizeof(expected), "a text line of at most %d characters",
			 size - 2);
		r->sink->bad(r->sink->arg, r->line, expected);
		if (*p == '[')
			r->open = false, r->lost = true;
		return out;
	}
	memcpy(out, p, len);
	if (*p == '[') {
		out[len] = 0;
		section(r, out);
		strcpy(out, "[-]\n"); /* which section it is, this file knows better than inih */
		return out;
	}
	out[len] = '\n';
	out[len + 1] = 0;
	r->pending = true;
	return out;
}

static int on_key(void *arg, const char *unused, const char *key, const char *value)
{
	struct reader *r = arg;

	r->pending = false;
	if (r->open)
		r->sink->key(r->sink->arg, key, value, r->line);
	else if (!r->lost)
		r->sink->bad(r->sink->arg, r->line, "a [section] above the first key");
	return 1;
}

void inifile_read(const char *text, size_t size, const struct inifile_sink *sink)
{
	struct reader r = {.sink = sink, .next = text, .end = text + size};

	if (ini_parse_stream(next_line, &r, on_key, &r) == -2)
		sink->bad(sink->arg, r.line, "more memory");
	no_key(&r);
}
