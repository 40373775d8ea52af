/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `autofuse trace --infer`: [kernel] sections for kernels that no signature knows, found by probing
 * each in a child process (shim/probe.h).
 */
#ifndef AF_TOOLS_INFER_H
#define AF_TOOLS_INFER_H

#include <jansson.h>
#include <sys/types.h>

#include "config/config.h"
#include "tools/listing.h"

enum {
	INFER_MOST = 48,    /* kernels that are probed */
	INFER_LAUNCHES = 3, /* of each, that are shown to the child */
	INFER_PARAMS = 16,  /* more parameters, and no known operation fits */
	INFER_BYTES = 256,  /* of parameters */
	INFER_NAME = 180,   /* characters of a name that a line of a configuration holds */
	INFER_SECONDS = 60, /* for each kernel */
	INFER_ABREAST = 4,  /* children at a time */
};

struct infer_seen {
	uint32_t grid[3], block[3], shmem;
	uint8_t params[INFER_BYTES];
};

struct infer_kernel {
	char *name;     /* mangled */
	char *readable; /* as listings have it */
	uint64_t launches, ns;
	int device;
	uint32_t nparam, param_bytes;
	struct param param[INFER_PARAMS];
	uint64_t
		room[INFER_PARAMS]; /* bytes behind each pointer of the first launch kept, else 0 */
	struct infer_seen seen[INFER_LAUNCHES]; /* the smallest first */
	unsigned nseen;
	char *file; /* its image */
	uint64_t offset, bytes;
	char *section;    /* what was found, label and match included */
	char reason[256]; /* or why nothing was */
};

struct inferred {
	struct infer_kernel *kernel; /* those that take the most time first */
	unsigned n, found;
};

/* Reads the recording of a program that was run with the option `images`, and probes the kernels.
 * c: whose labels are taken. NULL if memory runs out. */
struct inferred *infer(const char *recording, const struct listing *l, const struct config *c);
/* Says that there are kernels to infer signatures for, if so. */
void infer_offer(const struct listing *l, FILE *out);
void inferred_free(struct inferred *f);

/* Collects the kernels that no decoder knows, with launches to show. 0 or -1. */
int infer_collect(struct inferred *f, const char *recording);
/* Asks a child about a kernel. False if there is none; else infer_finish waits for its answer and
 * fills section (the lines behind `match`) or reason. */
struct infer_asked {
	struct infer_kernel *kernel;
	pid_t pid;
	int fd;
};
bool infer_start(struct infer_asked *a, struct infer_kernel *k);
void infer_finish(struct infer_asked *a);

/* For people, as JSON, and as a file that AUTOFUSE_CONFIG may name. */
void inferred_text(const struct inferred *f, FILE *out);
json_t *inferred_json(const struct inferred *f);
/* Do the signatures in use come from this file, among others? Then it is added to. */
bool inferred_in_use(const struct config *c, const char *path);
void inferred_file(const struct inferred *f, FILE *out);

#endif
