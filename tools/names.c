// SPDX-License-Identifier: Apache-2.0
#include "tools/names.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/name_parts.h"

enum {
	NAME_BYTES = 256,
	ARGS_SHOWN = 28, /* longer template arguments are left out */
	DEPTH_MAX = 12,
	MANGLED_MAX = 1 << 16,
};

char *name_demangled(const char *mangled)
{
	static char *(*demangle)(const char *, char *, size_t *, int *);
	static bool asked;
	int status = 0;

	if (!asked) {
		void *lib = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

		if (!lib)
			lib = dlopen("libc++abi.so.1", RTLD_LAZY | RTLD_LOCAL);
		if (lib)
			*(void **)&demangle = dlsym(lib, "__cxa_demangle");
		asked = true;
	}
	if (!demangle || strncmp(mangled, "_Z", 2) || strlen(mangled) > MANGLED_MAX)
		return NULL;
	return demangle(mangled, NULL, NULL, &status);
}

static bool number(struct part p)
{
	return p.n && (isdigit((unsigned char)p.s[0]) || p.s[0] == '-' || part_starts(p, "true") ||
		       part_starts(p, "false"));
}

static const char *short_type(struct part p)
{
	static const struct {
		const char *name, *type;
	} row[] = {{"c10::BFloat16", "bf16"}, {"__nv_bfloat16", "bf16"}, {"c10::Half", "f16"},
		   {"__half", "f16"},         {"float", "f32"},          {"double", "f64"},
		   {"long", "i64"},           {"long long", "i64"},      {"int", "i32"},
		   {"unsigned int", "u32"},   {"short", "i16"},          {"signed char", "i8"},
		   {"unsigned char", "u8"},   {"bool", "bool"}};

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (p.n == strlen(row[i].name) && !memcmp(p.s, row[i].name, p.n))
			return row[i].type;
	return NULL;
}

struct text {
	char s[NAME_BYTES];
	size_t n;
};

/* Bytes of the character at s, of which n are left; 0: none that a terminal should see. Of U+20xx
 * that holds marks which turn the direction of writing. */
static size_t character(const char *s, size_t n)
{
	unsigned char c = (unsigned char)*s;
	size_t len = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 0;

	if (len > n || c < 0x20 || c == 0x7f || (c == 0xe2 && ((unsigned char)s[1] & 0xfe) == 0x80))
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

static void put(struct text *t, struct part p)
{
	for (size_t i = 0, len; i < p.n; i += len ? len : 1) {
		len = character(p.s + i, p.n - i);
		if (t->n + (len ? len : 1) >= sizeof(t->s))
			break;
		if (!len)
			t->s[t->n++] = '?';
		for (size_t k = 0; k < len; k++)
			t->s[t->n++] = p.s[i + k];
	}
	t->s[t->n] = 0;
}

static void put_text(struct text *t, const char *s)
{
	put(t, (struct part){s, strlen(s)});
}

/* Template arguments, if they are few and simple. */
static void put_arguments(struct text *t, struct part list)
{
	struct text mine = {.n = 0};

	while (list.n) {
		size_t n = part_outside(list, ",");
		struct part one = part_trim((struct part){list.s, n});
		const char *type = short_type(one);

		put_text(&mine, mine.n ? "," : "");
		put(&mine, type ? (struct part){type, strlen(type)} : part_last_component(one));
		if (n == list.n)
			break;
		list = (struct part){list.s + n + 1, list.n - n - 1};
	}
	if (!mine.n || mine.n > ARGS_SHOWN)
		return;
	put_text(t, "<");
	put_text(t, mine.s);
	put_text(t, ">");
}

/* "MulFunctor" -> "mul", "CUDAFunctor_add" -> "add", "tanh_kernel_cuda" -> "tanh". */
static void put_operation(struct text *t, struct part p)
{
	static const char *const prefix[] = {"CUDAFunctorOnSelf_", "CUDAFunctorOnOther_",
					     "CUDAFunctor_"},
				 *const suffix[] = {"Functor",        "_functor",
						    "_kernel_cuda",   "_kernel_impl",
						    "CUDAKernelImpl", "Ops",
						    "_kernel"};
	size_t from = t->n;

	for (unsigned i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
		if (part_starts(p, prefix[i]))
			p = (struct part){p.s + strlen(prefix[i]), p.n - strlen(prefix[i])};
	for (unsigned i = 0; i < sizeof(suffix) / sizeof(suffix[0]); i++)
		if (part_ends(p, suffix[i]) && p.n > strlen(suffix[i]))
			p.n -= strlen(suffix[i]);
	put(t, p);
	if (from < t->n)
		t->s[from] = (char)tolower((unsigned char)t->s[from]);
}

/* The type that the innermost lambda of a functor takes. */
static const char *lambda_type(struct part p)
{
	const char *found = NULL;

	for (size_t i = 0; i + 8 < p.n; i++)
		if (!memcmp(p.s + i, "{lambda(", 8)) {
			struct part rest = {p.s + i + 8, p.n - i - 8};

			rest.n = part_outside(rest, ",)");
			found = short_type(rest);
		}
	return found;
}

static void put_functor(struct text *t, struct part p, unsigned depth)
{
	size_t open = part_outside(p, "<("), colon;
	struct part head = part_last_component((struct part){p.s, open}), args;
	const char *type;

	if (open < p.n && p.s[open] == '<') { /* to the end of this template */
		struct part rest = {p.s + open, p.n - open};

		colon = part_outside(rest, ":(");
		args = part_arguments((struct part){p.s, open + colon});
	} else {
		args = (struct part){p.s, 0};
	}
	if (depth < DEPTH_MAX && args.n) {
		if (part_starts(head, "gpu_kernel_impl")) {
			put_functor(t, part_argument(args, 0), depth + 1);
			return;
		}
		if (part_starts(head, "BinaryFunctor") || part_starts(head, "AUnaryFunctor") ||
		    part_starts(head, "BUnaryFunctor")) {
			put_functor(t, part_last_argument(args), depth + 1);
			return;
		}
		if (part_starts(head, "ReduceOp") || part_starts(head, "func_wrapper_t")) {
			put_functor(t, part_argument(args, 1), depth + 1);
			return;
		}
	}
	put_operation(t, head);
	type = args.n ? short_type(part_argument(args, 0)) : lambda_type(p);
	if (type) {
		put_text(t, "<");
		put_text(t, type);
		put_text(t, ">");
	}
}

/* PyTorch's own templates say which functor they apply: the first argument that is no number. */
static bool aten(struct text *t, struct part base, struct part args)
{
	struct part name = part_last_component(base), one;
	bool reduce = part_starts(name, "reduce_kernel");

	if (!part_starts(base, "at::native::") ||
	    (!reduce && !part_ends(name, "elementwise_kernel")))
		return false;
	for (unsigned i = 0; (one = part_argument(args, i)).n; i++)
		if (!number(one)) {
			put_text(t, reduce ? "aten reduce " : "aten ");
			put_functor(t, one, 0);
			return true;
		}
	return false;
}

char *name_readable(const char *mangled)
{
	char *whole = name_demangled(mangled);
	struct part p = {whole ? whole : mangled, strlen(whole ? whole : mangled)}, base, args;
	struct text t = {.n = 0};

	if (whole) {
		p.n = part_outside(p, "(");
		p = part_behind_return_type(p);
		base = (struct part){p.s, part_outside(p, "<")};
		args = part_arguments(p);
		if (!aten(&t, base, args)) {
			put(&t, part_last_component(base));
			put_arguments(&t, args);
		}
	}
	if (!t.n)
		put(&t, (struct part){mangled, strlen(mangled)});
	free(whole);
	return strdup(t.s);
}
