/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bench: what the program's kernels made of a batch of rows, and candidates compared with it
 * many at a time. The program's kernels run on the arena; the candidates on dense rows.
 */
#ifndef AF_SHIM_PROBE_CHILD_BENCH_H
#define AF_SHIM_PROBE_CHILD_BENCH_H

#include "shim/probe_child.h"
#include "shim/probe_child_inputs.h"

/* A candidate under test. */
struct trial {
	struct candidate c;
	uint64_t differ; /* elements of out that differed so far; 0 unless numerics = close */
};

enum { BENCH_LANES = 8 };

/* Candidates run beside each other: each lane has a stream and outputs of its own. */
struct bench_lane {
	CUstream stream;
	CUdeviceptr mid, out;
};

struct bench {
	struct group group;   /* dense rows on the device; rows are the batch's */
	CUdeviceptr sum, out; /* what the program's kernels left, dense */
	struct bench_lane lane[BENCH_LANES];
	unsigned nlane;
	CUdeviceptr counters;
	char *image, *sums, *outs; /* host: the arena, and dense results */
	int64_t rows;              /* room for */
};

/* Bytes of one row of a slot's elements. */
size_t bench_row_bytes(const struct group *g, unsigned slot);

bool bench_open(struct probe *p, struct bench *b, int64_t rows);
void bench_close(struct probe *p, struct bench *b);

/* Room for a batch with as many rows; with as many as the arena has, or enough of them. */
bool bench_batch_rows(struct probe *p, struct probe_batch *b, int64_t rows);
bool bench_batch(struct probe *p, struct probe_batch *b);

/* Puts rows [from, from + group.rows) of the batch into a host image of the arena that holds
 * garbage made from `seed` everywhere else. Rows beyond the batch repeat it. */
void bench_fill(const struct probe *p, const struct probe_batch *batch, int64_t from, uint64_t seed,
		char *image);

/* Runs the program's kernels on all rows of the batch and brings inputs and results to the device.
 */
bool bench_reference(struct probe *p, struct bench *b, const struct probe_batch *batch);

/*
 * Runs every trial on the batch of the last bench_reference and keeps those that left the same
 * bytes; numerics = close: out within one unit in the last place. *n is updated, the order kept.
 */
bool bench_filter(struct probe *p, struct bench *b, const struct probe_batch *batch,
		  struct trial *t, unsigned *n, bool close);

#endif
