// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <sys/stat.h>

#include "tools/infer.h"
#include "tools/text.h"

enum { WIDEST = 40 };

static const char *shown(const struct infer_kernel *k)
{
	return k->readable ? k->readable : k->name;
}

static void sections(const struct inferred *f, FILE *out)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->kernel[i].section)
			fprintf(out, "\n%s", f->kernel[i].section);
}

void inferred_text(const struct inferred *f, FILE *out)
{
	size_t width = 0, have;

	if (!f->n) {
		fprintf(out, "\nNothing to infer: signatures know every kernel.\n");
		return;
	}
	if (f->found)
		fprintf(out,
			"\nSections for your configuration, inferred by probing (%u of %u kernel%s "
			"that no signature knows):\n",
			f->found, f->n, f->n == 1 ? "" : "s");
	else
		fprintf(out,
			"\nNo signature could be inferred for the %u kernel%s that none "
			"knows.\n",
			f->n, f->n == 1 ? "" : "s");
	sections(f, out);
	if (f->found < f->n)
		fprintf(out, "\nNot inferred:\n");
	for (unsigned i = 0; i < f->n; i++)
		if (!f->kernel[i].section && (have = text_width(shown(&f->kernel[i]))) > width)
			width = have < WIDEST ? have : WIDEST;
	for (unsigned i = 0; i < f->n; i++) {
		const struct infer_kernel *k = &f->kernel[i];

		have = text_width(shown(k));
		if (!k->section)
			fprintf(out, "  %s%*s  %s\n", shown(k),
				have < width ? (int)(width - have) : 0, "", k->reason);
	}
}

json_t *inferred_json(const struct inferred *f)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < f->n; i++) {
		const struct infer_kernel *k = &f->kernel[i];

		json_array_append_new(list, json_pack("{s:s?, s:s, s:I, s:s}", "kernel", shown(k),
						      "mangled", k->name, "launches",
						      (json_int_t)k->launches,
						      k->section ? "section" : "reason",
						      k->section ? k->section : k->reason));
	}
	return list;
}

void infer_offer(const struct listing *l, FILE *out)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < l->nkernel; i++)
		n += !l->kernel[i].k->decoder;
	if (n)
		fprintf(out,
			"\nNo signature knows %u of the kernels; --infer tries out what they "
			"compute.\n",
			n);
}

bool inferred_in_use(const struct config *c, const char *path)
{
	struct stat st, used;

	for (const struct config_kernel *k = c->kernel; k && !stat(path, &st); k = k->next)
		if (!stat(k->file, &used) && st.st_dev == used.st_dev && st.st_ino == used.st_ino)
			return true;
	return false;
}

void inferred_file(const struct inferred *f, FILE *out)
{
	if (!fseek(out, 0, SEEK_END) && ftell(out) > 0) { /* added to what is there */
		sections(f, out);
		return;
	}
	fprintf(out,
		"; Inferred by `autofuse trace --infer`: claims, not proof. Before anything is "
		"fused, a probe and\n; live checks compare byte by byte.\n");
	sections(f, out);
}
