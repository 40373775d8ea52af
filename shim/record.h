/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recording: every driver call as a line of JSON, in call order, in the format that `autofuse plan`
 * reads (docs/TRACE_FORMAT.md). While it is on, window_watch counts one more, so that all thunks
 * take their slow path.
 */
#ifndef AF_SHIM_RECORD_H
#define AF_SHIM_RECORD_H

#include "matcher/group.h"
#include "matcher/key.h"
#include "shim/driver.h"
#include "shim/kernels.h"

extern bool record_on; /* set once, by record_start */

/* Opens the file named by the record option, if any. Once per process. */
void record_start(void);
/* Writes what is buffered; later calls record nothing. */
void record_stop(void);

/* A launch about to be made or held, with l->params where the layout is known; else params, the
 * bytes of its CU_LAUNCH_PARAM_BUFFER, if it has one. ex: it came as cuLaunchKernelEx with nattr
 * attributes. Returns its index among the launch lines. */
uint64_t record_launch(const struct launch *l, const struct kernel_rec *rec, bool ex,
		       unsigned nattr, const void *params, size_t bytes);

/* Any other call. has_stream: it is ordered on `stream` (as the program passed it). */
void record_call(unsigned call, bool has_stream, CUstream stream, bool ptsz);
/* A call on the memory range [base, base + bytes) of a stream, e.g. cuMemFreeAsync. */
void record_range_call(unsigned call, CUstream stream, bool ptsz, uint64_t base, uint64_t bytes);

/* Launches that are recorded but not decided on yet: what is recorded now would come too late. */
extern unsigned record_ahead;

/* What that stream holds is sent because time ran out. */
void record_timer(CUstream stream, uint64_t context);

void record_alloc(uint64_t base, uint64_t bytes, int device, unsigned memory_flags);
void record_free(uint64_t base, uint64_t bytes);

/* Lines made elsewhere, one behind the other; none may be longer than RECORD_LINE. */
void record_lines(const char *text, size_t bytes);

/* What came of a group whose last launch was recorded. */
void record_group(const struct group *g, bool fused, bool checked, enum reason why);

/* What a driver call of ours or the program's stood for, by its correlation number (shim/times.h).
 */
struct record_sent {
	const char *how; /* own, fused, check */
	uint64_t launch[GROUP_MAX_MEMBERS];
	unsigned n;
	const struct key *key; /* of the group's verdict, or NULL */
	int64_t rows;          /* that the kernel worked on */
	uint32_t second;       /* of the other driver call, where two stood for the group; else 0 */
};
void record_sent(uint32_t id, const struct record_sent *s);
/* A kernel ran on the device; in_graph: its name, where a graph's launch ran it, else NULL. */
void record_ran(uint32_t id, uint64_t at, uint64_t ns, const char *in_graph);
/* Where device times come from; why_not: there will be none. */
void record_clock(unsigned version, const char *why_not);

#endif
