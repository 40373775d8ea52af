/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between kernels compiled for the host (companion libraries, through device.h) and the software
 * GPU's libcuda.so.1, which runs their blocks: where a thread is, how it waits for others, and how
 * a companion says which kernels and variables it holds.
 *
 * The threads of a block are fibers of one operating system thread, so nothing that a block shares
 * (shared memory, warp state) needs a lock. Blocks of different streams run at the same time.
 */
#ifndef AF_TESTS_SOFTGPU_ENGINE_H
#define AF_TESTS_SOFTGPU_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SOFTGPU_EXPORT __attribute__((visibility("default")))

enum {
	SOFTGPU_WARP = 32,
	SOFTGPU_MAX_THREADS = 1024,
	SOFTGPU_SHARED_DEFAULT = 48 << 10, /* dynamic shared memory without opting in */
	SOFTGPU_SHARED_MAX = 227 << 10,    /* with it, as compute capability 9.0 has it */
};

struct softgpu_dim {
	unsigned x, y, z;
};

/* Where the running thread is. Valid only inside a kernel. */
struct softgpu_place {
	struct softgpu_dim thread, block, block_dim, grid_dim;
	unsigned lane;
};
extern SOFTGPU_EXPORT __thread struct softgpu_place softgpu_here
	__attribute__((tls_model("initial-exec")));

enum softgpu_vote { SOFTGPU_SYNC, SOFTGPU_COUNT, SOFTGPU_AND, SOFTGPU_OR };
/* Waits until every thread of the block that has not returned is here; answers the vote. */
SOFTGPU_EXPORT int softgpu_block_sync(enum softgpu_vote vote, int predicate);

enum softgpu_warp_op {
	SOFTGPU_SHUFFLE, /* value of lane `source`; garbage if that lane takes no part */
	SOFTGPU_BALLOT,  /* mask of lanes with a value other than 0 */
	SOFTGPU_MATCH,   /* mask of lanes with this lane's value */
	SOFTGPU_ADD,
	SOFTGPU_MIN,
	SOFTGPU_MAX,
	SOFTGPU_SMIN,
	SOFTGPU_SMAX, /* over 32-bit values */
	SOFTGPU_BITAND,
	SOFTGPU_BITOR,
	SOFTGPU_BITXOR,
};
/* Waits for the lanes of `mask` that have not returned, exchanges values, answers this lane's. */
SOFTGPU_EXPORT uint64_t softgpu_warp_exchange(enum softgpu_warp_op op, uint32_t mask,
					      uint64_t value, unsigned source);
/* Lanes of this warp that have not returned. */
SOFTGPU_EXPORT uint32_t softgpu_warp_live(void);
/* Lets other threads of the block run (a spin on something that another thread writes). */
SOFTGPU_EXPORT void softgpu_yield(void);
/* Ends the launch with CUDA_ERROR_LAUNCH_FAILED. Does not return. */
SOFTGPU_EXPORT void softgpu_trap(const char *why) __attribute__((noreturn));

struct softgpu_param {
	uint32_t offset, bytes; /* as CUDA lays parameters out */
};

/* A __global__ function. Static storage in the companion. */
struct softgpu_kernel {
	const char *name;                 /* mangled, as nvcc spells it */
	void (*run)(void *const *params); /* one thread; params as cuLaunchKernel takes them */
	const struct softgpu_param *param;
	unsigned nparam;
	unsigned shared_bytes; /* statically allocated, 0 if not said */
	unsigned max_threads;  /* of __launch_bounds__, 1024 if not said */
	/* The calling operating system thread's dynamic shared memory, SOFTGPU_SHARED_MAX bytes. */
	void *(*shared)(void);
};

/* A __device__ or __constant__ variable. */
struct softgpu_variable {
	const char *name;
	void *address;
	size_t bytes;
};

/* Called by the companion's constructors. The first registration of a name wins. */
SOFTGPU_EXPORT void softgpu_register_kernel(const struct softgpu_kernel *k);
SOFTGPU_EXPORT void softgpu_register_variable(const struct softgpu_variable *v);

#ifdef __cplusplus
}
#endif
#endif
