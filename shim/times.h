/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device times of a recording (option `times`), through CUPTI: every kernel's start and duration
 * are recorded with the correlation number of the driver call that launched it (t lines), and what
 * each such call stood for (c lines). The two are joined by who reads the recording. CUPTI is never
 * finalised: graphs may outlive whoever would do it.
 */
#ifndef AF_SHIM_TIMES_H
#define AF_SHIM_TIMES_H

#include "shim/record.h"

extern bool times_on; /* set once, by times_start */

/* Takes the place of CUPTI's subscriber, if times are wanted and it is free; else records why not.
 * Once, after cuInit: a tool that the driver itself loads (CUDA_INJECTION64_PATH) was there first.
 */
void times_start(void);
/* Hands over what CUPTI still holds, before the recording is closed. */
void times_stop(void);

/* Around a launch that this thread makes: what it stands for is recorded afterwards. */
void times_before(void);
void times_after(const struct record_sent *what);
/* The same for the program's own launch `index` as it is. */
void times_after_own(uint64_t index);
/* Our kernels for a group, one or two: in its place, or (check) beside it, on so many rows. */
void times_after_group(const struct group *g, unsigned kernels, const struct key *key, int64_t rows,
		       bool check);

#endif
