// SPDX-License-Identifier: Apache-2.0
/*
 * Random launches, with some that nobody knows, through the planner that looks for chains; then
 * each chain is run as one at the place of its last member, its members are not, and memory must be
 * as if all had run as they came. AUTOFUSE_TEST_SECONDS runs longer, AUTOFUSE_TEST_SEED begins
 * elsewhere.
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
	const struct row *fused; /* at its place, or NULL */
	bool member;
} launch[LAUNCHES];

static struct row group_row[LAUNCHES];
static unsigned ngroup, groups, members, largest, kept;
static unsigned named[PATTERN_COUNT];

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
	return false;
}

static enum reason verdict(void *arg, struct group *g, bool all_held)
{
	return REASON_NONE;
}

static void done(void *arg, const struct group *g, enum reason why)
{
	if (!g->row || why)
		return;
	assert_true(group_size(g) > 1 && ngroup < LAUNCHES);
	row_copy(&group_row[ngroup], g->row);
	for (unsigned i = 0; i < group_size(g); i++) {
		struct planned *p = &launch[g->member[i]->launch.index];

		assert_false(p->member); /* once */
		assert_true(!i || g->member[i]->launch.index > g->member[i - 1]->launch.index);
		p->member = true;
		p->fused = i + 1 == group_size(g) ? &group_row[ngroup] : NULL;
	}
	ngroup++;
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

static void plan(unsigned n)
{
	const struct seq_policy policy = {.may_hold = may_hold,
					  .memory = memory,
					  .enabled = enabled,
					  .verdict = verdict,
					  .done = done,
					  .chains = true,
					  .larger = true};
	static struct kernel k = {.name = (char *)"any"};
	struct seq *s = seq_new(&policy);
	struct seq_out out;

	assert_non_null(s);
	for (unsigned i = 0; i < n; i++) {
		const struct op opaque = {.code = OP_opaque};
		const struct launch l = {
			.kernel = &k, .grid = {1, 1, 1}, .block = {256, 1, 1}, .index = i};

		seq_launch(s, &l, launch[i].opaque ? &opaque : &launch[i].op, &out);
		if (!below(20))
			seq_barrier(s, REASON_BARRIER, &out);
	}
	seq_barrier(s, REASON_BARRIER, &out);
	seq_free(s);
}

/*
 * The planner takes the usual spelling and a guessed order; so do the launches when they run
 * alone, as here it is places and memory that count.
 */
static unsigned draw_launches(void)
{
	unsigned n = 0;

	draw_shape();
	while (n < LAUNCHES) {
		struct planned *p = &launch[n];
		struct row_member one = {.op = &p->op};

		p->fused = NULL;
		p->member = false;
		p->opaque = !below(24);
		if (!draw_op(&p->op, &p->pick))
			continue;
		row_pick_spelling(&p->op, 0, &p->pick.spelling);
		p->pick.order = row_order_usual(256);
		one.pick = p->pick;
		if (p->opaque || row_build(&p->row, &one, 1) == REASON_NONE)
			n++;
	}
	return n;
}

static void one_case(uint64_t seed)
{
	unsigned n;

	state = seed;
	n = draw_launches();
	fill_arena();
	memcpy(before, arena, ARENA);
	for (unsigned i = 0; i < n; i++)
		if (launch[i].opaque)
			unknown(i);
		else
			assert_true(row_interp(&launch[i].row, draw()));
	memcpy(wanted, arena, ARENA);
	memcpy(arena, before, ARENA);
	ngroup = 0;
	plan(n);
	for (unsigned i = 0; i < n; i++)
		if (launch[i].fused)
			assert_true(row_interp(launch[i].fused, draw()));
		else if (launch[i].opaque)
			unknown(i);
		else if (!launch[i].member)
			assert_true(row_interp(&launch[i].row, draw()));
	if (!memcmp(arena, wanted, ARENA))
		return;
	for (unsigned i = 0; i < n; i++) {
		fprintf(stderr, "%u%s%s: ", i, launch[i].member ? " member" : "",
			launch[i].fused ? " last" : "");
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
	fprintf(stderr, "# %u cases, %u chains of %u members, at most %u; %u kept in part;", n,
		groups, members, largest, kept);
	for (unsigned i = 0; i < PATTERN_COUNT; i++)
		fprintf(stderr, " %u %s", named[i], pattern_get((enum pattern_id)i)->name);
	fprintf(stderr, "\n");
	if (!first)
		assert_true(groups > n && largest > 4 && kept > 10);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

UNIT_MAIN(tests)
