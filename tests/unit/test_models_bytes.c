// SPDX-License-Identifier: Apache-2.0
/*
 * The same models in small, on real memory: all launches as they come, against what the planner
 * makes of them, chains as one. Every byte of memory must be the same in the end.
 */
#include "tests/unit/models_memory.h"

#include "matcher/seq.h"

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	return REASON_NONE;
}

static bool enabled(void *arg, const struct pattern *p)
{
	return true;
}

static bool may_hold(void *arg, const struct member *m, const struct pattern *p, uint8_t node)
{
	return true;
}

static enum reason verdict(void *arg, struct group *g, bool all_held)
{
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, enum reason why)
{
}

/* Does as the planner says, like a window. */
static void obey(const struct seq_out *out, int mine)
{
	for (unsigned i = 0; i < out->nchain; i++)
		together(out->chain[i]);
	for (unsigned i = 0; i < out->nflush; i++)
		alone((unsigned)out->flush[i]->launch.index);
	for (unsigned i = 0; out->act == SEQ_FUSE && i < group_size(out->group); i++)
		alone((unsigned)out->group->member[i]->launch.index);
	if (mine >= 0 && out->act == SEQ_PASS)
		alone((unsigned)mine);
}

static void planned(void)
{
	const struct seq_policy policy = {.memory = memory,
					  .enabled = enabled,
					  .may_hold = may_hold,
					  .verdict = verdict,
					  .done = done,
					  .chains = true,
					  .larger = draw() % 2};
	static struct kernel k = {.name = (char *)"any"};
	struct seq *s = seq_new(&policy);
	struct seq_out out;

	assert_non_null(s);
	for (unsigned i = 0; i < nop; i++) {
		const struct launch l = {
			.kernel = &k, .grid = {1, 1, 1}, .block = {256, 1, 1}, .index = i};

		seq_launch(s, &l, &op[i], &out);
		obey(&out, (int)i);
	}
	seq_barrier(s, REASON_BARRIER, &out);
	obey(&out, -1);
	seq_free(s);
}

static void test_bytes(void **arg)
{
	static const enum dtype type[] = {DT_bf16, DT_f16, DT_f32};
	static const int shape[][2] = {{2, 3}, {1, 5}, {1, 1}, {4, 1}};

	for (unsigned i = 0; i < sizeof(model) / sizeof(model[0]); i++)
		for (unsigned t = 0; t < 3; t++)
			for (unsigned s = 0; s < sizeof(shape) / sizeof(shape[0]); s++) {
				low = type[t];
				batch = shape[s][0];
				length = shape[s][1];
				one(&model[i], planned);
			}
	fprintf(stderr,
		"# %u chains, %u of them with late stores; operands: %u of some rows, %u with "
		"holes\n",
		fused, late, some, holes);
	assert_true(fused > 1000 && late && some && holes);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_bytes)};

UNIT_MAIN(tests)
