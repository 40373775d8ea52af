/* SPDX-License-Identifier: Apache-2.0 */
/* The decision for a recorded trace: what would be fused, what not and why. No GPU, no verdicts. */
#ifndef AF_TOOLS_PLAN_H
#define AF_TOOLS_PLAN_H

#include <stdio.h>

#include "config/config.h"
#include "matcher/seq.h"
#include "tools/trace.h"

/* Beside the patterns of fixed form: chains; chains rather than those; or none, as programs run
 * today. */
enum plan_chains { PLAN_CHAINS, PLAN_LARGER, PLAN_NAMED };

struct plan_group {
	const struct pattern *pattern;
	bool generated; /* a chain */
	bool late;      /* in two kernels: some of its stores wait (row.h) */
	unsigned n;     /* members */
	uint64_t launch[GROUP_MAX_MEMBERS];
	enum reason why; /* REASON_NONE: fused */
	/* In a graph: the graph's number, and that of its first kernel node among all. */
	int64_t graph;
	uint64_t first;
	unsigned stores; /* left out, and their bytes */
	uint64_t bytes;
};

struct plan_unknown {
	const struct kernel *kernel;
	uint64_t launches;
	bool known; /* a signature knows the kernel, but not with these arguments */
};

struct plan_known {
	const struct kernel *kernel;
	uint64_t launches;
	char what[256]; /* the first launch's operation and operands; "=>" before what it writes */
};

/* Somebody who wants to hear more than counts. Launches come in the order of their numbers
 * (l->index), each before the groups that it completes. */
struct plan_watch {
	void *arg;
	void (*launch)(void *arg, const struct launch *l, uint64_t thread, const struct op *op,
		       enum reason why);
	void (*group)(void *arg, const struct group *g, enum reason why);
};

/* What was found. Kernels belong to the trace. */
struct plan_result {
	const struct plan_watch *watch; /* or NULL */
	enum stores stores;             /* the option; set it first */
	uint64_t launches;
	struct plan_group *group; /* in the order in which they completed */
	size_t ngroup;
	struct plan_unknown *unknown; /* most launches first, after plan_sort */
	size_t nunknown;
	struct plan_known *known; /* likewise */
	size_t nknown;
	uint64_t captured; /* of the launches, those that went into a graph while it was captured */
	bool graph;        /* launches are kernel nodes of graphs */
	unsigned ngraph;   /* that were instantiated */
	unsigned nlost;    /* of them, without nodes */
	bool off;          /* the recorded process left graphs alone */
	struct plan_place {
		int64_t number;
		uint64_t first; /* of its kernel nodes */
	} * place;              /* of each graph that was planned */
	size_t nplace;
	int64_t number; /* of the graph whose groups are being added, and its first kernel node */
	uint64_t first;
};

void plan_add_group(struct plan_result *r, const struct group *g, enum reason why);
/* Another graph; its kernel nodes and groups follow. */
void plan_add_graph(struct plan_result *r, int64_t number);
/* The first kernel node of the newest graph of that number, or UINT64_MAX. */
uint64_t plan_first_node(const struct plan_result *r, int64_t number);
void plan_add_unknown(struct plan_result *r, const struct kernel *k);
/* A launch was numbered and decoded; why: as decode_launch said. */
void plan_add_launch(struct plan_result *r, const struct launch *l, uint64_t thread,
		     const struct op *op, enum reason why);
void plan_add_known(struct plan_result *r, const struct kernel *k, const struct op *op);
void plan_sort(struct plan_result *r);
void plan_sort_known(struct plan_result *r);
void plan_result_free(struct plan_result *r);
/* graphs: what is in graphs besides, or NULL. */
void plan_print_json(const struct plan_result *r, const struct plan_result *graphs, FILE *f);
void plan_print_known(const struct plan_result *r, FILE *f, size_t most);
void plan_print_text(const struct plan_result *r, FILE *f);

struct plan_memory;

/* The streams of a trace, each with its planner. */
struct plan_streams;
struct plan_streams *plan_streams_new(struct plan_result *r, const bool enabled[PATTERN_COUNT]);
/* From now on chains are looked for (seq.h). */
void plan_streams_chains(struct plan_streams *p, bool larger);
void plan_streams_event(struct plan_streams *p, const struct trace_event *e);
/* The end of the trace: what is open ends. */
void plan_streams_finish(struct plan_streams *p);
const struct plan_memory *plan_streams_memory(const struct plan_streams *p);
void plan_streams_free(struct plan_streams *p);

/* The memory that alloc lines speak of; without any, all memory is ordinary device memory. */
struct plan_memory *plan_memory_new(void);
void plan_memory_alloc(struct plan_memory *m, struct range r, int device, unsigned flags);
void plan_memory_free_range(struct plan_memory *m, struct range r);
/* Peer access was enabled: everything counts as shared from now on. */
void plan_memory_share(struct plan_memory *m);
enum reason plan_memory_check(const struct plan_memory *m, struct range r, int device,
			      int surviving);
void plan_memory_free(struct plan_memory *m);

/* The graph that is being read; planned when it is complete (another one begins, or the end). */
struct plan_graph;
struct plan_graph *plan_graph_new(struct plan_result *r, const struct plan_memory *m,
				  const bool enabled[PATTERN_COUNT]);
void plan_graph_chains(struct plan_graph *p, bool larger);
/* An inst line: another graph, or one more level of the graph that is being read. */
void plan_graph_begin(struct plan_graph *p, const struct trace_event *e);
/* KERNEL, NODE and EDGE events. */
void plan_graph_event(struct plan_graph *p, const struct trace_event *e);
void plan_graph_finish(struct plan_graph *p);
void plan_graph_free(struct plan_graph *p);

/* A whole trace: what happens on streams, and the kernel nodes of graphs that it has. */
struct planning;
struct planning *planning_new(struct plan_result *streams, struct plan_result *graphs,
			      const bool enabled[PATTERN_COUNT]);
/* Chains are looked for, too; larger: and preferred to patterns that are part of them. */
void planning_chains(struct planning *p, bool larger);
void planning_event(struct planning *p, const struct trace_event *e);
void planning_finish(struct planning *p);
/* Nothing more comes. */
void planning_end(struct planning *p);
void planning_free(struct planning *p);
/* Are the graphs what ran? Where all launches were captured; and in a trace that is no recording of
 * ours, where it has a graph at all. */
bool planning_is_graphs(const struct plan_result *streams, const struct plan_result *graphs,
			bool recording);

/* Class of a driver call by name, as matcher/calls.def and its default rule say. */
enum plan_class { PLAN_neutral, PLAN_stream, PLAN_all };
enum plan_class plan_class(const char *call, bool has_stream);

/* Plans a recorded trace with the signatures compiled so far and prints the result to out. The exit
 * status of the command. */
int plan_file(const char *path, bool json, enum plan_chains chains, const bool on[PATTERN_COUNT],
	      enum stores stores, FILE *out);

#endif
