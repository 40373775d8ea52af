/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device times of a recording: `c` lines say which launch of the program, or which group of them, a
 * driver call stood for, `t` lines when the kernel of a driver call ran. Both carry the call's
 * correlation number; they come in any order.
 */
#ifndef AF_TOOLS_TIMES_H
#define AF_TOOLS_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "matcher/group.h"
#include "matcher/key.h"

struct time_span {
	uint64_t start; /* ns, of the device's clock as CUPTI tells it */
	uint32_t ns;    /* 0: unknown */
};

enum sent_how {
	SENT_OWN,   /* the program's launch as it was */
	SENT_FUSED, /* one kernel (or two) in place of a group */
	SENT_CHECK, /* ours beside the group's own launches */
};

struct sent {
	uint32_t id;     /* correlation number */
	uint32_t second; /* of the other call, where two kernels stood for the group; else 0 */
	uint32_t order;  /* of its line among those of its kind; times_sent fills it in */
	uint8_t how, n;
	uint64_t launch[GROUP_MAX_MEMBERS]; /* n of them */
	struct key key;                     /* verdict key; zero if not told */
	int64_t rows;
};

struct ran {
	uint32_t id;
	struct time_span at;
	bool in_graph;
};

struct times {
	struct sent *sent;
	struct ran *ran; /* after times_join: ordered by id, then by start */
	uint32_t nsent, nran;
	uint64_t graph_ns, graph_kernels; /* kernels of graph launches */
	bool failed;
};

void times_sent(struct times *t, const struct sent *s);
void times_ran(struct times *t, const struct ran *r);
/* Calls fn for every sent line whose kernel has a time; of two kernels, if both have: from the
 * first one's start, and as long as both. */
void times_join(struct times *t,
		void (*fn)(void *arg, const struct sent *s, const struct time_span *at), void *arg);
void times_free(struct times *t);

#endif
