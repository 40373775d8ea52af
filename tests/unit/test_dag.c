// SPDX-License-Identifier: Apache-2.0
#include "unit.h"

#include "matcher/dag.h"

static void test_chain(void **arg)
{
	const struct dag_edge edge[] = {{2, 0}, {0, 1}};
	const char *why;
	struct dag d;

	assert_int_equal(dag_make(&d, 3, edge, 2, &why), 0);
	assert_true(d.linear);
	assert_int_equal(d.order[0], 2);
	assert_int_equal(d.order[1], 0);
	assert_int_equal(d.order[2], 1);
	assert_true(dag_ordered(&d, 2, 1));
	dag_free(&d);
}

static void test_diamond(void **arg)
{
	const struct dag_edge edge[] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
	const char *why;
	struct dag d;

	assert_int_equal(dag_make(&d, 4, edge, 4, &why), 0);
	assert_false(d.linear);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(d.order[i], i);
	assert_true(dag_ordered(&d, 0, 3));
	assert_true(dag_ordered(&d, 3, 0));
	assert_false(dag_ordered(&d, 1, 2));
	assert_true(dag_ordered(&d, 1, 1));
	dag_free(&d);
	/* Nodes without edges are ordered against nothing. */
	assert_int_equal(dag_make(&d, 4, edge, 1, &why), 0);
	assert_true(dag_ordered(&d, 0, 1));
	assert_false(dag_ordered(&d, 1, 3));
	dag_free(&d);
}

/* A forest that looks like a chain by its number of edges. */
static void test_not_linear(void **arg)
{
	const struct dag_edge edge[] = {{0, 1}, {0, 1}, {2, 3}};
	const char *why;
	struct dag d;

	assert_int_equal(dag_make(&d, 4, edge, 3, &why), 0);
	assert_false(dag_ordered(&d, 1, 2));
	dag_free(&d);
}

/* Each node leads to one other, two to the same. */
static void test_two_roots(void **arg)
{
	const struct dag_edge edge[] = {{0, 2}, {1, 3}, {2, 3}};
	const char *why;
	struct dag d;

	assert_int_equal(dag_make(&d, 4, edge, 3, &why), 0);
	assert_false(d.linear);
	assert_false(dag_ordered(&d, 0, 1));
	assert_false(dag_ordered(&d, 1, 2));
	assert_true(dag_before(&d, 0, 3));
	assert_true(dag_before(&d, 1, 3));
	dag_free(&d);
}

static void test_bad(void **arg)
{
	const struct dag_edge circle[] = {{0, 1}, {1, 2}, {2, 0}}, outside[] = {{0, 9}};
	const char *why;
	struct dag d;

	assert_int_equal(dag_make(&d, 3, circle, 3, &why), -1);
	assert_string_equal(why, "edges in a circle");
	assert_int_equal(dag_make(&d, 3, outside, 1, &why), -1);
	assert_contains(why, "not there");
	assert_int_equal(dag_make(&d, 0, NULL, 0, &why), 0);
	dag_free(&d);
}

/* Against reachability by matrix powers. */
static void test_random(void **arg)
{
	enum { N = 90 };
	static char path[N][N];
	struct dag_edge edge[N * 2];
	unsigned seed = 7;
	const char *why;
	struct dag d;

	for (unsigned round = 0; round < 20; round++) {
		unsigned n = 0, at[N];

		memset(path, 0, sizeof(path));
		for (unsigned i = 0; i < N; i++) {
			unsigned a = (unsigned)rand_r(&seed) % N, b = (unsigned)rand_r(&seed) % N;

			if (a == b)
				continue;
			/* A fixed shuffle of 0..N-1 (7 and 90 share no factor) orders the nodes. */
			edge[n++] = a * 7 % N < b * 7 % N ? (struct dag_edge){a, b}
							  : (struct dag_edge){b, a};
			path[edge[n - 1].from][edge[n - 1].to] = 1;
		}
		for (unsigned k = 0; k < N; k++)
			for (unsigned i = 0; i < N; i++)
				for (unsigned j = 0; j < N; j++)
					path[i][j] |= path[i][k] & path[k][j];
		assert_int_equal(dag_make(&d, N, edge, n, &why), 0);
		for (unsigned i = 0; i < N; i++)
			at[d.order[i]] = i;
		for (unsigned i = 0; i < n; i++)
			assert_true(at[edge[i].from] < at[edge[i].to]);
		for (unsigned i = 0; i < N; i++)
			for (unsigned j = 0; j < N; j++)
				assert_int_equal(dag_ordered(&d, i, j),
						 i == j || path[i][j] || path[j][i]);
		dag_free(&d);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_chain),      cmocka_unit_test(test_diamond),
	cmocka_unit_test(test_not_linear), cmocka_unit_test(test_two_roots),
	cmocka_unit_test(test_bad),        cmocka_unit_test(test_random),
};
UNIT_MAIN(tests)
