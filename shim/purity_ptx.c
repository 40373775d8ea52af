/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Purity of a kernel in PTX text, by its words. Coarser than the cubin's half: what is not plainly
 * harmless is not pure.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/purity.h"

enum { WORD_MAX = 256, DEPTH_MAX = 8 };

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

/* The next word from p on, comments and strings skipped; NULL at the end. Moves past it. */
static const char *next_word(const char *p, char *word)
{
	for (;;) {
		size_t n = 0;

		while (*p && !is_word(*p)) {
			if (*p == '/' && p[1] == '/')
				p += strcspn(p, "\n");
			else if (*p == '/' && p[1] == '*')
				p = strstr(p, "*/") ? strstr(p, "*/") + 2 : p + strlen(p);
			else if (*p == '"')
				p += 1 + strcspn(p + 1, "\"") +
				     (p[1 + strcspn(p + 1, "\"")] == '"');
			else
				p++;
		}
		if (!*p)
			return NULL;
		while (is_word(*p)) {
			if (n < WORD_MAX - 1)
				word[n++] = *p;
			p++;
		}
		word[n] = '\0';
		return p;
	}
}

/* The body { ... } of the .entry or .func of that name; NULL if it is not defined here. */
static char *body_of(const char *text, const char *name)
{
	char word[WORD_MAX];
	const char *p = text;

	while ((p = next_word(p, word))) {
		const char *open, *semicolon;
		size_t n = 0;
		int depth = 0;

		if (strcmp(word, name))
			continue;
		open = strchr(p, '{');
		semicolon = strchr(p, ';');
		if (!open || (semicolon && semicolon < open))
			continue; /* a declaration, or a use */
		do {
			depth += open[n] == '{';
			depth -= open[n] == '}';
			n++;
		} while (depth && open[n]);
		return strndup(open, n);
	}
	return NULL;
}

/* Is word a variable declared at module scope, by .global or .const outside any body? */
static bool is_variable(const char *text, const char *name)
{
	size_t len = strlen(name);
	int depth = 0;
	const char *statement = text;

	for (const char *p = text; *p; p++) {
		depth += *p == '{';
		depth -= *p == '}';
		if (*p == ';' || *p == '}')
			statement = p + 1;
		if (depth || strncmp(p, name, len) || is_word(p[len]) ||
		    (p > text && is_word(p[-1])))
			continue;
		for (const char *q = statement; q < p; q++)
			if (!strncmp(q, ".global", 7) || !strncmp(q, ".const", 6))
				return true;
	}
	return false;
}

static void judge_atomic(const char *word, struct purity *out)
{
	bool floating = strstr(word, ".f32") || strstr(word, ".f64") || strstr(word, ".f16") ||
			strstr(word, ".bf16") || strstr(word, ".cas");

	if (floating)
		purity_note(out, REASON_NOT_DETERMINISTIC,
			    "uses floating-point or compare-and-swap atomics, whose order varies");
	else
		purity_note(out, REASON_NOT_PURE, "uses atomics on integers");
}

static bool starts(const char *word, const char *with)
{
	return !strncmp(word, with, strlen(with));
}

static void judge(const char *text, const char *name, struct purity *out, int depth);

static void judge_word(const char *text, const char *word, bool callee, struct purity *out,
		       int depth)
{
	char *body;

	if (callee && word[0] != '%') {
		body = depth < DEPTH_MAX ? body_of(text, word) : NULL;
		if (body)
			judge(text, word, out, depth + 1);
		else
			purity_note(out, REASON_NOT_PURE, "calls %s", word);
		free(body);
	} else if (starts(word, "atom.") || starts(word, "red.") || starts(word, "cp.reduce")) {
		judge_atomic(word, out);
	} else if (starts(word, "tex.") || starts(word, "tld4.") || starts(word, "suld.") ||
		   starts(word, "sust.") || starts(word, "sured.")) {
		purity_note(out, REASON_NOT_PURE, "uses a texture or surface");
	} else if (starts(word, "%clock") || starts(word, "%globaltimer") ||
		   starts(word, "%smid") || starts(word, "%nsmid")) {
		purity_note(out, REASON_NOT_PURE,
			    "reads a clock or asks which processor it runs on");
	} else if ((isalpha((unsigned char)word[0]) || word[0] == '_' || word[0] == '$') &&
		   strncmp(word, "__cudart_", 9) && is_variable(text, word)) {
		purity_note(out, REASON_NOT_PURE, "uses the module variable %s", word);
	}
}

/* call{.uni} (results), name, (parameters); results may be missing. */
static const char *callee_of(const char *p, char *word)
{
	while (isspace((unsigned char)*p))
		p++;
	if (*p == '(') {
		p += strcspn(p, ")");
		p += strcspn(p, ",;");
	}
	return next_word(p, word);
}

static void judge(const char *text, const char *name, struct purity *out, int depth)
{
	char word[WORD_MAX], *body = body_of(text, name);
	const char *p = body;

	if (!body) {
		purity_note(out, REASON_NO_VERDICT, "no code of this kernel in the image");
		return;
	}
	while (p && out->why != REASON_NOT_PURE && (p = next_word(p, word))) {
		if (!strcmp(word, "call") || starts(word, "call.")) {
			p = callee_of(p, word);
			if (p && word[0] == '%')
				purity_note(out, REASON_NOT_PURE, "calls through a pointer");
			else if (p)
				judge_word(text, word, true, out, depth);
		} else {
			judge_word(text, word, false, out, depth);
		}
	}
	free(body);
}

void purity_ptx(const char *text, const char *kernel, struct purity *out)
{
	judge(text, kernel, out, 0);
}
