/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include "fused/add_rmsnorm.h"
#include "fused/candidate.h"
#include "fused/check.h"

static const struct fused_device h200 = {132, 227 << 10};
static struct pattern pattern = {.nnode = 2};

/* Dense operands, each in a page of its own; shift elements off on one of them. */
static struct group group(enum dtype t, int64_t rows, int64_t cols)
{
	struct group g = {.pattern = &pattern,
			  .rows = rows,
			  .cols = cols,
			  .eps = 1e-5,
			  .has_eps = true,
			  .nbound = ADD_RMSNORM_NBOUND};

	for (unsigned i = 0; i < g.nbound; i++)
		g.bound[i] = (struct bound){.addr = 0x7f0000000000 + ((uint64_t)i << 36),
					    .pitch = i == ADD_RMSNORM_W ? 0 : cols * dtype_bytes(t),
					    .dtype = (uint8_t)t,
					    .use = i == ADD_RMSNORM_SUM || i == ADD_RMSNORM_OUT
							   ? BOUND_WRITE
							   : BOUND_READ};
	return g;
}

static struct add_rmsnorm_args launch(const struct group *g, const char *candidate,
				      const struct fused_device *d, struct fused_launch *l)
{
	struct add_rmsnorm_args a;
	struct candidate c;

	assert_int_equal(candidate_parse(candidate, &c), 0);
	assert_int_equal(fused_launch(g, &c, d, l), 0);
	assert_int_equal(l->param_bytes, sizeof(a));
	assert_string_equal(l->kernel, fused_kernels[l->index]);
	assert_in_range(l->block[0], 32, ADD_RMSNORM_THREADS);
	assert_int_equal(l->block[0] % 32, 0);
	assert_in_range(l->grid[0], 1, INT32_MAX);
	assert_in_range(l->shmem, 0, d->max_shmem);
	memcpy(&a, l->params, sizeof(a));
	return a;
}

static const char usual[] = "t256-desc-firstdesc/div-rsqrt-xs.w";

static void kernels_by_shape(void **state)
{
	static const struct {
		enum dtype t;
		int64_t rows, cols;
		const char *candidate, *kernel;
	} row[] = {
		{DT_bf16, 4096, 4096, usual, "af_add_rmsnorm_bf16_rows512x2"},
		{DT_bf16, 4096, 8192, usual, "af_add_rmsnorm_bf16_rows512x2"},
		{DT_bf16, 100, 8192, usual, "af_add_rmsnorm_bf16_row512x2"},
		{DT_bf16, 4096, 8200, usual, "af_add_rmsnorm_bf16_rows512x4"},
		{DT_bf16, 1, 8200, usual, "af_add_rmsnorm_bf16_row1024x2"},
		{DT_f16, 4096, 16384, usual, "af_add_rmsnorm_f16_rows512x4"},
		{DT_f32, 4096, 4096, usual, "af_add_rmsnorm_f32_rows512x4"},
		{DT_f32, 4096, 8192, usual, "af_add_rmsnorm_f32_rows512x4"},
		{DT_bf16, 4096, 16392, usual, "af_add_rmsnorm_bf16_block"},
		{DT_bf16, 4096, 8192, "t256-desc-halving/div-rsqrt-xs.w",
		 "af_add_rmsnorm_bf16_block"},
		{DT_f16, 1, 4096, usual, "af_add_rmsnorm_f16_row256x2"},
		{DT_f32, 1, 1, usual, "af_add_rmsnorm_f32_row256x1"},
		{DT_f32, 100000, 128, usual, "af_add_rmsnorm_f32_warp"},
		{DT_f32, 1, 131072, usual, "af_add_rmsnorm_f32_long"},
		{DT_bf16, 7, 1 << 20, "t256-desc-firstdesc/div-rsqrt-xs.w-ftz",
		 "af_add_rmsnorm_bf16_long_ftz"},
		{DT_bf16, 3, 4096, "t256-v8-desc-firstdesc/div-rsqrt-xs.w",
		 "af_add_rmsnorm_bf16_walk256x2"},
		{DT_f32, 3, 4096, "t256-v4-p4-desc-serial/div-rsqrt-xs.w-ftz",
		 "af_add_rmsnorm_f32_walk512x2_ftz"},
		{DT_bf16, 4096, 8192, "t256-v8-desc-firstdesc/div-rsqrt-xs.w",
		 "af_add_rmsnorm_bf16_walks512x2"},
		{DT_bf16, 65536, 128, "t1024-v4-p4-desc-firstdesc/div-rsqrt-xs.w",
		 "af_add_rmsnorm_bf16_block_any"},
		{DT_bf16, 3, 4096, "t256-v8-desc-halving/div-rsqrt-xs.w",
		 "af_add_rmsnorm_bf16_block_any"},
		{DT_bf16, 3, 4096, "t256-desc-firstdesc/div-xdiv-xs.w",
		 "af_add_rmsnorm_bf16_block_any"},
		{DT_f32, 3, 131072, "t256-a4-desc-firstdesc/div-rsqrt-xs.w-ftz",
		 "af_add_rmsnorm_f32_long_any_ftz"},
	};
	struct fused_launch l;

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct group g = group(row[i].t, row[i].rows, row[i].cols);

		launch(&g, row[i].candidate, &h200, &l);
		assert_string_equal(l.kernel, row[i].kernel);
	}
}

static void each_operand_has_its_width(void **state)
{
	/* Offset of one operand in bytes, extra bytes of its pitch: the width they leave. */
	static const struct {
		unsigned offset, pitch, width;
	} row[] = {{0, 0, 16},  {32, 0, 16}, {8, 0, 8}, {4, 0, 4}, {2, 0, 2},
		   {0, 16, 16}, {0, 8, 8},   {0, 4, 4}, {0, 2, 2}, {6, 4, 2}};
	static const unsigned slot[] = {ADD_RMSNORM_A, ADD_RMSNORM_B, ADD_RMSNORM_SUM,
					ADD_RMSNORM_OUT};
	static const unsigned operand[] = {OPERAND_A, OPERAND_B, OPERAND_SUM, OPERAND_OUT};

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++)
		for (unsigned s = 0; s < 4; s++) {
			struct group g = group(DT_bf16, 5, 512);
			struct add_rmsnorm_args a;
			struct fused_launch l;

			g.bound[slot[s]].addr += row[i].offset;
			g.bound[slot[s]].pitch += row[i].pitch;
			a = launch(&g, usual, &h200, &l);
			for (unsigned k = 0; k < 4; k++)
				assert_int_equal(a.width[operand[k]], k == s ? row[i].width : 16);
			assert_string_equal(l.kernel, row[i].width == 16
							      ? "af_add_rmsnorm_bf16_row256x1"
							      : "af_add_rmsnorm_bf16_block_any");
			assert_int_equal(a.pitch[operand[s]], 1024 + row[i].pitch);
			/* With one row the pitch is nobody's business. */
			g.rows = 1;
			a = launch(&g, usual, &h200, &l);
			assert_int_equal(a.width[operand[s]],
					 row[i].offset ? (row[i].offset & -row[i].offset) > 16
								 ? 16
								 : row[i].offset & -row[i].offset
						       : 16);
		}
}

static void refused(void **state)
{
	struct candidate c;
	struct fused_launch l;
	struct group g = group(DT_f32, 2, 512);

	assert_int_equal(candidate_parse(usual, &c), 0);
	g.bound[ADD_RMSNORM_OUT].addr += 2; /* not aligned to its elements */
	assert_int_equal(fused_launch(&g, &c, &h200, &l), -1);
	g = group(DT_f32, 2, 512);
	g.rows = 0;
	assert_int_equal(fused_launch(&g, &c, &h200, &l), -1);
	g = group(DT_f32, 2, INT64_C(1) << 40);
	assert_int_equal(fused_launch(&g, &c, &h200, &l), -1);
	g = group(DT_f64, 2, 512);
	assert_int_equal(fused_launch(&g, &c, &h200, &l), -1);
	g = group(DT_f32, 2, 512);
	g.bound[ADD_RMSNORM_W].dtype = DT_bf16;
	assert_int_equal(fused_launch(&g, &c, &h200, &l), -1);
	c.code = UINT64_MAX;
	g = group(DT_f32, 2, 512);
	assert_int_equal(fused_launch(&g, &c, &h200, &l), -1);
}

static void dead_sum_is_not_stored(void **state)
{
	struct group g = group(DT_bf16, 4, 512);
	struct fused_launch l;

	assert_true(launch(&g, usual, &h200, &l).addr[OPERAND_SUM] != 0);
	g.bound[ADD_RMSNORM_SUM].use = BOUND_DEAD;
	g.bound[ADD_RMSNORM_SUM].addr = g.bound[ADD_RMSNORM_OUT].addr;
	assert_int_equal(launch(&g, usual, &h200, &l).addr[OPERAND_SUM], 0);
}

/* Evidence for a group that stores the sum is evidence for one that does not: the same kernel. */
static void dead_sum_chooses_nothing(void **state)
{
	for (unsigned i = 0; i < 8; i++) {
		struct group g = group(DT_bf16, i & 1 ? 4 : 1000, i & 2 ? 512 : 200000);
		struct fused_launch stored, dead;
		struct add_rmsnorm_args a, b;

		if (i & 4)
			g.bound[ADD_RMSNORM_SUM].addr += 2;
		a = launch(&g, usual, &h200, &stored);
		g.bound[ADD_RMSNORM_SUM].use = BOUND_DEAD;
		b = launch(&g, usual, &h200, &dead);
		assert_int_equal(stored.index, dead.index);
		assert_memory_equal(stored.grid, dead.grid, sizeof(dead.grid));
		assert_memory_equal(stored.block, dead.block, sizeof(dead.block));
		assert_int_equal(stored.shmem, dead.shmem);
		assert_true(a.addr[OPERAND_SUM] && !b.addr[OPERAND_SUM]);
		a.addr[OPERAND_SUM] = 0;
		assert_memory_equal(&a, &b, sizeof(a));
	}
}

static void numbers_of_the_norm(void **state)
{
	struct group g = group(DT_bf16, 4, 1000);
	struct add_rmsnorm_args a;
	struct fused_launch l;

	a = launch(&g, usual, &h200, &l);
	assert_true(a.n == 1000.0f && a.inverse_n == 1.0f / 1000.0f && a.eps == 1e-5f &&
		    a.eps_double == 1e-5);
	g.has_eps = false;
	a = launch(&g, "t256-desc-firstdesc/div-rsqrt-xs.w-eps1e-06", &h200, &l);
	assert_true(a.eps == 1e-6f && a.eps_double == 1e-6);
	g = group(DT_f16, 4, 1000);
	g.bound[ADD_RMSNORM_W].dtype = DT_f32;
	assert_int_equal(launch(&g, usual, &h200, &l).weight_bytes, 4);
}

static void checks(void **state)
{
	struct compare_args c;
	struct publish_args p;
	struct fused_launch l;

	fused_compare(16, 100, 32, 200, 7, 11, DT_f16, 64, &l);
	memcpy(&c, l.params, sizeof(c));
	assert_string_equal(l.kernel, "af_compare_f16");
	assert_true(c.x == 16 && c.xpitch == 100 && c.y == 32 && c.ypitch == 200 && c.rows == 7 &&
		    c.cols == 11 && c.counter == 64);
	/* Without gaps all is one row. */
	fused_compare(16, 44, 32, 44, 7, 11, DT_f32, 64, &l);
	memcpy(&c, l.params, sizeof(c));
	assert_true(c.rows == 1 && c.cols == 77);
	fused_sweep(&(struct sweep_args){.x = 16, .rows = 1, .cols = 1000, .step = 1}, &l);
	assert_string_equal(l.kernel, "af_sweep");
	assert_true(l.grid[0] == 4 && l.block[0] == 256);
	fused_publish(64, 128, 5, &l);
	memcpy(&p, l.params, sizeof(p));
	assert_string_equal(l.kernel, "af_publish");
	assert_true(p.counter == 64 && p.slot == 128 && p.ticket == 5);
	assert_null(fused_kernels[fused_nkernels]);
}

/* Every float once; one of each stretch; and factors that are what they are said to be. */
static void sweeps(void **state)
{
	struct sweep_args every = {.first = 0xfffffff0u, .step = 1},
			  some = {.first = 7, .step = 4096};

	for (int64_t i = 0; i < 1 << 16; i++) {
		uint32_t at = 7 + (uint32_t)i * 4096, bits = sweep_bits(&some, i), factor;

		assert_int_equal(sweep_bits(&every, i), (uint32_t)(0xfffffff0u + i));
		assert_in_range(bits - at, 0, 4095);
		factor = sweep_factor(&some, bits) & 0x7fffffffu;
		assert_in_range(factor, 0x3e800000u, 0x407fffffu);
		every.ones = 1;
		assert_int_equal(sweep_factor(&every, bits) & 0x7fffffffu, 0x3f800000u);
	}
}

static void silu_by_shape(void **state)
{
	static const struct {
		enum dtype t;
		int64_t rows, cols, gap; /* bytes between rows of up */
		unsigned off;            /* of the gate, elements */
		const char *candidate, *kernel;
		int64_t a_rows, a_cols, blocks;
	} row[] = {
		{DT_f32, 5632, 1, 0, 0, "silu/exp-div", "af_silu_mul_f32", 1, 5632, 22},
		{DT_bf16, 1, 1, 0, 0, "silu/exp-div-ftz", "af_silu_mul_bf16_ftz", 1, 1, 1},
		{DT_bf16, 4096 * 8192, 1, 0, 0, "silu/exp-rcp", "af_silu_mul_bf16", 1, 4096 * 8192,
		 8192},
		{DT_f16, 100, 64, 0, 0, "silu/hexp-hdiv-rd", "af_silu_mul_f16", 1, 6400, 13},
		{DT_f32, 100, 1, 0, 0, "silu/exp-ddiv", "af_silu_mul_f32_any", 1, 100, 1},
		{DT_bf16, 100, 1, 0, 3, "silu/exp-div", "af_silu_mul_bf16_any", 1, 100, 1},
		{DT_bf16, 40, 100, 200, 0, "silu/exp-div", "af_silu_mul_bf16_any", 40, 100, 9},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct group g = {
			.pattern = &pattern_silu_mul, .rows = row[i].rows, .cols = row[i].cols};
		unsigned bytes = dtype_bytes(row[i].t);
		struct silu_mul_args a;
		struct fused_launch l;
		struct candidate c;

		for (unsigned k = 0; k < SILU_MUL_NBOUND; k++)
			g.bound[k] =
				(struct bound){.addr = 0x7f0000000000 + ((uint64_t)k << 36),
					       .pitch = row[i].cols * bytes,
					       .dtype = (uint8_t)row[i].t,
					       .use = k < SILU_MUL_SILU ? BOUND_READ : BOUND_WRITE};
		g.bound[SILU_MUL_UP].pitch += row[i].gap;
		g.bound[SILU_MUL_GATE].addr += row[i].off * bytes;
		assert_int_equal(candidate_parse(row[i].candidate, &c), 0);
		assert_int_equal(fused_launch(&g, &c, &h200, &l), 0);
		assert_string_equal(l.kernel, row[i].kernel);
		memcpy(&a, l.params, sizeof(a));
		assert_int_equal(a.rows, row[i].a_rows);
		assert_int_equal(a.cols, row[i].a_cols);
		assert_int_equal(l.grid[0], row[i].blocks);
		assert_true(a.addr[SILU_ACT]);
		/* Dead where the product overwrites it. */
		g.bound[SILU_MUL_SILU].use = BOUND_DEAD;
		assert_int_equal(fused_launch(&g, &c, &h200, &l), 0);
		assert_string_equal(l.kernel, row[i].kernel);
		memcpy(&a, l.params, sizeof(a));
		assert_false(a.addr[SILU_ACT]);
		/* Not a norm's candidate, nor an address that is no element's. */
		g.bound[SILU_MUL_OUT].addr++;
		assert_int_equal(fused_launch(&g, &c, &h200, &l), -1);
		assert_int_equal(candidate_parse(usual, &c), 0);
		assert_int_equal(fused_launch(&g, &c, &h200, &l), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_by_shape),
		cmocka_unit_test(each_operand_has_its_width),
		cmocka_unit_test(refused),
		cmocka_unit_test(dead_sum_is_not_stored),
		cmocka_unit_test(dead_sum_chooses_nothing),
		cmocka_unit_test(numbers_of_the_norm),
		cmocka_unit_test(silu_by_shape),
		cmocka_unit_test(checks),
		cmocka_unit_test(sweeps),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
