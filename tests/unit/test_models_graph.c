// SPDX-License-Identifier: Apache-2.0
/*
 * Models in small, captured: all nodes in their order, against what the planner of graphs makes of
 * them, without the stores that it proves dead. Every byte of memory must be the same in the end.
 */
#include "tests/unit/models_memory.h"

#include "matcher/dead.h"
#include "matcher/graph_plan.h"

static struct group kept[MOST];
static struct row kept_row[MOST];
static struct member kept_member[MOST][GROUP_MAX_MEMBERS];
static int group_of[MOST];
static unsigned nkept, dropped;

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	return REASON_NONE;
}

static bool enabled(void *arg, const struct pattern *p)
{
	return true;
}

static enum reason verdict(void *arg, struct group *g, const unsigned *node,
			   const struct graph_dead *dead)
{
	struct group *k = &kept[nkept];

	if (!g->row)
		return REASON_NO_KERNEL;
	dead_apply(g, dead->slots);
	*k = *g;
	kept_row[nkept] = *g->row;
	k->row = &kept_row[nkept];
	for (unsigned i = 0; i < group_size(g); i++) {
		kept_member[nkept][i] = *g->member[i];
		k->member[i] = &kept_member[nkept][i];
		group_of[node[i]] = (int)nkept;
	}
	dropped += dead_count(g);
	nkept++;
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, const unsigned *node, enum reason why)
{
}

static void planned(void)
{
	static struct graph_node node[MOST];
	static struct dag_edge edge[MOST];
	static struct kernel k = {.name = (char *)"any"};
	const struct graph_policy policy = {.stores = STORES_PROVEN,
					    .memory = memory,
					    .enabled = enabled,
					    .verdict = verdict,
					    .done = done,
					    .chains = true,
					    .larger = draw() % 2};
	struct dag d;
	const char *why;

	nkept = 0;
	for (unsigned i = 0; i < nop; i++) {
		group_of[i] = -1;
		node[i] = (struct graph_node){
			.kind = GRAPH_KERNEL,
			.op = op[i],
			.launch = {
				.kernel = &k, .grid = {1, 1, 1}, .block = {256, 1, 1}, .index = i}};
		node[i].op.vetted = op[i].code != OP_opaque;
		edge[i] = (struct dag_edge){i, i + 1};
	}
	assert_int_equal(dag_make(&d, nop, edge, nop - 1, &why), 0);
	assert_int_equal(graph_plan(&policy, node, &d), 0);
	dag_free(&d);
	for (unsigned i = 0; i < nop; i++) {
		struct group *g = group_of[i] >= 0 ? &kept[group_of[i]] : NULL;
		if (!g) {
			alone(i);
		} else if (g->member[group_size(g) - 1]->launch.index == i) {
			static struct row lean;
			row_copy(&lean, g->row);
			if (g->dropped)
				dead_row(g, &lean);
			g->row = &lean;
			together(g);
		}
	}
}

static void test_bytes(void **arg)
{
	static const enum dtype type[] = {DT_bf16, DT_f16, DT_f32};
	static const int shape[][2] = {{32, 1}, {2, 3}, {1, 1}, {4, 1}, {8, 1}, {16, 1}};

	for (unsigned i = 0; i < sizeof(model) / sizeof(model[0]); i++)
		for (unsigned t = 0; t < 3; t++)
			for (unsigned s = 0; s < sizeof(shape) / sizeof(shape[0]); s++) {
				low = type[t];
				batch = shape[s][0];
				length = shape[s][1];
				one(&model[i], planned);
			}
	fprintf(stderr, "# %u chains; operands: %u of some rows, %u with holes\n", fused, some,
		holes);
	fprintf(stderr, "# %u stores dropped, %u chains in two kernels\n", dropped, late);
	assert_true(late > 10);
	assert_true(fused > 1000 && some && holes && dropped > 1000);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes)};

UNIT_MAIN(tests)
