/* SPDX-License-Identifier: Apache-2.0 */
/* Text put together in a buffer; what does not fit is left out and ends in "...". */
#ifndef AF_TOOLS_TEXT_H
#define AF_TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *s; /* always ends in NUL */
	size_t n, size;
	bool full;
};

/* size is at least 8. */
void text_start(struct text *t, char *buf, size_t size);
void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "1,234,567" */
void text_count(struct text *t, uint64_t n);
/* "3.21 µs", "1.5 s" */
void text_time(struct text *t, double ns);
/* "16.0 KiB" */
void text_bytes(struct text *t, double bytes);
/* s, or as many characters of it as fit in width, and "…". */
void text_short(struct text *t, const char *s, size_t width);
/* Columns that a terminal uses for it (one for each character). */
size_t text_width(const char *s);

#endif
