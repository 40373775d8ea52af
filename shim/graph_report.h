/* SPDX-License-Identifier: Apache-2.0 */
/* What happened with graphs, counted: a part of the summary and of the report. */
#ifndef AF_SHIM_GRAPH_REPORT_H
#define AF_SHIM_GRAPH_REPORT_H

#include <stdio.h>

#include "shim/graph_state.h"

/* An exec was made that has a record; or one that is left alone from the start. */
void graph_report_made(const struct side *s, unsigned nodes);
void graph_report_alone(unsigned nodes, enum reason why);
/* The instantiate call took so much longer. nodes: 0 where nothing was lent or cloned. */
void graph_report_added(unsigned nodes, uint64_t ns);
/* A graph was lent; the program destroyed one; n were cloned in another call, which took longer. */
void graph_report_lent(void);
void graph_report_kept(void);
void graph_report_settled(unsigned n, uint64_t ns);
/* A fused form was made. */
void graph_report_built(const struct side *s);
/* s: NULL where the exec has no record. */
void graph_report_launched(const struct side *s, enum graph_form f);
/* The record goes; its figures stay, and its list is the report's. */
void graph_report_over(struct side *s);

/* Was any graph launched? */
bool graph_report_any(void);
/* At exit. False (and nothing said) if no graph was launched; fused: launches of fused forms. */
bool graph_report_text(char *text, size_t size, unsigned long long *fused);
void graph_report_json(FILE *f);

#endif
