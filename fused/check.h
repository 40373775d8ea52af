/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the kernels in check.cuh, and what a sweep holds. */
#ifndef AF_FUSED_CHECK_H
#define AF_FUSED_CHECK_H

#include <stdint.h>

#ifdef __CUDACC__
#define CHECK_FN static __host__ __device__ inline
#else
#define CHECK_FN static inline
#endif

struct compare_args {
	uint64_t x, y, counter; /* counter: two u64, {elements that differ, greatest distance} */
	int64_t xpitch, ypitch; /* bytes */
	int64_t rows, cols;
};

struct publish_args {
	uint64_t counter, slot, ticket; /* slot: three u64 of host-mapped memory */
};

/*
 * A stretch of all floats, and factors for them: element i of x is the float whose bits are
 * `first + i * step`, or one of the `step` from there on. Equal arguments give equal bits on the
 * host and on the GPU.
 */
struct sweep_args {
	uint64_t x, y; /* y may be x: then what is there are x's floats */
	int64_t xpitch, ypitch;
	int64_t rows, cols;
	uint32_t first, step;
	uint32_t ones; /* factors are 1 and -1, which bring every bit of a number through a product
			*/
};

CHECK_FN uint32_t sweep_hash(uint32_t v)
{
	v ^= v >> 16;
	v *= 0x7feb352du;
	v ^= v >> 15;
	v *= 0x846ca68bu;
	return v ^ v >> 16;
}
CHECK_FN uint32_t sweep_bits(const struct sweep_args *p, int64_t i)
{
	uint32_t at = p->first + (uint32_t)i * p->step;

	return p->step == 1 ? at : at + sweep_hash(at) % p->step;
}
/* An ordinary number: between 1/4 and 4. */
CHECK_FN uint32_t sweep_factor(const struct sweep_args *p, uint32_t bits)
{
	uint32_t h = sweep_hash(bits ^ 0x9e3779b9u);

	return p->ones ? (h & 0x80000000u) | 0x3f800000u
		       : (h & 0x807fffffu) | ((h >> 23 & 3) + 125) << 23;
}

#endif
