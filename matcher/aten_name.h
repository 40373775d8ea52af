/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of C++ kernels in plain text, and parts of such texts. The text is our own: builtin types
 * and std:: as in C++, any anonymous namespace is "(anon)", lambdas are "{lambda(TYPES)#N}",
 * template parameters are not resolved. Parsing is strict: what is not understood has no text.
 */
#ifndef AF_MATCHER_ATEN_NAME_H
#define AF_MATCHER_ATEN_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "matcher/op.h"

enum { ATEN_NAME_MAX = 16384 };

/* A piece of a text; len 0 where there is none. */
struct aten_part {
	const char *at;
	size_t len;
};

/*
 * Writes the text of a mangled function's name with its template arguments, without its parameters.
 * False if it is no such name, is longer than size allows, or uses what ATen's names do not.
 */
bool aten_name_text(const char *mangled, char *text, size_t size);

/* The whole text as a part. */
struct aten_part aten_part(const char *text);
bool aten_part_is(struct aten_part p, const char *text);
bool aten_part_starts(struct aten_part p, const char *text);
/* The name in front of "<" or "(", without its namespaces, of a class, a function, or the function
 * that a local class or lambda is in. */
struct aten_part aten_part_base(struct aten_part p);
/* Template argument n of the class or function that the part begins with; len 0: none. */
struct aten_part aten_part_argument(struct aten_part p, unsigned n);
/* The innermost lambda of a text that ends with one: its number from 1 on, and its parameters by
 * aten_part_parameter; 0 if it ends otherwise. */
unsigned aten_part_lambda(struct aten_part p);
struct aten_part aten_part_parameter(struct aten_part p, unsigned n);
/* The number of the n-th lambda from the outside, 0 if there is none. */
unsigned aten_part_lambda_outer(struct aten_part p, unsigned n);
/* DT_NONE for what is no element type. */
enum dtype aten_part_dtype(struct aten_part p);
/* A decimal number; -1 if it is none. */
int aten_part_number(struct aten_part p);

#endif
