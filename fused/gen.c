/* SPDX-License-Identifier: Apache-2.0 */
#include "fused/gen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fused/gen_write.h"

static const char prelude[] =
#define GEN_PRELUDE(line) line "\n"
#include "gen_prelude.def"
#undef GEN_PRELUDE
	;

const char *gen_prelude(void)
{
	return prelude;
}

const char *gen_cannot(const struct row *r, const struct fused_device *d)
{
	struct gen g;

	return gen_plan(&g, r, d->max_shmem);
}

int gen_split(const struct row *r, struct gen_parts *p)
{
	p->n = row_is_late(r) ? 2 : 1;
	if (p->n == 2)
		return row_split(r, &p->row[0], &p->row[1]) ? -1 : 0;
	row_copy(&p->row[0], r);
	return 0;
}

const char *gen_cannot_parts(const struct row *r, const struct fused_device *d)
{
	const char *why = NULL;
	struct gen_parts p;

	if (!row_is_late(r))
		return gen_cannot(r, d);
	if (gen_split(r, &p))
		return "stores that have to wait for all rows, and cannot";
	for (unsigned i = 0; i < p.n && !why; i++)
		why = gen_cannot(&p.row[i], d);
	return why;
}

void gen_kernel_name(char name[GEN_NAME], const struct gen *g, char suffix)
{
	snprintf(name, GEN_NAME, "af_row_%016" PRIx64 "%c", g->name, suffix);
}

/* Every program has its own namespace; kernels are extern "C", with its hash in their names. */
int gen_program(FILE *f, const struct row *r, const struct fused_device *d)
{
	static const char suffixes[] = "cefolmw"; /* gen_shapes.c */
	struct gen g;

	if (gen_plan(&g, r, d->max_shmem))
		return -1;
	for (const char *k = suffixes; *k; k++)
		fprintf(f, "#define KERNEL%c af_row_%016" PRIx64 "%c\n", *k, g.name, *k);
	fprintf(f, "namespace af_row_%016" PRIx64 "\n{\n", g.name);
	gen_row_text(f, &g);
	if (g.form == GEN_FLAT || g.form == GEN_CELLS ? gen_cells_text(f, &g, d->max_shmem)
						      : gen_rows_text(f, &g, d->max_shmem))
		return -1;
	fprintf(f, "}\n");
	for (const char *k = suffixes; *k; k++)
		fprintf(f, "#undef KERNEL%c\n", *k);
	return 0;
}

char *gen_text(const struct row *r, const struct fused_device *d)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int rc;

	if (!f)
		return NULL;
	fputs(prelude, f);
	rc = gen_program(f, r, d);
	if (fclose(f) || rc) {
		free(text);
		return NULL;
	}
	return text;
}

unsigned gen_kernels(const struct row *r, const struct fused_device *d,
		     char name[GEN_KERNELS][GEN_NAME])
{
	struct gen_shape s[GEN_KERNELS];
	struct gen g;
	unsigned n;

	if (gen_plan(&g, r, d->max_shmem))
		return 0;
	n = gen_shapes(&g, d->max_shmem, s);
	for (unsigned i = 0; i < n; i++)
		gen_kernel_name(name[i], &g, s[i].suffix);
	return n;
}
