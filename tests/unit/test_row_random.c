// SPDX-License-Identifier: Apache-2.0
/*
 * Random chains of ops as one row program against the same ops one behind the other: every byte of
 * memory must be the same. Shapes, strides, broadcasts, types, spellings, orders and aliasing are
 * drawn at random. AUTOFUSE_TEST_SECONDS runs longer, AUTOFUSE_TEST_SEED begins elsewhere.
 */
#include "unit.h"

#include <time.h>

#include "tests/unit/row_ops.h"

enum { OPS = 8 };

static uint8_t before[ARENA], unfused[ARENA];

static unsigned counts[OPS + 1], refused, values_used, otherwise, some, late;

/* Longest prefix of the chain that each op can run by itself. */
static bool run_alone(const struct op *op, const struct row_pick *pick)
{
	const struct row_member one = {op, *pick};
	static struct row r;

	return row_build(&r, &one, 1) == REASON_NONE && row_interp(&r, draw());
}

static void draw_permutation(uint8_t *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const unsigned k = below(i + 1);

		p[i] = p[k];
		p[k] = (uint8_t)i;
	}
}

/* The same program, written otherwise. */
static void shuffle(struct row *to, const struct row *from)
{
	uint8_t operand[ROW_MAX_OPERANDS], imm[ROW_MAX_IMM], order[ROW_MAX_ORDERS],
		as[ROW_MAX_STMTS];

	row_copy(to, from);
	draw_permutation(operand, from->noperand);
	draw_permutation(imm, from->nimm);
	draw_permutation(order, from->norder);
	for (unsigned i = 0; i < from->noperand; i++)
		to->operand[operand[i]] = from->operand[i];
	for (unsigned i = 0; i < from->nimm; i++)
		to->imm[imm[i]] = from->imm[i];
	for (unsigned i = 0; i < from->norder; i++)
		to->order[order[i]] = from->order[i];
	memset(as, ROW_NONE, sizeof(as));
	to->nstmt = 0;
	while (to->nstmt < from->nstmt) {
		const unsigned i = below(from->nstmt);
		struct row_stmt n = from->stmt[i];
		bool ready = as[i] == ROW_NONE;

		for (unsigned k = 0; k < row_code_nargs(n.code); k++) {
			ready &= as[n.arg[k]] != ROW_NONE;
			n.arg[k] = as[n.arg[k]];
		}
		if (!ready)
			continue;
		if (row_code_commutes(n.code) && below(2)) {
			const uint8_t a = n.arg[0];

			n.arg[0] = n.arg[1];
			n.arg[1] = a;
		}
		n.at = n.code == ROW_LOAD || n.code == ROW_STORE ? operand[n.at]
		       : n.code == ROW_CONST                     ? imm[n.at]
		       : row_code_reduces(n.code)                ? order[n.at]
								 : 0;
		as[i] = to->nstmt;
		to->stmt[to->nstmt++] = n;
	}
}

/* Late stores, done as two programs. Should the second fail, what they stand for can still be run:
 * behind the first, it leaves what it would have left. */
static void in_two(uint64_t seed, const struct row *r, const struct row_member *member, unsigned n)
{
	static struct row first, second;

	late++;
	memcpy(arena, before, ARENA);
	assert_int_equal(row_split(r, &first, &second), REASON_NONE);
	assert_false(row_is_late(&first) || row_is_late(&second));
	if (!row_interp(&first, draw()) || !row_interp(&second, draw()) ||
	    memcmp(arena, unfused, ARENA) != 0) {
		static char text[3][20000];

		row_print(r, text[0], sizeof(text[0]));
		row_print(&first, text[1], sizeof(text[1]));
		row_print(&second, text[2], sizeof(text[2]));
		fprintf(stderr, "%s\n%s\n%s\n", text[0], text[1], text[2]);
		fail_msg("seed %llu: not the same bytes in two parts", (unsigned long long)seed);
	}
	memcpy(arena, before, ARENA);
	assert_true(row_interp(&first, draw()));
	for (unsigned i = 0; i < n; i++)
		assert_true(run_alone(member[i].op, &member[i].pick));
	if (memcmp(arena, unfused, ARENA) != 0)
		fail_msg("seed %llu: the first part cannot be taken back",
			 (unsigned long long)seed);
}

static void one_case(uint64_t seed)
{
	static struct op op[OPS];
	static struct row_pick pick[OPS];
	static struct row_member member[OPS];
	static struct row r, again;
	unsigned n, alone = 0, last;
	uint64_t hash;

	state = seed;
	last = 1 + below(OPS);
	memset(pick, 0, sizeof(pick));
	draw_shape();
	for (n = 0; n < last && draw_op(&op[n], &pick[n]);)
		n++;
	fill_arena();
	memcpy(before, arena, ARENA);
	for (unsigned i = 0; i < n; i++)
		member[i] = (struct row_member){&op[i], pick[i]};
	/* The longest chain that is a program. */
	while (n && row_build(&r, member, n))
		n--;
	counts[n]++;
	if (!n)
		return;
	for (unsigned i = 0; i < n; i++)
		alone += run_alone(&op[i], &pick[i]);
	memcpy(unfused, arena, ARENA);
	memcpy(arena, before, ARENA);
	if (alone != n) { /* it may be that only the group is free of races; that is not for us */
		refused++;
		return;
	}
	hash = row_hash(&r);
	again = r;
	row_canon(&again);
	if (row_hash(&again) != hash || row_check(&r) || !row_interp(&r, draw()) ||
	    memcmp(arena, unfused, ARENA) != 0) {
		static char text[65536];

		row_print(&r, text, sizeof(text));
		print_ops(op, pick, n);
		fail_msg("seed %llu: not the same bytes (or form)\n%s", (unsigned long long)seed,
			 text);
	}
	values_used += r.nstmt;
	for (unsigned i = 0; i < r.noperand; i++)
		some += r.operand[i].most[0] || r.operand[i].most[1] || r.operand[i].most[2];
	if (row_is_late(&r))
		in_two(seed, &r, member, n);
	shuffle(&again, &r);
	assert_int_equal(row_check(&again), REASON_NONE);
	row_canon(&again);
	otherwise += row_hash(&again) != hash;
}

static void test_random(void **arg)
{
	const char *seconds = getenv("AUTOFUSE_TEST_SECONDS"),
		   *first = getenv("AUTOFUSE_TEST_SEED");
	const time_t end = time(NULL) + (seconds ? atoi(seconds) : 8);
	uint64_t seed = first ? strtoull(first, NULL, 10) : 1;
	unsigned n = 0, joined = 0;

	for (; n < 4000 || (n < 20000 && time(NULL) < end) || (seconds && time(NULL) < end);
	     n++, seed++)
		one_case(seed);
	for (unsigned i = 2; i <= OPS; i++)
		joined += counts[i];
	fprintf(stderr, "# %u cases; members:", n);
	for (unsigned i = 0; i <= OPS; i++)
		fprintf(stderr, " %u", counts[i]);
	fprintf(stderr,
		"; %u refused alone; %u statements; %u not canonical; %u operands of some rows; %u "
		"with late stores\n",
		refused, values_used, otherwise, some, late);
	assert_true(otherwise * 200 < n);
	assert_true(first || (some > n / 400 && late > n / 40));
	if (!first)
		assert_true(joined > n / 5);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

UNIT_MAIN(tests)
