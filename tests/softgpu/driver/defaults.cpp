/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that no other file implements. */
#include "tests/softgpu/driver/api.h"

#define DRIVER_API(name, base, since, flavour, stream, params, args)                               \
	__attribute__((weak)) CUresult soft::name params                                           \
	{                                                                                          \
		return CUDA_ERROR_NOT_SUPPORTED;                                                   \
	}
#include "driver_api.def"
#undef DRIVER_API
