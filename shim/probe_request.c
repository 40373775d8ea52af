/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/probe_request.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/json.h"
#include "matcher/row_pick.h"
#include "shim/cache.h"
#include "shim/compile.h"
#include "shim/kernels.h"
#include "shim/process.h"

static void numbers(FILE *f, const char *name, const uint32_t v[3])
{
	fprintf(f, ", \"%s\": [%u, %u, %u]", name, v[0], v[1], v[2]);
}

static void operand(FILE *f, const struct operand *o)
{
	fprintf(f,
		"{\"role\": \"%s\", \"dtype\": \"%s\", \"access\": %u, \"addr\": \"%" PRIx64
		"\", \"size\": [",
		role_name(o->role), dtype_name(o->dtype), o->access, o->addr);
	for (unsigned i = 0; i < o->ndim; i++)
		fprintf(f, "%s%" PRId64, i ? ", " : "", o->size[i]);
	fputs("], \"stride\": [", f);
	for (unsigned i = 0; i < o->ndim; i++)
		fprintf(f, "%s%" PRId64, i ? ", " : "", o->stride[i]);
	fputs("]}", f);
}

static uint64_t bits_of(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static void op(FILE *f, const struct op *op)
{
	fprintf(f, ", \"op\": {\"code\": \"%s\", \"rows\": %" PRId64 ", \"cols\": %" PRId64,
		opcode_name(op->code), op->rows, op->cols);
	if (op->has_eps)
		fprintf(f, ", \"eps\": %.17g", op->eps);
	if (op->plus_one)
		fputs(", \"plus_one\": 1", f);
	if (op->compute)
		fprintf(f, ", \"compute\": \"%s\"", dtype_name((enum dtype)op->compute));
	if (op->nscalar)
		fputs(", \"scalar\": [", f);
	for (unsigned i = 0; i < op->nscalar; i++) /* bits: it may be no number */
		fprintf(f, "%s\"%016" PRIx64 "\"", i ? ", " : "", bits_of(op->scalar[i]));
	if (op->nscalar)
		fputs("]", f);
	fputs(", \"operand\": [", f);
	for (unsigned i = 0; i < op->noperand; i++) {
		fputs(i ? ", " : "", f);
		operand(f, &op->operand[i]);
	}
	fputs("], \"slot\": [", f);
	for (unsigned i = 0; i < op->nslot; i++)
		fprintf(f, "%s[%u, %u, \"%s\"]", i ? ", " : "", op->slot[i].offset,
			op->slot[i].bytes, role_name(op->slot[i].role));
	fputs("]}", f);
}

static void member(FILE *f, const struct member *m, const char *file, uint64_t offset, bool chain)
{
	char name[ROW_PICK_NAME_MAX];
	struct row_pick pick;
	const struct kernel *k = m->launch.kernel;
	const struct image *img = ((const struct kernel_rec *)k)->image;

	fputs("{\"name\": ", f);
	json_text(f, k->name);
	fprintf(f,
		", \"hash\": \"%016" PRIx64 "%016" PRIx64 "\", \"image\": {\"file\": ", k->image[0],
		k->image[1]);
	json_text(f, file);
	fprintf(f, ", \"offset\": %" PRIu64 ", \"bytes\": %" PRIu64 "}", offset, img->bytes);
	numbers(f, "grid", m->launch.grid);
	numbers(f, "block", m->launch.block);
	fprintf(f, ", \"shmem\": %u, \"params\": \"", m->launch.shmem);
	for (uint32_t i = 0; i < k->param_bytes; i++)
		fprintf(f, "%02x", m->launch.params[i]);
	fputs("\", \"param\": [", f);
	for (uint32_t i = 0; i < k->nparam; i++)
		fprintf(f, "%s[%u, %u]", i ? ", " : "", k->param[i].offset, k->param[i].bytes);
	fputs("]", f);
	op(f, &m->op);
	if (chain && row_pick_known(&m->op, &m->launch, &pick)) {
		row_pick_name(&pick, name);
		fprintf(f, ", \"pick\": \"%s\"", name);
	}
	fputs("}", f);
}

/* Kernels are generated: with what they are compiled. */
static void compiler(FILE *f, const struct options *o)
{
	char *places = compile_places();

	fprintf(f, ", \"images\": %lld, \"places\": ", (long long)o->cache_size);
	json_text(f, places ? places : "");
	free(places);
}

/* What may stand in for a pattern's group. */
static const char *stand_in(const struct options *o)
{
	if (!o->generated || o->stand_in == STAND_IN_WRITTEN)
		return "written";
	return o->stand_in == STAND_IN_GENERATED ? "generated" : "measured";
}

void probe_request(FILE *f, const struct verdict *v, const struct group *g, int device,
		   char (*image_file)[4096], const uint64_t *image_offset)
{
	const struct options *o = &process.config.opt;

	fprintf(f,
		"{\"pattern\": \"%s\", \"device\": %d, \"key\": \"%016" PRIx64 "%016" PRIx64
		"\", \"site\": \"%016" PRIx64 "\", \"cache\": ",
		g->pattern->name, device, v->key.hash[0], v->key.hash[1], v->site[0]);
	json_text(f, cache_dir() ? cache_dir() : "none");
	fprintf(f, ", \"seconds\": %ld, \"share\": %ld, \"inputs\": ", o->probe_seconds,
		o->probe_share);
	json_text(f, o->probe_inputs);
	fputs(", \"candidates\": ", f);
	json_text(f, o->candidates);
	fprintf(f, ", \"numerics\": \"%s\"", o->numerics == NUMERICS_CLOSE ? "close" : "exact");
	if (g->row)
		fputs(", \"chain\": 1", f);
	else
		fprintf(f, ", \"stand_in\": \"%s\"", stand_in(o));
	if (g->row || strcmp(stand_in(o), "written") != 0)
		compiler(f, o);
	fputs(", \"member\": [", f);
	for (unsigned i = 0; i < group_size(g); i++) {
		fputs(i ? ", " : "", f);
		member(f, g->member[i], image_file[i], image_offset[i], g->row != NULL);
	}
	fputs("]}\n", f);
}
