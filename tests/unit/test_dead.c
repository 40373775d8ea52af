// SPDX-License-Identifier: Apache-2.0
/* Dead stores: graphs by hand, one rule each. test_graph_plan.c executes random ones. */
#include "unit.h"

#include <stdbool.h>

#include "matcher/dead.h"
#include "matcher/graph_memory.h"
#include "ops.h"

enum { COLS = 8, NODES = 12 };
#define WORDS(n) ((uint64_t)(n)*4)
#define BUFFER(i) (UINT64_C(0x10000) + (uint64_t)(i)*WORDS(64))

/* Buffers of the group: SUM = A + B, OUT = norm(SUM) * W. */
enum { A, B, SUM, W, OUT, X, Y, Z };

struct world {
	struct graph_node node[NODES];
	unsigned n;
	struct dag_edge edge[NODES * NODES];
	size_t nedge;
	enum stores stores;
	struct range shared; /* others may look there */
	/* What came of it. */
	unsigned groups;
	uint32_t slots;
	uint64_t bytes;
	uint8_t lean[NODES];
};

static struct world w;

static unsigned kernel(struct op op)
{
	struct graph_node *n = &w.node[w.n];

	n->kind = GRAPH_KERNEL;
	n->op = op;
	n->launch = ops_launch(op.code, 100 + w.n);
	return w.n++;
}

static unsigned other(enum graph_kind kind)
{
	w.node[w.n].kind = (uint8_t)kind;
	return w.n++;
}

static void edge(unsigned from, unsigned to)
{
	w.edge[w.nedge++] = (struct dag_edge){from, to};
}

/* Each node behind the one before. */
static void chain(void)
{
	for (unsigned i = 1; i < w.n; i++)
		edge(i - 1, i);
}

/* Nodes 0 and 1, over rows of COLS. */
static void begin_rows(int64_t rows)
{
	memset(&w, 0, sizeof(w));
	w.stores = STORES_PROVEN;
	kernel(ops_add(DT_f32, BUFFER(SUM), BUFFER(A), BUFFER(B), rows * COLS));
	kernel(ops_norm(DT_f32, BUFFER(OUT), BUFFER(SUM), BUFFER(W), rows, COLS));
}

static void begin(void)
{
	begin_rows(1);
}

/* to = from + from, words [at, at + n) of each */
static struct op move(unsigned to, unsigned from, unsigned at, unsigned n)
{
	return ops_add(DT_f32, BUFFER(to) + WORDS(at), BUFFER(from) + WORDS(at),
		       BUFFER(from) + WORDS(at), n);
}

static unsigned overwriter(void)
{
	return kernel(move(SUM, X, 0, COLS));
}

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	return surviving > 1 && range_overlap(r, w.shared) ? REASON_NOT_DEVICE_MEMORY : REASON_NONE;
}

static bool on(void *arg, const struct pattern *p)
{
	return true;
}

static enum reason verdict(void *arg, struct group *g, const unsigned *node,
			   const struct graph_dead *dead)
{
	if (node[0] != 0 || g->pattern != &pattern_add_rmsnorm)
		return REASON_NO_VERDICT;
	w.groups++;
	w.slots = dead->slots;
	memcpy(w.lean, dead->lean, w.n);
	dead_apply(g, dead->slots);
	w.bytes = dead_bytes(g);
	assert_int_equal(dead_count(g), dead->slots != 0);
	assert_int_equal(g->bound[ADD_RMSNORM_SUM].use, dead->slots ? BOUND_DEAD : BOUND_WRITE);
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, const unsigned *node, enum reason why)
{
}

/* Plans; how many bytes need not be stored. */
static uint64_t plan(void)
{
	const struct graph_policy policy = {.stores = w.stores,
					    .memory = memory,
					    .enabled = on,
					    .verdict = verdict,
					    .done = done};
	const char *why;
	struct dag d;

	w.groups = 0;
	w.bytes = 0;
	assert_int_equal(dag_make(&d, w.n, w.edge, w.nedge, &why), 0);
	assert_int_equal(graph_plan(&policy, w.node, &d), 0);
	dag_free(&d);
	assert_int_equal(w.groups, 1);
	return w.bytes;
}

static const uint64_t all = WORDS(COLS);

static void assert_lean(unsigned nodes)
{
	for (unsigned i = 0; i < w.n; i++)
		assert_int_equal(w.lean[i], nodes >> i & 1);
}

static void one_overwriter(void **arg)
{
	begin();
	chain();
	assert_int_equal(plan(), 0); /* nobody overwrites it: later launches may read it */
	begin();
	overwriter();
	chain();
	assert_int_equal(plan(), all);
	assert_int_equal(w.slots, 1u << ADD_RMSNORM_SUM);
	assert_lean(1 << 2);
	/* What comes later, and what came before, does not matter. */
	kernel(ops_opaque());
	edge(2, 3);
	kernel(ops_opaque());
	edge(4, 0);
	assert_int_equal(plan(), all);
	assert_lean(1 << 2);
	w.stores = STORES_ALL;
	assert_int_equal(plan(), 0);
}

static void several_overwriters(void **arg)
{
	begin();
	kernel(move(SUM, X, 0, 3));
	kernel(move(SUM, X, 5, 3));
	kernel(move(Y, X, 0, COLS)); /* in between, harmless */
	kernel(move(SUM, X, 2, 3));
	kernel(move(SUM, X, 0, COLS)); /* not needed any more */
	chain();
	assert_int_equal(plan(), all);
	assert_lean(1 << 2 | 1 << 3 | 1 << 4 | 1 << 5);
	begin();
	kernel(move(SUM, X, 0, 3));
	kernel(move(SUM, X, 4, 4)); /* word 3 stays */
	chain();
	assert_int_equal(plan(), 0);
}

static void reader_in_between(void **arg)
{
	begin();
	kernel(move(Y, SUM, 0, COLS));
	overwriter();
	chain();
	assert_int_equal(plan(), 0);
	/* A part that was overwritten before may be read. */
	for (unsigned at = 0; at < 2; at++) {
		begin();
		kernel(move(SUM, X, 0, 4));
		kernel(move(Y, SUM, 4 * at, 4));
		kernel(move(SUM, X, 4, 4));
		chain();
		assert_int_equal(plan(), at ? 0 : all);
	}
	/* An overwriter that reads what it overwrites. */
	begin();
	kernel(ops_add(DT_f32, BUFFER(SUM), BUFFER(SUM), BUFFER(X), COLS));
	chain();
	assert_int_equal(plan(), 0);
	/* One that reads elsewhere in the same slot what is not overwritten yet. */
	begin();
	kernel(ops_add(DT_f32, BUFFER(SUM), BUFFER(SUM) + WORDS(4), BUFFER(X), 4));
	kernel(move(SUM, X, 4, 4));
	chain();
	assert_int_equal(plan(), 0);
}

static void concurrent_reader(void **arg)
{
	unsigned reads;

	begin();
	overwriter();
	chain();
	reads = kernel(move(Y, SUM, 0, COLS));
	edge(0, reads); /* behind the add, beside the norm and the overwriter */
	edge(reads, 2);
	assert_int_equal(plan(), 0);
	/* Beside, but not of it. */
	begin();
	overwriter();
	chain();
	reads = kernel(move(Y, X, 0, COLS));
	edge(0, reads);
	assert_int_equal(plan(), all);
	assert_lean(1 << 2 | 1 << 3);
}

static void opaque_in_between(void **arg)
{
	for (unsigned what = 0; what < 5; what++) {
		unsigned n;

		begin();
		n = what == 0   ? kernel(ops_opaque())
		    : what == 1 ? other(GRAPH_OTHER)
		    : what == 2 ? kernel(move(Y, X, 0, COLS))
				: other(GRAPH_EMPTY);
		w.node[n].op.vetted = false; /* the decoder's word alone */
		if (what == 4)
			w.node[n].kind = GRAPH_KERNEL, w.node[n].op = move(Y, X, 0, COLS),
			w.node[n].launch = ops_launch(OP_add, 100 + n);
		overwriter();
		chain();
		assert_int_equal(plan(), what >= 3 ? all : 0);
		/* An empty one may be a node that is switched off: it counts when it is on. */
		if (what >= 3)
			assert_lean(1 << 2 | 1 << 3);
		/* The overwriter itself has to be vetted. */
		w.node[3].op.vetted = false;
		assert_int_equal(plan(), 0);
	}
	/* Beside all of the rest. */
	begin();
	overwriter();
	chain();
	edge(1, kernel(ops_opaque()));
	assert_int_equal(plan(), 0);
}

static void one_branch(void **arg)
{
	unsigned join;

	/* Ordered behind the group, whatever the other branch does. */
	begin();
	edge(0, 1);
	edge(1, overwriter());
	edge(1, kernel(move(Y, X, 0, COLS)));
	assert_int_equal(plan(), all);
	/* Both branches overwrite parts, neither ordered against the other. */
	begin();
	edge(0, 1);
	edge(1, kernel(move(SUM, X, 0, 4)));
	edge(1, kernel(move(SUM, X, 4, 4)));
	assert_int_equal(plan(), all);
	assert_lean(1 << 2 | 1 << 3);
	/* A reader behind one of them alone. */
	edge(2, kernel(move(Y, SUM, 0, 4)));
	assert_int_equal(plan(), all);
	w.node[4].op = move(Y, SUM, 2, 4);
	assert_int_equal(plan(), 0);
	edge(3, 4);
	assert_int_equal(plan(), all);
	/* An overwriter that may run at any time is one that conflicts: no group at all. Here it is
	 * behind the add, beside the norm. */
	begin();
	edge(0, 1);
	join = kernel(move(SUM, X, 0, COLS));
	edge(1, join);
	edge(0, join);
	assert_int_equal(plan(), all);
}

static void programmatic_edge(void **arg)
{
	begin();
	overwriter();
	chain();
	w.node[2].typed = true;
	assert_int_equal(plan(), 0);
}

/* Rows of the sum at a pitch; overwriters at the same and at others. */
static void pitches(void **arg)
{
	enum { ROWS = 4 };

	for (unsigned what = 0; what < 5; what++) {
		struct op *op;
		unsigned n;

		begin_rows(ROWS);
		for (unsigned i = 0; i < 2; i++) {
			op = &w.node[i].op;
			operand_dense(&op->operand[i], i ? ROLE_in0 : ROLE_out,
				      i ? ACCESS_READ : ACCESS_WRITE, DT_f32, BUFFER(SUM), ROWS,
				      COLS);
			op->operand[i].stride[0] = WORDS(COLS + 4);
		}
		n = kernel(move(SUM, X, 0, COLS));
		op = &w.node[n].op;
		operand_dense(&op->operand[0], ROLE_out, ACCESS_WRITE, DT_f32, BUFFER(SUM), ROWS,
			      COLS);
		/* 0: the same rows. 1: shifted by a word. 2: wider ones. 3: all at once. 4: the
		 * rows one behind the other, which leaves some of the last ones. */
		if (what < 3)
			op->operand[0].stride[0] = WORDS(COLS + 4);
		if (what == 1)
			op->operand[0].addr += 4;
		if (what == 2)
			op->operand[0].size[1] = COLS + 2;
		if (what == 3)
			op->operand[0].size[0] = ROWS + 2;
		chain();
		assert_int_equal(plan(), what == 1 || what == 4 ? 0 : ROWS * all);
	}
	/* Many rows with gaps: the gaps count, too. */
	for (unsigned gaps = 0; gaps < 2; gaps++) {
		begin_rows(100);
		for (unsigned i = 0; i < 2; i++) {
			operand_dense(&w.node[i].op.operand[i], i ? ROLE_in0 : ROLE_out,
				      i ? ACCESS_READ : ACCESS_WRITE, DT_f32, UINT64_C(0x100000),
				      100, COLS);
			w.node[i].op.operand[i].stride[0] = WORDS(COLS + 4);
			operand_dense(&w.node[i].op.operand[1 - i], ROLE_NONE,
				      i ? ACCESS_WRITE : ACCESS_READ, DT_f32,
				      UINT64_C(0x200000) + (i << 16), 100, COLS);
			w.node[i].op.operand[1 - i].role = i ? ROLE_out : ROLE_in0;
		}
		operand_dense(&w.node[0].op.operand[2], ROLE_in1, ACCESS_READ, DT_f32,
			      UINT64_C(0x300000), 100, COLS);
		kernel(move(SUM, X, 0, COLS));
		operand_dense(&w.node[2].op.operand[0], ROLE_out, ACCESS_WRITE, DT_f32,
			      UINT64_C(0x100000), 100, gaps ? COLS : COLS + 4);
		if (gaps)
			w.node[2].op.operand[0].stride[0] = WORDS(COLS + 4);
		chain();
		assert_int_equal(plan(), gaps ? 0 : 100 * all);
	}
}

/* Copies and fills of known extent. */
static void memory_nodes(void **arg)
{
	const struct graph_box none = {0}, whole = {BUFFER(SUM), WORDS(COLS), 1, 0, 1, 0},
			       part = {BUFFER(SUM), WORDS(COLS) - 1, 1, 0, 1, 0},
			       halves = {BUFFER(SUM), WORDS(COLS / 2), 2, WORDS(COLS / 2), 1, 0},
			       apart = {BUFFER(X), WORDS(COLS), 1, 0, 1, 0},
			       huge = {BUFFER(SUM), INT64_MAX, 1, 0, 1, 0};
	const struct {
		struct graph_box to, from;
		bool dead;
	} row[] = {
		{whole, none, true},   {whole, apart, true},
		{halves, none, true},  {part, none, false},
		{apart, none, false},  {whole, whole, false}, /* it reads it */
		{apart, whole, false}, {huge, none, false},
	};

	for (unsigned i = 0; i < sizeof(row) / sizeof(*row); i++) {
		begin();
		graph_memory(&w.node[other(GRAPH_OTHER)], &row[i].to, &row[i].from);
		chain();
		assert_int_equal(plan(), row[i].dead ? all : 0);
		if (row[i].dead)
			assert_lean(1 << 2);
	}
	/* In between; one of no rows is one that is not understood. */
	for (unsigned i = 0; i < 3; i++) {
		const struct graph_box rowless = {BUFFER(X), WORDS(COLS), 0, 0, 1, 0};

		begin();
		graph_memory(&w.node[other(GRAPH_OTHER)], i == 2 ? &rowless : &apart,
			     i == 1 ? &part : &none);
		overwriter();
		chain();
		assert_int_equal(plan(), i ? 0 : all);
	}
	/* The host, say, sees the fill arrive. */
	graph_memory(&w.node[2], &apart, &none);
	assert_int_equal(plan(), all);
	w.shared = (struct range){BUFFER(X), BUFFER(X) + 1};
	assert_int_equal(plan(), 0);
}

static void shared_memory(void **arg)
{
	begin();
	kernel(move(Y, X, 0, COLS));
	overwriter();
	chain();
	assert_int_equal(plan(), all);
	/* Another observer could see from it how far the graph is. */
	w.shared = (struct range){BUFFER(Y), BUFFER(Y) + 4};
	assert_int_equal(plan(), 0);
	w.shared = (struct range){BUFFER(X), BUFFER(X) + 4}; /* only read */
	assert_int_equal(plan(), all);
}

static void in_place(void **arg)
{
	begin(); /* a += b */
	w.node[0].op = ops_add(DT_f32, BUFFER(SUM), BUFFER(SUM), BUFFER(B), COLS);
	overwriter();
	chain();
	assert_int_equal(plan(), all);
	begin(); /* the norm in place: it is dead in the group, and nothing was taken out */
	w.node[1].op = ops_norm(DT_f32, BUFFER(SUM), BUFFER(SUM), BUFFER(W), 1, COLS);
	overwriter();
	chain();
	w.stores = STORES_ASSUME_DEAD;
	{
		struct dag d;
		const char *why;
		uint32_t slots = 7;
		uint8_t lean[NODES];
		struct member m[2] = {{w.node[0].launch, w.node[0].op},
				      {w.node[1].launch, w.node[1].op}};
		struct group g = {.pattern = &pattern_add_rmsnorm, .member = {&m[0], &m[1]}};
		const unsigned member[] = {0, 1};

		assert_int_equal(g.pattern->bind(&g), REASON_NONE);
		assert_int_equal(g.bound[ADD_RMSNORM_SUM].use, BOUND_DEAD);
		assert_int_equal(dag_make(&d, w.n, w.edge, w.nedge, &why), 0);
		assert_int_equal(dead_stores(&(struct dead_question){.node = w.node,
								     .dag = &d,
								     .group = &g,
								     .member = member,
								     .stores = w.stores},
					     &slots, lean),
				 0);
		assert_int_equal(slots, 0);
		assert_int_equal(dead_assumed(&g), 0);
		dag_free(&d);
	}
}

static void assumed(void **arg)
{
	begin();
	kernel(ops_opaque());
	chain();
	assert_int_equal(plan(), 0);
	w.stores = STORES_ASSUME_DEAD;
	assert_int_equal(plan(), all);
	assert_lean(0); /* nothing is known of the rest */
	kernel(move(Y, SUM, 7, 1));
	edge(2, 3);
	assert_int_equal(plan(), 0); /* a known reader */
	w.node[3].op.vetted = false; /* is one */
	assert_int_equal(plan(), 0);
	/* It reads what another has left there. */
	w.node[2].op = move(SUM, X, 0, COLS);
	w.node[2].launch = ops_launch(OP_add, 102);
	assert_int_equal(plan(), all);
	/* The next launch of the graph reads it, unless it is written there before. */
	for (unsigned written = 0; written < 2; written++) {
		unsigned reads, writes;

		begin();
		w.stores = STORES_ASSUME_DEAD;
		edge(0, 1);
		reads = kernel(move(Y, SUM, 0, COLS));
		edge(reads, 0);
		writes = kernel(move(written ? SUM : Z, X, 0, COLS));
		edge(writes, reads);
		assert_int_equal(plan(), written ? all : 0);
		if (written)
			assert_lean(1 << reads | 1 << writes);
	}
	/* A running sum is kept, unless that is proven. */
	begin();
	w.stores = STORES_ASSUME_DEAD;
	w.node[0].op = ops_add(DT_f32, BUFFER(SUM), BUFFER(SUM), BUFFER(B), COLS);
	chain();
	assert_int_equal(plan(), 0);
	edge(1, overwriter());
	assert_int_equal(plan(), all);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(one_overwriter),    cmocka_unit_test(several_overwriters),
	cmocka_unit_test(reader_in_between), cmocka_unit_test(concurrent_reader),
	cmocka_unit_test(opaque_in_between), cmocka_unit_test(one_branch),
	cmocka_unit_test(programmatic_edge), cmocka_unit_test(pitches),
	cmocka_unit_test(memory_nodes),      cmocka_unit_test(shared_memory),
	cmocka_unit_test(in_place),          cmocka_unit_test(assumed)};
UNIT_MAIN(tests)
