/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are made to fail or to take long, and how often each was made. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_INJECT_H
#define AF_TESTS_SOFTGPU_DRIVER_INJECT_H

#include <stdint.h>
#include "tests/softgpu/driver/api.h"

/* Counts the call, waits if it is to be slow. CUDA_SUCCESS, or what it must answer. No lock held.
 */
CUresult inject(enum api_call call);
/* Calls of exactly this export so far. */
uint64_t inject_count(int call);
void inject_counts_reset();

#endif
