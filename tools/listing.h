/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `autofuse trace` says of a recording: the launches of every stream, folded into loops, cut
 * into sequences (the members of a group that the planner found; the launches between groups,
 * inside one round of a loop), equal sequences added up into lines.
 */
#ifndef AF_TOOLS_LISTING_H
#define AF_TOOLS_LISTING_H

#include "tools/plan.h"
#include "tools/times.h"

enum {
	LISTING_LAUNCHES = 1 << 22, /* more are counted, not listed: 40 bytes each are kept */
	LINE_KERNELS = 8,           /* of a longer sequence the first are named */
	LINE_PLACES = 4,
	LISTING_NONE = UINT32_MAX,
};

struct listing_kernel {
	const struct kernel *k;
	char *name; /* readable */
	uint64_t launches, ns, timed;
	enum reason why; /* of its newest launch: as decode_launch said */
};

struct listing_launch {
	uint32_t kernel; /* LISTING_NONE: its line could not be read */
	uint32_t shape;  /* LISTING_NONE: not decoded */
	uint32_t group;  /* number of the group it is a member of, or LISTING_NONE */
	uint32_t stream;
	struct time_span at; /* on the device; nothing if unknown */
};

struct listing_shape {
	int64_t rows, cols;
	uint8_t dtype, opcode;
};

enum listing_state { LISTED_FUSED, LISTED_CHECKED, LISTED_REFUSED };

struct listing_group {
	const struct pattern *pattern;
	enum listing_state state;
	enum reason why;
	bool off;   /* only because graphs were switched off */
	unsigned n; /* members */
	uint32_t launch[GROUP_MAX_MEMBERS];
	uint32_t shape;
	unsigned kernels;        /* that stand for them: 1 or 2 */
	uint64_t unfused, fused; /* bytes moved; fused 0 if it cannot be told */
	struct time_span at;     /* of the fused kernel, in place of the members or beside them */
};

struct listing_stream {
	uint64_t context, handle, thread;
	uint64_t launches;
	uint32_t *launch; /* their numbers */
	uint32_t room;
	char *loops; /* the folded sequence in short, malloc'ed */
};

struct listing_place {
	uint32_t stream, top; /* element of the stream's folded sequence */
	uint32_t rounds;      /* 1: no loop */
	uint64_t count;
};

struct listing_line {
	uint64_t key;
	uint64_t kind; /* of a group: the same whatever came of it */
	uint32_t kernel[LINE_KERNELS], nkernel, nunknown, nmisfit;
	uint32_t unknown; /* kernel that nobody knows, or that stands in a group's way */
	uint32_t misfit;  /* kernel that is known, but not with its arguments */
	uint32_t shape;   /* of all, or LISTING_NONE */
	const struct listing_group *group; /* the first of its kind; NULL: launches in no group */
	uint64_t count;
	struct listing_place place[LINE_PLACES];
	unsigned nplace;
	uint64_t elsewhere;
	uint64_t ns, timed;        /* occurrences whose launches all have times */
	uint64_t fused_ns, fusedn; /* those that ran fused, or had the fused kernel beside them */
	uint64_t device_ns;        /* of all, as they ran */
	uint64_t saved_bytes;      /* each time */
	double saves_ns;           /* each time; 0: unknown, negative: costs */
	bool estimated;            /* saves_ns is no measurement */
};

struct listing {
	struct plan_watch watch; /* for plan_result.watch */
	struct listing_kernel *kernel;
	struct kernel_index *index;
	struct listing_launch *launch;
	struct listing_shape *shape;
	struct listing_group *group;
	struct listing_stream *stream;
	struct listing_line *line;
	uint32_t nkernel, nlaunch, nshape, ngroup, nstream, nline;
	uint32_t last;                    /* kernel met last */
	uint64_t graph_ns, graph_kernels; /* that graphs' launches ran */
	unsigned graphs; /* 0: launches on streams; else kernel nodes of so many graphs */
	bool off;        /* they were left alone, as graphs were switched off */
	uint64_t ran;    /* kernels with a time, outside graphs */
	uint64_t launches, ns, timed; /* launches counts those that are not listed, too */
	bool failed;                  /* memory ran out: what follows is missing */
};

struct listing *listing_new(void);
void listing_free(struct listing *l);
/* Kernel nodes of graphs that were left alone: what would be fused was not (reason disabled). */
void listing_switch_off(struct listing *l);
/* After the whole trace went through the planner: device times, then what came of each group in the
 * process that was recorded (outcomes may be NULL), then the lines, most to gain first. t: NULL
 * where what is listed has no times. */
struct outcomes;
void listing_finish(struct listing *l, struct times *t, const struct outcomes *o);

/* "×32 per step, 5 steps". */
void listing_where(const struct listing_line *line, char *text, unsigned size);
/* "fused as add_rmsnorm", or why not and what to do. */
void listing_verdict(const struct listing *l, const struct listing_line *line, char *text,
		     unsigned size);
/* Kernel names joined by arrows, at most `names` of them. */
void listing_kernels(const struct listing *l, const struct listing_line *line, unsigned names,
		     char *text, unsigned size);
/* "1x4096 f32", or "". */
void listing_shape(const struct listing *l, uint32_t shape, char *text, unsigned size);

struct inferred;
struct listing_view {
	unsigned lines;                  /* at most */
	const char *times_note;          /* why there are no device times, or NULL */
	const char *source;              /* what was recorded */
	const struct inferred *inferred; /* signatures of unknown kernels, or NULL (infer.h) */
};
/* graph: of graphs, besides; or NULL. */
void listing_text(const struct listing *l, const struct listing *graph,
		  const struct listing_view *v, FILE *f);
void listing_json(const struct listing *l, const struct listing *graph,
		  const struct listing_view *v, FILE *f);

#endif
