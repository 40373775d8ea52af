// SPDX-License-Identifier: Apache-2.0
/*
 * A signature file to complete. It can be read as it is: every section says `opaque`, which is what
 * an unknown kernel is anyway, and what it may be instead stands in comments.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "matcher/sig_table.h"
#include "tools/readable.h"
#include "tools/scan.h"

static const char *const formula[] = {
#define OPCODE(name, space, formula, operands) formula,
#include "matcher/opcode.def"
#undef OPCODE
};

enum {
	LABEL_MAX = 32,
	NAME_MAX_ = 180,
	LINE_MAX_ = 150,
	SECTIONS_MAX =
		2000, /* more than anybody completes, and less than a configuration may hold */
};

/* A type that points to what only is read, to something else, or neither. */
enum type { TYPE_UNKNOWN, TYPE_CONST_POINTER, TYPE_POINTER, TYPE_NUMBER, TYPE_REAL };

static enum type type_of(const char *t, const struct scan_kernel *k, uint32_t i)
{
	size_t len = t ? strlen(t) : 0;

	if (len && strchr(t, '*'))
		return strstr(t, "const") ? TYPE_CONST_POINTER : TYPE_POINTER;
	if (!len)
		return i < 64 && k->pointers >> i & 1 ? TYPE_POINTER : TYPE_UNKNOWN;
	if (!strcmp(t, "float") || !strcmp(t, "double"))
		return TYPE_REAL;
	return strstr(t, "int") || strstr(t, "long") || strstr(t, "short") ? TYPE_NUMBER
									   : TYPE_UNKNOWN;
}

/* What a parameter of that type and size may be. */
static const char *roles(enum type t, uint32_t bytes)
{
	if (t == TYPE_CONST_POINTER)
		return "in0, in1, weight or -";
	if (t == TYPE_POINTER)
		return "out, inout, in0, in1, weight or -";
	if (t == TYPE_REAL)
		return "eps or -";
	if (t == TYPE_NUMBER)
		return "n, rows, cols or -";
	if (bytes == 8)
		return "out, inout, in0, in1, weight, n, rows, cols, eps or -";
	return bytes == 4 ? "n, rows, cols, eps or -" : "-";
}

static const char *dtype_of(const char *t)
{
	if (t && strstr(t, "__nv_bfloat16"))
		return "bf16";
	if (t && strstr(t, "__half"))
		return "f16";
	return t && strstr(t, "double") ? "f64" : "f32";
}

static void label(const struct scan_kernel *k, const char *readable, unsigned number, FILE *f)
{
	char base[LABEL_MAX];

	readable_base(readable, base, sizeof(base));
	for (char *p = base; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			*p = '_';
	fprintf(f, "\n[kernel %s-%u]\n", *base ? base : "kernel", number);
	fprintf(f, "; %.*s%s\n", LINE_MAX_, readable, strlen(readable) > LINE_MAX_ ? "..." : "");
}

/* A line holds 198 characters; longer names get a glob for their middle. Characters that mean
 * something in a glob or end a word become '?'. */
static void match(const char *name, FILE *f)
{
	size_t len = strlen(name);

	fputs("match = ", f);
	for (size_t i = 0; i < len; i++) {
		if (len > NAME_MAX_ && i == NAME_MAX_ / 2) {
			fputc('*', f);
			i = len - NAME_MAX_ / 2;
		}
		fputc(isalnum((unsigned char)name[i]) || strchr("_$.", name[i]) ? name[i] : '?', f);
	}
	fputc('\n', f);
}

static void section(const struct scan_kernel *k, unsigned number, FILE *f)
{
	const char *type[SIG_MAX_ARGS], *element = NULL;
	char *readable = readable_name(k->k.name), arch[24];
	unsigned ntype;

	if (!readable)
		return;
	label(k, readable, number, f);
	fputc(';', f);
	for (unsigned i = 0; i < k->ntarget && i < 12; i++)
		fprintf(f, " %s",
			scan_arch(k->target[i].kind, k->target[i].arch, k->target[i].variant,
				  arch));
	fputc('\n', f);
	match(k->k.name, f);
	ntype = readable_types(readable, type, SIG_MAX_ARGS);
	if (ntype != k->k.nparam)
		ntype = 0;
	for (uint32_t i = 0; i < k->k.nparam; i++) {
		const char *t = i < ntype ? type[i] : NULL;

		if (t && !element && strchr(t, '*'))
			element = t;
		fprintf(f, "; argument %u: %u bytes%s%.60s: %s\n", i, k->k.param[i].bytes,
			t ? ", " : "", t ? t : "", roles(type_of(t, k, i), k->k.param[i].bytes));
	}
	fputs("op = opaque\n", f);
	fprintf(f, "; dtype = %s\n; args =", dtype_of(element));
	for (uint32_t i = 0; i < k->k.nparam; i++)
		fputs(" -", f);
	fputc('\n', f);
	free(readable);
}

/* Could it be an operation on tensors? At least two pointers or what may be them. */
static bool worthwhile(const struct scan_kernel *k)
{
	unsigned wide = 0;

	for (uint32_t i = 0; i < k->k.nparam; i++)
		wide += k->k.param[i].bytes == 8;
	return !k->k.decoder && k->params_known && wide >= 2 && k->k.nparam <= SIG_MAX_ARGS;
}

void scan_suggest(const struct scan *s, const char *what, const char *glob, FILE *f)
{
	size_t n;
	struct scan_kernel **list = scan_sorted(s, glob, &n);
	unsigned number = 0, passed = 0, more = 0;

	fprintf(f, "; Kernels of %.100s that no signature or decoder knows.\n", what);
	fputs("; Where you know what one computes, give its op:\n", f);
	for (unsigned c = 0; c < OP_COUNT; c++)
		if (c != OP_opaque)
			fprintf(f, ";   %s: %s\n", opcode_name((enum opcode)c), formula[c]);
	fputs("; and, without the ';', its dtype and one role for each argument. Delete the "
	      "rest.\n",
	      f);
	for (size_t i = 0; list && i < n; i++) {
		if (!worthwhile(list[i]))
			passed += !list[i]->k.decoder;
		else if (number < SECTIONS_MAX)
			section(list[i], ++number, f);
		else
			more++;
	}
	fprintf(f, "\n; %u kernels, and %u more whose arguments no signature can describe.\n",
		number, passed);
	if (more)
		fprintf(f, "; %u further ones are left out: --match=GLOB picks kernels by name.\n",
			more);
	free(list);
}
