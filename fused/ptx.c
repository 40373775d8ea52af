/* SPDX-License-Identifier: Apache-2.0 */
#include "fused/ptx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A word (directives with their dot), or one character of punctuation. len is 0 at the end. */
struct token {
	const char *p;
	size_t len;
};

static const char *skip(const char *p)
{
	for (;;) {
		p += strspn(p, " \t\r\n");
		if (p[0] == '/' && p[1] == '/') {
			p += strcspn(p, "\n");
		} else if (p[0] == '/' && p[1] == '*') {
			const char *end = strstr(p + 2, "*/");

			p = end ? end + 2 : p + strlen(p);
		} else if (p[0] == '"') {
			p += 1 + strcspn(p + 1, "\"");
			p += *p == '"';
		} else {
			return p;
		}
	}
}

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static struct token next(const char **p)
{
	struct token t = {skip(*p), 0};

	while (word_char(t.p[t.len]))
		t.len++;
	if (!t.len && *t.p)
		t.len = 1;
	*p = t.p + t.len;
	return t;
}

static bool is(struct token t, const char *word)
{
	return strlen(word) == t.len && !memcmp(t.p, word, t.len);
}

/* Bytes of ".u64", ".b8" and the like; 0 for other words. */
static uint32_t type_bytes(struct token t)
{
	unsigned long bits;
	char *end;

	if (t.len < 3 || t.p[0] != '.' || !strchr("usbf", t.p[1]))
		return 0;
	bits = strtoul(t.p + 2, &end, 10);
	return end == t.p + t.len && bits >= 8 && bits <= 128 ? (uint32_t)bits / 8 : 0;
}

static uint32_t number(struct token t)
{
	unsigned long v = isdigit((unsigned char)*t.p) ? strtoul(t.p, NULL, 0) : 0;

	return v > UINT16_MAX ? 0 : (uint32_t)v;
}

/* One declaration, up to ',' or ')', which is returned. `.param .align 8 .b8 name[24]` or
 * `.param .u64 .ptr .global .align 16 name`: an .align behind .ptr is that of what it points to. */
static struct token parameter(const char **p, uint32_t *align, uint32_t *bytes, bool *pointer)
{
	struct token t;
	uint32_t count = 1;

	*align = *bytes = 0;
	*pointer = false;
	for (t = next(p); t.len && !is(t, ",") && !is(t, ")"); t = next(p)) {
		if (is(t, ".ptr"))
			*pointer = true;
		else if (is(t, ".align") && !*pointer)
			*align = number(next(p));
		else if (is(t, "["))
			count = number(next(p));
		else if (type_bytes(t))
			*bytes = type_bytes(t);
	}
	if (!*align)
		*align = *bytes;
	*bytes *= count;
	return t;
}

/* The list behind a kernel's name, if there is one. */
static void parameters(const char **p, struct code_param *param, struct code_kernel *k)
{
	uint32_t at = 0, align, bytes;
	bool pointer;
	const char *q = *p;
	struct token t = next(&q);

	k->params_known = true;
	if (!is(t, "("))
		return;
	*p = q;
	if (is(next(&q), ")"))
		return;
	do {
		t = parameter(p, &align, &bytes, &pointer);
		if (!bytes || !align || k->nparam == CODE_MAX_PARAMS || at > UINT16_MAX) {
			k->params_known = false;
			k->nparam = 0;
			return;
		}
		at = (at + align - 1) / align * align;
		param[k->nparam++] = (struct code_param){at, bytes, pointer};
		at += bytes;
	} while (is(t, ","));
}

int ptx_each(const char *text, void (*fn)(void *arg, const struct code_kernel *kernel), void *arg)
{
	struct code_param *param = malloc(CODE_MAX_PARAMS * sizeof(*param));
	int n = param ? 0 : -1;

	for (struct token t; param && (t = next(&text)).len;) {
		struct code_kernel k = {.registers = -1, .shared = -1, .param = param};
		char *name;

		if (!is(t, ".entry"))
			continue;
		t = next(&text);
		name = t.len && word_char(*t.p) ? strndup(t.p, t.len) : NULL;
		if (!name)
			continue;
		parameters(&text, param, &k);
		k.name = name;
		fn(arg, &k);
		n++;
		free(name);
	}
	free(param);
	return n;
}

unsigned ptx_arch(const char *text, char *variant)
{
	*variant = 0;
	for (struct token t; (t = next(&text)).len;) {
		unsigned long arch;
		char *end;

		if (!is(t, ".target"))
			continue;
		t = next(&text);
		if (t.len < 4 || strncmp(t.p, "sm_", 3))
			return 0;
		arch = strtoul(t.p + 3, &end, 10);
		*variant = *end == 'a' || *end == 'f' ? *end : 0;
		return arch < 10000 ? (unsigned)arch : 0;
	}
	return 0;
}
