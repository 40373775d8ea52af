/* SPDX-License-Identifier: Apache-2.0 */
/* One flavour of the reference: -DREF_FTZ=0, or -DREF_FTZ=1 with -ftz=true. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "tests/gpu/reference.h"

#if REF_FTZ
#define REF(name) ref_ftz_##name
#else
#define REF(name) ref_ieee_##name
#endif
#include "tests/gpu/reference.cuh"
#include "tests/gpu/reference_silu.cuh"
