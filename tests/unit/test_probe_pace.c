// SPDX-License-Identifier: Apache-2.0
/*
 * A probe's pauses, with a driver that only takes time. That a pause is made is seen by the clock,
 * which is never too fast; that none is made, by a sum of pauses that would take far longer.
 */
#include "tests/unit/unit.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "shim/probe_child.h"

static struct probe_driver cu;
static int pair[2]; /* the program's end, and the child's */

static CUresult CUDAAPI takes(CUstream s)
{
	usleep((useconds_t)(uintptr_t)s);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI set(CUdeviceptr to, unsigned char v, size_t n, CUstream s)
{
	(void)to, (void)v, (void)n, (void)s;
	return CUDA_SUCCESS;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds that it takes to have the device busy for so long so many times. */
static double work(unsigned times, unsigned us)
{
	const double from = now();

	for (unsigned i = 0; i < times; i++) {
		cu.cuMemsetD8Async(0, 0, 0, NULL);
		cu.cuStreamSynchronize((CUstream)(uintptr_t)us);
	}
	return now() - from;
}

static int start(void **state)
{
	(void)state;
	memset(&cu, 0, sizeof(cu));
	cu.cuStreamSynchronize = takes;
	cu.cuMemsetD8Async = set;
	probe_pace_calls(&cu);
	return socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
}

static int stop(void **state)
{
	(void)state;
	alarm(0);
	probe_pace(pair[1], 100);
	work(1, 0); /* nothing is owed to the next one */
	close(pair[0]);
	close(pair[1]);
	return 0;
}

static void keeps_its_share(void **state)
{
	(void)state;
	probe_pace(pair[1], 20);
	assert_true(work(10, 10000) >=
		    0.49); /* 10 x 10 ms are a fifth of it; pauses from 2 ms on */
}

static void short_waits_add_up(void **state)
{
	(void)state;
	probe_pace(pair[1], 50);
	assert_true(work(400, 500) >= 0.39); /* each by itself is too short for a pause */
}

static void none_is_one(void **state)
{
	(void)state;
	probe_pace(pair[1], 0);
	assert_true(work(1, 5000) >= 0.49);
}

static void all_and_more_is_no_pause(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		probe_pace(pair[1], i ? 1000 : 100);
		assert_true(work(100, 1000) < 5); /* at 1 percent: 10 s */
	}
}

static void waiting_for_nothing_costs_nothing(void **state)
{
	const double from = now();

	(void)state;
	probe_pace(pair[1], 1);
	for (unsigned i = 0; i < 100; i++)
		cu.cuStreamSynchronize((CUstream)(uintptr_t)1000);
	assert_true(now() - from < 5);
}

static void nobody_is_there_any_more(void **state)
{
	(void)state;
	probe_pace(pair[1], 1);
	shutdown(pair[0], SHUT_WR);
	assert_true(work(100, 1000) < 5);
}

/* Within one pause of 20 s. */
static void wakes_when_the_program_ends(void **state)
{
	const pid_t program = fork();

	(void)state;
	if (!program) {
		usleep(300000);
		_exit(0);
	}
	close(pair[0]);
	pair[0] = -1;
	probe_pace(pair[1], 1);
	assert_true(work(1, 200000) < 10);
	assert_int_equal(waitpid(program, NULL, 0), program);
}

static void share_is_as_last_asked(void **state)
{
	(void)state;
	probe_pace(pair[1], 100);
	work(1, 1000);
	probe_pace(pair[1], 10);
	assert_true(work(1, 20000) >= 0.19);
}

static double alarm_left(void)
{
	struct itimerval t;

	getitimer(ITIMER_REAL, &t);
	return (double)t.it_value.tv_sec + 1e-6 * (double)t.it_value.tv_usec;
}

static void alarm_is_put_off(void **state)
{
	(void)state;
	alarm(1);
	probe_pace(pair[1], 1);
	work(1, 15000); /* a pause longer than all that the alarm gives */
	assert_true(alarm_left() > 0 && alarm_left() < 0.99);
}

/* Not by more than the pauses: who works on and on comes to an end. */
static void alarm_comes(void **state)
{
	(void)state;
	alarm(30);
	probe_pace(pair[1], 5);
	work(20, 4000);
	assert_true(alarm_left() <= 30 - 20 * 0.004);
	assert_true(alarm_left() > 20);
}

static void no_alarm_is_made(void **state)
{
	(void)state;
	probe_pace(pair[1], 10);
	work(2, 5000);
	assert_true(alarm_left() == 0);
}

#define PACE_TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)
int main(void)
{
	const struct CMUnitTest tests[] = {
		PACE_TEST(keeps_its_share),
		PACE_TEST(short_waits_add_up),
		PACE_TEST(none_is_one),
		PACE_TEST(all_and_more_is_no_pause),
		PACE_TEST(waiting_for_nothing_costs_nothing),
		PACE_TEST(nobody_is_there_any_more),
		PACE_TEST(wakes_when_the_program_ends),
		PACE_TEST(share_is_as_last_asked),
		PACE_TEST(alarm_is_put_off),
		PACE_TEST(alarm_comes),
		PACE_TEST(no_alarm_is_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
