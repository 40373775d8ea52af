/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for elements that no thread shares with another. Declared in gen_write.h. */
#include "fused/gen_write.h"

static int body(FILE *f, const struct gen *g)
{
	struct gen_goal goal = {.name = "CHUNK", .value = -1};

	for (unsigned i = 0; i < g->r->nstmt; i++)
		goal.store[i] =
			g->live[i] && g->r->stmt[i].code == ROW_STORE && !gen_row_store(g, i);
	return gen_body(f, g, &goal);
}

static void head(FILE *f, const struct gen_shape *s)
{
	fprintf(f,
		"extern \"C\" __global__ void __launch_bounds__(%u) KERNEL%c(const "
		"__grid_constant__ PARAMS p)\n{\n"
		"\tenum { V = %u, U = %u };\n",
		s->threads, s->suffix, s->vec, s->each);
}

static void flat(FILE *f, const struct gen_shape *s)
{
	head(f, s);
	fprintf(f, "\tconst int64_t n = p.rows, whole = n / V, c = (int64_t)blockIdx.x * "
		   "blockDim.x * U "
		   "+ threadIdx.x;\n"
		   "\tROW w(p, 0);\n\n"
		   "\t{ /* no memory is larger than a grid */\n"
		   "\t\tCHUNK<V> b[U];\n\n"
		   "#pragma unroll\n\t\tfor (int k = 0; k < U; k++)\n"
		   "\t\t\tif (c + k * blockDim.x < whole)\n\t\t\t\tb[k].load(w, p, (c + k * "
		   "blockDim.x) * V);\n"
		   "#pragma unroll\n\t\tfor (int k = 0; k < U; k++)\n"
		   "\t\t\tif (c + k * blockDim.x < whole)\n\t\t\t\tb[k].run(w, p, 0, (c + k * "
		   "blockDim.x) * V);\n"
		   "\t}\n"
		   "\tif (V > 1 && blockIdx.x == 0)\n"
		   "\t\tfor (int64_t i = whole * V + threadIdx.x; i < n; i += blockDim.x) {\n"
		   "\t\t\tCHUNK<1> b;\n\n\t\t\tb.load(w, p, i);\n\t\t\tb.run(w, p, 0, "
		   "i);\n\t\t}\n}\n");
}

static void cells(FILE *f, const struct gen *g, const struct gen_shape *s)
{
	bool whole = !row_is_elementwise(g->r); /* then vec divides cols, which never changes */

	head(f, s);
	if (whole)
		fprintf(f, "\tconst int64_t each = %lld, all = p.rows * each;\n",
			(long long)(g->r->cols / s->vec));
	else
		fprintf(f, "\tconst int64_t each = (p.cols + V - 1) / V, all = p.rows * each;\n");
	fprintf(f, "\n\tfor (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < all;\n"
		   "\t     i += (int64_t)gridDim.x * blockDim.x) {\n"
		   "\t\tconst int64_t r = af::divide(i, each), c = (i - r * each) * V;\n"
		   "\t\tROW w(p, r);\n\n");
	if (whole) {
		fprintf(f, "\t\t{\n");
	} else {
		fprintf(f, "\t\tif (c + V > p.cols) {\n"
			   "\t\t\tfor (int64_t k = c; k < p.cols; k++) {\n"
			   "\t\t\t\tCHUNK<1> b;\n\n\t\t\t\tb.load(w, p, k);\n\t\t\t\tb.run(w, p, "
			   "0, k);\n"
			   "\t\t\t}\n\t\t} else {\n");
	}
	fprintf(f,
		"\t\t\tCHUNK<V> b;\n\n\t\t\tb.load(w, p, c);\n\t\t\tb.run(w, p, 0, c);\n\t\t}\n");
	gen_row_stores(f, g, "c == 0");
	fprintf(f, "\t}\n}\n");
}

int gen_cells_text(FILE *f, const struct gen *g, unsigned max_shmem)
{
	struct gen_shape shape[GEN_KERNELS];

	if (body(f, g))
		return -1;
	for (unsigned i = 0; i < gen_shapes(g, max_shmem, shape); i++) {
		if (g->form == GEN_FLAT)
			flat(f, &shape[i]);
		else
			cells(f, g, &shape[i]);
		fprintf(f, "AF_KERNEL(KERNEL%c)\n", shape[i].suffix);
	}
	return 0;
}
