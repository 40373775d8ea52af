// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "matcher/sig_table.h"
#include "tools/readable.h"
#include "tools/scan.h"
#include "tools/utf8.h"

enum { NAMES_SHOWN = 200, NAME_WIDTH = 100, ARCHS_MAX = 64 };

const char *scan_arch(enum fatbin_kind kind, unsigned arch, char variant, char *text)
{
	const char *word = kind == FATBIN_ELF ? "sm" : "compute";

	if (arch)
		snprintf(text, 24, variant ? "%s_%u%c" : "%s_%u", word, arch, variant);
	else
		snprintf(text, 24, "%s_?", word);
	return text;
}

/* "2 cubins for sm_80, sm_90a" */
static void print_pieces(const struct scan *s, enum fatbin_kind kind, unsigned count,
			 const char *word, FILE *f)
{
	char seen[ARCHS_MAX][24], name[24];
	unsigned n = 0;

	fprintf(f, "%u %s%s", count, word, count == 1 ? "" : "s");
	for (size_t i = 0; i < s->ncode; i++) {
		const struct scan_code *c = &s->code[i];
		unsigned k = 0;

		if (c->kind != kind || c->damaged)
			continue;
		scan_arch(kind, c->arch, c->variant, name);
		while (k < n && strcmp(seen[k], name))
			k++;
		if (k < n || n == ARCHS_MAX)
			continue;
		fprintf(f, "%s%s", n ? ", " : " for ", name);
		strcpy(seen[n++], name);
	}
}

static void print_range(int low, int high, FILE *f)
{
	if (high < 0)
		fprintf(f, " %9s", "-");
	else if (low == high)
		fprintf(f, " %9d", high);
	else
		fprintf(f, " %4d-%-4d", low, high);
}

static void print_kernel(const struct scan_kernel *k, FILE *f)
{
	char *name = readable_name(k->k.name), arch[24];
	int reg[2] = {-1, -1}, shared[2] = {-1, -1};

	for (unsigned i = 0; i < k->ntarget; i++) {
		const struct scan_target *t = &k->target[i];

		if (t->registers >= 0) {
			reg[0] = reg[0] < 0 || t->registers < reg[0] ? t->registers : reg[0];
			reg[1] = t->registers > reg[1] ? t->registers : reg[1];
		}
		if (t->shared >= 0) {
			shared[0] = shared[0] < 0 || t->shared < shared[0] ? t->shared : shared[0];
			shared[1] = t->shared > shared[1] ? t->shared : shared[1];
		}
	}
	print_range(reg[0], reg[1], f);
	print_range(shared[0], shared[1], f);
	fprintf(f, "  %s%.*s%s\n", name ? "" : k->k.name, NAME_WIDTH, name ? name : "",
		name && strlen(name) > NAME_WIDTH ? "..." : "");
	fprintf(f, "%23s", k->params_known ? "arguments of bytes" : "arguments not said");
	for (uint32_t i = 0; i < k->k.nparam && i < 16; i++)
		fprintf(f, " %" PRIu32, k->k.param[i].bytes);
	if (k->params_known && !k->k.nparam)
		fputs(" (none)", f);
	fputs(k->k.nparam > 16 ? " ...;" : ";", f);
	for (unsigned i = 0; i < k->ntarget; i++)
		fprintf(f, " %s",
			scan_arch(k->target[i].kind, k->target[i].arch, k->target[i].variant,
				  arch));
	if (k->k.decoder == &sig_decoder)
		fprintf(f, "; [kernel %s] says %s", scan_known(k),
			opcode_name(((const struct sig *)k->k.decoder_data)->code));
	else if (k->k.decoder)
		fprintf(f, "; known to decoder %s", scan_known(k));
	fputc('\n', f);
	free(name);
}

void scan_print_text(const struct scan *s, const char *what, const char *glob, FILE *f)
{
	size_t n, known = 0;
	struct scan_kernel **list = scan_sorted(s, glob, &n);

	fprintf(f, "%s: ", what);
	if (!s->ncode) {
		fprintf(f, "no device code\n");
		free(list);
		return;
	}
	print_pieces(s, FATBIN_ELF, s->cubins, "cubin", f);
	fputs("; ", f);
	print_pieces(s, FATBIN_PTX, s->ptx, "PTX text", f);
	if (s->other)
		fprintf(f, "; %u piece%s of other code", s->other, s->other == 1 ? "" : "s");
	if (s->damaged)
		fprintf(f, "; %u DAMAGED", s->damaged);
	for (size_t i = 0; list && i < n; i++)
		known += list[i]->k.decoder != NULL;
	fprintf(f, "\n%" PRIu64 " kernels in the cubins, each target counted; ", s->entries);
	fprintf(f, "%zu different kernels%s%s%s, %zu of them known\n", n,
		glob ? " that match " : "", glob ? glob : "", "", known);
	if (n)
		fprintf(f, "\n registers    shared  kernel\n");
	for (size_t i = 0; list && i < n && i < NAMES_SHOWN; i++)
		print_kernel(list[i], f);
	if (n > NAMES_SHOWN)
		fprintf(f, "and %zu more; --match=GLOB picks, --json lists all\n", n - NAMES_SHOWN);
	free(list);
}

static json_t *json_code(const struct scan_code *c)
{
	static const char *const compression[] = {
		[FATBIN_PLAIN] = "plain", [FATBIN_LZ4] = "lz4", [FATBIN_ZSTD] = "zstd"};
	static const char *const kind[] = {
		[FATBIN_OTHER] = "other", [FATBIN_PTX] = "ptx", [FATBIN_ELF] = "cubin"};
	json_t *one =
		json_pack("{s:o, s:o}", "file", utf8_json(c->file), "in", utf8_json(c->where));
	char arch[24];

	if (c->kind == FATBIN_OTHER && c->damaged) {
		json_object_set_new(one, "damaged", json_true());
		return one;
	}
	json_object_set_new(one, "kind", json_string(kind[c->kind]));
	json_object_set_new(one, "arch",
			    json_string(scan_arch(c->kind, c->arch, c->variant, arch)));
	json_object_set_new(one, "compression", json_string(compression[c->compression]));
	json_object_set_new(one, "bytes", json_integer((json_int_t)c->bytes));
	json_object_set_new(one, "full", json_integer((json_int_t)c->full));
	json_object_set_new(one, "kernels", json_integer(c->kernels));
	if (c->relocatable)
		json_object_set_new(one, "relocatable", json_true());
	if (c->damaged)
		json_object_set_new(one, "damaged", json_true());
	return one;
}

static json_t *json_kernel(const struct scan_kernel *k)
{
	json_t *one = json_object(), *params = json_array(), *targets = json_array();
	char *name = readable_name(k->k.name), arch[24];

	json_object_set_new(one, "kernel", utf8_json(k->k.name));
	json_object_set_new(one, "name", utf8_json(name));
	free(name);
	for (uint32_t i = 0; i < k->k.nparam; i++) {
		json_t *p = json_pack("{s:I, s:I}", "offset", (json_int_t)k->k.param[i].offset,
				      "bytes", (json_int_t)k->k.param[i].bytes);

		if (i < 64 && k->pointers >> i & 1)
			json_object_set_new(p, "pointer", json_true());
		json_array_append_new(params, p);
	}
	if (!k->params_known) {
		json_decref(params);
		params = json_null();
	}
	json_object_set_new(one, "parameters", params);
	for (unsigned i = 0; i < k->ntarget; i++) {
		const struct scan_target *from = &k->target[i];
		json_t *t = json_pack("{s:s}", "arch",
				      scan_arch(from->kind, from->arch, from->variant, arch));

		if (from->registers >= 0)
			json_object_set_new(t, "registers", json_integer(from->registers));
		if (from->shared >= 0)
			json_object_set_new(t, "shared", json_integer(from->shared));
		json_array_append_new(targets, t);
	}
	json_object_set_new(one, "targets", targets);
	json_object_set_new(one, "copies", json_integer(k->copies));
	json_object_set_new(one, "decoder",
			    k->k.decoder ? json_string(k->k.decoder->name) : json_null());
	if (k->k.decoder == &sig_decoder) {
		const struct sig *sig = k->k.decoder_data;

		json_object_set_new(one, "signature", utf8_json(sig->label));
		json_object_set_new(one, "op", json_string(opcode_name(sig->code)));
	}
	return one;
}

void scan_print_json(const struct scan *s, const char *what, const char *glob, FILE *f)
{
	size_t n;
	struct scan_kernel **list = scan_sorted(s, glob, &n);
	json_t *all = json_object(), *code = json_array(), *kernels = json_array();

	json_object_set_new(all, "scanned", utf8_json(what));
	json_object_set_new(all, "cubins", json_integer(s->cubins));
	json_object_set_new(all, "ptx", json_integer(s->ptx));
	json_object_set_new(all, "other", json_integer(s->other));
	json_object_set_new(all, "damaged", json_integer(s->damaged));
	json_object_set_new(all, "kernels_in_cubins", json_integer((json_int_t)s->entries));
	for (size_t i = 0; i < s->ncode; i++)
		json_array_append_new(code, json_code(&s->code[i]));
	json_object_set_new(all, "code", code);
	for (size_t i = 0; list && i < n; i++)
		json_array_append_new(kernels, json_kernel(list[i]));
	json_object_set_new(all, "kernels", kernels);
	json_dumpf(all, f, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
	fputc('\n', f);
	json_decref(all);
	free(list);
}
