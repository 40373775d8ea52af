// SPDX-License-Identifier: Apache-2.0
/* What planning a large graph takes: that is done beside the program, and has to stay a trifle. */
#include "unit.h"

#include <stdbool.h>
#include <time.h>

#include "matcher/graph_plan.h"
#include "ops.h"

enum { NODES = 1008, COLS = 4096, MOST_MS = 500 };
#define BUFFER(i) (UINT64_C(0x1000000) + (uint64_t)(i)*0x10000)

static struct graph_node node[NODES];
static unsigned groups, members;

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
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, const unsigned *member, enum reason why)
{
	if (why)
		return;
	groups++;
	members += group_size(g);
}

/*
 * Layers of 14 launches: a sum and its norm, something that a known library computes, rope as five
 * launches would have it, a product with silu, and again. hard: all of it can be chained.
 */
static void make(bool hard)
{
	memset(node, 0, sizeof(node));
	for (unsigned i = 0; i < NODES; i++) {
		const unsigned layer = i / 14 % 4 * 16;
		const uint64_t b[] = {BUFFER(layer),     BUFFER(layer + 1), BUFFER(layer + 2),
				      BUFFER(layer + 3), BUFFER(layer + 4), BUFFER(layer + 5)};
		struct op *op = &node[i].op;

		switch (i % 14) {
		case 0:
			*op = ops_add(DT_bf16, b[0], b[0], b[1], COLS);
			break;
		case 1:
			*op = ops_norm(DT_bf16, b[2], b[0], BUFFER(99), 1, COLS);
			break;
		case 2:
		case 8:
		case 11:
			*op = ops_mul(DT_bf16, b[3], b[2], BUFFER(98), COLS);
			op->code = hard ? OP_mul : OP_touch;
			break;
		case 9:
			*op = ops_silu(DT_bf16, b[4], b[3], COLS);
			break;
		case 10:
		case 13:
			*op = ops_mul(DT_bf16, b[5], b[4], b[3], COLS);
			break;
		default:
			*op = (i % 2 ? ops_mul : ops_add)(DT_bf16, b[4], b[3 + i % 2], BUFFER(97),
							  COLS);
		}
		node[i].kind = GRAPH_KERNEL;
		node[i].launch = ops_launch(OP_add, i);
		node[i].launch.block[0] = 256;
	}
}

/* Milliseconds of processor time, the least of some runs. */
static double plan(bool chains)
{
	const struct graph_policy policy = {.stores = STORES_PROVEN,
					    .memory = memory,
					    .enabled = on,
					    .verdict = verdict,
					    .done = done,
					    .chains = chains};
	static struct dag_edge edge[NODES];
	double least = 1e9;

	for (unsigned i = 0; i + 1 < NODES; i++)
		edge[i] = (struct dag_edge){i, i + 1};
	for (unsigned run = 0; run < 5; run++) {
		const char *why;
		clock_t from = clock();
		struct dag d;
		double ms;

		groups = members = 0;
		assert_int_equal(dag_make(&d, NODES, edge, NODES - 1, &why), 0);
		assert_int_equal(graph_plan(&policy, node, &d), 0);
		dag_free(&d);
		ms = 1e3 * (double)(clock() - from) / CLOCKS_PER_SEC;
		least = ms < least ? ms : least;
	}
	return least;
}

static void test_time(void **arg)
{
	for (unsigned hard = 0; hard < 2; hard++) {
		double without, with;

		make(hard);
		without = plan(false);
		with = plan(true);
		print_message("# %d nodes%s: %.2f ms, with chains %.2f (%u groups of %u members)\n",
			      NODES, hard ? " that all can be chained" : "", without, with, groups,
			      members);
		assert_true(groups > NODES / 20);
		assert_true(with < MOST_MS);
	}
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_time)};
UNIT_MAIN(tests)
