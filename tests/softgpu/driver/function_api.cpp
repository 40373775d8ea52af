/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions and kernels: names, parameters, attributes. As with the real driver a CUkernel is no
 * CUfunction to the cuFunc calls (and the other way round), although launches take either.
 */
#include "tests/softgpu/driver/launch.h"

namespace
{
CUresult get_name(const char **out, const struct softgpu_kernel *k)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = k->name;
	return CUDA_SUCCESS;
}

CUresult get_param(const struct softgpu_kernel *k, size_t i, size_t *offset, size_t *bytes)
{
	if (!offset || i >= k->nparam)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = k->param[i].offset;
	if (bytes)
		*bytes = k->param[i].bytes;
	return CUDA_SUCCESS;
}

CUresult get_attribute(int *out, CUfunction_attribute attribute, const struct softgpu_kernel *k,
		       const struct function_attributes *a)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*out = static_cast<int>(k->max_threads);
		break;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*out = static_cast<int>(k->shared_bytes);
		break;
	case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
	case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
	case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		*out = 0;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*out = 32;
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*out = 90;
		break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*out = attributes_dynamic(a, k);
		break;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		*out = a->carveout;
		break;
	case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		*out = a->cluster[attribute - CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET];
		break;
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		*out = a->nonportable_cluster;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult set_attribute(CUfunction_attribute attribute, int value, const struct softgpu_kernel *k,
		       struct function_attributes *a)
{
	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		if (value < 0 ||
		    static_cast<unsigned>(value) + k->shared_bytes > SOFTGPU_SHARED_MAX)
			return CUDA_ERROR_INVALID_VALUE;
		a->dynamic_shared = value;
		break;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		if (value < -1 || value > 100)
			return CUDA_ERROR_INVALID_VALUE;
		a->carveout = value;
		break;
	case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		a->cluster[attribute - CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET] = value;
		break;
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		a->nonportable_cluster = value;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}
} // namespace

CUresult soft::cuFuncGetName(const char **out, CUfunction handle)
{
	struct function *f = object_find<struct function>(handle);

	return f ? get_name(out, f->kernel) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult soft::cuKernelGetName(const char **out, CUkernel handle)
{
	struct kernel *k = object_find<struct kernel>(handle);

	return k ? get_name(out, k->kernel) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult soft::cuFuncGetParamInfo(CUfunction handle, size_t i, size_t *offset, size_t *bytes)
{
	struct function *f = object_find<struct function>(handle);

	return f ? get_param(f->kernel, i, offset, bytes) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult soft::cuKernelGetParamInfo(CUkernel handle, size_t i, size_t *offset, size_t *bytes)
{
	struct kernel *k = object_find<struct kernel>(handle);

	return k ? get_param(k->kernel, i, offset, bytes) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult soft::cuFuncGetModule(CUmodule *out, CUfunction handle)
{
	struct function *f = object_find<struct function>(handle);

	if (!f || !out)
		return f ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = reinterpret_cast<CUmodule>(f->module);
	return CUDA_SUCCESS;
}

CUresult soft::cuFuncLoad(CUfunction handle)
{
	return object_find<struct function>(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult soft::cuFuncIsLoaded(CUfunctionLoadingState *out, CUfunction handle)
{
	if (!out || !object_find<struct function>(handle))
		return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	*out = CU_FUNCTION_LOADING_STATE_LOADED;
	return CUDA_SUCCESS;
}

CUresult soft::cuFuncGetAttribute(int *out, CUfunction_attribute attribute, CUfunction handle)
{
	struct function *f = object_find<struct function>(handle);

	return f ? get_attribute(out, attribute, f->kernel, &f->attributes)
		 : CUDA_ERROR_INVALID_HANDLE;
}

CUresult soft::cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
	struct function *f = object_find<struct function>(handle);

	return f ? set_attribute(attribute, value, f->kernel, &f->attributes)
		 : CUDA_ERROR_INVALID_HANDLE;
}

CUresult soft::cuKernelGetAttribute(int *out, CUfunction_attribute attribute, CUkernel handle,
				    CUdevice dev)
{
	struct kernel *k = object_find<struct kernel>(handle);

	if (!k || !device_get(dev))
		return k ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_HANDLE;
	return get_attribute(out, attribute, k->kernel, &k->attributes[dev]);
}

CUresult soft::cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle,
				    CUdevice dev)
{
	struct kernel *k = object_find<struct kernel>(handle);

	if (!k || !device_get(dev))
		return k ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_HANDLE;
	return set_attribute(attribute, value, k->kernel, &k->attributes[dev]);
}

CUresult soft::cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache)
{
	return object_find<struct function>(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult soft::cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache, CUdevice)
{
	return object_find<struct kernel>(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
