/* SPDX-License-Identifier: Apache-2.0 */
/* Between aten_name.c and aten_type.c: a name that is being read. */
#ifndef AF_MATCHER_ATEN_READ_H
#define AF_MATCHER_ATEN_READ_H

#include <stdbool.h>
#include <stddef.h>

enum { READ_MAX_SUBS = 256, READ_MAX_DEPTH = 48 };

struct reader {
	const char *p;
	char *out;
	size_t len, size;
	unsigned depth, nsub;
	struct {
		unsigned from, to;
	} sub[READ_MAX_SUBS];
	bool failed;
};

/* Each consumes what it is named after, and writes its text. After a failure none does anything
 * that counts; reading stops at the end of the name at the latest. */
bool aten_read_fail(struct reader *r); /* false */
void aten_read_put(struct reader *r, const char *s, size_t n);
void aten_read_puts(struct reader *r, const char *s);
void aten_read_put_number(struct reader *r, unsigned n);
void aten_read_remember(struct reader *r, size_t from);
bool aten_read_eat(struct reader *r, char c);
unsigned aten_read_number(struct reader *r);
unsigned aten_read_sequence(struct reader *r);
void aten_read_name(struct reader *r);

void aten_type(struct reader *r);
void aten_type_list(struct reader *r);      /* up to the E that ends it */
void aten_type_arguments(struct reader *r); /* of a template, after the I */
void aten_type_parameter(struct reader *r); /* of a template, after the T */
bool aten_type_substitution(struct reader *r);

#endif
