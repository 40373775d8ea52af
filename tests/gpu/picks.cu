/* SPDX-License-Identifier: Apache-2.0 */
/* One flavour: -DPICKS_FLAVOUR=ieee, fast (with --use_fast_math) or nofma (-fmad=false). */
#include <cuda_bf16.h>
#include <stdint.h>

#define PICKS_PASTE_(a, b) picks_##a##_##b
#define PICKS_PASTE(a, b) PICKS_PASTE_(a, b)
#define PICKS(name) PICKS_PASTE(PICKS_FLAVOUR, name)
#define PICKS_FAST 0
#include "tests/gpu/picks.cuh"
