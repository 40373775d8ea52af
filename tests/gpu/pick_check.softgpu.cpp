/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of picks.cuh for the software GPU, in three flavours. */
#include "tests/softgpu/device.h"

#define PICKS(name) picks_ieee_##name
#define PICKS_FAST 0
#include "tests/gpu/picks.cuh"
#include "tests/gpu/picks.softgpu.inc"
#undef PICKS
#undef PICKS_FAST

#define PICKS(name) picks_fast_##name
#define PICKS_FAST 1
#include "tests/gpu/picks.cuh"
#include "tests/gpu/picks.softgpu.inc"
#undef PICKS
#undef PICKS_FAST

#pragma GCC optimize("fp-contract=off")
#define PICKS(name) picks_nofma_##name
#define PICKS_FAST 0
#include "tests/gpu/picks.cuh"
#include "tests/gpu/picks.softgpu.inc"
