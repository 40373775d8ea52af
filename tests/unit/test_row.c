// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include <math.h>

#include "matcher/row_build.h"
#include "tests/unit/ops.h"
#include "tests/unit/row_interp.h"

enum { A = 0x100000, B = 0x200000, C = 0x300000, T = 0x400000, U = 0x500000, OUT = 0x600000 };

static struct op unary(enum opcode code, enum dtype t, uint64_t out, uint64_t in, int64_t n)
{
	struct op op = ops_silu(t, out, in, n);

	op.code = code;
	return op;
}

static struct op scale(uint64_t out, uint64_t in, int64_t n)
{
	struct op op = unary(OP_scale, DT_f32, out, in, n);

	op.nscalar = 1;
	op.scalar[0] = 3;
	return op;
}

static enum reason build(struct row *r, const struct op *op, unsigned n)
{
	struct row_member m[ROW_MAX_MEMBERS];

	for (unsigned i = 0; i < n; i++) {
		m[i] = (struct row_member){.op = &op[i]};
		row_pick_spelling(&op[i], 0, &m[i].pick.spelling);
		m[i].pick.order = row_order_usual(256);
	}
	return row_build(r, m, n);
}

static uint64_t hash(const struct op *op, unsigned n)
{
	struct row r;

	assert_int_equal(build(&r, op, n), REASON_NONE);
	return row_hash(&r);
}

/* (a + b) * s + c in three kernels: 8 N elements of traffic become 6 N, 4 N without what lies
 * between. */
static void test_example(void **arg)
{
	const struct op op[] = {ops_add(DT_f32, T, A, B, 1000), scale(U, T, 1000),
				ops_add(DT_f32, OUT, U, C, 1000)};
	struct row_cost c;
	struct row r;

	assert_int_equal(build(&r, op, 3), REASON_NONE);
	assert_true(row_is_flat(&r));
	assert_true(row_is_elementwise(&r));
	assert_int_equal(r.size[0], 1000);
	assert_int_equal(r.noperand, 6);
	row_cost(&r, &c);
	assert_int_equal(c.read, 3 * 4000);
	assert_int_equal(c.written, 3 * 4000);
	assert_int_equal(c.passes, 1);
	assert_true(c.live >= 2 && c.live <= 4);
	for (unsigned i = 0; i < r.nstmt; i++)
		if (r.stmt[i].code == ROW_STORE && r.operand[r.stmt[i].at].addr != OUT)
			r.stmt[i].flags |= ROW_DEAD;
	row_canon(&r);
	assert_int_equal(row_check(&r), REASON_NONE);
	assert_int_equal(r.noperand, 4);
	row_cost(&r, &c);
	assert_int_equal(c.read + c.written, 4 * 4000);
}

static void test_in_place(void **arg)
{
	/* All in one buffer: one load of it, one store. */
	const struct op op[] = {ops_add(DT_f32, A, A, B, 64), scale(A, A, 64),
				ops_add(DT_f32, A, A, C, 64)};
	struct op off[] = {ops_add(DT_f32, A + 16, A, B, 64)};
	struct row_cost c;
	struct row r;

	assert_int_equal(build(&r, op, 3), REASON_NONE);
	row_cost(&r, &c);
	assert_int_equal(c.read, 3 * 256);
	assert_int_equal(c.written, 256);
	assert_int_equal(build(&r, off, 1), REASON_OVERLAP);
}

/* What a later member overwrites wholly at another pitch is not stored, though it overlaps what
 * others read. */
static void test_overwritten(void **arg)
{
	struct op op[] = {ops_silu(DT_f32, A + 0x800, A, 0x300),
			  ops_silu(DT_f32, OUT, A + 0x800, 0x300),
			  unary(OP_fill, DT_f32, A + 0x400, A, 0x400)};
	struct row r;

	op[2].noperand = 1;
	op[2].nscalar = 1;
	op[2].cols = 0x300;
	operand_dense(&op[2].operand[0], ROLE_out, ACCESS_WRITE, DT_f32, A + 0x800, 0, 0x300);
	assert_int_equal(build(&r, op, 2), REASON_OVERLAP);
	/* Where it is dead, the other one can wait until all is loaded. */
	assert_int_equal(build(&r, op, 3), REASON_NONE);
	assert_true(row_is_late(&r));
}

static unsigned stores(const struct row *r, uint64_t addr)
{
	unsigned n = 0;

	for (unsigned k = 0; k < r->noperand; k++)
		n += r->operand[k].addr == addr && r->operand[k].use & ROW_WRITE;
	return n;
}

/* What lies across an input waits, and so does what is stored on one in place: the first of the two
 * programs can be taken back. Without the one that lies across, nothing waits. */
static void test_late(void **arg)
{
	const struct op op[] = {ops_add(DT_f32, T, A, B, 1000), scale(A + 0x40, T, 1000),
				ops_add(DT_f32, C, A + 0x40, C, 1000),
				unary(OP_neg, DT_f32, OUT, C, 1000)};
	struct row r, first, second;
	struct row_cost c;

	assert_int_equal(build(&r, op, 4), REASON_NONE);
	assert_true(row_is_late(&r));
	assert_int_equal(row_split(&r, &first, &second), REASON_NONE);
	assert_true(stores(&first, T) && stores(&first, OUT));
	assert_false(stores(&first, A + 0x40) || stores(&first, C));
	assert_true(stores(&second, A + 0x40) && stores(&second, C));
	assert_false(stores(&second, T) || stores(&second, OUT));
	row_cost(&r, &c); /* a, b and c; then the sum or what is negated, and c */
	assert_int_equal(c.read, 5 * 4000);
	assert_int_equal(c.written, 4 * 4000);
	for (unsigned i = 0; i < r.nstmt; i++)
		if (r.stmt[i].code == ROW_STORE && r.operand[r.stmt[i].at].addr == A + 0x40)
			r.stmt[i].flags |= ROW_DEAD;
	row_canon(&r);
	assert_true(row_is_late(&r));
	row_hurry(&r);
	assert_false(row_is_late(&r));
	assert_int_equal(row_check(&r), REASON_NONE);
	assert_int_equal(stores(&r, C), 1);
}

/* The second program would have to load what it stores across. */
static void test_never(void **arg)
{
	/* The sum is in place, so that it waits, too, and a is needed for it. */
	const struct op op[] = {ops_add(DT_f32, A, A, B, 1000), scale(A + 0x40 - 0x1000, A, 1000),
				scale(B + 0x40, A, 1000)};
	struct row r;

	assert_int_equal(build(&r, op, 1), REASON_NONE);
	assert_int_equal(build(&r, op, 3), REASON_OVERLAP);
}

/* Part of what was written is not what was there before, even if none of it is left in the end. */
static void test_read_in_part(void **arg)
{
	struct op op[] = {ops_silu(DT_f32, T, A, 64),
			  ops_silu(DT_f32, OUT, T + 16, 64),
			  ops_silu(DT_f32, T, B, 64),
			  {0}},
		  half[3];
	const int64_t size[] = {4, 8}, stride[] = {64, 4};
	struct row r;

	assert_int_equal(build(&r, op, 3), REASON_OVERLAP);
	/* Half a row, then all of it in the same place, then that half again. */
	for (unsigned i = 0; i < 3; i++) {
		half[i] = unary(OP_neg, DT_f32, i == 2 ? OUT : T,
				i == 1 ? B
				: i    ? T
				       : A,
				i == 1 ? 64 : 32);
		for (unsigned k = 0; k < 2 && i != 1; k++) {
			struct operand *o = &half[i].operand[k];

			o->ndim = 2;
			memcpy(o->size, size, sizeof(size));
			memcpy(o->stride, stride, sizeof(stride));
		}
	}
	assert_int_equal(build(&r, half, 2), REASON_NONE);
	assert_int_equal(r.cols, 16);
	assert_int_equal(r.noperand, 2); /* the first is overwritten */
	/* The half is some of the columns that the second left, whatever the first did. */
	assert_int_equal(build(&r, half, 3), REASON_NONE);
	assert_int_equal(r.noperand, 3);
	/* Nor does it matter that it did. */
	assert_int_equal(build(&r, half + 1, 2), REASON_NONE);
	assert_int_equal(r.noperand, 3);
}

/* As allocators have it: later results lie where earlier ones lay, in part. */
static void test_kept(void **arg)
{
	struct op op[] = {ops_silu(DT_f32, T, A, 64), ops_silu(DT_f32, U, T, 64),
			  ops_add(DT_bf16, T, B, C, 64), ops_add(DT_bf16, T + 128, B, U, 64)};
	struct row r;
	bool found = false;

	operand_dense(&op[3].operand[2], ROLE_in1, ACCESS_READ, DT_f32, U, 0, 64);
	/* The second half of T stays. */
	assert_int_equal(build(&r, op, 3), REASON_NONE);
	for (unsigned k = 0; k < r.noperand; k++)
		if (r.operand[k].addr == T && r.operand[k].dtype == DT_f32) {
			found = true;
			assert_int_equal(r.operand[k].keep.lo, T + 128);
			assert_int_equal(r.operand[k].keep.hi, T + 256);
			r.operand[k].keep.lo += 2;
			assert_int_equal(row_check(&r), REASON_SHAPE);
			r.operand[k].keep.lo -= 6; /* one element of both */
			assert_int_equal(row_check(&r), REASON_OVERLAP);
		}
	assert_true(found);
	/* Two together overwrite it all. */
	assert_int_equal(build(&r, op, 4), REASON_NONE);
	for (unsigned k = 0; k < r.noperand; k++)
		assert_true(r.operand[k].addr != T || r.operand[k].dtype == DT_bf16);
	/* There may be a hole in the middle. */
	operand_dense(&op[2].operand[0], ROLE_out, ACCESS_WRITE, DT_bf16, T + 64, 0, 64);
	assert_int_equal(build(&r, op, 3), REASON_NONE);
	found = false;
	for (unsigned k = 0; k < r.noperand; k++)
		if (r.operand[k].addr == T && r.operand[k].dtype == DT_f32) {
			found = true;
			assert_int_equal(r.operand[k].keep.lo, T);
			assert_int_equal(r.operand[k].keep.hi, T + 256);
			assert_int_equal(r.operand[k].nhole, 1);
			assert_int_equal(r.operand[k].hole[0].lo, T + 64);
			assert_int_equal(r.operand[k].hole[0].hi, T + 192);
			r.operand[k].hole[0].hi -= 4; /* one element of both */
			assert_int_equal(row_check(&r), REASON_OVERLAP);
		}
	assert_true(found);
}

static void test_add_rmsnorm(void **arg)
{
	struct op op[] = {ops_add(DT_bf16, T, A, B, 8 * 4096),
			  ops_norm(DT_bf16, OUT, T, C, 8, 4096)};
	unsigned dots = 0, casts = 0;
	struct row_cost c;
	struct row r;

	assert_int_equal(build(&r, op, 2), REASON_NONE);
	assert_int_equal(r.ndim, 1);
	assert_int_equal(r.size[0], 8);
	assert_int_equal(r.cols, 4096);
	assert_false(row_is_elementwise(&r));
	for (unsigned i = 0; i < r.nstmt; i++) {
		dots += r.stmt[i].code == ROW_DOT;
		casts += r.stmt[i].code == ROW_CAST && r.stmt[i].type == DT_bf16;
		if (r.stmt[i].code == ROW_DOT)
			assert_int_equal(r.stmt[i].span, ROW_SPAN_ROWS);
	}
	assert_int_equal(dots, 1);
	assert_int_equal(casts, 2);
	row_cost(&r, &c);
	assert_int_equal(c.read, 2 * 65536 + 8192);
	assert_int_equal(c.written, 2 * 65536);
	assert_int_equal(c.passes, 2);
	assert_int_equal(c.stage, 2); /* the sum, as bf16 */
}

/* RMSNorm as transformers write it, bf16, in eight launches: 36 bytes an element become 18. */
static void test_spelled_rmsnorm(void **arg)
{
	enum {
		ROWS = 8,
		COLS = 4096,
		N = ROWS * COLS,
		X = A,
		F = T,
		P = U,
		M = 0x700000,
		E = 0x710000,
		R = 0x720000,
		S = 0x800000,
		H = 0x900000
	};
	struct op op[8] = {unary(OP_copy, DT_f32, F, X, N),       unary(OP_square, DT_f32, P, F, N),
			   ops_norm(DT_f32, M, P, 0, ROWS, COLS), unary(OP_add, DT_f32, E, M, ROWS),
			   unary(OP_rsqrt, DT_f32, R, E, ROWS),   ops_mul(DT_f32, S, F, R, N),
			   unary(OP_copy, DT_bf16, H, S, N),      ops_mul(DT_bf16, OUT, H, C, N)};
	uint64_t unfused = 0, n = N;
	struct row_cost c;
	struct row r;

	operand_dense(&op[0].operand[1], ROLE_in0, ACCESS_READ, DT_bf16, X, 0, N);
	op[2].code = OP_mean;
	op[2].noperand = 2;
	operand_dense(&op[2].operand[0], ROLE_out, ACCESS_WRITE, DT_f32, M, 0, ROWS);
	op[3].nscalar = 1;
	op[3].scalar[0] = 1e-5;
	operand_dense(&op[5].operand[0], ROLE_out, ACCESS_WRITE, DT_f32, S, ROWS, COLS);
	operand_dense(&op[5].operand[1], ROLE_in0, ACCESS_READ, DT_f32, F, ROWS, COLS);
	operand_dense(&op[5].operand[2], ROLE_in1, ACCESS_READ, DT_f32, R, ROWS, COLS);
	op[5].operand[2].stride[0] = 4;
	op[5].operand[2].stride[1] = 0;
	operand_dense(&op[6].operand[1], ROLE_in0, ACCESS_READ, DT_f32, S, 0, N);
	for (unsigned k = 0; k < 3; k++)
		operand_dense(&op[7].operand[k], op[7].operand[k].role, op[7].operand[k].access,
			      DT_bf16, op[7].operand[k].addr, ROWS, COLS);
	op[7].operand[2].stride[0] = 0;
	for (unsigned i = 0; i < 8; i++)
		for (unsigned k = 0; k < op[i].noperand; k++)
			unfused += operand_bytes(&op[i].operand[k]);
	assert_int_equal(build(&r, op, 8), REASON_NONE);
	row_cost(&r, &c);
	assert_true(unfused / n == 36 && (c.read + c.written) / n == 18);
	assert_int_equal(c.passes, 2);
	assert_int_equal(c.stage, 2); /* x, as bf16 */
	assert_int_equal(r.cols, COLS);
}

/* One program for any addresses, rows and numbers; another for what code depends on. */
static void test_hash(void **arg)
{
	struct op op[] = {ops_add(DT_bf16, T, A, B, 8 * 4096),
			  ops_norm(DT_bf16, OUT, T, C, 8, 4096)},
		  other[] = {ops_add(DT_bf16, U, B, A, 3 * 4096),
			     ops_norm(DT_bf16, A + 0x80000, U, C, 3, 4096)};
	const uint64_t h = hash(op, 2);
	struct row_member m[2] = {{.op = &op[0]}, {.op = &op[1]}};
	struct row r;

	assert_int_equal(h, hash(other, 2));
	other[1].eps = 1e-6;
	assert_int_equal(h, hash(other, 2));
	other[1] = ops_norm(DT_bf16, OUT, U, C, 6, 2048);
	assert_int_not_equal(h, hash(other, 2));
	other[0] = ops_add(DT_bf16, T, A + 2, B, 8 * 4096);
	other[1] = op[1];
	assert_int_not_equal(h, hash(other, 2)); /* alignment */
	m[0].pick.order = m[1].pick.order = row_order_usual(256);
	assert_int_equal(row_build(&r, m, 2), REASON_NONE);
	assert_int_equal(row_hash(&r), h);
	m[1].pick.order.threads = 128;
	assert_int_equal(row_build(&r, m, 2), REASON_NONE);
	assert_int_not_equal(row_hash(&r), h);
	m[1].pick.order.threads = 256;
	m[1].pick.spelling.ftz = PICK_ftz_YES;
	assert_int_equal(row_build(&r, m, 2), REASON_NONE);
	assert_int_not_equal(row_hash(&r), h);
}

/* The order of independent launches and of factors does not matter; which one is which does. */
static void test_canonical(void **arg)
{
	const struct op op[] = {unary(OP_exp, DT_f32, T, A, 96), unary(OP_sqrt, DT_f32, U, B, 96),
				ops_mul(DT_f32, OUT, T, U, 96)},
			swapped[] = {unary(OP_sqrt, DT_f32, C, B, 96),
				     unary(OP_exp, DT_f32, T, A, 96),
				     ops_mul(DT_f32, OUT, C, T, 96)},
			square[] = {unary(OP_exp, DT_f32, T, A, 96),
				    unary(OP_sqrt, DT_f32, U, B, 96),
				    ops_mul(DT_f32, OUT, T, T, 96)},
			ab[] = {ops_mul(DT_f32, T, A, B, 96), ops_mul(DT_f32, OUT, T, A, 96)},
			ba[] = {ops_mul(DT_f32, T, B, A, 96), ops_mul(DT_f32, OUT, B, T, 96)},
			abc[] = {ops_mul(DT_f32, T, A, B, 96), ops_mul(DT_f32, OUT, T, C, 96)};

	assert_int_equal(hash(op, 3), hash(swapped, 3));
	assert_int_not_equal(hash(op, 3), hash(square, 3));
	assert_int_equal(hash(ab, 2), hash(ba, 2));
	assert_int_not_equal(hash(ab, 2), hash(abc, 2));
}

static void box(struct operand *o, enum role role, enum access access, uint64_t addr,
		const int64_t *size, const int64_t *stride)
{
	*o = (struct operand){
		.addr = addr, .ndim = 4, .dtype = DT_bf16, .role = role, .access = access};
	memcpy(o->size, size, sizeof(o->size));
	memcpy(o->stride, stride, sizeof(o->stride));
}

/* Rotate-half rope in five kernels, of a transposed q and tables without heads. */
static void test_rope(void **arg)
{
	const int64_t whole[4] = {2, 4, 8, 128}, part[4] = {2, 4, 8, 64},
		      dense[4] = {8192, 2048, 256, 2}, half[4] = {4096, 1024, 128, 2},
		      q[4] = {8192, 256, 1024, 2}, table[4] = {2048, 0, 256, 2};
	enum { COS = B, SIN = C, T0 = T, T1 = U, T2 = 0x700000, T3 = 0x800000 };
	struct op op[5] = {{.code = OP_mul},
			   {.code = OP_neg},
			   {.code = OP_cat},
			   {.code = OP_mul},
			   {.code = OP_add}};
	unsigned loads = 0, shifts = 0;
	struct row r;

	for (unsigned i = 0; i < 5; i++) {
		op[i].rows = 1;
		op[i].cols = i == 1 ? 4096 : 8192;
		op[i].noperand = i == 1 ? 2 : 3;
	}
	box(&op[0].operand[0], ROLE_out, ACCESS_WRITE, T0, whole, dense);
	box(&op[0].operand[1], ROLE_in0, ACCESS_READ, A, whole, q);
	box(&op[0].operand[2], ROLE_in1, ACCESS_READ, COS, whole, table);
	box(&op[1].operand[0], ROLE_out, ACCESS_WRITE, T1, part, half);
	box(&op[1].operand[1], ROLE_in0, ACCESS_READ, A + 128, part, q);
	box(&op[2].operand[0], ROLE_out, ACCESS_WRITE, T2, whole, dense);
	box(&op[2].operand[1], ROLE_in0, ACCESS_READ, T1, part, half);
	box(&op[2].operand[2], ROLE_in1, ACCESS_READ, A, part, q);
	box(&op[3].operand[0], ROLE_out, ACCESS_WRITE, T3, whole, dense);
	box(&op[3].operand[1], ROLE_in0, ACCESS_READ, T2, whole, dense);
	box(&op[3].operand[2], ROLE_in1, ACCESS_READ, SIN, whole, table);
	box(&op[4].operand[0], ROLE_out, ACCESS_WRITE, OUT, whole, dense);
	box(&op[4].operand[1], ROLE_in0, ACCESS_READ, T0, whole, dense);
	box(&op[4].operand[2], ROLE_in1, ACCESS_READ, T3, whole, dense);
	assert_int_equal(build(&r, op, 5), REASON_NONE);
	assert_int_equal(r.ndim, 3);
	assert_int_equal(r.cols, 128);
	for (unsigned i = 0; i < r.nstmt; i++) {
		loads += r.stmt[i].code == ROW_LOAD;
		shifts += r.stmt[i].code == ROW_SHIFT;
	}
	assert_int_equal(loads, 5); /* q, its halves, cos, sin */
	assert_int_equal(shifts, 1);
	/* What puts halves together need not know what they are. */
	for (unsigned k = 0; k < 3; k++)
		op[2].operand[k].dtype = DT_i16;
	assert_int_equal(build(&r, op, 5), REASON_NONE);
	/* The pitch of what the half is taken from says what a row is, before the cat is seen. */
	assert_int_equal(build(&r, op, 2), REASON_NONE);
	assert_int_equal(r.cols, 128);
}

static void test_broken(void **arg)
{
	const struct op op[] = {ops_add(DT_bf16, T, A, B, 8 * 64),
				ops_norm(DT_bf16, OUT, T, C, 8, 64)};
	struct row good, r;
	unsigned dot = 0, store = 0;

	assert_int_equal(build(&good, op, 2), REASON_NONE);
	for (unsigned i = 0; i < good.nstmt; i++) {
		if (good.stmt[i].code == ROW_DOT)
			dot = i;
		if (good.stmt[i].code == ROW_STORE)
			store = i;
	}
#define BREAK(what)                                                                                \
	r = good;                                                                                  \
	what;                                                                                      \
	assert_int_not_equal(row_check(&r), REASON_NONE)
	BREAK(r.stmt[dot].type = DT_bf16);
	BREAK(r.stmt[dot].span = 3);
	BREAK(r.stmt[dot].arg[0] = (uint8_t)dot);
	BREAK(r.stmt[dot].arg[2] = 0);
	BREAK(r.stmt[dot].at = r.norder);
	BREAK(r.stmt[store].at = r.noperand);
	BREAK(r.stmt[store].shift = 1; r.operand[r.stmt[store].at].width = 64;
	      r.stmt[store].shift = -1; r.operand[r.stmt[store].at].use = ROW_READ);
	BREAK(r.operand[r.stmt[store].at].stride[0] = 0);
	BREAK(r.operand[r.stmt[store].at].stride[0] = 64);
	BREAK(r.operand[r.stmt[store].at].addr = A + 2);
	BREAK(r.operand[0].width = 65);
	BREAK(r.ndim = 0);
	BREAK(r.size[0] = INT64_MAX);
	/* A value from columns that are not there is added up. */
	for (unsigned i = 0; i < good.nstmt; i++)
		if (good.stmt[i].code == ROW_LOAD && good.operand[good.stmt[i].at].stride[0]) {
			BREAK(r.stmt[i].shift = 1);
		}
}

static void test_picks(void **arg)
{
	const struct op op = ops_norm(DT_bf16, OUT, A, B, 4, 64);
	struct row_pick p = {0}, q;
	char name[ROW_PICK_NAME_MAX];

	assert_int_equal(row_pick_count(&op), 2 * 6 * 4 * 3 * 4);
	for (unsigned i = 0; i < row_pick_count(&op); i++) {
		row_pick_spelling(&op, i, &p.spelling);
		p.order = row_order_usual(i % 2 ? 256 : 32);
		p.order.width = i % 3 ? 0 : 16;
		p.order.fast = i % 5 == 0;
		row_pick_name(&p, name);
		assert_int_equal(row_pick_parse(name, &q), 0);
		assert_memory_equal(&p, &q, sizeof(p));
		assert_int_equal(row_pick_unpack(row_pick_pack(&p), &q), 0);
		assert_memory_equal(&p, &q, sizeof(p));
	}
	row_pick_name(&(struct row_pick){0}, name);
	assert_string_equal(name, "plain");
	assert_int_equal(row_pick_parse("t256.desc.firstdesc/ftz.x.sw", &p), 0);
	assert_int_equal(p.spelling.product, PICK_product_X_SW);
	assert_int_equal(row_pick_parse("nonsense", &p), -1);
	assert_int_equal(row_pick_parse("t2000/plain", &p), -1);
	assert_int_equal(row_pick_parse("desc/plain", &p), -1);
	assert_int_equal(row_pick_unpack(UINT64_MAX, &p), -1);
}

static double number_at(const void *p, enum dtype t)
{
	return t == DT_f32 ? *(const float *)p : *(const double *)p;
}

/* Numbers that the type has not, as PyTorch's kernels convert them (c10::convert, cvt of PTX). */
static void test_conversions(void **arg)
{
	static const struct {
		double v;
		enum dtype from, to;
		int64_t is;
	} row[] = {
		{300, DT_f32, DT_u8, 44},         {-3, DT_f32, DT_u8, 253},
		{INFINITY, DT_f32, DT_u8, 255},   {-INFINITY, DT_f32, DT_u8, 0},
		{NAN, DT_f32, DT_u8, 0},          {300, DT_f32, DT_i8, 44},
		{40000, DT_f32, DT_i16, -25536},  {3e9, DT_f32, DT_i32, INT32_MAX},
		{NAN, DT_f32, DT_i32, 0},         {NAN, DT_f64, DT_i32, INT32_MIN},
		{NAN, DT_f32, DT_i64, INT64_MIN}, {1e30, DT_f64, DT_i64, INT64_MAX},
		{-1.9, DT_f64, DT_i8, -1},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		static _Alignas(16) uint8_t in[8], out[8];
		struct op op = unary(OP_copy, row[i].from, (uintptr_t)out, (uintptr_t)in, 1);
		struct row_member m = {.op = &op};
		const float f = (float)row[i].v;
		int64_t is = 0;
		struct row r;

		memcpy(in, row[i].from == DT_f32 ? (const void *)&f : &row[i].v,
		       dtype_bytes(row[i].from));
		op.operand[0].dtype = row[i].to;
		assert_int_equal(row_build(&r, &m, 1), REASON_NONE);
		assert_true(row_interp(&r, 1));
		memcpy(&is, out, dtype_bytes(row[i].to));
		if (memcmp(&is, &row[i].is, dtype_bytes(row[i].to)))
			fail_msg("%g as %s is %lld", number_at(in, row[i].from),
				 dtype_name(row[i].to), (long long)is);
	}
}

/* A bool is any byte but 0 where it is read, 0 or 1 where it was made; a NaN's sign is nobody's. */
static void test_bools_and_nans(void **arg)
{
	static _Alignas(16) uint8_t a[4] = {0, 1, 2, 255}, b[4] = {1, 255, 1, 0}, to[4];
	static _Alignas(16) uint32_t nan[4] = {0x7fc00000, 0xffffffff, 0x3f800000, 0x80000000},
				     as[4];
	static const uint32_t negated[4] = {0x7fffffff, 0x7fffffff, 0xbf800000, 0},
			      absolute[4] = {0x7fffffff, 0x7fffffff, 0x3f800000, 0};
	struct op op = unary(OP_copy, DT_bool, (uintptr_t)to, (uintptr_t)a, 4);
	struct row_member m = {.op = &op};
	struct row r;

	assert_int_equal(row_build(&r, &m, 1), REASON_NONE);
	assert_true(row_interp(&r, 1));
	assert_memory_equal(to, ((uint8_t[]){0, 1, 1, 1}), 4);
	op = ops_add(DT_bool, (uintptr_t)to, (uintptr_t)a, (uintptr_t)b, 4);
	op.code = OP_bit_and;
	assert_int_equal(row_build(&r, &m, 1), REASON_NONE);
	assert_true(row_interp(&r, 1));
	assert_memory_equal(to, ((uint8_t[]){0, 1, 1, 0}), 4);
	op.code = OP_equal;
	assert_int_equal(row_build(&r, &m, 1), REASON_NONE);
	assert_true(row_interp(&r, 1));
	assert_memory_equal(to, ((uint8_t[]){0, 1, 1, 0}), 4);
	op = unary(OP_neg, DT_f32, (uintptr_t)as, (uintptr_t)nan, 4);
	assert_int_equal(row_build(&r, &m, 1), REASON_NONE);
	assert_true(row_interp(&r, 1));
	assert_memory_equal(as, negated, sizeof(as));
	op.code = OP_abs;
	assert_int_equal(row_build(&r, &m, 1), REASON_NONE);
	assert_true(row_interp(&r, 1));
	assert_memory_equal(as, absolute, sizeof(as));
}

/* Ops against their formulas, in plain C. */
static void test_values(void **arg)
{
	static _Alignas(16) float in[4][8], out[4][8], w[8];
	struct op op;
	struct row r;

	for (unsigned i = 0; i < 32; i++)
		in[i / 8][i % 8] = (float)((int)(i * 7 % 13) - 6) / 4;
	for (unsigned c = 0; c < 8; c++)
		w[c] = 1 + (float)c;
#define RUN(make)                                                                                  \
	op = make;                                                                                 \
	assert_int_equal(build(&r, &op, 1), REASON_NONE);                                          \
	assert_true(row_interp(&r, 5))
#define NEAR(x, y) assert_true(fabs((double)(x) - (y)) < 1e-5)
	RUN(ops_norm(DT_f32, (uintptr_t)out, (uintptr_t)in, (uintptr_t)w, 4, 8));
	for (unsigned i = 0; i < 4; i++) {
		double ss = 0;

		for (unsigned c = 0; c < 8; c++)
			ss += in[i][c] * in[i][c];
		for (unsigned c = 0; c < 8; c++)
			NEAR(out[i][c], in[i][c] / sqrt(ss / 8 + 1e-5) * w[c]);
	}
	op = ops_norm(DT_f32, (uintptr_t)out, (uintptr_t)in, (uintptr_t)w, 4, 8);
	op.code = OP_layernorm;
	for (unsigned v = 0; v < 3; v++) {
		struct row_member m = {.op = &op};

		m.pick.order = row_order_usual(4);
		m.pick.spelling.variance = (uint16_t)v;
		assert_int_equal(row_build(&r, &m, 1), REASON_NONE);
		assert_true(row_interp(&r, 2));
		for (unsigned i = 0; i < 4; i++) {
			double mean = 0, var = 0;

			for (unsigned c = 0; c < 8; c++)
				mean += in[i][c] / 8;
			for (unsigned c = 0; c < 8; c++)
				var += (in[i][c] - mean) * (in[i][c] - mean) / 8;
			for (unsigned c = 0; c < 8; c++)
				NEAR(out[i][c], (in[i][c] - mean) / sqrt(var + 1e-5) * w[c]);
		}
	}
	op = ops_norm(DT_f32, (uintptr_t)out, (uintptr_t)in, 0, 4, 8);
	op.code = OP_softmax;
	op.noperand = 2;
	RUN(op);
	for (unsigned i = 0; i < 4; i++) {
		double sum = 0;

		for (unsigned c = 0; c < 8; c++)
			sum += exp(in[i][c]);
		for (unsigned c = 0; c < 8; c++)
			NEAR(out[i][c], exp(in[i][c]) / sum);
	}
#define EACH(code, formula)                                                                        \
	RUN(unary(code, DT_f32, (uintptr_t)out, (uintptr_t)in, 32));                               \
	for (unsigned i = 0; i < 32; i++) {                                                        \
		const double x = in[i / 8][i % 8];                                                 \
		NEAR(out[i / 8][i % 8], formula);                                                  \
	}
	EACH(OP_silu, x / (1 + exp(-x)))
	EACH(OP_sigmoid, 1 / (1 + exp(-x)))
	EACH(OP_gelu_erf, x / 2 * (1 + erf(x / sqrt(2))))
	EACH(OP_gelu_tanh, x / 2 * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))))
	EACH(OP_relu, x > 0 ? x : 0)
	EACH(OP_square, x * x)
	EACH(OP_neg, -x)
	EACH(OP_abs, fabs(x))
	EACH(OP_exp, exp(x))
	op = unary(OP_sub, DT_f32, (uintptr_t)out, (uintptr_t)in, 32);
	op.operand[1].role = ROLE_in1;
	op.nscalar = 1;
	op.scalar[0] = 5;
	RUN(op); /* 5 - x */
	for (unsigned i = 0; i < 32; i++)
		NEAR(out[i / 8][i % 8], 5 - in[i / 8][i % 8]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_example),
	cmocka_unit_test(test_in_place),
	cmocka_unit_test(test_late),
	cmocka_unit_test(test_never),
	cmocka_unit_test(test_overwritten),
	cmocka_unit_test(test_add_rmsnorm),
	cmocka_unit_test(test_read_in_part),
	cmocka_unit_test(test_kept),
	cmocka_unit_test(test_spelled_rmsnorm),
	cmocka_unit_test(test_hash),
	cmocka_unit_test(test_canonical),
	cmocka_unit_test(test_rope),
	cmocka_unit_test(test_broken),
	cmocka_unit_test(test_picks),
	cmocka_unit_test(test_conversions),
	cmocka_unit_test(test_bools_and_nans),
	cmocka_unit_test(test_values),
};

UNIT_MAIN(tests)
