/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills as work for streams and graph nodes. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_COPY_H
#define AF_TESTS_SOFTGPU_DRIVER_COPY_H

#include "tests/softgpu/driver/memory.h"
#include "tests/softgpu/driver/stream.h"

/* Checks the description and the addresses. NULL, and *why. */
std::shared_ptr<struct copy_work> copy_make(const CUDA_MEMCPY3D *c, CUresult *why);
std::shared_ptr<struct fill_work> fill_make(const CUDA_MEMSET_NODE_PARAMS *f, CUresult *why);

#endif
