/* SPDX-License-Identifier: Apache-2.0 */
/* Device time of launches, by events over a graph of many of them, the median of several rounds. */
#ifndef AF_TESTS_GPU_MEASURE_H
#define AF_TESTS_GPU_MEASURE_H

#include "tests/gpu/driver.h"

enum { MEASURE_ROUNDS = 9 };

static CUevent measure_from, measure_to;
static CUstream measure_stream;

static inline void measure_open(void)
{
	GPU(cuStreamCreate(&measure_stream, CU_STREAM_NON_BLOCKING));
	GPU(cuEventCreate(&measure_from, CU_EVENT_DEFAULT));
	GPU(cuEventCreate(&measure_to, CU_EVENT_DEFAULT));
}

static inline int measure_order(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

/* Median microseconds of one of the n calls that were captured since cuStreamBeginCapture. */
static inline double measure_replay(unsigned n)
{
	CUgraph graph;
	CUgraphExec exec;
	float round[MEASURE_ROUNDS + 1];

	GPU(cuStreamEndCapture(measure_stream, &graph));
	GPU(cuGraphInstantiateWithFlags(&exec, graph, 0));
	for (unsigned r = 0; r <= MEASURE_ROUNDS; r++) {
		GPU(cuEventRecord(measure_from, measure_stream));
		GPU(cuGraphLaunch(exec, measure_stream));
		GPU(cuEventRecord(measure_to, measure_stream));
		GPU(cuEventSynchronize(measure_to));
		GPU(cuEventElapsedTime(&round[r], measure_from, measure_to));
	}
	GPU(cuGraphExecDestroy(exec));
	GPU(cuGraphDestroy(graph));
	/* The first one warms up. */
	qsort(round + 1, MEASURE_ROUNDS, sizeof(*round), measure_order);
	return 1000.0 * round[1 + MEASURE_ROUNDS / 2] / n;
}
#define MEASURE(us, n, call)                                                                       \
	do {                                                                                       \
		GPU(cuStreamBeginCapture_v2(measure_stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)); \
		for (unsigned i_ = 0; i_ < (n); i_++)                                              \
			call;                                                                      \
		us = measure_replay(n);                                                            \
	} while (0)

#endif
