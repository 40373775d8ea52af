/* SPDX-License-Identifier: Apache-2.0 */
/* Warp shuffles, votes, matches and reductions. Part of device.h. */
#ifndef AF_TESTS_SOFTGPU_DEVICE_WARP_H
#define AF_TESTS_SOFTGPU_DEVICE_WARP_H

#include <type_traits>
#include "tests/softgpu/device_thread.h"

namespace softgpu
{
template <class T> inline uint64_t to_bits(T v)
{
	/* Not is_trivially_copyable: the packed 16-bit types have assignments of their own. */
	static_assert(std::is_trivially_destructible<T>::value && sizeof(T) <= sizeof(uint64_t),
		      "plain data of at most 8 bytes");
	uint64_t bits = 0;
	memcpy(&bits, static_cast<const void *>(&v), sizeof(v));
	return bits;
}

template <class T> inline T from_bits(uint64_t bits)
{
	T v;
	memcpy(static_cast<void *>(&v), &bits, sizeof(v));
	return v;
}

template <class T> inline T shuffle(unsigned mask, T v, unsigned source)
{
	return from_bits<T>(softgpu_warp_exchange(SOFTGPU_SHUFFLE, mask, to_bits(v), source));
}

inline uint32_t reduce(softgpu_warp_op op, unsigned mask, uint32_t v)
{
	return static_cast<uint32_t>(softgpu_warp_exchange(op, mask, v, 0));
}
} // namespace softgpu

static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
	softgpu_warp_exchange(SOFTGPU_BALLOT, mask, 0, 0);
}
static inline unsigned __activemask()
{
	return softgpu_warp_live();
}

/* A source outside the segment of `width` lanes gives the lane its own value, as on the device. */
template <class T> static inline T __shfl_sync(unsigned mask, T v, int source, int width = 32)
{
	unsigned lane = softgpu_here.lane;
	unsigned first = lane & ~static_cast<unsigned>(width - 1);

	return softgpu::shuffle(mask, v, first + (static_cast<unsigned>(source) & (width - 1)));
}
template <class T>
static inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
	unsigned lane = softgpu_here.lane;

	return softgpu::shuffle(mask, v, (lane & (width - 1)) >= delta ? lane - delta : lane);
}
template <class T>
static inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32)
{
	unsigned lane = softgpu_here.lane;

	return softgpu::shuffle(
		mask, v,
		(lane & (width - 1)) + delta < static_cast<unsigned>(width) ? lane + delta : lane);
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = 32)
{
	unsigned lane = softgpu_here.lane;
	unsigned end = (lane & ~static_cast<unsigned>(width - 1)) + width;
	unsigned source = lane ^ static_cast<unsigned>(lanes);

	return softgpu::shuffle(mask, v, source < end ? source : lane);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate)
{
	return static_cast<unsigned>(
		softgpu_warp_exchange(SOFTGPU_BALLOT, mask, predicate != 0, 0));
}
static inline int __any_sync(unsigned mask, int predicate)
{
	return __ballot_sync(mask, predicate) != 0;
}
static inline int __all_sync(unsigned mask, int predicate)
{
	return __ballot_sync(mask, !predicate) == 0;
}

template <class T> static inline unsigned __match_any_sync(unsigned mask, T v)
{
	return static_cast<unsigned>(
		softgpu_warp_exchange(SOFTGPU_MATCH, mask, softgpu::to_bits(v), 0));
}
template <class T> static inline unsigned __match_all_sync(unsigned mask, T v, int *all)
{
	unsigned same = __match_any_sync(mask, v);

	*all = same == (mask & softgpu_warp_live());
	return *all ? mask : 0;
}

static inline unsigned __reduce_add_sync(unsigned mask, unsigned v)
{
	return softgpu::reduce(SOFTGPU_ADD, mask, v);
}
static inline int __reduce_add_sync(unsigned mask, int v)
{
	return static_cast<int>(softgpu::reduce(SOFTGPU_ADD, mask, static_cast<unsigned>(v)));
}
static inline unsigned __reduce_min_sync(unsigned mask, unsigned v)
{
	return softgpu::reduce(SOFTGPU_MIN, mask, v);
}
static inline int __reduce_min_sync(unsigned mask, int v)
{
	return static_cast<int>(softgpu::reduce(SOFTGPU_SMIN, mask, static_cast<unsigned>(v)));
}
static inline unsigned __reduce_max_sync(unsigned mask, unsigned v)
{
	return softgpu::reduce(SOFTGPU_MAX, mask, v);
}
static inline int __reduce_max_sync(unsigned mask, int v)
{
	return static_cast<int>(softgpu::reduce(SOFTGPU_SMAX, mask, static_cast<unsigned>(v)));
}
static inline unsigned __reduce_and_sync(unsigned mask, unsigned v)
{
	return softgpu::reduce(SOFTGPU_BITAND, mask, v);
}
static inline unsigned __reduce_or_sync(unsigned mask, unsigned v)
{
	return softgpu::reduce(SOFTGPU_BITOR, mask, v);
}
static inline unsigned __reduce_xor_sync(unsigned mask, unsigned v)
{
	return softgpu::reduce(SOFTGPU_BITXOR, mask, v);
}

#endif
