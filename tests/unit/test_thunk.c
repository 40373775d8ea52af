/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thunks, each by its row: what is asked of the windows and the loans of graphs, and what the
 * program gets. The windows, the loans, the guard and the driver are this file's; a program that
 * holds entry.S also has its dlsym.
 */
#include "tests/unit/unit.h"

#include <dlfcn.h>

#include "shim/graph_loan.h"
#include "shim/process.h"
#include "shim/record.h"
#include "shim/route.h"
#include "shim/thunk.h"
#include "shim/window.h"

/* Bodies for the hooks: never called here. */
#define HOOK(name, why) __asm__(".globl " #name "\n" #name ":\n\tud2\n");
#include "shim/hooks.def"
#undef HOOK

static struct {
	int touched, all, stream, recorded, settled, driver;
	CUstream which;
	bool ptsz, guard;
	unsigned call;
	CUresult answer; /* of the windows */
} seen;

struct process process;
unsigned window_watch, graph_loans;
bool record_on;
__thread unsigned *window_activity;

bool process_wanted(void)
{
	return true;
}

void process_give_up(void)
{
}

bool guard_enter(void)
{
	if (seen.guard)
		return false;
	seen.guard = true;
	return true;
}

void guard_leave(void)
{
	seen.guard = false;
}

bool guard_held(void)
{
	return seen.guard;
}

void window_touch(void)
{
	seen.touched++;
}

void graph_loan_settle(void)
{
	assert_true(seen.guard);
	assert_int_equal(seen.driver, 0);
	seen.settled++;
}

CUresult window_all_call(void)
{
	seen.all++;
	return seen.answer;
}

CUresult window_stream_call(CUstream stream, bool ptsz)
{
	seen.stream++;
	seen.which = stream;
	seen.ptsz = ptsz;
	return seen.answer;
}

/* Uses every register that a function may use, as real work would. */
void record_call(unsigned call, bool has_stream, CUstream stream, bool ptsz)
{
	seen.recorded++;
	seen.call = call;
	__asm__ volatile(".irp r, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11\n\t"
			 "movq $-1, %%\\r\n\t.endr\n\t"
			 ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
			 "pcmpeqd %%xmm\\n, %%xmm\\n\n\t.endr" ::
				 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",
				   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
				   "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
				   "xmm15");
}

/* What the tables say, read a second time, by name. */
struct named {
	const char *base, *class;
};
static const struct named classes[] = {
#define CALL(base, class, why) {#base, #class},
#include "matcher/calls.def"
#undef CALL
};
static const struct {
	const char *name, *base, *flavour;
	int stream;
	bool hooked;
} rows[] = {
#define DRIVER_API(name, base, since, flavour, stream, params, args)                               \
	{#name, #base, #flavour, stream, false},
#include "shim/rows.def"
#undef DRIVER_API
};
static const char *const hooks[] = {
#define HOOK(name, why) #name,
#include "shim/hooks.def"
#undef HOOK
};

static bool hooked(const char *name)
{
	for (unsigned i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++)
		if (!strcmp(hooks[i], name))
			return true;
	return false;
}

static const char *class_of(unsigned row)
{
	for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!strcmp(classes[i].base, rows[row].base))
			return classes[i].class;
	return rows[row].stream >= 0 ? "stream" : "all";
}

/* Calls that begin with cuGraph, but for those that loans.def names otherwise. */
static bool settles(unsigned row)
{
#define LOAN(name, what, why)                                                                      \
	if (!strcmp(rows[row].base, #name))                                                        \
		return !strcmp(#what, "settles");
#include "shim/loans.def"
#undef LOAN
	return !strncmp(rows[row].base, "cuGraph", 7);
}

static uint64_t args[10];

static CUresult driver(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
		       uint64_t g, uint64_t h, uint64_t i, uint64_t j)
{
	const uint64_t got[10] = {a, b, c, d, e, f, g, h, i, j};

	memcpy(args, got, sizeof(args));
	seen.driver++;
	return 77;
}

static CUresult call(unsigned row)
{
	CUresult (*thunk)(uint64_t, ...) = (CUresult(*)(uint64_t, ...))thunk_wrapper(row);

	return thunk(0x100ul, 0x101ul, 0x102ul, 0x103ul, 0x104ul, 0x105ul, 0x106ul, 0x107ul,
		     0x108ul, 0x109ul);
}

static int setup(void **state)
{
	memset(&seen, 0, sizeof(seen));
	memset(args, 0, sizeof(args));
	window_watch = graph_loans = 0;
	for (unsigned i = 0; i < CALL_COUNT; i++)
		((void **)&real)[i] = (void *)driver;
	return 0;
}

static void table(void **state)
{
	assert_int_equal(sizeof(rows) / sizeof(rows[0]), CALL_COUNT);
	for (unsigned i = 0; i < CALL_COUNT; i++) {
		const struct thunk_row *r = &thunk_rows[i];
		static const char *const word[] = {"neutral", "stream", "all"};

		assert_string_equal(driver_name(i), rows[i].name);
		assert_string_equal(word[r->class], class_of(i));
		assert_int_equal(r->stream, rows[i].stream);
		assert_int_equal(r->ptsz, strcmp(rows[i].flavour, "legacy") != 0);
		assert_int_equal(r->hooked, hooked(rows[i].name));
		assert_int_equal(r->loan, settles(i));
	}
	assert_string_equal(driver_name(CALL_COUNT), "?");
}

static void unwatched(void **state)
{
	for (unsigned i = 0; i < CALL_COUNT; i++) {
		if (thunk_rows[i].hooked)
			continue;
		assert_int_equal(call(i), 77);
		assert_int_equal(args[0], 0x100);
		assert_int_equal(args[9], 0x109);
	}
	assert_int_equal(seen.recorded + seen.touched + seen.all + seen.stream + seen.settled, 0);
	assert_true(seen.driver > 500);
}

/* Loans are settled before the calls that may touch a graph, with and without windows. */
static void lent(void **state)
{
	unsigned settled = 0;

	graph_loans = 1;
	for (unsigned i = 0; i < 2 * CALL_COUNT; i++) {
		const unsigned row = i / 2;

		if (thunk_rows[row].hooked)
			continue;
		window_watch = i % 2;
		memset(&seen, 0, sizeof(seen));
		assert_int_equal(call(row), 77);
		for (unsigned k = 0; k < 10; k++)
			assert_int_equal(args[k], 0x100 + k);
		assert_int_equal(seen.settled, settles(row));
		assert_int_equal(seen.driver, 1);
		assert_int_equal(seen.all, window_watch && !strcmp(class_of(row), "all"));
		assert_int_equal(seen.stream, window_watch && !strcmp(class_of(row), "stream"));
		assert_false(seen.guard);
		settled += seen.settled;
	}
	assert_true(settled > 100);
}

/* Neutral calls only count, where this thread holds something, unless calls are recorded. */
static void watched(void **state)
{
	unsigned activity = 0;

	window_watch = 1;
	for (unsigned i = 0; i < 2 * CALL_COUNT; i++) {
		const unsigned row = i / 2;
		const char *class = class_of(row);
		const bool counts = !strcmp(class, "neutral") && !(i % 2);

		if (thunk_rows[row].hooked)
			continue;
		record_on = i % 2;
		memset(&seen, 0, sizeof(seen));
		window_activity = row % 3 ? &activity : NULL;
		activity = 7;
		assert_int_equal(call(row), 77);
		for (unsigned k = 0; k < 10; k++)
			assert_int_equal(args[k], 0x100 + k);
		assert_int_equal(activity, counts && window_activity ? 8 : 7);
		assert_int_equal(seen.recorded, !counts);
		assert_int_equal(seen.call, counts ? 0 : row);
		assert_int_equal(seen.touched, !strcmp(class, "neutral") && !counts);
		assert_int_equal(seen.all, !strcmp(class, "all"));
		assert_int_equal(seen.stream, !strcmp(class, "stream"));
		if (seen.stream) {
			assert_int_equal((uintptr_t)seen.which, 0x100 + rows[row].stream);
			assert_int_equal(seen.ptsz, !strcmp(rows[row].flavour, "ptsz"));
		}
		assert_false(seen.guard);
	}
	record_on = false;
	window_activity = NULL;
}

/* A held launch failed: the program gets its error, and the call is not made. */
static void late_error(void **state)
{
	window_watch = 1;
	for (unsigned i = 0; i < CALL_COUNT; i++) {
		bool neutral = !strcmp(class_of(i), "neutral");

		if (thunk_rows[i].hooked)
			continue;
		memset(&seen, 0, sizeof(seen));
		seen.answer = 719;
		assert_int_equal(call(i), neutral ? 77 : 719);
		assert_int_equal(seen.driver, neutral);
	}
}

static void guarded(void **state)
{
	window_watch = graph_loans = 1;
	seen.guard = true;
	for (unsigned i = 0; i < CALL_COUNT; i++)
		if (!thunk_rows[i].hooked)
			assert_int_equal(call(i), 77);
	assert_int_equal(seen.recorded + seen.touched + seen.all + seen.stream + seen.settled, 0);
	assert_true(seen.guard);
}

static void pool(void **state)
{
	CUresult (*thunk)(uint64_t, ...) = (CUresult(*)(uint64_t, ...))thunk_for((void *)driver);

	assert_non_null(thunk);
	assert_ptr_equal(thunk_for((void *)driver), thunk);
	assert_ptr_not_equal(thunk_for((void *)call), thunk);
	assert_int_equal(thunk(1, 2ul, 3ul, 4ul, 5ul, 6ul, 7ul, 8ul, 9ul, 10ul), 77);
	assert_int_equal(seen.all, 0);
	seen.driver = 0;
	graph_loans = 1;
	assert_int_equal(thunk(1, 2ul, 3ul, 4ul, 5ul, 6ul, 7ul, 8ul, 9ul, 10ul), 77);
	assert_int_equal(args[9], 10);
	assert_int_equal(seen.settled, 1);
	graph_loans = 0;
	memset(&seen, 0, sizeof(seen));
	window_watch = 1;
	assert_int_equal(thunk(1, 2ul, 3ul, 4ul, 5ul, 6ul, 7ul, 8ul, 9ul, 10ul), 77);
	assert_int_equal(args[0], 1);
	assert_int_equal(args[9], 10);
	assert_int_equal(seen.all, 1);
	assert_int_equal(seen.recorded, 1);
	assert_true(seen.call >= CALL_COUNT);
	seen.answer = 719;
	seen.driver = 0;
	assert_int_equal(thunk(1), 719);
	assert_int_equal(seen.driver, 0);
	/* It is finite: then a function is handed out as it is. */
	for (uintptr_t i = 1; i < 1000; i++)
		thunk_for((void *)(0x7000000 + i));
	assert_null(thunk_for((void *)0x1234567));
	assert_ptr_equal(thunk_for((void *)driver), thunk);
}

static double sum;

static CUresult floats(double a, double b, double c, double d, double e, double f, double g,
		       double h, double i)
{
	sum = a + 2 * b + 4 * c + 8 * d + 16 * e + 32 * f + 64 * g + 128 * h + 256 * i;
	return CUDA_SUCCESS;
}

static void vector_registers(void **state)
{
	__typeof__(floats) *thunk = (__typeof__(floats) *)thunk_for((void *)floats);

	window_watch = 1;
	assert_non_null(thunk);
	assert_int_equal(thunk(1, 1, 1, 1, 1, 1, 1, 1, 1), 0);
	assert_true(sum == 511);
	assert_int_equal(seen.all, 1);
}

/* This program's dlsym is entry.S's, and there is no driver. */
static void resolving(void **state)
{
	assert_true(route_first());
	assert_ptr_equal(dlsym(RTLD_DEFAULT, "getpid"), getpid);
	assert_non_null(dlsym(RTLD_NEXT, "dlsym"));
	assert_ptr_not_equal(dlsym(RTLD_NEXT, "dlsym"), dlsym);
	assert_null(dlsym(RTLD_DEFAULT, "cuInit"));
	assert_false(driver_bind(NULL));
	assert_false(driver_bind((void *)getpid));
	assert_ptr_equal(route_pointer((void *)route_first), (void *)route_first);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup(table, setup),   cmocka_unit_test_setup(unwatched, setup),
	cmocka_unit_test_setup(watched, setup), cmocka_unit_test_setup(late_error, setup),
	cmocka_unit_test_setup(guarded, setup), cmocka_unit_test_setup(vector_registers, setup),
	cmocka_unit_test_setup(pool, setup),    cmocka_unit_test_setup(resolving, setup),
	cmocka_unit_test_setup(lent, setup),
};
UNIT_MAIN(tests)
