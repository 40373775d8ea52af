/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU takes turns between processes, so what a probe has it do is time that the program does
 * not get. Behind each wait for the device the child sleeps until it has had no more than its share
 * of the time. Busy is from the first thing that is submitted until the wait for it is over: more
 * than it was, if anything.
 */
#include <poll.h>
#include <sys/time.h>
#include <time.h>

#include "config/log.h"
#include "shim/probe_child.h"

enum { LEAST_MS = 2 }; /* shorter sleeps wait until there is more of them */

static struct {
	struct probe_driver cu;
	int program;    /* its end of this socket tells that the program is gone */
	unsigned share; /* in percent */
	bool submitted;
	double since, owed, all, longest; /* seconds */
	unsigned waits;
} pace = {.share = 100};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void submit(void)
{
	if (!pace.submitted)
		pace.since = now();
	pace.submitted = true;
}

/* The alarm is for those who are stuck, not for those who sleep: it stands still meanwhile. */
static void rest(void)
{
	struct pollfd p = {pace.program, POLLRDHUP, 0};
	struct itimerval none = {0}, left;
	const double from = now();
	double s;

	if (pace.owed * 1000 < LEAST_MS)
		return;
	setitimer(ITIMER_REAL, &none, &left);
	/* Nobody is kept waiting any more. */
	if (poll(&p, 1, (int)(pace.owed * 1000)) > 0)
		pace.share = 100;
	setitimer(ITIMER_REAL, &left, NULL);
	s = now() - from;
	pace.owed = pace.share < 100 && pace.owed > s ? pace.owed - s : 0;
}

static CUresult CUDAAPI paced_synchronize(CUstream stream)
{
	const CUresult r = pace.cu.cuStreamSynchronize(stream);

	if (pace.submitted) {
		const double busy = now() - pace.since;

		pace.submitted = false;
		pace.all += busy;
		pace.longest = busy > pace.longest ? busy : pace.longest;
		pace.waits++;
		if (pace.share < 100) {
			pace.owed += busy * (100 - pace.share) / pace.share;
			rest();
		}
	}
	return r;
}

#define PACED(name, params, args)                                                                  \
	static CUresult CUDAAPI paced_##name params                                                \
	{                                                                                          \
		submit();                                                                          \
		return pace.cu.name args;                                                          \
	}
PACED(cuLaunchKernel,
      (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
       unsigned shmem, CUstream s, void **params, void **extra),
      (f, gx, gy, gz, bx, by, bz, shmem, s, params, extra))
PACED(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t n, CUstream s),
      (to, from, n, s))
PACED(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t n, CUstream s), (to, from, n, s))
PACED(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s),
      (to, from, n, s))
PACED(cuMemsetD8Async, (CUdeviceptr to, unsigned char v, size_t n, CUstream s), (to, v, n, s))

void probe_pace_calls(struct probe_driver *cu)
{
	pace.cu = *cu;
	cu->cuStreamSynchronize = paced_synchronize;
	cu->cuLaunchKernel = paced_cuLaunchKernel;
	cu->cuMemcpyHtoDAsync_v2 = paced_cuMemcpyHtoDAsync_v2;
	cu->cuMemcpyDtoHAsync_v2 = paced_cuMemcpyDtoHAsync_v2;
	cu->cuMemcpyDtoDAsync_v2 = paced_cuMemcpyDtoDAsync_v2;
	cu->cuMemsetD8Async = paced_cuMemsetD8Async;
}

void probe_pace(int program, unsigned share)
{
	pace.program = program;
	pace.share = share < 1 ? 1 : share;
}

void probe_pace_say(void)
{
	log_debug("probe: the device was busy for %.3f s in %u waits, at most %.3f s at a time",
		  pace.all, pace.waits, pace.longest);
	pace.all = pace.longest = 0;
	pace.waits = 0;
}
