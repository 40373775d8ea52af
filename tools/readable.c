// SPDX-License-Identifier: Apache-2.0
#include "tools/readable.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The C++ library's, by the ABI that it and the CUDA compiler share. */
typedef char *demangle_fn(const char *name, char *buf, size_t *size, int *status);

static demangle_fn *demangler(void)
{
	static demangle_fn *fn;
	static int asked;

	if (!asked) {
		void *lib = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

		asked = 1;
		if (!lib)
			lib = dlopen("libc++abi.so.1", RTLD_LAZY | RTLD_LOCAL);
		if (lib)
			*(void **)&fn = dlsym(lib, "__cxa_demangle");
	}
	return fn;
}

char *readable_name(const char *mangled)
{
	demangle_fn *fn = strncmp(mangled, "_Z", 2) ? NULL : demangler();
	int status;
	char *name = fn ? fn(mangled, NULL, NULL, &status) : NULL;

	if (!name)
		name = strdup(mangled);
	/* Names come from files: nothing in them may move a terminal's cursor or end a comment. */
	for (char *p = name; p && *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	return name;
}

/* The parameter list's opening bracket; NULL if there is none. "(anonymous namespace)" and the
 * brackets of lambdas are not it: the list is the last one at depth 0. */
static const char *list_of(const char *readable)
{
	const char *open = NULL;
	int depth = 0, angle = 0;

	for (const char *p = readable; *p; p++) {
		if (*p == '(' && !depth++ && !angle && strncmp(p, "(anonymous", 10))
			open = p;
		else if (*p == ')')
			depth--;
		else if (*p == '<' && !depth)
			angle++;
		else if (*p == '>' && !depth && angle && p > readable && p[-1] != '-')
			angle--;
	}
	return open;
}

void readable_base(const char *readable, char *base, size_t size)
{
	const char *end = list_of(readable), *start = readable;
	int depth = 0;
	size_t len;

	if (!end)
		end = readable + strlen(readable);
	/* Start behind the last blank or "::" that is not inside brackets; end before "<". */
	for (const char *p = readable; p < end; p++) {
		if (*p == '<' || *p == '(')
			depth++;
		else if (*p == '>' || *p == ')')
			depth -= depth > 0;
		else if (!depth && (*p == ' ' || *p == ':'))
			start = p + 1;
	}
	len = strcspn(start, "<(");
	if (len > (size_t)(end - start))
		len = (size_t)(end - start);
	if (len >= size)
		len = size - 1;
	memcpy(base, start, len);
	base[len] = 0;
}

unsigned readable_types(char *readable, const char **type, unsigned max)
{
	const char *list = list_of(readable);
	char *p = list ? readable + (list - readable) + 1 : NULL;
	unsigned n = 0;

	if (!p || *p == ')' || !strncmp(p, "void)", 5))
		return 0;
	for (int depth = 0; n < max; p++) {
		if (!depth && n == 0)
			type[n++] = p;
		if (*p == '(' || *p == '<' || *p == '[') {
			depth++;
		} else if (*p == 0 || (*p == ')' && !depth)) {
			*p = 0;
			return n;
		} else if (*p == ')' || *p == '>' || *p == ']') {
			depth--;
		} else if (*p == ',' && !depth) {
			*p = 0;
			p += p[1] == ' ';
			type[n++] = p + 1;
		}
	}
	return 0;
}
