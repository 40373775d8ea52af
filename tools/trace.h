/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads recorded launches: JSON lines, plain or gzip'd. Unknown keys and unknown kinds of lines are
 * ignored. Besides the keys k, t, f, g, b, sm, st, na, p, x every trace has, a recording may say:
 *
 *   {"k":"version","v":1}
 *   l, lx, n   "img" image hash (32 hex digits), "attrs" bits of enum launch_attr, "prio" launch
 *              priority, "dev" ordinal, "ctx" context; "p" even where the parameters came as a
 * buffer a          "st" where the call is ordered on a stream; "lo", "hi" the range it frees alloc
 * "lo", "hi", "dev", "flags" bits of enum trace_memory free       "lo", "hi" stream     "st" was
 * created, "flags" 1: non-blocking
 *
 * Streams in recordings: 0x0 is the legacy stream, 0x2 the calling thread's default stream.
 */
#ifndef AF_TOOLS_TRACE_H
#define AF_TOOLS_TRACE_H

#include "matcher/graph_memory.h"
#include "matcher/launch.h"
#include "matcher/op.h"
#include "tools/times.h"

enum trace_kind {
	TRACE_LAUNCH, /* l, lx */
	TRACE_CALL,   /* a */
	TRACE_ALLOC,
	TRACE_FREE,
	TRACE_STREAM,
	TRACE_TIMER,
	TRACE_GRAPH,  /* inst: nodes and edges follow */
	TRACE_KERNEL, /* n */
	TRACE_NODE,
	TRACE_EDGE,
	TRACE_SENT,     /* c: what a driver call stood for */
	TRACE_RAN,      /* t: when its kernel ran */
	TRACE_IN_GRAPH, /* gg: what came of a group in a graph, so far */
	TRACE_OUTCOME,  /* g: what came of a group in the recorded process */
	TRACE_CLOCK,    /* times: where device times come from, or why there are none */
	TRACE_BAD,      /* a line that could not be read: anything may have happened here */
};

enum trace_memory {
	TRACE_DEVICE = 1,
	TRACE_HOST = 2,
	TRACE_MANAGED = 4,
	TRACE_ALIASED = 8,
	TRACE_SHARED = 16,
};

enum trace_state { TRACE_FUSED, TRACE_CHECKED, TRACE_REFUSED };

struct trace_event {
	enum trace_kind kind;
	long line;
	uint64_t thread, context, stream;
	bool has_stream;      /* "st" was there */
	const char *name;     /* CALL, GRAPH: the driver call; CLOCK: why no times, else NULL */
	struct launch launch; /* LAUNCH, KERNEL; index is left 0 */
	struct trace_code {   /* where the kernel's image is; file NULL: not said */
		const char *file;
		uint64_t offset, bytes;
	} code;
	struct trace_graph {
		int64_t number;  /* of the exec, from 0 on; -1: not said */
		bool child;      /* the graph of a child graph node of the graph before: of node */
		unsigned in[2];  /* in[1] of its part in[0] */
		bool off;        /* the recorded process left graphs alone */
		const char *why; /* its nodes are not there; else NULL */
	} graph;                 /* GRAPH; flags: of the call */
	bool updatable;          /* KERNEL: the device may change the node */
	bool touches;            /* NODE: a copy or fill, with what it writes and reads */
	struct graph_box written, copied;
	struct range range; /* ALLOC, FREE; CALL, where it frees one (else empty) */
	unsigned flags;     /* ALLOC: enum trace_memory; STREAM: 1 non-blocking; NODE: its type */
	int device;         /* ALLOC */
	unsigned from, to;  /* EDGE; flags: 0 if it is a plain one */
	struct sent sent;   /* SENT; OUTCOME: launch, n; IN_GRAPH: id of the exec, its nodes as
			       launch, n */
	struct ran ran;     /* RAN; name: of a kernel in a graph */
	enum reason why;    /* OUTCOME, IN_GRAPH */
	enum trace_state state;
	bool launched; /* BAD: it was a line of kind l, lx or n */
};

struct trace;

/* NULL, with a message on stderr, if the file cannot be opened. Kernels are decoded as they are
 * met, so signatures must be compiled before. */
struct trace *trace_open(const char *path);
/*
 * The next event: true, with strings and parameters valid until the next call; false at the end.
 * A line that cannot be read is named on stderr with what was expected, and counted.
 */
bool trace_next(struct trace *t, struct trace_event *e);
/* Did it have a version line so far: was it recorded by the library, all calls from the first on?
 */
bool trace_is_recording(const struct trace *t);
unsigned trace_errors(const struct trace *t);
/* Also frees the kernels. */
void trace_close(struct trace *t);

#endif
