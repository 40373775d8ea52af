/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kernels may have launch attributes in graphs: those that were launched with some, or all
 * once a program gave attributes to a node or a stream. A node of any other kernel has none but its
 * stream's priority, and need not be asked (an answer takes a tenth of a microsecond, of which an
 * instantiate call would have six for each node).
 */
#ifndef AF_SHIM_ATTRIBUTED_H
#define AF_SHIM_ATTRIBUTED_H

#include <stdbool.h>

#include "shim/kernels.h"

/*
 * A node has the priority of the stream that it was captured from; as long as none other than 0 was
 * met, nodes without attributes are not asked for theirs. A stream is asked right before a capture
 * begins on it, never while one may be under way on it, which spoils some captures (H200, driver
 * 580: that of its flags): one that joins a capture counts as one with a priority.
 */
void attributed_capture(CUstream s);
void attributed_stream(CUstream s);      /* a launch goes to it while something is captured */
void attributed_stream_goes(CUstream s); /* its handle may be another stream's from now on */
/* May a node of that kernel have a priority? */
bool attributed_priority(struct kernel_rec *rec);
/* That kernel, by whatever handle. rec NULL: any kernel. */
void attributed_note(struct kernel_rec *rec);
/* May nodes of that kernel have attributes? NULL, a kernel that is not known, may. */
bool attributed(struct kernel_rec *rec);

#endif
