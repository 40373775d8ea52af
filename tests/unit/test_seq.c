// SPDX-License-Identifier: Apache-2.0
/* The planner step by step: what it does with each launch, and which reason it reports. */
#include "unit.h"

#include <stdbool.h>

#include "matcher/seq.h"
#include "ops.h"

enum {
	A = 0x10000,
	B = 0x20000,
	S = 0x30000,
	W = 0x40000,
	OUT = 0x50000,
	X = 0x60000,
	Y = 0x70000,
	Z = 0x80000
};

/* The policy's answers, and what it was told. */
static struct {
	bool hold, off;
	enum reason memory, verdict;
	unsigned asked, asked_unheld, surviving;
	char told[512]; /* "first-last:reason " per completed group */
} policy;

static bool may_hold(void *arg, const struct member *m, const struct pattern *p, uint8_t node)
{
	return policy.hold;
}

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	policy.surviving = (unsigned)surviving;
	return policy.memory;
}

static bool enabled(void *arg, const struct pattern *p)
{
	return !policy.off;
}

static enum reason verdict(void *arg, struct group *g, bool all_held)
{
	policy.asked++;
	policy.asked_unheld += !all_held;
	assert_int_equal(g->bound[ADD_RMSNORM_OUT].use, BOUND_WRITE);
	return policy.verdict;
}

static void done(void *arg, const struct group *g, enum reason why)
{
	size_t len = strlen(policy.told);

	snprintf(policy.told + len, sizeof(policy.told) - len, "%d-%d:%s ",
		 (int)g->member[0]->launch.index,
		 (int)g->member[g->pattern->nnode - 1]->launch.index, reason_word(why));
}

static struct seq *seq;
static struct seq_out out;
static uint64_t next;

static int setup(void **arg)
{
	const struct seq_policy p = {.may_hold = may_hold,
				     .memory = memory,
				     .enabled = enabled,
				     .verdict = verdict,
				     .done = done};

	memset(&policy, 0, sizeof(policy));
	policy.hold = true;
	next = 0;
	seq = seq_new(&p);
	return seq ? 0 : -1;
}

static int teardown(void **arg)
{
	seq_free(seq);
	return 0;
}

/* One launch; the answer as text: the flushed launches, then P, H or F. */
static const char *launch_with(struct op op, uint32_t attrs)
{
	static char text[256];
	struct launch l = ops_launch(op.code, next++);
	size_t len = 0;

	l.attrs = attrs;
	seq_launch(seq, &l, &op, &out);
	for (unsigned i = 0; i < out.nflush; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%d ",
					(int)out.flush[i]->launch.index);
	snprintf(text + len, sizeof(text) - len, "%c", "PHF"[out.act]);
	return text;
}

static const char *launch(struct op op)
{
	return launch_with(op, 0);
}

static struct op add(uint64_t sum, uint64_t a, uint64_t b)
{
	return ops_add(DT_f32, sum, a, b, 64);
}

static struct op norm(uint64_t to, uint64_t x)
{
	return ops_norm(DT_f32, to, x, W, 4, 16);
}

static void test_adjacent(void **arg)
{
	assert_string_equal(launch(norm(OUT, S)), "P"); /* the norm of what nobody added */
	assert_string_equal(launch(add(S, A, B)), "H");
	assert_int_equal(seq_held(seq), 1);
	assert_int_equal(seq_open(seq), 1);
	assert_string_equal(launch(norm(OUT, S)), "F");
	assert_int_equal(out.group->member[0]->launch.index, 1);
	assert_int_equal(out.group->member[1]->launch.index, 2);
	assert_int_equal(out.group->bound[ADD_RMSNORM_SUM].addr, S);
	assert_int_equal(policy.surviving, 2);
	assert_int_equal(seq_held(seq), 0);
	assert_int_equal(seq_open(seq), 0);
	assert_string_equal(launch(norm(OUT, S)), "P"); /* once is enough */
	assert_string_equal(policy.told, "1-2:none ");
}

/* The planner keeps copies: the caller's launch and parameters may go. */
static void test_copies(void **arg)
{
	uint8_t params[20] = {1, 2, 3};
	struct launch l = ops_launch(OP_add, 7);
	struct op op = add(S, A, B);

	ops_kernel[OP_add].param_bytes = 20;
	l.params = params;
	seq_launch(seq, &l, &op, &out);
	ops_kernel[OP_add].param_bytes = 0;
	memset(params, 0xee, sizeof(params));
	memset(&l, 0xee, sizeof(l));
	memset(&op, 0xee, sizeof(op));
	seq_barrier(seq, REASON_TIMER, &out);
	assert_int_equal(out.nflush, 1);
	assert_int_equal(out.flush[0]->launch.index, 7);
	assert_int_equal(out.flush[0]->launch.params[2], 3);
	assert_int_equal(out.flush[0]->op.operand[0].addr, S);
}

static void test_in_place(void **arg)
{
	assert_string_equal(launch(add(A, A, B)), "H");
	assert_string_equal(launch(norm(A, A)), "F");
	assert_int_equal(out.group->bound[ADD_RMSNORM_SUM].use, BOUND_DEAD);
	assert_int_equal(policy.surviving, 1);
	/* The result is added to again: the next group. */
	assert_string_equal(launch(add(A, A, B)), "H");
	assert_string_equal(launch(norm(OUT, A)), "F");
	assert_string_equal(policy.told, "0-1:none 2-3:none ");
}

static void test_independent_launch_passes(void **arg)
{
	assert_string_equal(launch(add(S, A, B)), "H");
	assert_string_equal(launch(norm(Y, X)), "P");
	assert_string_equal(launch(norm(OUT, S)), "F");
	assert_string_equal(policy.told, "0-2:none ");
}

static void test_unvetted_launch_does_not_pass(void **arg)
{
	struct op op = norm(Y, X);

	op.vetted = false;
	assert_string_equal(launch(add(S, A, B)), "H");
	assert_string_equal(launch(op), "0 P");
	assert_string_equal(launch(norm(OUT, S)), "P");
	assert_string_equal(policy.told, "0-2:unproven-kernel ");
}

/* What comes between add 0 and norm 2, what the planner does with it, and the reason in the end. */
static void test_between(void **arg)
{
	const struct {
		struct op op;
		const char *act, *told;
	} row[] = {
		{ops_opaque(), "0 P", "0-2:unknown-kernel "},
		{norm(A, X), "0 P", "0-2:input-overwritten "},
		{norm(B, X), "0 P", "0-2:input-overwritten "},
		{ops_norm(DT_f32, B + 128, X, W, 1, 4), "0 P", "0-2:input-overwritten "},
		{add(X, S, Y), "0 H", "0-2:output-read "}, /* begins a match of its own */
		{ops_norm(DT_f32, Y, X, S, 4, 16), "0 P", "0-2:output-read "},
		{ops_norm(DT_f32, S + 16, X, W, 1, 4), "0 P", "0-2:output-overwritten "},
		{norm(S, X), "0 P", ""}, /* the sum is gone: nothing to report */
		{add(S, S, Y), "0 H", "1-2:none "},
		{add(S, X, Y), "0 H", "1-2:none "},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		teardown(NULL);
		setup(NULL);
		assert_string_equal(launch(add(S, A, B)), "H");
		if (strcmp(launch(row[i].op), row[i].act))
			fail_msg("row %zu", i);
		launch(norm(OUT, S));
		if (strcmp(policy.told, row[i].told))
			fail_msg("row %zu: %s", i, policy.told);
	}
}

static void test_barrier(void **arg)
{
	static const enum reason why[] = {REASON_BARRIER, REASON_TIMER, REASON_CAPTURE};

	for (unsigned i = 0; i < 3; i++) {
		char told[64];

		teardown(NULL);
		setup(NULL);
		launch(add(S, A, B));
		seq_barrier(seq, why[i], &out);
		assert_int_equal(out.nflush, 1);
		assert_int_equal(out.act, SEQ_PASS);
		assert_int_equal(seq_held(seq), 0);
		seq_barrier(seq, REASON_BARRIER, &out);
		assert_int_equal(out.nflush, 0);
		assert_string_equal(launch(norm(OUT, S)), "P");
		snprintf(told, sizeof(told), "0-1:%s ", reason_word(why[i]));
		assert_string_equal(policy.told, told);
	}
}

static void test_refused_by_policy(void **arg)
{
	policy.verdict = REASON_NO_VERDICT;
	launch(add(S, A, B));
	assert_string_equal(launch(norm(OUT, S)), "0 P");
	/* The refused group is there for a live check. */
	assert_non_null(out.group);
	assert_int_equal(out.group->member[0]->launch.index, 0);
	assert_int_equal(out.group->bound[ADD_RMSNORM_SUM].addr, S);
	policy.memory = REASON_NOT_DEVICE_MEMORY;
	launch(add(S, A, B));
	assert_string_equal(launch(norm(OUT, S)), "2 P");
	assert_null(out.group);
	assert_string_equal(policy.told, "0-1:no-verdict 2-3:not-device-memory ");
	assert_int_equal(policy.asked, 1);
}

static void test_not_held(void **arg)
{
	policy.hold = false;
	assert_string_equal(launch(add(S, A, B)), "P");
	assert_int_equal(seq_open(seq), 1);
	assert_string_equal(launch(norm(OUT, S)), "P");
	assert_non_null(out.group);
	policy.verdict = REASON_NO_VERDICT;
	launch(add(S, A, B));
	launch(norm(OUT, S));
	/* Conflicts count although nothing was held. */
	launch(add(S, A, B));
	launch(norm(A, X));
	launch(norm(OUT, S));
	assert_string_equal(policy.told, "0-1:unpredicted 2-3:no-verdict 4-6:input-overwritten ");
	assert_int_equal(policy.asked, 2);
	assert_int_equal(policy.asked_unheld, 2);
}

static void test_disabled(void **arg)
{
	policy.off = true;
	assert_string_equal(launch(add(S, A, B)), "P");
	assert_string_equal(launch(norm(OUT, S)), "P");
	assert_string_equal(policy.told, "0-1:disabled ");
	assert_int_equal(policy.asked, 0);
}

static void test_attributes(void **arg)
{
	assert_string_equal(launch_with(add(S, A, B), LAUNCH_COOPERATIVE), "P");
	assert_string_equal(launch(norm(OUT, S)), "P");
	assert_string_equal(launch_with(add(S, A, B), LAUNCH_EXTRA), "H");
	assert_string_equal(launch_with(norm(OUT, S), LAUNCH_CLUSTER), "2 P");
	/* A launch with attributes passes like any other, but for one that may start early. */
	assert_string_equal(launch(add(S, A, B)), "H");
	assert_string_equal(launch_with(norm(Y, X), LAUNCH_CLUSTER | LAUNCH_OTHER_ATTR), "P");
	assert_string_equal(launch_with(norm(Y, X), LAUNCH_PROGRAMMATIC), "4 P");
	launch(norm(OUT, S));
	assert_string_equal(policy.told, "0-1:attributes 2-3:attributes 4-7:attributes ");
}

static void test_shape_and_overlap(void **arg)
{
	launch(add(S, A, B));
	assert_string_equal(launch(ops_norm(DT_f32, OUT, S, W, 3, 16)), "0 P");
	launch(add(S, A, B));
	assert_string_equal(launch(norm(A + 16, S)), "2 P");
	assert_string_equal(policy.told, "0-1:shape 2-3:overlap ");
}

/* Two groups whose launches are mixed; both can be fused. */
static void test_interleaved(void **arg)
{
	assert_string_equal(launch(add(S, A, B)), "H");
	assert_string_equal(launch(add(X, Y, B)), "H");
	assert_int_equal(seq_held(seq), 2);
	assert_string_equal(launch(norm(OUT, S)), "F");
	assert_int_equal(seq_held(seq), 1);
	assert_string_equal(launch(norm(Z, X)), "F");
	assert_string_equal(policy.told, "0-2:none 1-3:none ");
}

/* A launch that ends one group takes another match's held member along. */
static void test_fuse_flushes_conflicts(void **arg)
{
	assert_string_equal(launch(add(X, OUT, B)), "H");
	assert_string_equal(launch(add(S, A, B)), "H");
	assert_string_equal(launch(norm(OUT, S)), "0 F"); /* it writes what 0 reads */
	assert_string_equal(launch(norm(Z, X)), "P");
	assert_string_equal(policy.told, "1-2:none 0-3:input-overwritten ");
}

static void test_only_conflicting_members_leave(void **arg)
{
	assert_string_equal(launch(add(S, A, B)), "H");
	assert_string_equal(launch(add(X, Y, B)), "H");
	assert_string_equal(launch(norm(Y, OUT)), "1 P"); /* overwrites an input of 1 */
	assert_string_equal(launch(norm(Z, S)), "F");
	assert_string_equal(launch(norm(Z, X)), "P");
	assert_string_equal(policy.told, "0-3:none 1-4:input-overwritten ");
}

static void test_different_stream(void **arg)
{
	struct op op = norm(OUT, S), other = norm(OUT, X);
	struct launch l = ops_launch(OP_rmsnorm, 9);

	launch(add(S, A, B));
	assert_false(seq_awaits(seq, &other));
	assert_true(seq_awaits(seq, &op));
	seq_elsewhere(seq, &l, &other, &out);
	assert_int_equal(out.nflush, 0);
	seq_elsewhere(seq, &l, &op, &out);
	assert_int_equal(out.nflush, 1);
	assert_false(seq_awaits(seq, &op));
	assert_string_equal(policy.told, "0-9:different-stream ");
	/* Also when an event between them was a barrier. */
	launch(add(S, A, B));
	seq_barrier(seq, REASON_BARRIER, &out);
	seq_elsewhere(seq, &l, &op, &out);
	assert_string_equal(policy.told, "0-9:different-stream 1-9:different-stream ");
	assert_string_equal(launch(norm(OUT, S)), "P");
	assert_string_equal(policy.told, "0-9:different-stream 1-9:different-stream ");
}

static void test_ranges(void **arg)
{
	launch(add(S, A, B));
	assert_true(seq_touches(seq, (struct range){A + 255, A + 256}));
	assert_false(seq_touches(seq, (struct range){A + 256, A + 512}));
	seq_forget(seq, (struct range){A, A + 1}); /* it is held: it stays */
	assert_int_equal(seq_held(seq), 1);
	seq_barrier(seq, REASON_BARRIER, &out);
	assert_false(seq_touches(seq, (struct range){A, A + 1}));
	seq_forget(seq, (struct range){OUT, OUT + 1});
	launch(norm(OUT, S));
	assert_string_equal(policy.told, "0-1:barrier ");
	launch(add(S, A, B));
	seq_barrier(seq, REASON_BARRIER, &out);
	seq_forget(seq, (struct range){A, A + 1}); /* freed: what comes there now is another's */
	launch(norm(OUT, S));
	assert_string_equal(policy.told, "0-1:barrier ");
}

/* Many matches that nothing completes: the oldest give way, nothing held is lost. */
static void test_many(void **arg)
{
	unsigned flushed = 0;

	for (unsigned i = 0; i < 100; i++) {
		const char *text = launch(add(0x1000000 + i * 0x1000, A, B));

		flushed += out.nflush;
		assert_int_equal(text[strlen(text) - 1], 'H');
		assert_int_equal(flushed + seq_held(seq), i + 1);
	}
	assert_true(seq_held(seq) >= 8 && seq_held(seq) < 100);
	assert_string_equal(launch(norm(OUT, 0x1000000 + 99 * 0x1000)), "F");
	assert_string_equal(policy.told, "99-100:none ");
}

/* A pattern whose fused form would move no fewer bytes. */
static enum reason bind_wide(struct group *g)
{
	enum reason why = pattern_add_rmsnorm.bind(g);

	g->bound[g->nbound++] = g->bound[ADD_RMSNORM_SUM]; /* as if the sum went out and in again */
	return why;
}

static void test_not_profitable(void **arg)
{
	struct pattern wide = pattern_add_rmsnorm;
	const struct pattern *const list[] = {&wide};
	const struct seq_policy p = {.may_hold = may_hold,
				     .memory = memory,
				     .enabled = enabled,
				     .verdict = verdict,
				     .done = done,
				     .pattern = list,
				     .npattern = 1};

	wide.bind = bind_wide;
	seq_free(seq);
	seq = seq_new(&p);
	launch(add(S, A, B));
	assert_string_equal(launch(norm(OUT, S)), "0 P");
	assert_string_equal(policy.told, "0-1:not-profitable ");
	assert_int_equal(policy.asked, 0);
	seq_free(seq); /* before the pattern goes */
	seq = NULL;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
static const struct CMUnitTest tests[] = {
	T(test_adjacent),
	T(test_copies),
	T(test_in_place),
	T(test_independent_launch_passes),
	T(test_unvetted_launch_does_not_pass),
	T(test_between),
	T(test_barrier),
	T(test_refused_by_policy),
	T(test_not_held),
	T(test_disabled),
	T(test_attributes),
	T(test_shape_and_overlap),
	T(test_interleaved),
	T(test_fuse_flushes_conflicts),
	T(test_only_conflicting_members_leave),
	T(test_different_stream),
	T(test_ranges),
	T(test_many),
	T(test_not_profitable),
};
UNIT_MAIN(tests)
