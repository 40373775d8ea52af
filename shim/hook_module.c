/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and unloads: where images come from, and which handles become invalid. */
#include "shim/graph.h"
#include "shim/hook.h"
#include "shim/images.h"
#include "shim/kernels.h"
#include "shim/ours.h"

/* Each returns what the hook then returns. */
static CUresult loaded_data(const void *handle, const void *image)
{
	if (!guard_enter())
		return CUDA_SUCCESS;
	images_load_data(handle, image);
	ours_seen();
	guard_leave();
	return CUDA_SUCCESS;
}

static CUresult loaded_file(const void *handle, const char *path)
{
	if (!guard_enter())
		return CUDA_SUCCESS;
	images_load_file(handle, path);
	ours_seen();
	guard_leave();
	return CUDA_SUCCESS;
}

/* Forgets before the driver does: its handles may be another thread's the moment they are free.
 * What looks at graphs in the background may not look at its kernels any more. */
static struct image *unloading(const void *handle)
{
	struct image *img = NULL;

	if (guard_enter()) {
		graph_drop_module(handle);
		img = images_unload(handle);
		kernels_forget(handle);
		guard_leave();
	}
	return img;
}

/* Others may have asked for a kernel between the two. Returns what the hook then returns. */
static CUresult unloaded(const void *handle, struct image *img, CUresult r)
{
	images_unloaded(handle, img, !r);
	if (guard_enter()) {
		kernels_forget(handle);
		guard_leave();
	}
	return r;
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
	CUresult r;

	if (hook_through())
		return real.cuModuleLoad(module, path);
	if ((r = hook_all(CALL_cuModuleLoad)))
		return r;
	r = real.cuModuleLoad(module, path);
	if (hook_retry(r))
		r = real.cuModuleLoad(module, path);
	return r ? r : loaded_file(*module, path);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	CUresult r;

	if (hook_through())
		return real.cuModuleLoadData(module, image);
	if ((r = hook_all(CALL_cuModuleLoadData)))
		return r;
	r = real.cuModuleLoadData(module, image);
	if (hook_retry(r))
		r = real.cuModuleLoadData(module, image);
	return r ? r : loaded_data(*module, image);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, CUjit_option *options,
			    void **values)
{
	CUresult r;

	if (hook_through())
		return real.cuModuleLoadDataEx(module, image, n, options, values);
	if ((r = hook_all(CALL_cuModuleLoadDataEx)))
		return r;
	r = real.cuModuleLoadDataEx(module, image, n, options, values);
	if (hook_retry(r))
		r = real.cuModuleLoadDataEx(module, image, n, options, values);
	return r ? r : loaded_data(*module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
	CUresult r;

	if (hook_through())
		return real.cuModuleLoadFatBinary(module, image);
	if ((r = hook_all(CALL_cuModuleLoadFatBinary)))
		return r;
	r = real.cuModuleLoadFatBinary(module, image);
	if (hook_retry(r))
		r = real.cuModuleLoadFatBinary(module, image);
	return r ? r : loaded_data(*module, image);
}

CUresult cuModuleUnload(CUmodule module)
{
	struct image *img;
	CUresult r;

	if (hook_through())
		return real.cuModuleUnload(module);
	if ((r = hook_all(CALL_cuModuleUnload)))
		return r;
	img = unloading(module);
	return unloaded(module, img, real.cuModuleUnload(module));
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit,
			   void **jit_values, unsigned njit, CUlibraryOption *options,
			   void **values, unsigned n)
{
	CUresult r;

	if (hook_through())
		return real.cuLibraryLoadData(library, code, jit, jit_values, njit, options, values,
					      n);
	if ((r = hook_all(CALL_cuLibraryLoadData)))
		return r;
	r = real.cuLibraryLoadData(library, code, jit, jit_values, njit, options, values, n);
	if (hook_retry(r))
		r = real.cuLibraryLoadData(library, code, jit, jit_values, njit, options, values,
					   n);
	return r ? r : loaded_data(*library, code);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit,
			       void **jit_values, unsigned njit, CUlibraryOption *options,
			       void **values, unsigned n)
{
	CUresult r;

	if (hook_through())
		return real.cuLibraryLoadFromFile(library, path, jit, jit_values, njit, options,
						  values, n);
	if ((r = hook_all(CALL_cuLibraryLoadFromFile)))
		return r;
	r = real.cuLibraryLoadFromFile(library, path, jit, jit_values, njit, options, values, n);
	if (hook_retry(r))
		r = real.cuLibraryLoadFromFile(library, path, jit, jit_values, njit, options,
					       values, n);
	return r ? r : loaded_file(*library, path);
}

CUresult cuLibraryUnload(CUlibrary library)
{
	struct image *img;
	CUresult r;

	if (hook_through())
		return real.cuLibraryUnload(library);
	if ((r = hook_all(CALL_cuLibraryUnload)))
		return r;
	img = unloading(library);
	return unloaded(library, img, real.cuLibraryUnload(library));
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
	CUresult r;

	if (hook_through())
		return real.cuLibraryGetModule(module, library);
	hook_query(CALL_cuLibraryGetModule);
	r = real.cuLibraryGetModule(module, library);
	if (!r)
		images_load_part(*module, library);
	return r;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	CUlibrary library;
	CUmodule module;
	CUresult r;

	if (hook_through())
		return real.cuKernelGetFunction(function, kernel);
	hook_query(CALL_cuKernelGetFunction);
	r = real.cuKernelGetFunction(function, kernel);
	if (!r && guard_enter()) {
		if (!real.cuFuncGetModule(&module, *function) &&
		    !real.cuKernelGetLibrary(&library, kernel))
			images_load_part(module, library);
		guard_leave();
	}
	return r;
}
