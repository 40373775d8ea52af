// SPDX-License-Identifier: Apache-2.0
#include "config/options.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum type {
	TYPE_BOOL,
	TYPE_INT,
	TYPE_SIZE,
	TYPE_TEXT,
	TYPE_PATH,
	TYPE_CHOICE_numerics,
	TYPE_CHOICE_verify,
	TYPE_CHOICE_graphs,
	TYPE_CHOICE_stores,
	TYPE_CHOICE_families,
	TYPE_CHOICE_stand_in,
	TYPE_CHOICE_log,
};

const struct option_row option_row[OPTION_COUNT] = {
#define OPTION(field, type, def, env, help)                                                        \
	{#field, def, env, help, TYPE_##type, offsetof(struct options, field)},
#include "config/options.def"
#undef OPTION
};

static const struct choice {
	unsigned char type;
	const char *word;
	int value;
} choice[] = {
#define CHOICE(set, word, id) {TYPE_CHOICE_##set, #word, id},
#include "config/choices.def"
#undef CHOICE
};
enum { NCHOICE = sizeof(choice) / sizeof(choice[0]) };

/* The first word of each value is the one that is printed. */
static const char *const bool_word[2][4] = {{"no", "0", "false", "off"},
					    {"yes", "1", "true", "on"}};

static void *field(const struct options *o, int id)
{
	return (char *)o + option_row[id].offset;
}

static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b && !(*a == '-' && *b == '_'))
			return false;
	return *a == *b;
}

int option_find(const char *name)
{
	for (int i = 0; i < OPTION_COUNT; i++)
		if (same_name(name, option_row[i].name))
			return i;
	return -1;
}

bool option_is_switch(int id)
{
	return option_row[id].type == TYPE_BOOL;
}

bool option_is_text(int id)
{
	return option_row[id].type == TYPE_TEXT || option_row[id].type == TYPE_PATH;
}

static int bad(char *err, unsigned size, const char *name, const char *expected, const char *value)
{
	snprintf(err, size, "%s: expected %s, not \"%.64s\"", name, expected, value);
	return -1;
}

static int parse_bool(bool *out, const char *value)
{
	for (int v = 0; v < 2; v++)
		for (int i = 0; i < 4; i++)
			if (!strcasecmp(value, bool_word[v][i])) {
				*out = v;
				return 0;
			}
	return -1;
}

/* So many microseconds, or seconds, still are a number of nanoseconds. */
#define INT_LARGEST 1000000000ul
#define INT_EXPECTED "a whole number up to 1000000000"

/* A whole number up to `largest`; with units, K, M and G multiply by 2^10, 2^20 and 2^30. */
static int parse_number(unsigned long *out, const char *value, unsigned long largest, bool units)
{
	char *end;
	unsigned long v;
	int shift = 0;

	if (*value < '0' || *value > '9')
		return -1;
	errno = 0;
	v = strtoul(value, &end, 10);
	if (units && *end) {
		const char letter[] = {(char)(*end & ~0x20), 0}, *unit = strstr("KMG", letter);

		if (!*letter || !unit)
			return -1;
		shift = 10 * (int)(unit - "KMG" + 1);
		end++;
	}
	if (errno || *end || v > largest >> shift)
		return -1;
	*out = v << shift;
	return 0;
}

static int parse_text(char **out, const char *value, bool path)
{
	const char *home = path && !strncmp(value, "~/", 2) ? getenv("HOME") : NULL;
	size_t size = strlen(value) + (home ? strlen(home) : 0) + 1;
	char *text = malloc(size);

	if (!text)
		return -1;
	snprintf(text, size, "%s%s", home ? home : "", home ? value + 1 : value);
	free(*out);
	*out = text;
	return 0;
}

static int parse_choice(const struct option_row *r, int *out, const char *value, char *err,
			unsigned errsize)
{
	char words[128] = "";
	size_t len = 0;

	for (int i = 0; i < NCHOICE; i++) {
		if (choice[i].type != r->type)
			continue;
		if (!strcasecmp(value, choice[i].word)) {
			*out = choice[i].value;
			return 0;
		}
		len += (size_t)snprintf(words + len, sizeof(words) - len, "%s%s", len ? ", " : "",
					choice[i].word);
	}
	return bad(err, errsize, r->name, words, value);
}

int option_parse(struct options *o, int id, const char *value, char *err, unsigned errsize)
{
	const struct option_row *r = &option_row[id];
	void *f = field(o, id);
	unsigned long v;

	switch (r->type) {
	case TYPE_BOOL:
		return parse_bool(f, value) ? bad(err, errsize, r->name, "yes or no", value) : 0;
	case TYPE_INT:
		if (parse_number(&v, value, INT_LARGEST, false))
			return bad(err, errsize, r->name, INT_EXPECTED, value);
		*(long *)f = (long)v;
		return 0;
	case TYPE_SIZE:
		if (parse_number(f, value, LONG_MAX, true))
			return bad(err, errsize, r->name, "bytes (K, M and G may follow)", value);
		return 0;
	case TYPE_TEXT:
	case TYPE_PATH:
		if (parse_text(f, value, r->type == TYPE_PATH))
			return bad(err, errsize, r->name, "a text that fits in memory", value);
		return 0;
	default:
		return parse_choice(r, f, value, err, errsize);
	}
}

const char *option_format(const struct options *o, int id, char *buf, unsigned size)
{
	static const char unit[] = " KMG";
	const struct option_row *r = &option_row[id];
	void *f = field(o, id);
	int u = 0;

	switch (r->type) {
	case TYPE_BOOL:
		return bool_word[*(bool *)f][0];
	case TYPE_INT:
		snprintf(buf, size, "%ld", *(long *)f);
		return buf;
	case TYPE_SIZE: {
		unsigned long v = *(unsigned long *)f;

		for (; v && v % 1024 == 0 && u < 3; u++)
			v /= 1024;
		snprintf(buf, size, u ? "%lu%c" : "%lu", v, unit[u]);
		return buf;
	}
	case TYPE_TEXT:
	case TYPE_PATH:
		return *(char **)f ? *(char **)f : "";
	default:
		for (int i = 0; i < NCHOICE; i++)
			if (choice[i].type == r->type && choice[i].value == *(int *)f)
				return choice[i].word;
		return "?";
	}
}

void option_free_all(struct options *o)
{
	for (int i = 0; i < OPTION_COUNT; i++)
		if (option_is_text(i)) {
			char **text = field(o, i);

			free(*text);
			*text = NULL;
		}
}
