/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inferring a signature, on the device: an unknown kernel runs on memory of ours, each of its
 * pointers in a region of its own, and what it reads and writes is looked at.
 */
#ifndef AF_SHIM_PROBE_CHILD_INFER_RUN_H
#define AF_SHIM_PROBE_CHILD_INFER_RUN_H

#include "shim/probe_child.h"
#include "shim/probe_child_infer.h"

struct json_t;

enum { INFER_LAUNCHES = 3, INFER_PARAM_BYTES = 256 };

/* A launch as it was recorded, or changed. Pointers are put in when it runs. */
struct infer_launch {
	uint32_t grid[3], block[3], shmem;
	uint8_t params[INFER_PARAM_BYTES];
};

/* What a pointer argument points to: `bytes` from arena + at on, of which the first `window` are
 * looked at after every run, as are `INFER_GUARD` bytes before. */
struct infer_region {
	unsigned arg;
	size_t at, bytes, window;
};
enum { INFER_GUARD = 4096 };

/* Runs at sizes that nobody recorded, by number, which faulted in an earlier process. */
enum { INFER_FAULTS = 16 };
struct infer_faults {
	unsigned n, run[INFER_FAULTS];
};

struct infer {
	struct probe *p;
	struct infer_facts f; /* of launch[0] */
	struct infer_launch launch[INFER_LAUNCHES];
	unsigned nlaunch;
	uint64_t room[INFER_ARGS]; /* bytes that the program had allocated there */
	unsigned nregion;
	struct infer_region region[INFER_ARGS];
	CUdeviceptr arena;
	size_t bytes;
	char *before, *after; /* host images of the arena */
	char *first[2];       /* the same of the first run */
	uint64_t seed;
	const struct infer_faults *faults;
	unsigned runs;    /* at sizes that nobody recorded, so far */
	unsigned *trying; /* the one under way, for whoever waits; else 0 */
	/* The constants of an OP_scale, once some run has told them: every other has the same. */
	bool line_known;
	double slope, shift;
	bool gap;   /* not every byte of what is written was seen to change */
	bool where; /* where a run writes is asked, not what */
	bool sized; /* what is written may follow from something */
	/* Not 0: only elements of so many bytes are looked at, and only part of what is written, to
	 * say why the whole of it fits nothing. */
	unsigned part;
	uint64_t whole; /* bytes */
	char section[INFER_TEXT];
	char why[256]; /* why there is none; what came closest */
	int close;     /* how close that came */
};

/* Sets why, unless something came closer already, and returns false. */
bool infer_fail(struct infer *i, int close, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Reads the request; the kernel becomes the only member of p. */
bool infer_request_parse(struct infer *i, struct json_t *request);

/* Lays the arena out. */
bool infer_arena_open(struct infer *i);
/* Bytes of all regions anew: halves that are ordinary numbers in every type. */
void infer_arena_garbage(struct infer *i);
/* Makes the first `period` of the bytes the others, too, over and over. */
void infer_repeat(char *p, size_t period, size_t bytes);
/* Uploads `before`, runs the launch, downloads to `after`: the windows, or everything. */
bool infer_arena_run(struct infer *i, const struct infer_launch *l, bool all);
/* The launch with the arena's addresses in its parameters. */
void infer_arena_place(const struct infer *i, const struct infer_launch *l, uint8_t *params);
const struct infer_region *infer_region(const struct infer *i, unsigned arg);

/* What is written and read: f.out, f.extent, f.read. False: it is no kernel for us (why). */
bool infer_traffic(struct infer *i);

/* Is each element made of all of its row? */
static inline bool infer_by_rows(enum opcode c)
{
	return c == OP_rmsnorm || c == OP_layernorm || c == OP_softmax;
}

/* Kinds of inputs. */
enum infer_family {
	INFER_ORDINARY,
	INFER_ONE_SIDED, /* no two numbers cancel */
	INFER_SPIKES,    /* a few elements decide: each must count, and none for another */
	INFER_WIDE,      /* over many binades, with zeros */
	INFER_TINY,      /* rows so small that eps counts; a bias is 0 */
	INFER_TINIER,    /* even smaller */
	INFER_SPECIAL,   /* zeros, huge numbers, Inf, NaN */
};
/* Fills the operands of the op with such numbers, the rest with garbage. */
void infer_fill(struct infer *i, const struct op *op, enum infer_family family);

/* The op that a section makes of a launch on the arena. False: it does not decode. */
bool infer_decode(struct infer *i, const char *section, const struct infer_launch *l,
		  struct op *op);

/*
 * Did the run leave what the op leaves, and nothing else? Numbers agree within a few units in the
 * last place; loose: within what eps and roundings in between may do.
 */
bool infer_agrees(struct infer *i, const struct op *op, const char *before, const char *after,
		  double eps, bool loose);

/* Finds g->eps, g->eps_arg. False: it is no such norm after all. */
bool infer_eps(struct infer *i, struct infer_guess *g);

/* Runs a launch on such inputs: is it what i->section says of it, and g's eps? A launch that was
 * not recorded and faults holds not, but ends the process (see infer_faults). */
enum infer_holds { HOLDS_NOT, HOLDS, HOLDS_UNTRIED /* it would not fit */ };
enum infer_holds infer_try(struct infer *i, const struct infer_guess *g,
			   const struct infer_launch *l, enum infer_family family);

/* Do the sizes follow where the guess says? Pins arguments that hold at some values only. */
bool infer_sizes(struct infer *i, struct infer_guess *g);

/* Does the guess hold on other inputs, at other sizes and for the other launches? Leaves the
 * section in i->section. */
bool infer_check(struct infer *i, struct infer_guess *g);

/* Tries what there is to guess until one holds. */
bool infer_search(struct infer *i);

/* The whole of it: answers a request with a section's lines, or fails by probe_fail. */
bool infer_answer(struct probe *p, struct json_t *request, char *section, size_t size);

#endif
