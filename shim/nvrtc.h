/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVIDIA's run-time compiler (NVRTC), found and loaded at run time: 12.x or 13.x. For the child
 * process of compile.h only: it takes hundreds of megabytes and what it does wrong ends there.
 */
#ifndef AF_SHIM_NVRTC_H
#define AF_SHIM_NVRTC_H

#include <stddef.h>

struct nvrtc {
	unsigned version; /* 13000 for 13.0 */
	char path[4096];  /* as it was found */
	void *lib;
	/* As in nvrtc.h; the results are nvrtcResult, 0 for success. */
	int (*Version)(int *major, int *minor);
	const char *(*GetErrorString)(int);
	int (*CreateProgram)(void **prog, const char *text, const char *name, int nheader,
			     const char *const *header, const char *const *include);
	int (*DestroyProgram)(void **prog);
	int (*CompileProgram)(void *prog, int noption, const char *const *option);
	int (*GetPTXSize)(void *prog, size_t *bytes);
	int (*GetPTX)(void *prog, char *ptx);
	int (*GetCUBINSize)(void *prog, size_t *bytes);
	int (*GetCUBIN)(void *prog, char *cubin);
	int (*GetProgramLogSize)(void *prog, size_t *bytes);
	int (*GetProgramLog)(void *prog, char *log);
	int (*GetNumSupportedArchs)(int *n);
	int (*GetSupportedArchs)(int *arch);
};

/* Where to look, in this order. */
struct nvrtc_places {
	const char *option; /* a file or a folder; "" or NULL: not said. Nothing else then. */
	const char *const *loaded; /* copies that the program has loaded */
	unsigned nloaded;
	const char *const *dir; /* folders of other CUDA libraries of the program's */
	unsigned ndir;
	unsigned driver; /* a compiler of a later major version makes code that it cannot load */
};

/*
 * Then the loader's own path and the toolkit (CUDA_HOME, CUDA_PATH, /usr/local/cuda). 0, or -1 with
 * a sentence in why: none, or none that is fit.
 */
int nvrtc_load(struct nvrtc *n, const struct nvrtc_places *p, char *why, unsigned size);

/*
 * Compiles text for a device of that compute capability * 10: *image is a cubin, or PTX (with its
 * final 0) where this NVRTC does not know the device yet; freed by the caller. *log, if not NULL:
 * what the compiler said ("" for nothing), freed by the caller. 0, or -1 with a sentence in why.
 */
int nvrtc_compile(const struct nvrtc *n, const char *text, unsigned cc, void **image, size_t *bytes,
		  char **log, char *why, unsigned size);

#endif
