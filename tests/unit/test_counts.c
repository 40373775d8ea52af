/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/unit.h"

#include <pthread.h>

#include "shim/counts.h"
#include "shim/kernels.h"

enum { THREADS = 8, ROUNDS = 5, EACH = 20000 };

static struct kernel_rec rec;

static void *work(void *arg)
{
	for (unsigned i = 0; i < EACH; i++) {
		COUNT(held, 1);
		COUNT(removed, 3);
		COUNT(pattern[PATTERN_silu_mul].outcome[OUTCOME_FUSED], 1);
		kernels_launched(&rec, counts_mine());
	}
	*(struct counts **)arg = counts_mine();
	return NULL;
}

static unsigned long long held(void)
{
	struct counts c;

	counts_sum(&c);
	return c.held;
}

/* Nothing is lost among threads that count at the same time, nor when they are over. */
static void test_threads(void **arg)
{
	struct counts *mine[ROUNDS][THREADS], sum;
	pthread_t t[THREADS];
	unsigned long long last = 0;
	unsigned blocks = 0;

	for (unsigned r = 0; r < ROUNDS; r++) {
		for (unsigned i = 0; i < THREADS; i++)
			assert_int_equal(pthread_create(&t[i], NULL, work, &mine[r][i]), 0);
		for (unsigned i = 0; i < 100; i++) {
			unsigned long long now = held();

			assert_true(now >= last);
			last = now;
		}
		for (unsigned i = 0; i < THREADS; i++)
			assert_int_equal(pthread_join(t[i], NULL), 0);
		counts_sum(&sum);
		assert_int_equal(sum.held, (r + 1) * THREADS * EACH);
	}
	assert_int_equal(sum.removed, 3 * sum.held);
	assert_int_equal(sum.pattern[PATTERN_silu_mul].outcome[OUTCOME_FUSED], sum.held);
	assert_int_equal(sum.pattern[PATTERN_silu_mul].outcome[OUTCOME_CHECKED], 0);
	assert_int_equal(sum.nameless, 0);
	assert_int_equal(kernels_launches(&rec), sum.held);
	/* Threads go on with the counters of those that are over. */
	for (unsigned i = 0; i < ROUNDS * THREADS; i++) {
		bool seen = false;

		for (unsigned k = 0; k < i; k++)
			seen |= mine[k / THREADS][k % THREADS] == mine[i / THREADS][i % THREADS];
		blocks += !seen;
	}
	assert_in_range(blocks, 1, THREADS);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads)};

UNIT_MAIN(tests)
