/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver says about an address. */
#include <string.h>
#include "tests/softgpu/driver/memory.h"
#include "tests/softgpu/driver/vmm.h"

namespace
{
bool on_host(const struct allocation *a)
{
	return a->kind == MEMORY_HOST || a->kind == MEMORY_REGISTERED;
}

template <class T> CUresult put(void *out, T value)
{
	memcpy(out, &value, sizeof(value));
	return CUDA_SUCCESS;
}

CUresult answer(void *out, CUpointer_attribute attribute, CUdeviceptr p, const struct allocation *a)
{
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		return put(out, reinterpret_cast<CUcontext>(a->ctx));
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		return put<unsigned>(out, on_host(a) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		return put(out, p);
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (!on_host(a) && a->kind != MEMORY_MANAGED)
			return CUDA_ERROR_INVALID_VALUE;
		return put(out, p);
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		return put<int>(out, 0);
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		return put<unsigned long long>(out, a->id);
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		return put<int>(out, a->kind == MEMORY_MANAGED);
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		return put<int>(out, a->device);
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		return put<int>(out, a->kind == MEMORY_DEVICE);
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		return put<CUdeviceptr>(out, a->base);
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		return put<size_t>(out, a->bytes);
	case CU_POINTER_ATTRIBUTE_MAPPED:
		return put<int>(out, 1);
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		return put<unsigned long long>(
			out, a->physical ? a->physical->prop.requestedHandleTypes : 0);
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		return put<int>(out, 0);
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		return put<unsigned>(out, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		return put(out, reinterpret_cast<CUmemoryPool>(a->pool));
	case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
		return put<size_t>(out, a->bytes);
	case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		return put<CUdeviceptr>(out, a->base);
	case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
		return put<unsigned long long>(out, a->physical ? a->physical->id : a->id);
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* What cuPointerGetAttributes leaves for an address that the driver does not know. */
void answer_unknown(void *out, CUpointer_attribute attribute)
{
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		put<int>(out, -2);
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case CU_POINTER_ATTRIBUTE_MAPPED:
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		put<int>(out, 0);
		break;
	default:
		put<unsigned long long>(out, 0);
	}
}
} // namespace

CUresult soft::cuPointerGetAttribute(void *out, CUpointer_attribute attribute, CUdeviceptr p)
{
	const struct allocation *a = memory_find(p);

	return out && a ? answer(out, attribute, p, a) : CUDA_ERROR_INVALID_VALUE;
}

CUresult soft::cuPointerGetAttributes(unsigned n, CUpointer_attribute *attributes, void **out,
				      CUdeviceptr p)
{
	const struct allocation *a = memory_find(p);

	if (!attributes || !out)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < n; i++)
		if (!a || answer(out[i], attributes[i], p, a) != CUDA_SUCCESS)
			answer_unknown(out[i], attributes[i]);
	return CUDA_SUCCESS;
}

CUresult soft::cuPointerSetAttribute(const void *, CUpointer_attribute attribute, CUdeviceptr p)
{
	return memory_find(p) && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
		       ? CUDA_SUCCESS
		       : CUDA_ERROR_INVALID_VALUE;
}
