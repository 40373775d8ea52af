// SPDX-License-Identifier: Apache-2.0
#include "tools/name_parts.h"

#include <string.h>

bool part_starts(struct part p, const char *with)
{
	size_t n = strlen(with);

	return p.n >= n && !memcmp(p.s, with, n);
}

bool part_ends(struct part p, const char *with)
{
	size_t n = strlen(with);

	return p.n >= n && !memcmp(p.s + p.n - n, with, n);
}

struct part part_trim(struct part p)
{
	while (p.n && p.s[0] == ' ') {
		p.s++;
		p.n--;
	}
	while (p.n && p.s[p.n - 1] == ' ')
		p.n--;
	return p;
}

size_t part_outside(struct part p, const char *stop)
{
	int depth = 0;

	for (size_t i = 0; i < p.n; i++) {
		char c = p.s[i];

		if (c == '(' && p.n - i > 21 && !memcmp(p.s + i, "(anonymous namespace)", 21)) {
			i += 20;
			continue;
		}
		if (!depth && strchr(stop, c))
			return i;
		if (strchr("<({[", c))
			depth++;
		else if (strchr(">)}]", c) && depth)
			depth--;
	}
	return p.n;
}

struct part part_last_component(struct part p)
{
	size_t from = 0;

	for (size_t i = 0; i + 1 < p.n;) {
		struct part rest = {p.s + i, p.n - i};
		size_t colon = part_outside(rest, ":");

		if (colon == rest.n)
			break;
		i += colon + 1;
		if (i < p.n && p.s[i] == ':')
			from = ++i;
	}
	return (struct part){p.s + from, p.n - from};
}

struct part part_behind_return_type(struct part p)
{
	size_t n;

	while ((n = part_outside(p, " ")) < p.n)
		p = (struct part){p.s + n + 1, p.n - n - 1};
	return p;
}

struct part part_arguments(struct part p)
{
	size_t open = part_outside(p, "<");

	if (open == p.n || p.s[p.n - 1] != '>')
		return (struct part){p.s, 0};
	return (struct part){p.s + open + 1, p.n - open - 2};
}

struct part part_argument(struct part list, unsigned which)
{
	for (;; which--) {
		size_t n = part_outside(list, ",");

		if (!which || n == list.n)
			return which ? (struct part){list.s, 0}
				     : part_trim((struct part){list.s, n});
		list = (struct part){list.s + n + 1, list.n - n - 1};
	}
}

struct part part_last_argument(struct part list)
{
	size_t n;

	while ((n = part_outside(list, ",")) < list.n)
		list = (struct part){list.s + n + 1, list.n - n - 1};
	return part_trim(list);
}
