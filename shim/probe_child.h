/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe child, inside: what was asked, the device it runs on, and the program's kernels and
 * ours on buffers of its own. One probe after the other; they share the device's context and what
 * of ours is loaded. When anything fails, the answer is "no-verdict" with what failed, and the
 * process ends.
 */
#ifndef AF_SHIM_PROBE_CHILD_H
#define AF_SHIM_PROBE_CHILD_H

#include "config/config.h"
#include "fused/candidate.h"
#include "matcher/key.h"
#include "matcher/row_build.h"
#include "shim/cache_choice.h"
#include "shim/driver.h"

enum { PROBE_REGIONS = GROUP_MAX_MEMBERS * OP_MAX_OPERANDS };

/* Driver functions that the child calls; it links none. */
struct probe_driver {
#define PROBE_CALL(name) __typeof__(name) *name;
#include "shim/probe_child_calls.def"
#undef PROBE_CALL
};

/* How the members' grids go with the number of rows. */
enum probe_scale {
	PROBE_SCALE_RULE, /* by the rule of the verdict's key */
	PROBE_SCALE_GRID, /* as many times the program's */
	PROBE_SCALE_NONE, /* no way seen: as the program launches them only */
};

/* An image as the request names it; mapped from its file. */
struct probe_image {
	const void *bytes;
	size_t size;
	CUmodule module;
};

/* Operands of the program that overlap lie in one region; where it is in the program's memory, and
 * where in the arena. */
struct probe_region {
	struct range program;
	size_t at; /* offset in the arena */
};

/* One row a time or several: how the program's kernels are launched on the arena. */
struct probe_member {
	struct kernel kernel;
	struct member m;   /* as requested, at the program's addresses */
	struct member run; /* with `rows` rows, at the arena's addresses */
	uint8_t params[2][4096];
	uint64_t hash[2];
	struct probe_image *image;
	CUfunction function;
};

struct probe {
	/* The request. */
	const int *passed; /* descriptors that came with it */
	unsigned npassed;
	int device;
	struct key key;
	char cache[4096], inputs[512], candidates[128];
	long seconds;
	unsigned share; /* of the device's time, in percent */
	bool close;     /* numerics = close */
	unsigned nmember, nimage;
	struct probe_member member[GROUP_MAX_MEMBERS];
	struct probe_image image[GROUP_MAX_MEMBERS];
	struct group
		asked; /* the group at the program's addresses; of a member by itself no pattern */
	bool chain;    /* its members' picks are wanted, not a candidate */
	enum stand_in stand_in;    /* of a pattern's group */
	struct probe_tools *tools; /* what is generated (probe_child_chain.h) */

	/* The device. */
	struct probe_driver cu;
	bool open; /* from here to softgpu: the process's, for all its probes */
	CUstream stream;
	CUmodule ours;
	CUfunction function[FUSED_KERNELS_MAX]; /* as fused_kernels, once launched */
	struct fused_device limits;
	unsigned cc;
	bool softgpu; /* there, NaNs are equal whatever their bits */

	/* The arena: every operand of the program's kernels, with room around each region. */
	struct group group; /* at the arena's addresses */
	unsigned nregion;
	struct probe_region region[PROBE_REGIONS];
	CUdeviceptr arena;
	size_t arena_bytes;
	int64_t plain_rows; /* as many of the program's as are good to run at once */
	enum probe_scale scale;
	int64_t proven_rows; /* candidates were compared on so many at once */

	/* The answer. */
	enum reason why;
	char detail[160];
	bool lasting; /* a NO_VERDICT that would come out the same another time */
	struct candidate winner;
	struct choice choice;                    /* of a pattern's group */
	struct row_pick pick[GROUP_MAX_MEMBERS]; /* of a chain */
	bool slower; /* than the program's kernels, at this number of rows */
};

/*
 * What the bound slots of a pattern are to a probe: two inputs, a row that all rows use (NO_SLOT
 * where there is none), what the first member leaves, and the result.
 */
enum { NO_SLOT = GROUP_MAX_OPERANDS };
struct probe_slots {
	unsigned a, b, w, mid, out;
};
static inline const struct probe_slots *probe_slots(const struct group *g)
{
	static const struct probe_slots norm = {ADD_RMSNORM_A, ADD_RMSNORM_B, ADD_RMSNORM_W,
						ADD_RMSNORM_SUM, ADD_RMSNORM_OUT},
					silu = {SILU_MUL_GATE, SILU_MUL_UP, NO_SLOT, SILU_MUL_SILU,
						SILU_MUL_OUT};

	return g->pattern == &pattern_silu_mul ? &silu : &norm;
}

/* Sets the answer and returns false, so that callers may return it. The first answer stays. */
bool probe_fail(struct probe *p, enum reason why, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* True if rc is success, else probe_fail with the call's name. */
bool probe_ok(struct probe *p, CUresult rc, const char *what);

/* The child keeps to its share (percent) of the device's time as long as the other end of the
 * socket is open. Calls: once the driver is there. Say: what it was since the last time, for the
 * log. */
void probe_pace(int program, unsigned share);
void probe_pace_calls(struct probe_driver *cu);
void probe_pace_say(void);
/* After some work: how long it took, for who looks at the log. */
void probe_lap(const char *what);

/* Finds the driver, makes a context, loads the images and our kernels. */
bool probe_device_open(struct probe *p);
/* The same without ours. */
bool probe_device_open_theirs(struct probe *p);
bool probe_launch(struct probe *p, const struct fused_launch *l);
/* What the request made goes; what is left is for the next one. False: the device is not fit for
 * another. */
bool probe_device_next(struct probe *p);

/* Lays the arena out for as many of the asked rows as are good to run at once. */
bool probe_arena_open(struct probe *p);
/* The same for a number of rows; whatever the answer, what was there is gone. */
enum probe_sized {
	PROBE_SIZED,
	PROBE_SIZED_NEVER,     /* the members' arguments or grids do not follow the rows */
	PROBE_SIZED_TOO_LARGE, /* for us, or for the device at the moment */
	PROBE_SIZED_FAILED,    /* the answer is known */
};
enum probe_sized probe_arena_size(struct probe *p, int64_t rows);
/* Makes the members' launches (not their addresses) those of so many rows. False if nobody knows
 * how.
 */
bool probe_rows_set(struct probe *p, int64_t rows);
/* The first number of rows from there on that the members can be expected to treat like their own.
 */
int64_t probe_rows_near(const struct probe *p, int64_t rows);
/* Launches the members on the arena as it is; run also waits for them. */
bool probe_arena_launch(struct probe *p);
bool probe_arena_run(struct probe *p);
/* Between host images of the whole arena and the device; both wait. */
bool probe_arena_upload(struct probe *p, const void *image);
bool probe_arena_download(struct probe *p, void *image);
/* Do the members, as the arena is, leave exactly their outputs, by their inputs alone? */
bool probe_arena_whole(struct probe *p, bool *whole);
/* Upload, run, download. */
bool probe_arena_cycle(struct probe *p, const void *from, void *to);
/* Where row r of a bound slot is in a host image of the arena. */
char *probe_arena_row(const struct probe *p, void *image, unsigned slot, int64_t r);

/* The stages: each false once the answer is known. For a chain's member by itself, too: purity,
 * behaviour. */
bool probe_purity(struct probe *p);    /* what the code shows, before it runs */
bool probe_behaviour(struct probe *p); /* runs alike, stays within its operands, no hidden state */
/* Where elements stand for themselves, an arena with more of them than the program may have. */
bool probe_scale(struct probe *p);
bool probe_unscale(struct probe *p); /* back again, after the search */
bool probe_plain(struct probe *p);   /* the same, when nothing was compared */
bool probe_search(struct probe *p);  /* exactly one candidate left, up to equivalence: p->winner */
bool probe_confirm(struct probe *p); /* the winner in the program's own arrangement of memory */
/* The kernel that is generated for the winner likewise, where one may stand in (p->tools). False if
 * there is none, which is no answer. */
bool probe_generated(struct probe *p);
/* In the members' place, as probe_confirm. */
bool probe_generated_confirm(struct probe *p);
/* Its launch where the arena is now. */
bool probe_generated_place(struct probe *p);
/* Afterwards: p->slower, kept in the profile, and p->choice. Nothing is said where nothing can be
 * measured. */
void probe_time(struct probe *p);

#endif
