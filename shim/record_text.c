// SPDX-License-Identifier: Apache-2.0
#include "shim/record_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Room for n bytes more. */
static bool room(struct record_text *t, size_t n)
{
	size_t size = t->size ? t->size : 4096;
	char *more;

	if (t->failed || n > RECORD_TEXT_MOST - t->used) {
		t->failed = true;
		return false;
	}
	while (size < t->used + n)
		size *= 2;
	if (size == t->size)
		return true;
	more = realloc(t->at, size);
	if (!more) {
		t->failed = true;
		return false;
	}
	t->at = more;
	t->size = size;
	return true;
}

void record_text_add(struct record_text *t, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n >= 0 && room(t, (size_t)n + 1)) {
		vsnprintf(t->at + t->used, (size_t)n + 1, fmt, again);
		t->used += (size_t)n;
	}
	va_end(again);
	va_end(ap);
}

void record_text_string(struct record_text *t, const char *s)
{
	record_text_add(t, "\"");
	for (; *s; s++) {
		if ((unsigned char)*s < 0x20 || !room(t, 2))
			continue;
		if (*s == '"' || *s == '\\')
			t->at[t->used++] = '\\';
		t->at[t->used++] = *s;
	}
	record_text_add(t, "\"");
}

void record_text_hex(struct record_text *t, const uint8_t *p, size_t n)
{
	static const char digit[] = "0123456789abcdef";

	if (!room(t, 2 * n))
		return;
	for (size_t i = 0; i < n; i++) {
		t->at[t->used++] = digit[p[i] >> 4];
		t->at[t->used++] = digit[p[i] & 15];
	}
}
