/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address sanitizer's runtime, where the process has one (a test program or a companion built
 * with it): weak references, NULL otherwise. The software GPU itself is never instrumented.
 */
#ifndef AF_TESTS_SOFTGPU_DRIVER_ASAN_H
#define AF_TESTS_SOFTGPU_DRIVER_ASAN_H

#include <stddef.h>

extern "C" {
__attribute__((weak)) void __sanitizer_start_switch_fiber(void **save, const void *bottom,
							  size_t size);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void *saved, const void **bottom,
							   size_t *size);
__attribute__((weak)) void __asan_poison_memory_region(const volatile void *p, size_t bytes);
__attribute__((weak)) void __asan_unpoison_memory_region(const volatile void *p, size_t bytes);
}

static inline void asan_poison(const volatile void *p, size_t bytes)
{
	if (__asan_poison_memory_region)
		__asan_poison_memory_region(p, bytes);
}

static inline void asan_unpoison(const volatile void *p, size_t bytes)
{
	if (__asan_unpoison_memory_region)
		__asan_unpoison_memory_region(p, bytes);
}

#endif
