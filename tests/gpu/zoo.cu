/* SPDX-License-Identifier: Apache-2.0 */
/* One flavour of the zoo: -DZOO_FLAVOUR=ieee, fast (with --use_fast_math) or nofma (-fmad=false). */
#include <cuda_bf16.h>

#define ZOO_PASTE_(a, b) zoo_##a##_##b
#define ZOO_PASTE(a, b) ZOO_PASTE_(a, b)
#define ZOO(name) ZOO_PASTE(ZOO_FLAVOUR, name)
#define ZOO_FAST 0
#include "tests/gpu/zoo.cuh"
#include "tests/gpu/zoo_silu.cuh"
