/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a recording that are made first and written later, all of them or none. */
#ifndef AF_SHIM_RECORD_TEXT_H
#define AF_SHIM_RECORD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RECORD_TEXT_MOST = 1 << 26 /* bytes */ };

struct record_text {
	char *at; /* malloc'ed; the caller frees it */
	size_t used, size;
	bool failed; /* no memory, or it would be too long: what there is, is of no use */
};

void record_text_add(struct record_text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* As a JSON string. */
void record_text_string(struct record_text *t, const char *s);
void record_text_hex(struct record_text *t, const uint8_t *p, size_t n);

#endif
