// SPDX-License-Identifier: Apache-2.0
/* Launches of a graph that nothing connects, alike and ended by the same one, are a group. */
#include "unit.h"

#include <stdbool.h>

#include "matcher/graph_plan.h"
#include "ops.h"

enum { N = 1024, NODES = 8 };
#define BUFFER(i) (UINT64_C(0x10000000) + (uint64_t)(i)*0x1000000)

static struct graph_node node[NODES];
static unsigned nnode;

static char groups[64]; /* the nodes of each, "0,1 2,3 " */

static void kernel(struct op op)
{
	struct graph_node *n = &node[nnode];

	n->kind = GRAPH_KERNEL;
	n->op = op;
	n->launch = ops_launch(op.code, 100 + nnode);
	nnode++;
}

/* Of n floats. */
static void silu(unsigned to, unsigned from, int64_t n)
{
	kernel(ops_silu(DT_f32, BUFFER(to), BUFFER(from), n));
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
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, const unsigned *member, enum reason why)
{
	char *at = groups + strlen(groups);

	for (unsigned i = 0; i < group_size(g) && !why; i++)
		at += sprintf(at, "%u%s", member[i], i + 1 < group_size(g) ? "," : " ");
}

/* one_by_one: each node after the one before; else all roots but the last, which comes after all.
 */
static const char *plan(bool one_by_one)
{
	const struct graph_policy policy = {.stores = STORES_ALL,
					    .memory = memory,
					    .enabled = on,
					    .verdict = verdict,
					    .done = done,
					    .chains = true};
	struct dag_edge edge[NODES];
	const char *why;
	struct dag d;

	*groups = 0;
	for (unsigned i = 0; i + 1 < nnode; i++)
		edge[i] = (struct dag_edge){i, one_by_one ? i + 1 : nnode - 1};
	assert_int_equal(dag_make(&d, nnode, edge, nnode - 1, &why), 0);
	assert_int_equal(graph_plan(&policy, node, &d), 0);
	dag_free(&d);
	memset(node, 0, sizeof(node));
	nnode = 0;
	return groups;
}

/* Reads two buffers, and ends what left them: other sums than a chain can have. */
static void reader(unsigned a, unsigned b)
{
	kernel(ops_norm(DT_f32, BUFFER(7), BUFFER(a), BUFFER(b), 1, N / 2));
	node[nnode - 1].op.code = OP_touch;
	node[nnode - 1].op.vetted = true;
}

static void test_ended_together(void **arg)
{
	silu(1, 0, N);
	silu(3, 2, N);
	reader(1, 3);
	assert_string_equal(plan(true), "0,1 ");
	/* At the end of the graph, too. */
	silu(1, 0, N);
	silu(3, 2, N);
	silu(5, 4, N);
	assert_string_equal(plan(true), "0,1,2 ");
}

static void test_not(void **arg)
{
	/* Other sizes. */
	silu(1, 0, N);
	silu(3, 2, N / 2);
	reader(1, 3);
	assert_string_equal(plan(true), "");
	/* Other operations. */
	silu(1, 0, N);
	kernel(ops_add(DT_f32, BUFFER(3), BUFFER(2), BUFFER(4), N));
	reader(1, 3);
	assert_string_equal(plan(true), "");
	/* The first ended before the second came. */
	silu(1, 0, N);
	reader(1, 5);
	silu(3, 2, N);
	reader(3, 5);
	assert_string_equal(plan(true), "");
	/* Large. */
	silu(1, 0, 1 << 20);
	silu(3, 2, 1 << 20);
	assert_string_equal(plan(true), "");
	/* The second overwrites what the first reads elsewhere: it may not be moved. */
	silu(1, 0, N);
	silu(0, 2, N);
	node[1].op.operand[0].addr += 4;
	assert_string_equal(plan(true), "");
	/* Nothing says which comes first. */
	silu(1, 0, N);
	silu(3, 2, N);
	reader(1, 3);
	assert_string_equal(plan(false), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ended_together),
					   cmocka_unit_test(test_not)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
