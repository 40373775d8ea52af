// SPDX-License-Identifier: Apache-2.0
/*
 * Random launches, with some that nobody knows, through the planner that looks for chains; what it
 * says is done, chains as one, and memory must be as if all launches had run as they came.
 * AUTOFUSE_TEST_SECONDS runs longer, AUTOFUSE_TEST_SEED begins elsewhere.
 */
#include "unit.h"

#include <time.h>

#include "matcher/seq.h"
#include "tests/unit/row_ops.h"

enum { LAUNCHES = 24 };

static uint8_t before[ARENA], wanted[ARENA];

static struct planned {
	struct op op;
	struct row_pick pick;
	struct row row; /* alone */
	bool opaque;
	bool ran;
} launch[LAUNCHES];

static unsigned patterns, groups, members, largest, kept;
static unsigned named[PATTERN_COUNT];

static enum reason memory(void *arg, struct range r, const struct launch *l, int surviving)
{
	return REASON_NONE;
}

static bool enabled(void *arg, const struct pattern *p)
{
	return true;
}

static unsigned hold_one_in; /* 0: hold all; else now and then one is not held */

static bool may_hold(void *arg, const struct member *m, const struct pattern *p, uint8_t node)
{
	return !hold_one_in || below(hold_one_in);
}

static enum reason verdict(void *arg, struct group *g, bool all_held)
{
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, enum reason why)
{
	if (!g->row || why)
		return;
	assert_true(group_size(g) > 1);
	groups++;
	for (unsigned k = 0; k < g->row->noperand; k++)
		kept += !row_operand_kept_whole(&g->row->operand[k]);
	members += group_size(g);
	named[pattern_id(g->pattern)]++;
	if (group_size(g) > largest)
		largest = group_size(g);
}

/* What an unknown kernel does: changes any byte. */
static void unknown(unsigned n)
{
	for (unsigned i = n; i < ARENA; i += 997)
		arena[i] ^= 0x11;
}

static void run(unsigned i)
{
	assert_false(launch[i].ran); /* once */
	launch[i].ran = true;
	if (launch[i].opaque)
		unknown(i);
	else
		assert_true(row_interp(&launch[i].row, draw()));
}

/* Does as the planner says, like a window. */
static void obey(const struct seq_out *out, int mine)
{
	for (unsigned i = 0; i < out->nchain; i++) {
		const struct group *g = out->chain[i];

		for (unsigned k = 0; k < group_size(g); k++) {
			struct planned *p = &launch[g->member[k]->launch.index];

			assert_true(!p->ran && !p->opaque);
			p->ran = true;
		}
		assert_true(row_interp(g->row, draw()));
	}
	for (unsigned i = 0; i < out->nflush; i++)
		run((unsigned)out->flush[i]->launch.index);
	/* A pattern, which is its members one behind the other. */
	for (unsigned i = 0; out->act == SEQ_FUSE && i < group_size(out->group); i++) {
		run((unsigned)out->group->member[i]->launch.index);
		patterns += !i;
	}
	if (mine >= 0 && out->act == SEQ_PASS)
		run((unsigned)mine);
}

/* One planner for each kind, which knows what all cases before came to. */
static struct seq *planner(bool larger)
{
	static struct seq *known[2];
	const struct seq_policy policy = {.may_hold = may_hold,
					  .memory = memory,
					  .enabled = enabled,
					  .verdict = verdict,
					  .done = done,
					  .chains = true,
					  .larger = larger};

	if (!known[larger])
		known[larger] = seq_new(&policy);
	assert_non_null(known[larger]);
	return known[larger];
}

static void plan(unsigned n, bool larger)
{
	static struct kernel k = {.name = (char *)"any"};
	struct seq *s = planner(larger);
	struct seq_out out;

	for (unsigned i = 0; i < n; i++) {
		const struct op opaque = {.code = OP_opaque};
		const struct launch l = {
			.kernel = &k, .grid = {1, 1, 1}, .block = {256, 1, 1}, .index = i};

		seq_launch(s, &l, launch[i].opaque ? &opaque : &launch[i].op, &out);
		obey(&out, (int)i);
		if (below(20))
			continue;
		seq_barrier(s, REASON_BARRIER, &out);
		obey(&out, -1);
		assert_int_equal(seq_held(s), 0);
	}
	seq_barrier(s, REASON_BARRIER, &out);
	obey(&out, -1);
	assert_int_equal(seq_held(s), 0);
	seq_clear(s);
}

/*
 * The planner takes the usual spelling and a guessed order; so do the launches when they run
 * alone, as here it is places and memory that count.
 */
static bool add_launch(unsigned n, const struct op *op)
{
	struct planned *p = &launch[n];
	struct row_member one = {.op = &p->op};

	p->op = *op;
	p->ran = p->opaque = false;
	row_pick_spelling(&p->op, 0, &p->pick.spelling);
	p->pick.order = row_order_usual(256);
	one.pick = p->pick;
	return row_build(&p->row, &one, 1) == REASON_NONE;
}

/* silu, then mul, in a form that the pattern has. */
static unsigned draw_pattern(unsigned n)
{
	const int64_t count = shape.a * shape.b * shape.c;
	struct op silu = {.code = OP_silu, .vetted = true, .rows = 1, .cols = count, .noperand = 2},
		  mul = {.code = OP_mul, .vetted = true, .rows = 1, .cols = count, .noperand = 3};
	uint64_t at[4];

	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint64_t)(uintptr_t)arena + below(SLOTS) * SLOT_BYTES;
	operand_dense(&silu.operand[0], ROLE_out, ACCESS_WRITE, DT_f32, at[0], 0, count);
	operand_dense(&silu.operand[1], ROLE_in0, ACCESS_READ, DT_f32, at[1], 0, count);
	operand_dense(&mul.operand[0], ROLE_out, ACCESS_WRITE, DT_f32, at[3], 0, count);
	operand_dense(&mul.operand[1], ROLE_in0, ACCESS_READ, DT_f32, at[0], 0, count);
	operand_dense(&mul.operand[2], ROLE_in1, ACCESS_READ, DT_f32, at[2], 0, count);
	return add_launch(n, &silu) && add_launch(n + 1, &mul) ? 2 : 0;
}

static unsigned draw_launches(void)
{
	unsigned n = 0;

	draw_shape();
	while (n < LAUNCHES) {
		struct row_pick pick;
		struct op op;

		if (n + 2 <= LAUNCHES && !below(6))
			n += draw_pattern(n);
		else if (!below(24))
			launch[n++] = (struct planned){.opaque = true};
		else
			n += draw_op(&op, &pick) && add_launch(n, &op);
	}
	return n;
}

/* Several times, as programs do: the planner knows then what it came to before. */
static void one_case(uint64_t seed)
{
	const unsigned rounds = 3;
	bool larger, same = true;
	unsigned n;

	state = seed;
	n = draw_launches();
	fill_arena();
	memcpy(before, arena, ARENA);
	for (unsigned i = 0; i < n; i++)
		run(i);
	memcpy(wanted, arena, ARENA);
	larger = below(2);
	for (unsigned k = 0; k < rounds && same; k++) {
		memcpy(arena, before, ARENA);
		for (unsigned i = 0; i < n; i++)
			launch[i].ran = false;
		hold_one_in = below(2) ? 0 : 2 + below(10);
		plan(n, larger);
		for (unsigned i = 0; i < n; i++)
			assert_true(launch[i].ran);
		same = !memcmp(arena, wanted, ARENA);
	}
	if (same)
		return;
	for (unsigned i = 0; i < n; i++) {
		fprintf(stderr, "%u: ", i);
		if (launch[i].opaque)
			fprintf(stderr, "unknown\n");
		else
			print_ops(&launch[i].op, &launch[i].pick, 1);
	}
	fail_msg("seed %llu: not the same bytes", (unsigned long long)seed);
}

static void test_random(void **arg)
{
	const char *seconds = getenv("AUTOFUSE_TEST_SECONDS"),
		   *first = getenv("AUTOFUSE_TEST_SEED");
	const time_t end = time(NULL) + (seconds ? atoi(seconds) : 8);
	uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
	unsigned n = 0;

	for (; n < 600 || (n < 20000 && time(NULL) < end) || (seconds && time(NULL) < end);
	     n++, seed++)
		one_case(seed);
	fprintf(stderr,
		"# %u cases, %u chains of %u members, at most %u; %u kept in part, %u patterns;", n,
		groups, members, largest, kept, patterns);
	for (unsigned i = 0; i < PATTERN_COUNT; i++)
		fprintf(stderr, " %u %s", named[i], pattern_get((enum pattern_id)i)->name);
	fprintf(stderr, "\n");
	if (!first)
		assert_true(groups > n && largest > 4 && kept > 10 && patterns);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

UNIT_MAIN(tests)
