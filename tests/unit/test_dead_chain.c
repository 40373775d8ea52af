// SPDX-License-Identifier: Apache-2.0
/* Dead stores of chains: (a + b) * s + c in a graph, and what leaves its intermediates unseen. */
#include "unit.h"

#include <stdbool.h>

#include "matcher/dead.h"
#include "matcher/graph_memory.h"
#include "matcher/legal.h"
#include "matcher/row.h"
#include "ops.h"

enum { N = 64, NODES = 8 };
#define BUFFER(i) (UINT64_C(0x10000) + (uint64_t)(i)*0x1000)

enum { A, B, S, C, T0, T1, OUT, X };

static struct graph_node node[NODES];
static unsigned nnode;
static enum stores stores;

/* What came of it: whose stores are left out, and what the group moves. */
static struct {
	unsigned groups, dropped;
	bool t0, t1, out;
	uint64_t bytes, fused;
	uint8_t lean[NODES];
} was;

static unsigned kernel(struct op op)
{
	struct graph_node *n = &node[nnode];

	n->kind = GRAPH_KERNEL;
	n->op = op;
	n->launch = ops_launch(op.code, 100 + nnode);
	return nnode++;
}

static void begin(void)
{
	memset(node, 0, sizeof(node));
	nnode = 0;
	stores = STORES_PROVEN;
	kernel(ops_add(DT_f32, BUFFER(T0), BUFFER(A), BUFFER(B), N));
	kernel(ops_mul(DT_f32, BUFFER(T1), BUFFER(T0), BUFFER(S), N));
	kernel(ops_add(DT_f32, BUFFER(OUT), BUFFER(T1), BUFFER(C), N));
}

/* n elements from number `at` on are filled. */
static void over(unsigned to, unsigned at, unsigned n)
{
	graph_memory(&node[nnode++], &(struct graph_box){BUFFER(to) + 4 * at, 4 * n, 1, 0, 1, 0},
		     &(struct graph_box){0});
}

/* Are copied away. */
static void look(unsigned from)
{
	graph_memory(&node[nnode++], &(struct graph_box){BUFFER(X), 4 * N, 1, 0, 1, 0},
		     &(struct graph_box){BUFFER(from), 4 * N, 1, 0, 1, 0});
}

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	return REASON_NONE;
}

static bool on(void *arg, const struct pattern *p)
{
	return true;
}

static enum reason verdict(void *arg, struct group *g, const unsigned *member,
			   const struct graph_dead *dead)
{
	struct group_slot slot[GROUP_MAX_SLOTS];
	uint64_t unfused;
	unsigned n;

	if (member[0] || group_size(g) != 3)
		return REASON_NO_VERDICT;
	was.groups++;
	memcpy(was.lean, dead->lean, nnode);
	dead_apply(g, dead->slots);
	was.dropped = dead_count(g);
	was.bytes = dead_bytes(g);
	legal_bytes(g, &unfused, &was.fused);
	n = group_slots(g, slot);
	for (unsigned i = 0; i < n; i++)
		if (slot[i].use & BOUND_DEAD) {
			assert_false(slot[i].use & BOUND_WRITE);
			was.t0 |= slot[i].range.lo == BUFFER(T0);
			was.t1 |= slot[i].range.lo == BUFFER(T1);
			was.out |= slot[i].range.lo == BUFFER(OUT);
		}
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, const unsigned *member, enum reason why)
{
}

/* Plans, nodes one behind the other. */
static void plan(void)
{
	const struct graph_policy policy = {.stores = stores,
					    .memory = memory,
					    .enabled = on,
					    .verdict = verdict,
					    .done = done,
					    .chains = true};
	struct dag_edge edge[NODES];
	const char *why;
	struct dag d;

	memset(&was, 0, sizeof(was));
	for (unsigned i = 0; i + 1 < nnode; i++)
		edge[i] = (struct dag_edge){i, i + 1};
	assert_int_equal(dag_make(&d, nnode, edge, nnode - 1, &why), 0);
	assert_int_equal(graph_plan(&policy, node, &d), 0);
	dag_free(&d);
	assert_int_equal(was.groups, 1);
	assert_false(was.out);
}

/* The second one's product lies across what the first read. */
static void across(void)
{
	node[1].op = ops_mul(DT_f32, BUFFER(A) + 64, BUFFER(T0), BUFFER(S), N);
	node[2].op = ops_add(DT_f32, BUFFER(OUT), BUFFER(A) + 64, BUFFER(C), N);
}

static void assert_dead(bool t0, bool t1)
{
	assert_int_equal(was.t0, t0);
	assert_int_equal(was.t1, t1);
	assert_int_equal(was.dropped, (unsigned)t0 + t1);
	assert_int_equal(was.bytes, (uint64_t)(t0 + t1) * N * 4);
	assert_int_equal(was.fused, (uint64_t)(7 - t0 - t1) * N * 4);
}

static void test_overwritten(void **arg)
{
	begin();
	plan();
	assert_dead(false, false); /* who knows who reads them later */
	over(T0, 0, N);
	plan();
	assert_dead(true, false);
	assert_true(was.lean[3]);
	over(T1, 0, N);
	plan();
	assert_dead(true, true);
	assert_true(was.lean[3] && was.lean[4]);
	stores = STORES_ALL;
	plan();
	assert_dead(false, false);
}

/* The last member's result stays, whatever becomes of it. */
static void test_result_stays(void **arg)
{
	begin();
	over(OUT, 0, N);
	plan();
	assert_dead(false, false);
}

static void test_read_before(void **arg)
{
	begin();
	look(T1);
	over(T0, 0, N);
	over(T1, 0, N);
	plan();
	assert_dead(true, false);
	/* Whatever is known of the members themselves. */
	for (unsigned i = 0; i < 3; i++)
		node[i].op.vetted = false;
	plan();
	assert_dead(true, false);
	/* By one that nobody knows, nothing is proven beyond it. */
	begin();
	over(T0, 0, N);
	kernel(ops_opaque());
	over(T1, 0, N);
	plan();
	assert_dead(true, false);
}

static void test_in_parts(void **arg)
{
	begin();
	over(T0, 0, N / 2);
	over(T0, N / 2, N / 2);
	over(T1, 0, N / 2);
	plan();
	assert_dead(true, false);
}

/* A running sum, (a += b) * s + c: what it was is read, and not after. */
static void test_in_place(void **arg)
{
	begin();
	node[0].op = ops_add(DT_f32, BUFFER(T0), BUFFER(T0), BUFFER(B), N);
	over(T0, 0, N);
	plan();
	assert_int_equal(was.dropped, 1);
	assert_int_equal(was.bytes, N * 4);
	begin();
	node[0].op = ops_add(DT_f32, BUFFER(T0), BUFFER(T0), BUFFER(B), N);
	stores = STORES_ASSUME_DEAD;
	plan();
	assert_true(!was.t0 && was.t1);
}

/* T1 where T0 was: only the later one is stored at all. */
static void test_reused(void **arg)
{
	begin();
	node[1].op = ops_mul(DT_f32, BUFFER(T0), BUFFER(T0), BUFFER(S), N);
	node[2].op = ops_add(DT_f32, BUFFER(OUT), BUFFER(T0), BUFFER(C), N);
	plan();
	assert_int_equal(was.dropped, 0);
	assert_int_equal(was.fused, 6 * N * 4);
	over(T0, 0, N);
	plan();
	assert_int_equal(was.dropped, 1);
	assert_int_equal(was.fused, 5 * N * 4);
}

/* What the second kernel takes from where the first stored stays, though nobody else sees it. */
static void test_across(void **arg)
{
	begin();
	across();
	over(T0, 0, N);
	plan();
	assert_int_equal(was.dropped, 0);
	assert_int_equal(was.fused, 9 * N * 4);
	over(A, 16, N);
	plan();
	assert_int_equal(was.dropped, 2);
	assert_int_equal(was.fused, 5 * N * 4);
	begin();
	across();
	over(A, 16, N);
	plan();
	assert_int_equal(was.dropped, 1);
	assert_int_equal(was.fused, 6 * N * 4);
}

static void test_assumed(void **arg)
{
	begin();
	stores = STORES_ASSUME_DEAD;
	plan();
	assert_dead(true, true);
	kernel(ops_opaque());
	plan();
	assert_dead(true, true);
	look(T1);
	plan();
	assert_dead(true, false);
	/* What no member reads is a result. */
	begin();
	stores = STORES_ASSUME_DEAD;
	node[2].op = ops_add(DT_f32, BUFFER(OUT), BUFFER(T0), BUFFER(C), N);
	plan();
	assert_dead(true, false);
}

/* Two stores at one address and pitch: one of all rows, of which the first half is not kept, the
 * other of that half. */
static void one_address(void **arg)
{
	static struct row r = {.ndim = 1, .size = {512}, .cols = 64, .nstmt = 3, .noperand = 3};
	const struct row_operand place = {.addr = 0x20000,
					  .stride = {128},
					  .step = 2,
					  .width = 64,
					  .dtype = DT_bf16,
					  .use = ROW_WRITE};
	struct group g = {.row = &r};
	struct row lean;

	r.operand[0] = r.operand[1] = r.operand[2] = place;
	r.operand[0].addr = 0x40000;
	r.operand[0].use = ROW_READ;
	r.operand[1].keep = (struct range){0x28000, 0x30000};
	r.operand[2].most[0] = 256;
	r.stmt[0] = (struct row_stmt){.code = ROW_LOAD,
				      .type = DT_bf16,
				      .span = ROW_SPAN_ROWS | ROW_SPAN_COLS,
				      .arg = {ROW_NONE, ROW_NONE, ROW_NONE}};
	for (unsigned i = 1; i < 3; i++)
		r.stmt[i] = (struct row_stmt){.code = ROW_STORE,
					      .type = DT_bf16,
					      .at = (uint8_t)i,
					      .arg = {0, ROW_NONE, ROW_NONE}};
	assert_int_equal(row_check(&r), REASON_NONE);
	for (unsigned left = 1; left < 3; left++) {
		g.dropped = 1u << left;
		row_copy(&lean, &r);
		dead_row(&g, &lean);
		assert_int_equal(lean.nstmt, 2);
		assert_int_equal(lean.noperand, 2);
		for (unsigned i = 0; i < 2; i++)
			if (lean.operand[i].use & ROW_WRITE)
				assert_int_equal(lean.operand[i].most[0], left == 1 ? 256 : 0);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(one_address),       cmocka_unit_test(test_overwritten),
	cmocka_unit_test(test_result_stays), cmocka_unit_test(test_read_before),
	cmocka_unit_test(test_in_parts),     cmocka_unit_test(test_in_place),
	cmocka_unit_test(test_reused),       cmocka_unit_test(test_across),
	cmocka_unit_test(test_assumed)};
UNIT_MAIN(tests)
