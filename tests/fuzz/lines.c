// SPDX-License-Identifier: Apache-2.0
/*
 * Changes to files of lines that leave most lines readable: lines go, come twice and change places;
 * texts in quotes (addresses, sizes, names) come to be where another was, so that operands alias;
 * numbers become their neighbours. Changes of single bytes hardly ever get past the reader.
 */
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct span {
	size_t at, n;
};

static uint64_t state;

static size_t rnd(size_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return below ? (size_t)(state >> 33) % below : 0;
}

static struct span line(const uint8_t *d, size_t size)
{
	size_t at = rnd(size), end;

	while (at && d[at - 1] != '\n')
		at--;
	for (end = at; end < size && d[end] != '\n';)
		end++;
	return (struct span){at, end - at + (end < size)};
}

static bool is_hex(const uint8_t *d, struct span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isxdigit(d[s.at + i]))
			return false;
	return s.n >= 2 && s.n % 2 == 0;
}

/* What stands between two quotes from a random place on; n is 0 if there is nothing. */
static struct span quoted(const uint8_t *d, size_t size, bool hex)
{
	size_t at = rnd(size);

	for (unsigned tries = 0; tries < 64 && at < size; tries++) {
		const uint8_t *open = memchr(d + at, '"', size - at), *close;
		struct span s;

		if (!open || open + 1 >= d + size)
			break;
		close = memchr(open + 1, '"', (size_t)(d + size - open) - 1);
		if (!close)
			break;
		s = (struct span){(size_t)(open + 1 - d), (size_t)(close - open) - 1};
		if (hex ? is_hex(d, s) : s.n > 0)
			return s;
		at = s.at;
	}
	return (struct span){0, 0};
}

/* One text in the place of another; the size afterwards. */
static size_t replace(uint8_t *d, size_t size, size_t room, struct span old, const uint8_t *text,
		      size_t n)
{
	if (size - old.n + n > room)
		return size;
	memmove(d + old.at + n, d + old.at + old.n, size - old.at - old.n);
	memcpy(d + old.at, text, n);
	return size - old.n + n;
}

static size_t say_again(uint8_t *d, size_t size, size_t room, struct span from, struct span over)
{
	uint8_t *copy = malloc(from.n + 1);

	if (!copy)
		return size;
	memcpy(copy, d + from.at, from.n);
	size = replace(d, size, room, over, copy, from.n);
	free(copy);
	return size;
}

static unsigned digit(uint8_t c)
{
	return isdigit(c) ? c - '0' : (tolower(c) - 'a' + 10) & 15;
}

/* A little-endian number moves on: by an element, a row, or to something special. */
static void step(uint8_t *d, struct span s)
{
	static const uint64_t by[] = {1,   2,    4,       8,        16,         256,
				      512, 4096, 1 << 20, 1u << 31, UINT32_MAX, INT64_MAX};
	uint64_t v = 0, add = by[rnd(sizeof(by) / sizeof(*by))];
	size_t bytes = s.n / 2 < 8 ? s.n / 2 : 8;

	for (size_t i = 0; i < bytes; i++)
		v |= (uint64_t)(digit(d[s.at + 2 * i]) << 4 | digit(d[s.at + 2 * i + 1])) << 8 * i;
	switch (rnd(4)) {
	case 0:
		v = add;
		break;
	case 1:
		v -= add;
		break;
	default:
		v += add;
	}
	for (size_t i = 0; i < bytes; i++) {
		d[s.at + 2 * i] = (uint8_t) "0123456789abcdef"[v >> (8 * i + 4) & 15];
		d[s.at + 2 * i + 1] = (uint8_t) "0123456789abcdef"[v >> 8 * i & 15];
	}
}

/* A decimal number behind a colon, a comma or a bracket becomes another. */
static size_t number(uint8_t *d, size_t size, size_t room)
{
	static const char *const other[] = {"0",  "1",     "2",          "32",         "1024",
					    "-1", "65536", "4294967295", "2147483648", "1e30"};
	size_t at = rnd(size), n = 0;
	const char *text = other[rnd(sizeof(other) / sizeof(*other))];

	while (at + 1 < size && !(strchr(":,[", d[at]) && d[at] && isdigit(d[at + 1])))
		at++;
	for (at++; at + n < size && isdigit(d[at + n]);)
		n++;
	if (!n)
		return size;
	return replace(d, size, room, (struct span){at, n}, (const uint8_t *)text, strlen(text));
}

size_t fuzz_lines(uint8_t *d, size_t size, size_t room, unsigned seed)
{
	struct span a, b;

	state = seed;
	if (!size)
		return size;
	a = line(d, size);
	b = line(d, size);
	switch (rnd(8)) {
	case 0: /* gone */
		return replace(d, size, room, a, d, 0);
	case 1: /* once more, elsewhere */
		return say_again(d, size, room, a, (struct span){b.at, 0});
	case 2: /* in the place of another */
		return say_again(d, size, room, a, b);
	case 3:
	case 4: /* an address or a size from elsewhere */
		a = quoted(d, size, true);
		b = quoted(d, size, true);
		return a.n && a.n == b.n ? say_again(d, size, room, a, b) : size;
	case 5:
		a = quoted(d, size, true);
		if (a.n)
			step(d, a);
		return size;
	case 6: /* a name from elsewhere */
		a = quoted(d, size, false);
		b = quoted(d, size, false);
		return a.n && b.n ? say_again(d, size, room, a, b) : size;
	default:
		return number(d, size, room);
	}
}
