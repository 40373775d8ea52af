/* SPDX-License-Identifier: Apache-2.0 */
/* Taking demangled C++ names apart. */
#ifndef AF_TOOLS_NAME_PARTS_H
#define AF_TOOLS_NAME_PARTS_H

#include <stdbool.h>
#include <stddef.h>

/* A stretch of a demangled name. */
struct part {
	const char *s;
	size_t n;
};

bool part_starts(struct part p, const char *with);
bool part_ends(struct part p, const char *with);
struct part part_trim(struct part p);
/* First of the characters of `stop` outside all brackets, or p.n. */
size_t part_outside(struct part p, const char *stop);
/* Behind the last "::" outside brackets. */
struct part part_last_component(struct part p);
/* Behind the return type that names of function templates begin with. */
struct part part_behind_return_type(struct part p);
/* What is in the brackets that end p, or nothing. */
struct part part_arguments(struct part p);
struct part part_argument(struct part list, unsigned which);
struct part part_last_argument(struct part list);

#endif
