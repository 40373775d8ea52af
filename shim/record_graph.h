/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs in recordings: nodes and edges of each that was instantiated, as docs/TRACE_FORMAT.md has
 * them. */
#ifndef AF_SHIM_RECORD_GRAPH_H
#define AF_SHIM_RECORD_GRAPH_H

#include "shim/driver.h"
#include "shim/graph_list.h"

/* Right after `call` made an exec of the graph; the program's answer is not ours to change. number:
 * of the exec, from 0 on. flags: of the call. */
void record_graph(unsigned call, CUgraph graph, unsigned long long flags, unsigned number);
/* What came of the groups of that exec's graph, as far as it was decided by now. */
void record_graph_groups(unsigned number, const struct graph_list *l);

#endif
