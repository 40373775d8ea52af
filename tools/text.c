// SPDX-License-Identifier: Apache-2.0
#include "tools/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_start(struct text *t, char *buf, size_t size)
{
	*t = (struct text){buf, 0, size, false};
	*buf = 0;
}

void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (t->full)
		return;
	va_start(ap, fmt);
	n = vsnprintf(t->s + t->n, t->size - t->n, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < t->size - t->n) {
		t->n += (size_t)n;
		return;
	}
	t->full = true;
	t->n = t->size - 4;
	while (t->n && (t->s[t->n] & 0xc0) == 0x80) /* not inside a character */
		t->n--;
	memcpy(t->s + t->n, "...", 4);
	t->n += 3;
}

void text_count(struct text *t, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);

	for (int i = 0; i < len; i++)
		text_add(t, "%s%c", i && (len - i) % 3 == 0 ? "," : "", digits[i]);
}

/* Three digits that count. */
static void scaled(struct text *t, double v, const char *unit)
{
	double size = fabs(v);

	text_add(t, "%.*f %s", size < 9.995 ? 2 : size < 99.95 ? 1 : 0, v, unit);
}

void text_time(struct text *t, double ns)
{
	double size = fabs(ns);

	if (size < 999500)
		scaled(t, ns / 1e3, "µs");
	else if (size < 999500e3)
		scaled(t, ns / 1e6, "ms");
	else
		scaled(t, ns / 1e9, "s");
}

void text_bytes(struct text *t, double bytes)
{
	static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB"};
	unsigned i = 0;

	if (fabs(bytes) < 1024) {
		text_add(t, "%.0f bytes", bytes);
		return;
	}
	for (bytes /= 1024; fabs(bytes) >= 999.5 && i < 3; i++)
		bytes /= 1024;
	scaled(t, bytes, unit[i]);
}

size_t text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

void text_short(struct text *t, const char *s, size_t width)
{
	size_t n = 0, bytes = 0;

	if (text_width(s) <= width) {
		text_add(t, "%s", s);
		return;
	}
	while (s[bytes] && (n + 1 < width || (s[bytes] & 0xc0) == 0x80))
		n += (s[bytes++] & 0xc0) != 0x80;
	text_add(t, "%.*s…", (int)bytes, s);
}
