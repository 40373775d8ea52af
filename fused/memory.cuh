/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of 16 bytes, moved by accesses as wide as an operand's alignment allows. */
#ifndef AF_FUSED_MEMORY_CUH
#define AF_FUSED_MEMORY_CUH

#include "fused/device.h"

namespace af
{
enum { CHUNK_BYTES = 16 };

/* 16 bytes from p, which is a multiple of width. `width` is the same for all threads. */
__device__ __forceinline__ uint4 load_chunk(const char *p, int width)
{
	uint4 v;

	if (width >= 16) {
		v = *(const uint4 *)p;
	} else if (width == 8) {
		uint2 lo = ((const uint2 *)p)[0], hi = ((const uint2 *)p)[1];

		v.x = lo.x, v.y = lo.y, v.z = hi.x, v.w = hi.y;
	} else if (width == 4) {
		const uint32_t *q = (const uint32_t *)p;

		v.x = q[0], v.y = q[1], v.z = q[2], v.w = q[3];
	} else {
		const uint16_t *q = (const uint16_t *)p;

		v.x = q[0] | (uint32_t)q[1] << 16, v.y = q[2] | (uint32_t)q[3] << 16;
		v.z = q[4] | (uint32_t)q[5] << 16, v.w = q[6] | (uint32_t)q[7] << 16;
	}
	return v;
}

__device__ __forceinline__ void store_chunk(char *p, int width, uint4 v)
{
	if (width >= 16) {
		*(uint4 *)p = v;
	} else if (width == 8) {
		uint2 lo, hi;

		lo.x = v.x, lo.y = v.y, hi.x = v.z, hi.y = v.w;
		((uint2 *)p)[0] = lo;
		((uint2 *)p)[1] = hi;
	} else if (width == 4) {
		uint32_t *q = (uint32_t *)p;

		q[0] = v.x, q[1] = v.y, q[2] = v.z, q[3] = v.w;
	} else {
		uint16_t *q = (uint16_t *)p;

		q[0] = (uint16_t)v.x, q[1] = (uint16_t)(v.x >> 16);
		q[2] = (uint16_t)v.y, q[3] = (uint16_t)(v.y >> 16);
		q[4] = (uint16_t)v.z, q[5] = (uint16_t)(v.z >> 16);
		q[6] = (uint16_t)v.w, q[7] = (uint16_t)(v.w >> 16);
	}
}

/* Element i of a chunk of 4-byte or 2-byte elements; i is a constant where it matters. */
template <class T> struct lanes;
template <> struct lanes<uint32_t> {
	static __device__ __forceinline__ uint32_t get(const uint4 &v, int i)
	{
		return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
	}
	static __device__ __forceinline__ void set(uint4 &v, int i, uint32_t x)
	{
		(i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w) = x;
	}
};
template <> struct lanes<uint16_t> {
	static __device__ __forceinline__ uint16_t get(const uint4 &v, int i)
	{
		return (uint16_t)(lanes<uint32_t>::get(v, i / 2) >> (i % 2 * 16));
	}
	/* In ascending order of i, from an all-zero or earlier chunk alike. */
	static __device__ __forceinline__ void set(uint4 &v, int i, uint16_t x)
	{
		uint32_t word = lanes<uint32_t>::get(v, i / 2);

		word = i % 2 ? (word & 0xffffu) | (uint32_t)x << 16 : (word & 0xffff0000u) | x;
		lanes<uint32_t>::set(v, i / 2, word);
	}
};
}

#endif
