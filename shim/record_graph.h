/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs in recordings: nodes and edges of each that was instantiated, as docs/TRACE_FORMAT.md has
 * them. */
#ifndef AF_SHIM_RECORD_GRAPH_H
#define AF_SHIM_RECORD_GRAPH_H

#include "shim/driver.h"

/* Right after `call` made an exec of the graph; the program's answer is not ours to change. number:
 * of the exec, from 0 on. flags: of the call. */
void record_graph(unsigned call, CUgraph graph, unsigned long long flags, unsigned number);

#endif
