// SPDX-License-Identifier: Apache-2.0
/* Collects pieces of code and their kernels. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "fused/ptx.h"
#include "matcher/decode.h"
#include "matcher/sig_table.h"
#include "tools/readable.h"
#include "tools/scan.h"

const char *scan_keep(struct scan *s, const char *text)
{
	char *copy = NULL, **grown;

	/* The same words come again and again. */
	for (size_t i = s->ntext; i > 0 && i + 4 > s->ntext; i--)
		if (!strcmp(s->text[i - 1], text))
			return s->text[i - 1];
	grown = realloc(s->text, (s->ntext + 1) * sizeof(*grown));
	if (grown) {
		s->text = grown;
		copy = strdup(text);
		if (copy)
			s->text[s->ntext++] = copy;
	}
	s->no_memory |= !copy;
	return copy ? copy : "?";
}

static struct scan_code *add_code(struct scan *s, const char *file, const char *where)
{
	if (s->ncode == s->code_room) {
		size_t room = s->code_room ? 2 * s->code_room : 64;
		void *grown = realloc(s->code, room * sizeof(*s->code));

		if (!grown) {
			s->no_memory = true;
			return NULL;
		}
		s->code = grown;
		s->code_room = room;
	}
	memset(&s->code[s->ncode], 0, sizeof(*s->code));
	s->code[s->ncode].file = file;
	s->code[s->ncode].where = scan_keep(s, where);
	return &s->code[s->ncode++];
}

static void free_kernel(struct scan_kernel *k)
{
	if (!k)
		return;
	free(k->k.name);
	free(k->k.param);
	free(k->target);
	free(k->key);
	free(k);
}

/* Name, a zero byte, the parameters' places. */
static char *make_key(const struct code_kernel *c, size_t *bytes)
{
	size_t name = strlen(c->name) + 1;
	char *key = malloc(name + c->nparam * 8 + 1);

	if (!key)
		return NULL;
	memcpy(key, c->name, name);
	key[name] = (char)c->params_known;
	for (uint32_t i = 0; i < c->nparam; i++) {
		memcpy(key + name + 1 + i * 8, &c->param[i].offset, 4);
		memcpy(key + name + 1 + i * 8 + 4, &c->param[i].bytes, 4);
	}
	*bytes = name + 1 + c->nparam * 8;
	return key;
}

static struct scan_kernel *make_kernel(const struct code_kernel *c, char *key)
{
	struct scan_kernel *k = calloc(1, sizeof(*k));

	if (!k) {
		free(key);
		return NULL;
	}
	k->key = key;
	k->k.name = strdup(c->name);
	k->k.param = calloc(c->nparam + 1, sizeof(*k->k.param));
	if (!k->k.name || !k->k.param) {
		free_kernel(k);
		return NULL;
	}
	k->params_known = c->params_known;
	k->k.nparam = c->nparam;
	for (uint32_t i = 0; i < c->nparam; i++) {
		uint32_t end = c->param[i].offset + c->param[i].bytes;

		k->k.param[i] = (struct param){c->param[i].offset, c->param[i].bytes};
		k->k.param_bytes = end > k->k.param_bytes ? end : k->k.param_bytes;
	}
	decode_kernel(&k->k);
	return k;
}

struct adding {
	struct scan *s;
	const struct fatbin_code *code;
	const char *file;
};

static void add_target(struct scan *s, struct scan_kernel *k, const struct fatbin_code *c,
		       const struct code_kernel *from)
{
	struct scan_target t = {c->arch, c->variant, c->kind, from->registers, from->shared};
	void *grown;

	for (unsigned i = 0; i < k->ntarget; i++)
		if (k->target[i].arch == t.arch && k->target[i].variant == t.variant &&
		    k->target[i].kind == t.kind) {
			struct scan_target *old = &k->target[i];

			old->registers =
				t.registers > old->registers ? t.registers : old->registers;
			old->shared = t.shared > old->shared ? t.shared : old->shared;
			return;
		}
	grown = realloc(k->target, (k->ntarget + 1) * sizeof(*k->target));
	if (!grown) {
		s->no_memory = true;
		return;
	}
	k->target = grown;
	k->target[k->ntarget++] = t;
}

static void add_kernel(void *arg, const struct code_kernel *c)
{
	struct adding *a = arg;
	struct scan_kernel *k = NULL;
	size_t bytes;
	char *key = make_key(c, &bytes);

	if (key)
		HASH_FIND(hh, a->s->table, key, bytes, k);
	if (k) {
		free(key);
	} else if (key && (k = make_kernel(c, key))) {
		k->file = a->file;
		HASH_ADD_KEYPTR(hh, a->s->table, k->key, bytes, k);
	}
	if (!k) {
		a->s->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < c->nparam && i < 64; i++)
		k->pointers |= (uint64_t)c->param[i].pointer << i;
	k->copies++;
	add_target(a->s, k, a->code, c);
}

void scan_add(struct scan *s, const char *file, const char *where, bool relocatable,
	      const struct fatbin_code *code)
{
	struct scan_code *c = add_code(s, file, where);
	struct fatbin_code piece = *code;
	struct adding adding = {s, &piece, file};
	char *text = code->data && code->kind != FATBIN_OTHER ? fatbin_copy(code) : NULL;
	int n = 0;

	if (text && code->kind == FATBIN_ELF) {
		if (!piece.arch)
			piece.arch = cubin_arch(text, code->full);
		n = cubin_each(text, code->full, add_kernel, &adding);
		s->entries += n > 0 ? (unsigned)n : 0;
	} else if (text) {
		if (!piece.arch)
			piece.arch = ptx_arch(text, &piece.variant);
		n = ptx_each(text, add_kernel, &adding);
	} else if (code->kind != FATBIN_OTHER) {
		n = -1;
	}
	free(text);
	if (n < 0)
		s->damaged++;
	else if (code->kind == FATBIN_ELF)
		s->cubins++;
	else if (code->kind == FATBIN_PTX)
		s->ptx++;
	else
		s->other++;
	if (!c)
		return;
	c->kind = piece.kind;
	c->arch = piece.arch;
	c->variant = piece.variant;
	c->compression = code->compression;
	c->relocatable = relocatable;
	c->damaged = n < 0;
	c->bytes = code->bytes;
	c->full = code->full;
	c->kernels = n > 0 ? (unsigned)n : 0;
}

void scan_damaged(struct scan *s, const char *file, const char *where)
{
	struct scan_code *c = add_code(s, file, where);

	s->damaged++;
	if (c)
		c->damaged = true;
}

const char *scan_known(const struct scan_kernel *k)
{
	if (!k->k.decoder)
		return NULL;
	if (k->k.decoder == &sig_decoder)
		return ((const struct sig *)k->k.decoder_data)->label;
	return k->k.decoder->name;
}

static int order(const void *a, const void *b)
{
	const struct scan_kernel *x = *(struct scan_kernel *const *)a,
				 *y = *(struct scan_kernel *const *)b;

	if (!x->k.decoder != !y->k.decoder)
		return x->k.decoder ? -1 : 1;
	return strcmp(x->k.name, y->k.name);
}

static bool matches(const struct scan_kernel *k, const char *glob)
{
	char *name;
	bool found;

	if (!glob || !fnmatch(glob, k->k.name, 0))
		return true;
	name = readable_name(k->k.name);
	found = name && !fnmatch(glob, name, 0);
	free(name);
	return found;
}

struct scan_kernel **scan_sorted(const struct scan *s, const char *glob, size_t *n)
{
	struct scan_kernel **list = malloc((HASH_COUNT(s->table) + 1) * sizeof(*list)), *k, *next;

	*n = 0;
	if (!list)
		return NULL;
	HASH_ITER(hh, s->table, k, next)
	{
		if (matches(k, glob))
			list[(*n)++] = k;
	}
	qsort(list, *n, sizeof(*list), order);
	return list;
}

void scan_free(struct scan *s)
{
	struct scan_kernel *k, *next;

	HASH_ITER(hh, s->table, k, next)
	{
		HASH_DEL(s->table, k);
		free_kernel(k);
	}
	for (size_t i = 0; i < s->ntext; i++)
		free(s->text[i]);
	free(s->text);
	free(s->code);
	memset(s, 0, sizeof(*s));
}
