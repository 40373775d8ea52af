/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries and their kernels, which belong to no context. */
#include <stdlib.h>
#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/module.h"
#include "tests/softgpu/driver/registry.h"

namespace
{
struct kernel *library_kernel(struct library *l, const char *name)
{
	const struct softgpu_kernel *k = name ? registry_kernel(name) : nullptr;

	if (!k)
		return nullptr;
	struct kernel *&kernel = l->kernels[name];
	if (!kernel) {
		kernel = object_new<struct kernel>();
		kernel->library = l;
		kernel->kernel = k;
	}
	return kernel;
}

CUresult load(CUlibrary *out, const void *image)
{
	std::vector<std::string> names;
	CUresult r = out ? image_look(image, &names) : CUDA_ERROR_INVALID_VALUE;

	if (r != CUDA_SUCCESS)
		return r;
	struct library *l = object_new<struct library>();
	l->names = names;
	*out = reinterpret_cast<CUlibrary>(l);
	return CUDA_SUCCESS;
}
} // namespace

void library_forget_context(struct context *ctx)
{
	for (const auto &entry : objects)
		if (entry.second == OBJECT_LIBRARY)
			static_cast<struct library *>(const_cast<void *>(entry.first))
				->modules.erase(ctx);
}

CUresult soft::cuLibraryLoadData(CUlibrary *out, const void *image, CUjit_option *, void **,
				 unsigned, CUlibraryOption *, void **, unsigned)
{
	return load(out, image);
}

CUresult soft::cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *, void **,
				     unsigned, CUlibraryOption *, void **, unsigned)
{
	char *image = image_read(path);

	if (!image)
		return CUDA_ERROR_FILE_NOT_FOUND;
	CUresult r = load(out, image);
	free(image);
	return r;
}

CUresult soft::cuLibraryUnload(CUlibrary handle)
{
	struct library *l = object_find<struct library>(handle);
	CUresult r = capture_forbids();
	std::vector<struct context *> used;

	if (r != CUDA_SUCCESS)
		return r;
	if (!l)
		return CUDA_ERROR_INVALID_HANDLE;
	for (const auto &entry : l->modules)
		used.push_back(entry.first);
	for (struct context *ctx : used)
		if (object_find<struct context>(ctx))
			context_wait(ctx);
	if (!object_find<struct library>(handle))
		return CUDA_SUCCESS;
	for (const auto &entry : l->modules)
		module_delete(entry.second);
	for (const auto &entry : l->kernels)
		object_delete(entry.second);
	object_delete(l);
	return CUDA_SUCCESS;
}

CUresult soft::cuLibraryGetKernel(CUkernel *out, CUlibrary handle, const char *name)
{
	struct library *l = object_find<struct library>(handle);

	if (!l)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out || !name)
		return CUDA_ERROR_INVALID_VALUE;
	*out = reinterpret_cast<CUkernel>(library_kernel(l, name));
	return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult soft::cuLibraryGetKernelCount(unsigned *out, CUlibrary handle)
{
	struct library *l = object_find<struct library>(handle);

	if (!l || !out)
		return l ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = static_cast<unsigned>(l->names.size());
	return CUDA_SUCCESS;
}

CUresult soft::cuLibraryEnumerateKernels(CUkernel *out, unsigned n, CUlibrary handle)
{
	struct library *l = object_find<struct library>(handle);

	if (!l || !out)
		return l ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < n && i < l->names.size(); i++)
		out[i] = reinterpret_cast<CUkernel>(library_kernel(l, l->names[i].c_str()));
	return CUDA_SUCCESS;
}

CUresult soft::cuLibraryGetModule(CUmodule *out, CUlibrary handle)
{
	CONTEXT_OR_RETURN(ctx);
	struct library *l = object_find<struct library>(handle);

	if (!l || !out)
		return l ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = reinterpret_cast<CUmodule>(library_module(l, ctx));
	return CUDA_SUCCESS;
}

CUresult soft::cuLibraryGetGlobal(CUdeviceptr *out, size_t *bytes, CUlibrary handle,
				  const char *name)
{
	CONTEXT_OR_RETURN(ctx);
	return object_find<struct library>(handle) ? variable_find(out, bytes, name, ctx)
						   : CUDA_ERROR_INVALID_HANDLE;
}

CUresult soft::cuKernelGetFunction(CUfunction *out, CUkernel handle)
{
	CONTEXT_OR_RETURN(ctx);
	struct kernel *k = object_find<struct kernel>(handle);

	if (!k || !out)
		return k ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = reinterpret_cast<CUfunction>(kernel_function(k, ctx));
	return CUDA_SUCCESS;
}

CUresult soft::cuKernelGetLibrary(CUlibrary *out, CUkernel handle)
{
	struct kernel *k = object_find<struct kernel>(handle);

	if (!k || !out)
		return k ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = reinterpret_cast<CUlibrary>(k->library);
	return CUDA_SUCCESS;
}
