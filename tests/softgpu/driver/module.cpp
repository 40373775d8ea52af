/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/module.h"
#include <stdlib.h>
#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/memory.h"
#include "tests/softgpu/driver/registry.h"

namespace
{
struct function *module_function(struct module *m, const char *name)
{
	const struct softgpu_kernel *k = name ? registry_kernel(name) : nullptr;

	if (!k)
		return nullptr;
	struct function *&f = m->functions[name];
	if (!f) {
		f = object_new<struct function>();
		f->module = m;
		f->kernel = k;
	}
	return f;
}

CUresult load(CUmodule *out, const void *image)
{
	CONTEXT_OR_RETURN(ctx);
	std::vector<std::string> names;

	CUresult r = out ? image_look(image, &names) : CUDA_ERROR_INVALID_VALUE;
	if (r != CUDA_SUCCESS)
		return r;
	struct module *m = object_new<struct module>();
	m->ctx = ctx;
	m->names = names;
	*out = reinterpret_cast<CUmodule>(m);
	return CUDA_SUCCESS;
}
} // namespace

void module_delete(struct module *m)
{
	for (const auto &entry : m->functions)
		object_delete(entry.second);
	object_delete(m);
}

struct module *library_module(struct library *l, struct context *ctx)
{
	struct module *&m = l->modules[ctx];

	if (!m) {
		m = object_new<struct module>();
		m->ctx = ctx;
		m->library = l;
		m->names = l->names;
	}
	return m;
}

struct function *kernel_function(struct kernel *k, struct context *ctx)
{
	struct function *f = module_function(library_module(k->library, ctx), k->kernel->name);

	if (f) {
		f->from = k;
		auto set = k->attributes.find(ctx->device->ordinal);
		if (set != k->attributes.end())
			f->attributes = set->second;
	}
	return f;
}

CUresult variable_find(CUdeviceptr *out, size_t *bytes, const char *name, struct context *ctx)
{
	const struct softgpu_variable *v = name ? registry_variable(name) : nullptr;

	if (!v)
		return CUDA_ERROR_NOT_FOUND;
	uintptr_t base = reinterpret_cast<uintptr_t>(v->address);
	if (!memory_at(base))
		memory_enter(base, v->bytes, MEMORY_VARIABLE, ctx->device->ordinal, ctx);
	if (out)
		*out = base;
	if (bytes)
		*bytes = v->bytes;
	return CUDA_SUCCESS;
}

CUresult soft::cuModuleLoadData(CUmodule *out, const void *image)
{
	return load(out, image);
}

CUresult soft::cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned, CUjit_option *,
				  void **)
{
	return load(out, image);
}

CUresult soft::cuModuleLoadFatBinary(CUmodule *out, const void *image)
{
	return load(out, image);
}

CUresult soft::cuModuleLoad(CUmodule *out, const char *path)
{
	char *image = image_read(path);

	if (!image)
		return CUDA_ERROR_FILE_NOT_FOUND;
	CUresult r = load(out, image);
	free(image);
	return r;
}

CUresult soft::cuModuleUnload(CUmodule handle)
{
	struct module *m = object_find<struct module>(handle);
	CUresult r = capture_forbids();

	if (r != CUDA_SUCCESS)
		return r;
	if (!m || m->library)
		return CUDA_ERROR_INVALID_HANDLE;
	context_wait(m->ctx);
	if (object_find<struct module>(handle))
		module_delete(m);
	return CUDA_SUCCESS;
}

CUresult soft::cuModuleGetLoadingMode(CUmoduleLoadingMode *out)
{
	const char *mode = getenv("CUDA_MODULE_LOADING");

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = mode && std::string(mode) == "EAGER" ? CU_MODULE_EAGER_LOADING
						    : CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

CUresult soft::cuModuleGetFunction(CUfunction *out, CUmodule handle, const char *name)
{
	struct module *m = object_find<struct module>(handle);

	if (!m)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out || !name)
		return CUDA_ERROR_INVALID_VALUE;
	*out = reinterpret_cast<CUfunction>(module_function(m, name));
	return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult soft::cuModuleGetFunctionCount(unsigned *out, CUmodule handle)
{
	struct module *m = object_find<struct module>(handle);

	if (!m || !out)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = static_cast<unsigned>(m->names.size());
	return CUDA_SUCCESS;
}

CUresult soft::cuModuleEnumerateFunctions(CUfunction *out, unsigned n, CUmodule handle)
{
	struct module *m = object_find<struct module>(handle);

	if (!m || !out)
		return m ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	for (unsigned i = 0; i < n && i < m->names.size(); i++)
		out[i] = reinterpret_cast<CUfunction>(module_function(m, m->names[i].c_str()));
	return CUDA_SUCCESS;
}

CUresult soft::cuModuleGetGlobal_v2(CUdeviceptr *out, size_t *bytes, CUmodule handle,
				    const char *name)
{
	struct module *m = object_find<struct module>(handle);

	return m ? variable_find(out, bytes, name, m->ctx) : CUDA_ERROR_INVALID_HANDLE;
}
