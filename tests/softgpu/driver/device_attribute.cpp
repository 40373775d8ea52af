/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/context.h"
#include "tests/softgpu/driver/launch.h"
#include "tests/softgpu/engine.h"

CUresult soft::cuDeviceGetAttribute(int *out, CUdevice_attribute attribute, CUdevice dev)
{
	if (!device_get(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!out || attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
		*out = dev + 1;
		break;
#define ATTRIBUTE(name, value)                                                                     \
	case CU_DEVICE_ATTRIBUTE_##name:                                                           \
		*out = value;                                                                      \
		break;
#include "tests/softgpu/driver/device_attribute.def"
#undef ATTRIBUTE
	default:
		*out = 0;
	}
	return CUDA_SUCCESS;
}
