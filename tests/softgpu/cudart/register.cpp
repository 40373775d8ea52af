/* SPDX-License-Identifier: Apache-2.0 */
/* What nvcc's host code registers: images, kernels by their host stub, variables. */
#include <map>
#include <mutex>
#include <string.h>
#include <string>
#include "tests/softgpu/cudart/runtime.h"

namespace
{
struct image {
	const void *wrapper;
	CUlibrary library; /* loaded when something in it is first needed */
};

struct function {
	struct image *image;
	std::string name;
	CUkernel kernel;
};

struct variable {
	struct image *image;
	std::string name;
};

struct registry {
	std::mutex lock;
	std::map<const void *, struct function> functions; /* by host stub */
	std::map<const void *, struct variable> variables; /* by host shadow */
};

/* Constructors of the program register before this library's might have run; exit comes late. */
struct registry &all()
{
	static struct registry &r = *new struct registry();

	return r;
}

template <class Map> void forget(Map *map, const struct image *i)
{
	for (auto entry = map->begin(); entry != map->end();)
		entry = entry->second.image == i ? map->erase(entry) : std::next(entry);
}

bool load(struct image *i)
{
	return i->library || legacy.cuLibraryLoadData(&i->library, i->wrapper, nullptr, nullptr, 0,
						      nullptr, nullptr, 0) == CUDA_SUCCESS;
}
} // namespace

extern "C" {
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device_function,
			    const char *name, int limit, uint3 *tid, uint3 *bid, dim3 *block,
			    dim3 *grid, int *warp);
void __cudaRegisterVar(void **handle, char *shadow, char *address, const char *name, int ext,
		       size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **shadow, char *address, const char *name,
			      int ext, size_t bytes, int constant, int global);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *stub);
}

void **__cudaRegisterFatBinary(void *wrapper)
{
	struct image *i = new struct image();

	i->wrapper = wrapper;
	return reinterpret_cast<void **>(i);
}

void __cudaRegisterFatBinaryEnd(void **)
{
}

/* The process ends (then the driver must not be called any more), or a plugin is unloaded. */
void __cudaUnregisterFatBinary(void **handle)
{
	std::lock_guard<std::mutex> hold(all().lock);

	forget(&all().functions, reinterpret_cast<struct image *>(handle));
	forget(&all().variables, reinterpret_cast<struct image *>(handle));
}

void __cudaRegisterFunction(void **handle, const char *stub, char *, const char *name, int, uint3 *,
			    uint3 *, dim3 *, dim3 *, int *)
{
	std::lock_guard<std::mutex> hold(all().lock);

	all().functions[stub] = {reinterpret_cast<struct image *>(handle), name, nullptr};
}

void __cudaRegisterVar(void **handle, char *shadow, char *, const char *name, int, size_t, int, int)
{
	std::lock_guard<std::mutex> hold(all().lock);

	all().variables[shadow] = {reinterpret_cast<struct image *>(handle), name};
}

void __cudaRegisterManagedVar(void **handle, void **shadow, char *, const char *name, int, size_t,
			      int, int)
{
	std::lock_guard<std::mutex> hold(all().lock);

	all().variables[shadow] = {reinterpret_cast<struct image *>(handle), name};
}

char __cudaInitModule(void **)
{
	return 0;
}

CUkernel kernel_of(const void *stub)
{
	std::lock_guard<std::mutex> hold(all().lock);
	auto found = all().functions.find(stub);

	if (found == all().functions.end())
		return static_cast<CUkernel>(const_cast<void *>(stub)); /* a cudaKernel_t */
	struct function *f = &found->second;
	if (!f->kernel &&
	    (!load(f->image) || legacy.cuLibraryGetKernel(&f->kernel, f->image->library,
							  f->name.c_str()) != CUDA_SUCCESS))
		f->kernel = nullptr;
	return f->kernel;
}

cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *stub)
{
	cudaError_t r = runtime_enter();

	*out = r == cudaSuccess ? reinterpret_cast<cudaKernel_t>(kernel_of(stub)) : nullptr;
	if (r == cudaSuccess && !*out)
		r = cudaErrorInvalidDeviceFunction;
	return runtime_error(r);
}

cudaError_t cudaGetKernel(cudaKernel_t *out, const void *stub)
{
	return __cudaGetKernel(out, stub);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *stub)
{
	RUNTIME_CALL(
		legacy.cuKernelGetFunction(reinterpret_cast<CUfunction *>(out), kernel_of(stub)));
}

cudaError_t symbol_find(const void *symbol, CUdeviceptr *out, size_t *bytes)
{
	cudaError_t r = runtime_enter();

	if (r != cudaSuccess)
		return r;
	std::lock_guard<std::mutex> hold(all().lock);
	auto found = all().variables.find(symbol);
	if (found == all().variables.end() || !load(found->second.image) ||
	    legacy.cuLibraryGetGlobal(out, bytes, found->second.image->library,
				      found->second.name.c_str()) != CUDA_SUCCESS)
		return cudaErrorInvalidSymbol;
	return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void **out, const void *symbol)
{
	CUdeviceptr at = 0;
	size_t bytes;
	cudaError_t r = symbol_find(symbol, &at, &bytes);

	if (r == cudaSuccess)
		*out = reinterpret_cast<void *>(at);
	return runtime_error(r);
}

cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol)
{
	CUdeviceptr at;

	return runtime_error(symbol_find(symbol, &at, out));
}
