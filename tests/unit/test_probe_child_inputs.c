/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include <float.h>
#include <math.h>

#include "fused/candidate.h"
#include "shim/probe_child_inputs.h"

static const enum dtype types[] = {DT_f32, DT_f16, DT_bf16};
static const int64_t lengths[] = {1, 2, 3, 5, 8, 37, 288, 1000, 4096};

static void numbers_survive(void **state)
{
	for (unsigned t = 1; t < 3; t++)
		for (uint32_t bits = 0; bits < 65536; bits++) {
			uint16_t in = (uint16_t)bits, out;

			probe_store(types[t], &out, 0, probe_load(types[t], &in, 0));
			if (probe_is_nan(types[t], &in, 0))
				assert_true(probe_is_nan(types[t], &out, 0));
			else
				assert_int_equal(out, in);
		}
}

static void numbers_are_rounded_to_even(void **state)
{
	static const struct {
		enum dtype t;
		double v;
		uint16_t bits;
	} row[] = {
		{DT_f16, 1 + 0x1p-11, 0x3c00}, {DT_f16, 1 + 0x1p-11 + 0x1p-30, 0x3c01},
		{DT_f16, 1 + 0x3p-11, 0x3c02}, {DT_f16, 65519, 0x7bff},
		{DT_f16, 65520, 0x7c00},       {DT_f16, -1e9, 0xfc00},
		{DT_f16, 0x1p-25, 0x0000},     {DT_f16, 0x1.8p-25, 0x0001},
		{DT_f16, 0x1.ff8p-15, 0x03ff}, {DT_f16, 0x1.ffcp-15, 0x0400},
		{DT_bf16, 1 + 0x1p-8, 0x3f80}, {DT_bf16, 1 + 0x3p-8, 0x3f82},
		{DT_bf16, 0x1p-134, 0x0000},   {DT_bf16, 0x1.8p-134, 0x0001},
		{DT_bf16, FLT_MAX, 0x7f80},    {DT_bf16, -0.0, 0x8000},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		uint16_t bits;

		probe_store(row[i].t, &bits, 0, row[i].v);
		if (bits != row[i].bits)
			fail_msg("%s of %a: %04x, not %04x", dtype_name(row[i].t), row[i].v, bits,
				 row[i].bits);
	}
}

static void distances(void **state)
{
	float x[] = {1, 1, 0, -1, NAN, FLT_MAX}, y[] = {1, 1 + FLT_EPSILON, -0.0f, 1, 1, INFINITY};
	static const uint64_t want[] = {0, 1, 0, 2 * 0x3f800000ull, UINT64_MAX, 1};

	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(probe_distance(DT_f32, x, y, i), want[i]);
}

static struct probe_batch batch(enum dtype t, int64_t cols)
{
	struct probe_batch b;

	assert_true(probe_batch_init(&b, t, t, probe_batch_rows(t, cols), cols, 1e-5));
	return b;
}

static double sum_at(const struct probe_batch *b, int64_t i)
{
	double a = probe_load(b->type, b->a, i), c = probe_load(b->type, b->b, i), x = a + c;
	char stored[4];

	/* The sum as it is stored: most families choose it so that nothing is rounded. */
	probe_store(b->type, stored, 0, x);
	return probe_load(b->type, stored, 0);
}

static void equal_seeds_equal_rows(void **state)
{
	for (unsigned f = 0; f < PROBE_FAMILIES; f++)
		for (unsigned t = 0; t < 3; t++) {
			struct probe_batch x = batch(types[t], 300), y = batch(types[t], 300);
			size_t bytes = (size_t)(x.rows * 300) * dtype_bytes(types[t]);

			probe_batch_fill(&x, (enum probe_family)f, 3);
			probe_batch_fill(&y, (enum probe_family)f, 3);
			assert_memory_equal(x.a, y.a, bytes);
			assert_memory_equal(x.b, y.b, bytes);
			assert_memory_equal(x.w, y.w, 300 * dtype_bytes(types[t]));
			probe_batch_fill(&y, (enum probe_family)f, 4);
			if (f != PROBE_FAMILY_zeros)
				assert_memory_not_equal(x.a, y.a, bytes);
			probe_batch_free(&x);
			probe_batch_free(&y);
		}
}

#define NODE float
#define NODE_ZERO 0.0f
#define ADD(a, b) ((a) + (b))
#define SQUARE(i) (ctx[i] * ctx[i])
#define FUSE(a, i) fmaf(ctx[i], ctx[i], a)
#define ORDER_CTX const float *
#define ORDER_QUALIFIER
#define ORDER_FN float_sum
#include "fused/order.inc"

/* The families that say so really do not care for the order: spellings are told apart by them
 * alone. */
static void any_order_is_any_order(void **state)
{
	static const char *const order[] = {"t1-desc/div-rsqrt-xs.w",
					    "t256-desc-firstdesc/div-rsqrt-xs.w",
					    "t1024-asc-serial/div-rsqrt-xs.w",
					    "t512-v4-p4-nofma-desc-halving/div-rsqrt-xs.w",
					    "t64-a8-half-desc-all/div-rsqrt-xs.w",
					    "t128-contig-desc-firstasc/div-rsqrt-xs.w"};
	static float x[4096], scratch[2048];

	for (unsigned f = 0; f < PROBE_FAMILIES; f++)
		for (unsigned t = 0; probe_family_any_order((enum probe_family)f) && t < 3; t++)
			for (unsigned l = 0; l < sizeof(lengths) / sizeof(*lengths); l++) {
				struct probe_batch b = batch(types[t], lengths[l]);

				for (uint64_t seed = 1; seed < 6; seed++) {
					probe_batch_fill(&b, (enum probe_family)f, seed);
					for (int64_t r = 0; r < b.rows; r++) {
						float first = 0;

						for (int64_t i = 0; i < b.cols; i++)
							x[i] = (float)sum_at(&b, r * b.cols + i);
						for (unsigned o = 0;
						     o < sizeof(order) / sizeof(*order); o++) {
							struct candidate c;
							struct fields v;
							float sum;

							assert_int_equal(
								candidate_parse(order[o], &c), 0);
							candidate_unpack(c.code, &v);
							sum = float_sum(&v, b.cols, x, scratch);
							if (!o)
								first = sum;
							if (sum != first)
								fail_msg("%s %s, %lld columns, row "
									 "%lld: %a, %a",
									 probe_family_name(
										 (enum probe_family)
											 f),
									 dtype_name(types[t]),
									 (long long)b.cols,
									 (long long)r,
									 (double)first,
									 (double)sum);
						}
					}
				}
				probe_batch_free(&b);
			}
}

/* Families without subnormal numbers have none: flushing cannot matter for them. */
static void normal_is_normal(void **state)
{
	for (unsigned f = 0; f < PROBE_FAMILIES; f++)
		for (unsigned t = 0; probe_family_normal((enum probe_family)f) && t < 3; t++)
			for (unsigned l = 0; l < sizeof(lengths) / sizeof(*lengths); l++) {
				struct probe_batch b = batch(types[t], lengths[l]);

				probe_batch_fill(&b, (enum probe_family)f, 9);
				for (int64_t i = 0; i < b.rows * b.cols; i++) {
					double a = fabs(probe_load(b.type, b.a, i)),
					       c = fabs(probe_load(b.type, b.b, i));
					double x = fabs(sum_at(&b, i)),
					       w = fabs(probe_load(b.type, b.w, i % b.cols));

					assert_true(a == 0 || a >= FLT_MIN);
					assert_true(c == 0 || c >= FLT_MIN);
					assert_true(x == 0 || x * x >= FLT_MIN);
					assert_true(w >= 0x1p-4 && w <= 4);
				}
				probe_batch_free(&b);
			}
}

/* Rows of the overflow family end on either side of where a float overflows. */
static void overflow_is_on_the_edge(void **state)
{
	unsigned finite = 0, infinite = 0;

	for (unsigned t = 0; t < 3; t += 2)
		for (uint64_t seed = 1; seed < 40; seed++) {
			struct probe_batch b = batch(types[t], 1000);

			probe_batch_fill(&b, PROBE_FAMILY_overflow, seed);
			for (int64_t r = 0; r < b.rows; r++) {
				double ss = 0;

				for (int64_t i = 0; i < b.cols; i++)
					ss += pow(sum_at(&b, r * b.cols + i), 2);
				assert_true(fabs(ss / 0x1p128 - 1) < 0x1p-20);
				finite += ss < 0x1p128 - 0x1p103;
				infinite += ss >= 0x1p128 - 0x1p103;
			}
			probe_batch_free(&b);
		}
	assert_true(finite > 100 && infinite > 100);
}

/* 16-bit results of tuned rows change when the scale is off by one unit in the last place: one way
 * or the other, in a good part of all rows. */
static void tuned_rows_show_a_unit(void **state)
{
	static const enum probe_family tuned[] = {PROBE_FAMILY_exact, PROBE_FAMILY_wide};

	for (unsigned t = 1; t < 3; t++)
		for (unsigned k = 0; k < 2; k++) {
			struct probe_batch b = batch(types[t], 1000);
			unsigned shown = 0, rows = 0;

			for (uint64_t seed = 1; seed < 5; seed++) {
				probe_batch_fill(&b, tuned[k], seed);
				for (int64_t r = 0; r < b.rows; r++, rows++) {
					double ss = 0;
					bool up = false, down = false;
					float s;

					for (int64_t i = 0; i < b.cols; i++)
						ss += pow(sum_at(&b, r * b.cols + i), 2);
					s = (float)(1 / sqrt(ss / (double)b.cols + b.eps));
					for (int64_t i = 0; i < b.cols; i++) {
						float x = (float)sum_at(&b, r * b.cols + i);
						float w = (float)probe_load(b.type, b.w, i);
						uint16_t y, above, beneath;

						probe_store(b.type, &y, 0, (double)(x * s * w));
						probe_store(b.type, &above, 0,
							    (double)(x * nextafterf(s, 1e9f) * w));
						probe_store(b.type, &beneath, 0,
							    (double)(x * nextafterf(s, 0) * w));
						up |= above != y;
						down |= beneath != y;
					}
					shown += up || down;
				}
			}
			if (shown * 2 < rows)
				fail_msg("%s %s: %u of %u rows", dtype_name(types[t]),
					 probe_family_name(tuned[k]), shown, rows);
			probe_batch_free(&b);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_survive),
		cmocka_unit_test(numbers_are_rounded_to_even),
		cmocka_unit_test(distances),
		cmocka_unit_test(equal_seeds_equal_rows),
		cmocka_unit_test(any_order_is_any_order),
		cmocka_unit_test(normal_is_normal),
		cmocka_unit_test(overflow_is_on_the_edge),
		cmocka_unit_test(tuned_rows_show_a_unit),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
