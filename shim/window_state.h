/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a window, shared by window*.c and wayout.c. */
#ifndef AF_SHIM_WINDOW_STATE_H
#define AF_SHIM_WINDOW_STATE_H

#include <pthread.h>

#include "matcher/seq.h"
#include "shim/check.h"
#include "shim/standin.h"
#include "shim/window.h"

enum { WINDOW_MAX = 64, WINDOW_FREES = 16 };

/* How a stream orders itself against the legacy default stream of its context. */
enum stream_kind { STREAM_NONBLOCKING, STREAM_BLOCKING, STREAM_LEGACY, STREAM_PER_THREAD };

struct memo; /* ways that launches went before, see window_memo.h */

struct window {
	pthread_mutex_t lock;
	/* Who it is; constant from creation to drop. */
	bool used;
	const struct ours *ours; /* its context; ours->generation tells reused handles apart */
	CUstream stream;
	enum stream_kind kind;
	int thread; /* STREAM_PER_THREAD: whose stream; else 0 */
	/* Guarded by lock. */
	struct seq *seq;
	CUresult pending; /* error of a late submission, for the next call on this stream */
	CUdeviceptr free_[WINDOW_FREES]; /* frees kept behind what is held */
	unsigned nfree;
	struct check check;           /* live check under way */
	uint64_t check_index;         /* launch index of its first member */
	struct memo *memo;            /* ways; NULL until a group was fused */
	uint64_t doubts;              /* window_doubts() when launches were last let by */
	unsigned nrun;                /* launches held by it, unknown to the planner */
	unsigned fused, fused_before; /* groups: ever, and when last nothing was held */
	/* Answers of the policy to the launch in hand. */
	struct verdict *verdict; /* of the group just asked for */
	bool want_check, finish_check;
	bool cut; /* time ran out: what ends now might have gone on */
	struct group
		checked; /* with finish_check: the group, valid until the planner's next call */
	/* Read without the lock. */
	bool watched;        /* counted in window_watch */
	bool waiting;        /* counted in window_waiting */
	unsigned held;       /* launches held now */
	unsigned activity;   /* bumped by driver calls of the holding thread */
	unsigned arms;       /* bumped whenever a launch becomes held */
	uint64_t held_since; /* CLOCK_MONOTONIC ns of the first launch now held */
	bool wayout_started;
	unsigned wayout_asleep; /* futex: 1 while the way-out thread sleeps */
};

extern const struct seq_policy window_policy; /* .arg to be filled with the window */

/*
 * Submits everything held and ends open matches, lock held, context current or not. The first
 * error is returned; the caller decides whether a program's call reports it.
 */
CUresult window_flush(struct window *w, enum reason why);
/* Sends members in order, all of them: the program was told of each that it was launched. The first
 * error is returned. submit: they were held in vain. */
CUresult window_send(struct window *w, const struct member *const *m, unsigned n);
CUresult window_submit(struct window *w, const struct member *const *m, unsigned n);
/* Makes the window's context current if it is not; true: window_leave has to undo that. */
bool window_enter(const struct window *w);
void window_leave(bool pushed);
/* Launches the fused kernel of g. False: nothing was launched, send the members themselves. */
bool window_fuse(struct window *w, const struct group *g);
/* Issues the kept frees that nothing held touches any more. */
CUresult window_frees(struct window *w);
/* Brings watched/held and window_watch up to date. Lock held. */
void window_update(struct window *w);
/* May a launch at that site, which began groups that were fused, be held? Lock held. */
bool window_may_recall(const struct window *w, const struct site *s);
/* May a group fused before with that verdict be fused again? Lock held. */
bool window_may_refuse(const struct window *w, const struct verdict *v);
/* A group of that verdict which began at s is complete. Lock held. */
void window_seen(struct site *s, struct verdict *v);
/* Counts what makes it doubtful that launches may be crossed that could be up to now. */
uint64_t window_doubts(void);
/* May launches be held on that stream now? */
bool window_holding(const struct window *w);
/* The fused launch is made and counted; false: it failed, and the verdict is rejected. Lock held.
 */
bool window_send_fused(struct window *w, struct verdict *v, const struct standin *s);
/*
 * The short way (window_memo*.c). Lock held. What is done with the launch in hand is written down
 * between window_note and window_noted (what became of it; r: of the driver's calls) by those who
 * do it: a group was fused by that launch; members held were sent; a group was not fused.
 */
void window_note(struct window *w, const struct launch *l, const struct op *op);
void window_note_fused(struct window *w, const struct group *g, struct verdict *v,
		       const struct standin *s);
void window_note_sent(struct window *w, const struct member *const *m, unsigned n);
void window_note_checked(struct window *w); /* or is to be: not what is done every time */
void window_note_refused(struct window *w, const struct group *g, enum reason why);
void window_note_took(struct window *w, uint64_t ticks); /* that the planner took for it */
void window_noted(struct window *w, const struct launch *l, enum seq_act act, CUresult r);
/* Is a way being followed or written? The window has to see all launches and calls then. */
bool window_on_way(const struct window *w);
/* The launch in hand is not the next of the way that is followed: the planner is shown the launches
 * held; they may be sent by that. Before it is shown the launch. */
void window_stray(struct window *w);
/* Another thing than a launch came: the same; ways that are written end after it. */
void window_halt(struct window *w);
/* The same, and none is written any more: before anything else is done with the planner. */
void window_settle(struct window *w);
void window_forget_all(struct window *w); /* all ways */
/* The program's stream argument, resolved as the entry point's flavour does: *stream is then NULL
 * for the legacy stream. Created streams are STREAM_BLOCKING here, whatever they are. */
enum stream_kind window_resolve(CUstream *stream, bool ptsz);
/* The calling thread, for STREAM_PER_THREAD. */
int window_thread(void);
/* The window of a resolved stream; thread: 0, or whose per-thread stream. NULL: there is none. */
struct window *window_find(const struct ours *o, CUstream stream, int thread);
/* Of a created stream, which may be named while any context is current. */
struct window *window_find_created(CUstream stream);
/* As window_find, made if there is none; NULL: it cannot be made. */
struct window *window_make(const struct ours *o, CUstream stream, enum stream_kind kind,
			   int thread);
/* Flushes what the legacy default stream's rules order before work on a stream of that kind. */
void window_flush_related(const struct ours *o, const struct window *self, enum stream_kind kind);
/* The window of that stream argument in the current context, or NULL. */
struct window *window_here(CUstream stream, bool ptsz);
/* A launch was held: the exit and the way out know. Lock held. */
void window_holds(struct window *w);
/* All windows in use, for loops without locks; some slots may be NULL. */
extern struct window *window_all[WINDOW_MAX];
extern unsigned window_count;

/* A launch became held: see that it gets out in time. Lock held. */
void wayout_arm(struct window *w);

#endif
