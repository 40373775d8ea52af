/* SPDX-License-Identifier: Apache-2.0 */
/* The zoo for the software GPU, in three flavours. */
#include "tests/softgpu/device.h"

#define ZOO(name) zoo_ieee_##name
#define ZOO_FAST 0
#include "tests/gpu/zoo.cuh"
#include "tests/gpu/zoo_silu.cuh"
#include "tests/gpu/zoo.softgpu.inc"
#undef ZOO
#undef ZOO_FAST

#define ZOO(name) zoo_fast_##name
#define ZOO_FAST 1
#include "tests/gpu/zoo.cuh"
#include "tests/gpu/zoo_silu.cuh"
#include "tests/gpu/zoo.softgpu.inc"
#undef ZOO
#undef ZOO_FAST

#pragma GCC optimize("fp-contract=off")
#define ZOO(name) zoo_nofma_##name
#define ZOO_FAST 0
#include "tests/gpu/zoo.cuh"
#include "tests/gpu/zoo_silu.cuh"
#include "tests/gpu/zoo.softgpu.inc"
