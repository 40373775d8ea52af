/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomics and cached loads and stores. Atomic for real: blocks of other streams run in other
 * operating system threads. Part of device.h.
 */
#ifndef AF_TESTS_SOFTGPU_DEVICE_ATOMIC_H
#define AF_TESTS_SOFTGPU_DEVICE_ATOMIC_H

#include "tests/softgpu/device_warp.h"

namespace softgpu
{
template <size_t> struct word;
template <> struct word<2> {
	using type = uint16_t;
};
template <> struct word<4> {
	using type = uint32_t;
};
template <> struct word<8> {
	using type = uint64_t;
};

/* *p = f(*p); answers the old value. */
template <class T, class F> inline T atomic_update(T *p, F f)
{
	using bits = typename word<sizeof(T)>::type;
	bits *where = reinterpret_cast<bits *>(p);
	bits old = __atomic_load_n(where, __ATOMIC_RELAXED);
	bits next;

	do {
		next = static_cast<bits>(to_bits<T>(f(from_bits<T>(old))));
	} while (!__atomic_compare_exchange_n(where, &old, next, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
	return from_bits<T>(old);
}

/* Parameters that take part in no deduction, so that atomicAdd(float *, 1) compiles. */
template <class T> struct same {
	using type = T;
};
template <class T> using value = typename same<T>::type;
} // namespace softgpu

#define SOFTGPU_ATOMIC(name, expression)                                                           \
	template <class T> static inline T name(T *p, softgpu::value<T> v)                         \
	{                                                                                          \
		return softgpu::atomic_update(p, [v](T old) -> T { return expression; });          \
	}                                                                                          \
	template <class T> static inline T name##_block(T *p, softgpu::value<T> v)                 \
	{                                                                                          \
		return name(p, v);                                                                 \
	}                                                                                          \
	template <class T> static inline T name##_system(T *p, softgpu::value<T> v)                \
	{                                                                                          \
		return name(p, v);                                                                 \
	}
SOFTGPU_ATOMIC(atomicAdd, old + v)
SOFTGPU_ATOMIC(atomicSub, old - v)
SOFTGPU_ATOMIC(atomicExch, (static_cast<void>(old), v))
SOFTGPU_ATOMIC(atomicMin, v < old ? v : old)
SOFTGPU_ATOMIC(atomicMax, v > old ? v : old)
SOFTGPU_ATOMIC(atomicAnd, old &v)
SOFTGPU_ATOMIC(atomicOr, old | v)
SOFTGPU_ATOMIC(atomicXor, old ^ v)
SOFTGPU_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
SOFTGPU_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
#undef SOFTGPU_ATOMIC

template <class T>
static inline T atomicCAS(T *p, softgpu::value<T> expected, softgpu::value<T> desired)
{
	return softgpu::atomic_update(p, [=](T old) -> T {
		return softgpu::to_bits(old) == softgpu::to_bits(T(expected)) ? T(desired) : old;
	});
}
template <class T>
static inline T atomicCAS_block(T *p, softgpu::value<T> expected, softgpu::value<T> desired)
{
	return atomicCAS(p, expected, desired);
}
template <class T>
static inline T atomicCAS_system(T *p, softgpu::value<T> expected, softgpu::value<T> desired)
{
	return atomicCAS(p, expected, desired);
}

#define SOFTGPU_LOAD(name)                                                                         \
	template <class T> static inline T name(const T *p)                                        \
	{                                                                                          \
		return *p;                                                                         \
	}
SOFTGPU_LOAD(__ldg)
SOFTGPU_LOAD(__ldca)
SOFTGPU_LOAD(__ldcg)
SOFTGPU_LOAD(__ldcs)
SOFTGPU_LOAD(__ldlu)
SOFTGPU_LOAD(__ldcv)
#undef SOFTGPU_LOAD

#define SOFTGPU_STORE(name)                                                                        \
	template <class T> static inline void name(T *p, softgpu::value<T> v)                      \
	{                                                                                          \
		*p = v;                                                                            \
	}
SOFTGPU_STORE(__stwb)
SOFTGPU_STORE(__stcg)
SOFTGPU_STORE(__stcs)
SOFTGPU_STORE(__stwt)
#undef SOFTGPU_STORE

#endif
