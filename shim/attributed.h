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
 * A launch goes to that stream while something is captured. Its node has the stream's priority; as
 * long as none other than 0 was met, nodes without attributes are not asked for theirs.
 */
void attributed_stream(CUstream s);
/* A stream's handle may be another stream's from now on. */
void attributed_streams_change(void);
/* May a node of that kernel have a priority? */
bool attributed_priority(struct kernel_rec *rec);
/* That kernel, by whatever handle. rec NULL: any kernel. */
void attributed_note(struct kernel_rec *rec);
/* May nodes of that kernel have attributes? NULL, a kernel that is not known, may. */
bool attributed(struct kernel_rec *rec);

#endif
