/* SPDX-License-Identifier: Apache-2.0 */
/* Mangled C++ names as people write them. */
#ifndef AF_TOOLS_READABLE_H
#define AF_TOOLS_READABLE_H

#include <stddef.h>

/* "void scale<float>(float*, int)" of "_Z5scaleIfEvPT_i"; the name itself if it is none or there
 * is no C++ library to ask. Control characters become '?'. Free it; NULL if memory runs out. */
char *readable_name(const char *mangled);

/* The function's own name without namespace, return type, template arguments and parameters
 * ("scale"), cut to size. */
void readable_base(const char *readable, char *base, size_t size);

/*
 * The types in a readable name's parameter list, in place: each is cut off with a zero byte and
 * type[] points to it. Their number, 0 if there is no list or more than max.
 */
unsigned readable_types(char *readable, const char **type, unsigned max);

#endif
