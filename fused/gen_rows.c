/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels in which a warp or a block has a row. Declared in gen_write.h. */
#include "fused/gen_write.h"

#include <string.h>

/* What the walk of a phase is for. False: there is nothing to walk for. */
static bool goal_of(const struct gen *g, unsigned phase, struct gen_goal *goal)
{
	const struct row *r = g->r;
	bool any = false;

	memset(goal, 0, sizeof(*goal));
	goal->phase = phase;
	goal->value = -1;
	goal->late = g->late && !phase;
	for (unsigned i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];

		if (!g->live[i])
			continue;
		goal->store[i] = s->code == ROW_STORE && !gen_row_store(g, i) &&
				 gen_store_phase(g, i) == phase;
		goal->keep[i] = g->keep[i] && g->made[i] == phase;
		goal->extreme[i] = gen_extreme(r, i) && g->level[i] == phase + 1;
		any |= goal->store[i] || goal->keep[i] || goal->extreme[i];
	}
	return any;
}

static void order_text(FILE *f, const struct row_order *o)
{
	fprintf(f, "af::order<%u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u>", o->threads,
		o->walk == ORDER_walk_CONTIGUOUS, o->vec, o->part, o->inner, o->acc, o->tail,
		o->comb, o->fma == ORDER_fma_YES, o->warp == ORDER_warp_ASC, o->block, o->width,
		o->fast);
}

/* The elements that a reduction adds up, as one of gen_order.cuh's wants them. */
static int elements(FILE *f, const struct gen *g, unsigned i, bool own)
{
	const struct row *r = g->r;
	const struct row_stmt *s = &r->stmt[i];
	unsigned n = gen_nargs(r, i);
	char name[24];

	for (unsigned k = 0; k < n; k++) {
		struct gen_goal goal = {.name = name, .phase = g->level[i], .value = s->arg[k]};

		snprintf(name, sizeof(name), "OF%u_%u", i, k);
		if (gen_body(f, g, &goal))
			return -1;
	}
	fprintf(f,
		"struct ELEMENTS%u {\n\tenum { PRODUCT = %d, COLUMNS = %lld };\n\tconst ROW &w;\n"
		"\tconst PARAMS &p;\n\tconst STAGED &kept;\n",
		i, s->code == ROW_DOT, (long long)r->cols);
	for (unsigned k = 0; k < 2; k++)
		fprintf(f,
			"\t__device__ __forceinline__ %s %c(int i) const\n\t{\n\t\tOF%u_%u<1> "
			"b;\n\n"
			"\t\tb.load(w, p, i);\n\t\treturn b.value(w, p, kept, i, 0);\n\t}\n",
			gen_memory((enum dtype)s->type), "xy"[k], i, k < n ? k : 0);
	fprintf(f, "};\n");
	if (!own)
		return 0;
	fprintf(f,
		"template <int V, int S> struct OWN_ELEMENTS%u {\n\tenum { PRODUCT = %d "
		"};\n\tconst "
		"ROW &w;\n\tconst PARAMS &p;\n\tconst OWN<V> *kept;\n\tint at;\n",
		i, s->code == ROW_DOT);
	for (unsigned k = 0; k < 2; k++)
		fprintf(f,
			"\t__device__ __forceinline__ %s %c(int k, int j) const\n\t{\n"
			"\t\tconst int64_t c = (at + k * S) * V;\n\t\tOF%u_%u<V> b;\n\n"
			"\t\tb.load(w, p, c);\n\t\treturn b.value(w, p, kept[k], c, j);\n\t}\n",
			gen_memory((enum dtype)s->type), "xy"[k], i, k < n ? k : 0);
	fprintf(f, "};\n");
	return 0;
}

/* The reductions between phase - 1 and phase. */
static void reduce(FILE *f, const struct gen *g, unsigned phase, bool own)
{
	const struct row *r = g->r;

	for (unsigned i = 0; i < r->nstmt; i++) {
		const struct row_stmt *s = &r->stmt[i];
		const char *ops = gen_ops(s, (enum dtype)s->type);

		if (!g->live[i] || !gen_reduces(r, i) || g->level[i] != phase)
			continue;
		if (s->code == ROW_WELFORD_M2) {
			fprintf(f, "\t\tw.v%u = q%u.m2;\n", i, s->arg[0]);
		} else if (gen_extreme(r, i)) {
			if (g->varies[s->arg[0]])
				fprintf(f,
					"\t\tw.v%u = af::extreme<af::by_%s<af::%s> >(me, w.x%u, "
					"shared + %u);\n",
					i, row_code_name((enum row_code)s->code), ops, i,
					g->shared[i]);
			else
				fprintf(f, "\t\tw.v%u = af::by_%s<af::%s>::join(w.v%u, w.v%u);\n",
					i, row_code_name((enum row_code)s->code), ops, s->arg[0],
					s->arg[0]);
		} else {
			bool welford = s->code == ROW_WELFORD;

			if (own)
				fprintf(f,
					"\t\tconst OWN_ELEMENTS%u<V, S> e%u = {w, p, kept, at};\n"
					"\t\t",
					i, i);
			else
				fprintf(f, "\t\tconst ELEMENTS%u e%u = {w, p, kept};\n\t\t", i, i);
			if (welford)
				fprintf(f, "const af::welford_state<float> q%u", i);
			else
				fprintf(f, "w.v%u", i);
			fprintf(f, " = af::along_%s<", own ? "own" : "row");
			order_text(f, &r->order[s->at]);
			fprintf(f, ", af::%s<", welford ? "welford" : "sum");
			order_text(f, &r->order[s->at]);
			fprintf(f, ", af::%s, %sELEMENTS%u%s, %lld>%s >(me, e%u, shared + %u);\n",
				ops, own ? "OWN_" : "", i, own ? "<V, S>" : "", (long long)r->cols,
				own ? ", V, CHUNKS" : "", i, g->shared[i]);
			if (welford)
				fprintf(f, "\t\tw.v%u = q%u.mean;\n", i, i);
		}
	}
}

static bool reduces_staged(const struct gen *g, unsigned phase)
{
	for (unsigned i = 0; i < g->r->nstmt; i++)
		if (g->live[i] && gen_reduces(g->r, i) && !gen_extreme(g->r, i) &&
		    g->level[i] == phase)
			return true;
	return false;
}

/* Later phases that ask memory for something can do so before the reductions. */
static bool can_be_ahead(const struct gen *g, unsigned phase, const struct gen_goal *goal)
{
	return phase && gen_load_bytes(g, phase) && !goal->late && g->form == GEN_ROWS;
}

static void stores(FILE *f, const struct gen *g)
{
	if (g->scalar_in_place)
		fprintf(f, "\t\tme.sync(); /* what is stored now others have loaded */\n");
	gen_row_stores(f, g, "me.rank == 0");
}

static void row_loop(FILE *f, const struct gen *g)
{
	struct gen_goal goal;

	for (unsigned q = 0; q < g->nphase; q++) {
		unsigned bytes = gen_load_bytes(g, q);
		bool walks = goal_of(g, q, &goal);

		if (q) {
			if (reduces_staged(g, q))
				fprintf(f, "\t\tme.sync();\n");
			reduce(f, g, q, false);
			gen_row_values(f, g, q, "w.");
		}
		if (walks && can_be_ahead(g, q, &goal))
			fprintf(f, "\t\tif (AHEAD)\n\t\t\th%u.run(w, p, kept, at);\n\t\telse\n\t",
				q);
		if (walks)
			fprintf(f,
				"\t\taf::walk%s<PHASE%u<V>, V, S, CHUNKS, (UNDER_WAY > %u ? "
				"UNDER_WAY / "
				"%u : 1)>(w, p, kept, at%s);\n",
				goal.late ? "_late" : "", q, bytes < 16 ? 16 : bytes,
				bytes < 16 ? 16 : bytes, goal.late ? ", me" : "");
		for (unsigned k = 1; !q && k < g->nphase; k++)
			if (goal_of(g, k, &goal) && can_be_ahead(g, k, &goal))
				fprintf(f,
					"\t\taf::held<PHASE%u<V>, V, S, CHUNKS> h%u;\n\t\tif "
					"(AHEAD)\n"
					"\t\t\th%u.load(w, p, at);\n",
					k, k, k);
	}
	stores(f, g);
}

/* The same where a thread has its columns in registers. */
static void own_loop(FILE *f, const struct gen *g)
{
	struct gen_goal goal;

	fprintf(f, "\t\tOWN<V> kept[K];\n\n\t\t(void)kept;\n");
	for (unsigned q = 0; q < g->nphase; q++)
		if (goal_of(g, q, &goal)) {
			fprintf(f,
				"\t\taf::held<PHASE%u<V>, V, S, CHUNKS> h%u;\n"
				"\t\th%u.load(w, p, at);\n",
				q, q, q);
		}
	for (unsigned q = 0; q < g->nphase; q++) {
		if (q) {
			reduce(f, g, q, true);
			gen_row_values(f, g, q, "w.");
		}
		if (goal_of(g, q, &goal))
			fprintf(f, "\t\th%u.run_own(w, p, kept, at);\n", q);
	}
	stores(f, g);
}

static void kernel(FILE *f, const struct gen_shape *s)
{
	fprintf(f, "extern \"C\" __global__ void __launch_bounds__(%u", s->threads);
	if (s->blocks)
		fprintf(f, ", %u", s->blocks);
	fprintf(f, ") KERNEL%c(const __grid_constant__ PARAMS p)\n{\n", s->suffix);
	if (s->own)
		fprintf(f, "\town<%u, %u>(p);\n", s->threads, s->vec);
	else
		fprintf(f, "\trows<%u, %d, %d, %u>(p);\n", s->threads, s->warp, s->ahead,
			s->under_way);
	fprintf(f, "}\nAF_KERNEL(KERNEL%c)\n", s->suffix);
}

/* The loop over rows, of which a block or a warp mostly has one; what comes between is of each. */
static void rows_begin(FILE *f)
{
	fprintf(f, "\tfor (int64_t r = (int64_t)blockIdx.x * groups + mine; r < p.rows;) {\n"
		   "\t\tROW w(p, r);\n\n");
}
static void rows_end(FILE *f)
{
	fprintf(f, "\t\tr += (int64_t)gridDim.x * groups;\n"
		   "\t\tif (r < p.rows)\n"
		   "\t\t\tme.sync(); /* the next row takes the same shared memory */\n\t}\n}\n");
}

int gen_rows_text(FILE *f, const struct gen *g, unsigned max_shmem)
{
	struct gen_shape shape[GEN_KERNELS];
	unsigned n = gen_shapes(g, max_shmem, shape);
	bool own = false, staged = false;
	struct gen_goal goal;
	char name[24];

	for (unsigned i = 0; i < n; i++) {
		own |= shape[i].own;
		staged |= !shape[i].own;
	}
	gen_kept_text(f, g, own);
	for (unsigned q = 0; q < g->nphase; q++) {
		if (!goal_of(g, q, &goal))
			continue;
		snprintf(name, sizeof(name), "PHASE%u", q);
		goal.name = name;
		if (gen_body(f, g, &goal))
			return -1;
	}
	for (unsigned i = 0; i < g->r->nstmt; i++)
		if (g->live[i] && gen_reduces(g->r, i) && !gen_extreme(g->r, i) &&
		    g->r->stmt[i].code != ROW_WELFORD_M2 && elements(f, g, i, own))
			return -1;
	if (staged) {
		fprintf(f,
			"template <int THREADS, bool WARP, bool AHEAD, int UNDER_WAY>\n"
			"static __device__ __forceinline__ void rows(const PARAMS &p)\n{\n"
			"\tenum { V = %u, CHUNKS = %lld, S = WARP ? 32 : THREADS };\n"
			"\tconst af::group<WARP, THREADS> me;\n"
			"\tconst int groups = THREADS / S, mine = WARP ? (int)threadIdx.x / S : 0, "
			"at = "
			"me.rank;\n"
			"\tchar *const shared = (char *)af_shared + mine * %u;\n"
			"\tconst STAGED kept = {shared};\n\n",
			g->vec, (long long)gen_chunks(g), g->group_bytes);
		rows_begin(f);
		fprintf(f, "\t\t(void)at, (void)kept;\n");
		row_loop(f, g);
		rows_end(f);
	}
	if (own) {
		fprintf(f,
			"template <int THREADS, int V>\n"
			"static __device__ __forceinline__ void own(const PARAMS &p)\n{\n"
			"\tenum { CHUNKS = %lld / V, S = THREADS, K = (CHUNKS + S - 1) / S };\n"
			"\tconst af::group<false, THREADS> me;\n"
			"\tconst int groups = 1, mine = 0, at = me.rank;\n"
			"\tchar *const shared = (char *)af_shared;\n\n",
			(long long)g->r->cols);
		rows_begin(f);
		own_loop(f, g);
		rows_end(f);
	}
	for (unsigned i = 0; i < n; i++)
		kernel(f, &shape[i]);
	return 0;
}
