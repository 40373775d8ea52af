// SPDX-License-Identifier: Apache-2.0
/*
 * ATen's decoders on launches made here: what recordings do not have, and what must be refused
 * because it contradicts itself.
 */
#include "atens.h"

#include "matcher/aten_name.h"
#include "matcher/key.h"

#define VECTORIZED(v, f, n)                                                                        \
	"_ZN2at6native29vectorized_elementwise_kernelILi" v "ENS0_" f "ESt5arrayIPcLm" n           \
	"EEEEviT0_T1_"
#define STRIDED(v, f)                                                                              \
	"_ZN2at6native18elementwise_kernelILi128ELi" v "EZNS0_22gpu_kernel_impl_nocastINS0_" f     \
	"EEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_"
#define MUL "13BinaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEE"
#define COPY                                                                                       \
	"_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaERNS_18"       \
	"TensorIteratorBaseEENKUlvE1_clEvENKUlvE5_clEvEUlfE_St5arrayIPcLm2EELi4E23"                \
	"TrivialOffsetCalculatorILi1EjESB_NS0_6memory12LoadWithCastILi1EEENSC_13"                  \
	"StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_"
#define POW                                                                                        \
	"_ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_51_GLOBAL__N__b1108092_12_"         \
	"PowKernel_cu_751192d7_2139629pow_tensor_scalar_kernel_implIffEEvRNS_18TensorIterator"     \
	"BaseET0_EUlfE%s_St5arrayIPcLm2EEEEviS6_T1_"
#define CLAMP                                                                                      \
	"_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_49_GLOBAL__N__d2ba64fb_16_"       \
	"TensorCompare_cu_71e06f4e19launch_clamp_scalarERNS_18TensorIteratorBaseEN3c106Scalar"     \
	"ES6_NS0_6detail11ClampLimitsEENKUlvE_clEvENKUlvE5_clEvEUlfE_St5arrayIPcLm2EEEEviT0_T1_"
#define CLAMP16                                                                                    \
	"_ZN2at6native29vectorized_elementwise_kernelILi8EZZZNS0_49_GLOBAL__N__d2ba64fb_16_"       \
	"TensorCompare_cu_71e06f4e19launch_clamp_scalarERNS_18TensorIteratorBaseEN3c106Scalar"     \
	"ES6_NS0_6detail11ClampLimitsEENKUlvE_clEvENKUlvE3_clEvEUlsE_St5arrayIPcLm2EEEEviT0_T1_"
#define ISNEGINF                                                                                   \
	"_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_49_GLOBAL__N__d2ba64fb_16_"       \
	"TensorCompare_cu_71e06f4e20isneginf_kernel_implERNS_18TensorIteratorBaseEENKUlvE_"        \
	"clEvENKUlvE0_clEvEUlfE_St5arrayIPcLm2EEEEviT0_T1_"
#define MEAN                                                                                       \
	"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4ELi4E"      \
	"EEEEvT1_"
#define TRIL                                                                                       \
	"_ZN2at6native16triu_tril_kernelIfiLb0ELi2ELb0EEEvNS_4cuda6detail10TensorInfoIT_T0_E"      \
	"ENS4_IKS5_S6_EEllS6_"

static struct param param[16];
static char name[1024];
static struct kernel kernel;
static uint8_t bytes[2048];
static struct launch launch;

/* A kernel whose parameters are {offset, bytes} up to {0, 0}, all bytes of them `fill`. */
static void make(const char *mangled, const struct param *p, uint8_t fill, uint32_t grid,
		 uint32_t block)
{
	memset(&kernel, 0, sizeof(kernel));
	strcpy(name, mangled);
	kernel.name = name;
	kernel.param = param;
	for (; p->bytes; p++) {
		param[kernel.nparam++] = *p;
		kernel.param_bytes = p->offset + p->bytes;
	}
	memset(bytes, fill, sizeof(bytes));
	decode_kernel(&kernel);
	launch = (struct launch){
		.kernel = &kernel, .grid = {grid, 1, 1}, .block = {block, 1, 1}, .params = bytes};
}

static void put32(unsigned at, uint32_t v)
{
	memcpy(bytes + at, &v, 4);
}

static void putf(unsigned at, float v)
{
	memcpy(bytes + at, &v, 4);
}

static void put64(unsigned at, uint64_t v)
{
	memcpy(bytes + at, &v, 8);
}

static const char *decoded(void)
{
	static struct op op;
	enum reason why;

	if (!kernel.decoder)
		return "unknown";
	why = decode_launch(&launch, &op);
	return why ? reason_word(why) : atens_spell(&op);
}

#define expect(text) assert_string_equal(decoded(), text)

static void test_alpha(void **arg)
{
	static const struct param p[] = {{0, 4}, {4, 4}, {8, 24}, {0, 0}};

	make(VECTORIZED("4", "15CUDAFunctor_addIfE", "3"), p, 0, 1, 128);
	put32(0, 100);
	for (unsigned i = 0; i < 3; i++)
		put64(8 + 8 * i, 0x10000 * (i + 1));
	putf(4, 1);
	expect("add out=f32[100] in0=f32[100] in1=f32[100]");
	putf(4, -1);
	expect("sub out=f32[100] in0=f32[100] in1=f32[100]");
	putf(4, 3);
	expect("add out=f32[100] in0=f32[100] in1=f32[100] 3");
	launch.grid[0] = 2; /* for 513 elements at least */
	expect("shape");
	launch.grid[0] = 1;
	put64(16, 0x20002);
	expect("shape");
	put64(16, 0);
	expect("shape");
	put64(16, 0x20000);
	put32(0, 0);
	expect("shape");
	put32(0, (uint32_t)-5);
	expect("shape");
}

/* Another functor of that name, or another version's array, would have other sizes. */
static void test_layouts(void **arg)
{
	static const struct param row[][4] = {
		{{0, 4}, {4, 8}, {16, 24}, {0, 0}}, {{0, 8}, {8, 4}, {16, 24}, {0, 0}},
		{{0, 4}, {4, 4}, {8, 16}, {0, 0}},  {{0, 4}, {4, 4}, {8, 32}, {0, 0}},
		{{0, 4}, {8, 4}, {16, 24}, {0, 0}}, {{0, 4}, {4, 4}, {0, 0}},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		make(VECTORIZED("4", "15CUDAFunctor_addIfE", "3"), row[i], 0, 1, 128);
		expect("unknown");
	}
	make(VECTORIZED("4", "15CUDAFunctor_addIN3c107complexIfEEE", "3"), row[0], 0, 1, 128);
	expect("unknown");
	make("_ZN6mylib29vectorized_elementwise_kernelILi4ENS_15CUDAFunctor_addIfEESt5arrayIPcLm3"
	     "EEEEviT0_T1_",
	     (struct param[]){{0, 4}, {4, 4}, {8, 24}, {0, 0}}, 0, 1, 128);
	expect("unknown");
}

static void test_lambdas(void **arg)
{
	static const struct param plain[] = {{0, 4}, {8, 8}, {16, 16}, {0, 0}},
				  number[] = {{0, 4}, {8, 16}, {24, 16}, {0, 0}},
				  clamp[] = {{0, 4}, {8, 24}, {32, 16}, {0, 0}},
				  small[] = {{0, 4}, {8, 16}, {24, 16}, {0, 0}},
				  none[] = {{0, 4}, {4, 1}, {8, 16}, {0, 0}};
	static const struct {
		const char *lambda;
		const struct param *p;
		const char *op;
	} row[] = {
		{"", plain, "square out=f32[100] in0=f32[100]"},
		{"0", plain, "pow out=f32[100] in0=f32[100] 3"},
		{"1", plain, "touch out=f32[100] in0=f32[100]"}, /* 1 / square */
		{"2", number, "pow out=f32[100] in0=f32[100] 1.5"},
		{"2", plain, "unknown"},
		{"", number, "unknown"},
	};
	char text[1024];

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		snprintf(text, sizeof(text), POW, row[i].lambda);
		make(text, row[i].p, 0x55, 1, 128);
		put32(0, 100);
		putf(8, 1.5f);
		put64(row[i].p[2].offset, 0x10000);
		put64(row[i].p[2].offset + 8, 0x20000);
		expect(row[i].op);
	}
	make(CLAMP, clamp, 0, 1, 128);
	put32(0, 100);
	put64(24, 0x7fff12345678); /* the host's pointer */
	put64(32, 0x10000);
	put64(40, 0x10000);
	expect("relu out=f32[100] in0=f32[100]");
	putf(12, 6);
	expect("touch out=f32[100] in0=f32[100]");
	make(CLAMP16, small, 0, 1, 128);
	put32(0, 100);
	put64(16, 0x7fff12345678);
	put64(24, 0x10000);
	put64(32, 0x10000);
	expect("relu out=i16[100] in0=i16[100]");
	put32(12, 5); /* the limit */
	expect("touch out=i16[100] in0=i16[100]");
	make(ISNEGINF, none, 0x8d, 1, 128); /* as a T5 launches it */
	put32(0, 100);
	put64(8, 0x10000);
	put64(16, 0x20000);
	expect("touch out=bool[100] in0=f32[100]");
}

/* Dimension d of a closure with n tensors: its size, and a stride in bytes for each. */
static void put_dim(unsigned d, unsigned n, uint32_t size, const uint32_t stride[])
{
	unsigned shift = 0;

	while (1u << shift < size)
		shift++;
	put32(8 + 4 + 12 * d, size);
	put32(8 + 8 + 12 * d, (uint32_t)(((uint64_t)((1u << shift) - size) << 32) / size) + 1);
	put32(8 + 12 + 12 * d, shift);
	for (unsigned t = 0; t < n; t++)
		put32(8 + 304 + 4 * (n * d + t), stride[t]);
}

static void make_strided(uint32_t n)
{
	static const struct param p[] = {{0, 4}, {8, 648}, {0, 0}};

	make(STRIDED("2", MUL), p, 0xee, (n + 255) / 256, 128);
	put32(0, n);
	for (unsigned t = 0; t < 3; t++)
		put64(8 + 608 + 8 * t, 0x100000 * (t + 1));
}

static void test_strided(void **arg)
{
	make_strided(60);
	put32(8, 3);
	put_dim(0, 3, 5, (uint32_t[]){4, 4, 0});
	put_dim(1, 3, 4, (uint32_t[]){20, 32, 4});
	put_dim(2, 3, 3, (uint32_t[]){80, 128, 16});
	expect("mul out=f32[12x5] in0=f32[12+32x5] in1=f32[12+4x5+0]");
	put32(8 + 8, 7); /* a magic number that does not divide by 5 */
	expect("shape");
	put_dim(0, 3, 5, (uint32_t[]){4, 4, 0});
	put32(0, 59);
	expect("shape");
	put32(0, 60);
	launch.grid[0] = 2;
	expect("shape");
	launch.grid[0] = 1;
	put_dim(0, 3, 5, (uint32_t[]){0, 4, 0}); /* five results in one place */
	expect("shape");
	put_dim(0, 3, 5, (uint32_t[]){4, 2, 0}); /* between elements */
	expect("shape");
	put_dim(0, 3, 5, (uint32_t[]){4, 0x40000000, 0});
	expect("shape");
	put_dim(0, 3, 5, (uint32_t[]){4, 4, 0});
	put32(8, 26);
	expect("shape");
	put32(8, 3);
	put_dim(1, 3, 1, (uint32_t[]){999, 999, 999}); /* of size 1: means nothing */
	put32(0, 15);
	expect("mul out=f32[3+80x5] in0=f32[3+128x5] in1=f32[3+16x5+0]");
}

/* More dimensions than an operand has: all from the first to the last byte, and the result is not
 * said to be overwritten. */
static void test_many_dimensions(void **arg)
{
	make_strided(32);
	put32(8, 5);
	for (unsigned d = 0; d < 5; d++)
		put_dim(d, 3, 2, (uint32_t[]){12u << d, 16u << (2 * d), 4});
	expect("touch out=f32[94] in0=f32[1365] in1=f32[6] out<=f32[94]");
}

static void test_casts(void **arg)
{
	static const struct param p[] = {{0, 4},  {4, 1},  {8, 16}, {24, 1},
					 {25, 1}, {28, 8}, {36, 8}, {0, 0}};

	make(COPY, p, 0x77, 1, 128);
	put32(0, 64);
	put64(8, 0x10000);
	put64(16, 0x20000);
	bytes[28] = 15; /* bf16 */
	put32(32, 2);
	bytes[36] = 6; /* f32 */
	put32(40, 4);
	expect("copy out=f32[64] in0=bf16[64]");
	put32(32, 4);
	expect("shape");
	bytes[28] = 4; /* i64, by way of f32 to f32 */
	put32(32, 8);
	expect("copy out=f32[64] in0=i64[64]");
	bytes[36] = 7; /* i64, rounded to f32, to f64 */
	put32(40, 8);
	expect("touch out=f64[64] in0=i64[64]");
	bytes[28] = 9; /* complex */
	expect("shape");
}

static void make_mean(uint32_t rows, uint32_t cols, uint32_t width, uint32_t height, bool y)
{
	static const struct param p[] = {{0, 1048}, {0, 0}};

	make(MEAN, p, 0, y ? rows : (rows + height - 1) / height, width);
	launch.block[1] = height;
	launch.shmem = y || width > 32 ? 4 * width * height : 0;
	putf(0, 1.f / (float)cols);
	put32(8, 4);
	put32(12, cols);
	put32(16, rows);
	put32(20, y ? width * height : width);
	put32(24, y ? 1 : height);
	put32(28, 1);
	put32(32, 1);
	put32(36, y ? width : 0);
	put32(48, y ? 0 : 1);
	put32(52, width);
	put32(56, height);
	put32(60, width * height);
	bytes[64] = 1;
	put32(68, 1);
	/* one dimension each: cols; rows */
	put32(72, 1);
	put_dim(0, 1, cols, (uint32_t[]){4});
	memcpy(bytes + 76, bytes + 12, 12);
	put32(72 + 304, 4);
	put32(12, cols);
	put32(16, rows);
	put32(20, y ? width * height : width);
	put32(476, 1);
	put_dim(40, 1, rows, (uint32_t[]){0});
	memcpy(bytes + 480, bytes + 8 + 4 + 12 * 40, 12);
	put32(476 + 304, 4);
	put32(476 + 308, 4 * cols);
	memset(bytes + 492, 0, 200);
	put64(984, 0x100000);
	put64(992, 0x200000);
	bytes[1041] = 1;
	put32(1044, 1);
}

static void test_reduce(void **arg)
{
	struct op op;

	make_mean(128, 2048, 32, 16, false);
	expect("mean out=f32[128] in0=f32[128x2048] 0.000488281");
	assert_int_equal(decode_launch(&launch, &op), REASON_NONE);
	assert_int_equal(op.rows, 128);
	assert_int_equal(op.cols, 2048);
	assert_int_equal(op.order.width, 32);
	assert_int_equal(op.order.height, 16);
	assert_int_equal(op.order.vector, 4);
	assert_int_equal(op.order.vt, 4);
	assert_int_equal(op.order.step, 32);
	assert_true(op.order.along_x && !op.order.along_y);
	assert_int_equal(op.order.blocks, 1);
	bytes[64] = 0;
	assert_int_equal(decode_launch(&launch, &op), REASON_NONE);
	assert_int_equal(op.order.vector, 0);
	bytes[64] = 2;
	expect("shape");

	make_mean(1, 8192, 32, 16, true);
	assert_int_equal(decode_launch(&launch, &op), REASON_NONE);
	assert_true(op.order.along_x && op.order.along_y);
	assert_int_equal(op.order.step, 512);
	assert_int_equal(op.order.mult[1], 32);

	/* One number of the configuration after the other. */
	for (unsigned at = 8; at < 72; at += 4) {
		if (at == 40 || at == 44 || at == 48)
			continue; /* multipliers of what is not split */
		make_mean(128, 2048, 32, 16, false);
		bytes[at] ^= 2;
		expect("shape");
	}
	make_mean(128, 2048, 32, 16, false);
	bytes[1040] = 1; /* onto what is there */
	expect("shape");
	make_mean(128, 2048, 32, 16, false);
	put64(1008, 0x300000); /* accumulates elsewhere */
	expect("shape");
	make_mean(128, 2048, 32, 16, false);
	launch.shmem = 4;
	expect("shape");
}

static void test_triangle(void **arg)
{
	static const struct param p[] = {{0, 216}, {216, 216}, {432, 8},
					 {440, 8}, {448, 4},   {0, 0}};

	make(TRIL, p, 0, 1, 128);
	for (unsigned t = 0; t < 2; t++) {
		put64(216 * t, 0x10000 * (t + 1));
		put32(216 * t + 8, 3);
		put32(216 * t + 12, 5);
		put32(216 * t + 108, 8);
		put32(216 * t + 112, 1);
		put32(216 * t + 208, 2);
	}
	expect("touch out=f32[3+32x5] out<=f32[3+32x5] in0=f32[3+32x5]");
	put32(216 + 12, 4);
	expect("shape");
}

/* The key of the launch as a group of one; of two in turn, both stay valid. */
static const char *key(bool site)
{
	static char text[2][8192];
	static unsigned turn;
	struct member m = {.launch = launch};
	struct group g = {.pattern = pattern_get(PATTERN_chain), .nmember = 1, .cols = 1};

	turn ^= 1;
	assert_int_equal(decode_launch(&launch, &m.op), REASON_NONE);
	g.member[0] = &m;
	if (site)
		snprintf(text[turn], sizeof(text[0]), "%016llx",
			 (unsigned long long)key_site(&launch, &m.op));
	else
		assert_true(key_text(&g, "m", text[turn], sizeof(text[0])) > 0);
	return text[turn];
}

static void make_plane(uint32_t rows, uint32_t cols)
{
	make_strided(rows * cols);
	put32(8, 2);
	put_dim(0, 3, cols, (uint32_t[]){4, 4, 4});
	put_dim(1, 3, rows, (uint32_t[]){4 * cols, 4 * cols, 0});
}

/* What is known at one size is known at others; they are different places all the same. */
static void test_shapes(void **state)
{
	const char *one;

	for (int site = 0; site < 2; site++) {
		make_plane(64, 128);
		one = key(site);
		make_plane(96, 128);
		assert_int_equal(strcmp(one, key(site)) != 0, site);
		make_mean(128, 2048, 32, 16, false);
		one = key(site);
		make_mean(256, 2048, 32, 16, false);
		assert_int_equal(strcmp(one, key(site)) != 0, site);
		one = key(site);
		make_mean(256, 4096, 32, 16, false);
		assert_string_not_equal(one, key(site)); /* other sums */
	}
}

/* In a running program only signatures count, unless the option says otherwise. */
static void test_families_off(void **state)
{
	static const struct param p[] = {{0, 216}, {216, 216}, {432, 8},
					 {440, 8}, {448, 4},   {0, 0}};

	decode_families = false;
	make(TRIL, p, 0, 1, 128);
	assert_null(kernel.decoder);
	decode_families = true;
	make(TRIL, p, 0, 1, 128);
	assert_non_null(kernel.decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alpha),           cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_lambdas),         cmocka_unit_test(test_strided),
		cmocka_unit_test(test_many_dimensions), cmocka_unit_test(test_casts),
		cmocka_unit_test(test_reduce),          cmocka_unit_test(test_triangle),
		cmocka_unit_test(test_shapes),          cmocka_unit_test(test_families_off),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
