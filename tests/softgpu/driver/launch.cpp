/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/launch.h"
#include <string.h>
#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/event.h"

namespace
{
CUresult check_shape(const struct launch_shape *s, const struct softgpu_kernel *k,
		     const struct function_attributes *a)
{
	const struct softgpu_dim *g = &s->grid, *b = &s->block;
	uint64_t threads = static_cast<uint64_t>(b->x) * b->y * b->z;

	if (!g->x || !g->y || !g->z || g->x > 2147483647u || g->y > 65535 || g->z > 65535)
		return CUDA_ERROR_INVALID_VALUE;
	if (!threads || threads > k->max_threads || b->x > 1024 || b->y > 1024 || b->z > 64)
		return CUDA_ERROR_INVALID_VALUE;
	if (s->shared_bytes > static_cast<unsigned>(attributes_dynamic(a, k)))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

CUresult check_attributes(const struct launch_shape *s, const struct softgpu_kernel *k,
			  const CUlaunchAttribute *attributes, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const CUlaunchAttributeValue *v = &attributes[i].value;
		uint64_t blocks = static_cast<uint64_t>(s->grid.x) * s->grid.y * s->grid.z;

		if (attributes[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && v->cooperative) {
			unsigned threads = s->block.x * s->block.y * s->block.z;

			if (blocks >
			    static_cast<uint64_t>(launch_occupancy(k, threads, s->shared_bytes)) *
				    SOFTGPU_MULTIPROCESSORS)
				return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
		}
		if (attributes[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
		    (!v->clusterDim.x || !v->clusterDim.y || !v->clusterDim.z ||
		     s->grid.x % v->clusterDim.x || s->grid.y % v->clusterDim.y ||
		     s->grid.z % v->clusterDim.z))
			return CUDA_ERROR_INVALID_CLUSTER_SIZE;
	}
	return CUDA_SUCCESS;
}

/* The buffer of CU_LAUNCH_PARAM_BUFFER_POINTER and its size; false if the list makes no sense. */
bool read_extra(void **extra, const void **buffer, size_t *bytes)
{
	*buffer = nullptr;
	*bytes = 0;
	for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			*buffer = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
			*bytes = *static_cast<size_t *>(extra[1]);
		else
			return false;
	}
	return *buffer || !*bytes;
}

CUresult copy_params(struct kernel_work *w, void **params, void **extra)
{
	const struct softgpu_kernel *k = w->kernel;
	const struct softgpu_param *last = k->nparam ? &k->param[k->nparam - 1] : nullptr;
	size_t need = last ? last->offset + last->bytes : 0;
	const void *buffer = nullptr;
	size_t bytes = need;

	if (extra && (params || !read_extra(extra, &buffer, &bytes)))
		return CUDA_ERROR_INVALID_VALUE;
	if (!extra && !params && need)
		return CUDA_ERROR_INVALID_VALUE;
	/* As on an H200: a short buffer is filled up with zeros, a long one is too much. */
	if (bytes > need)
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	w->params.resize(need + 1); /* never empty, so that data() is a pointer */
	if (buffer)
		memcpy(w->params.data(), buffer, bytes);
	for (unsigned i = 0; i < k->nparam; i++) {
		w->pointers.push_back(w->params.data() + k->param[i].offset);
		if (!buffer)
			memcpy(w->pointers.back(), params[i], k->param[i].bytes);
	}
	w->from_extra = buffer != nullptr;
	w->extra_bytes = need;
	w->extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
	w->extra[1] = w->params.data();
	w->extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
	w->extra[3] = &w->extra_bytes;
	w->extra[4] = CU_LAUNCH_PARAM_END;
	return CUDA_SUCCESS;
}

CUresult launch(CUfunction f, const struct launch_shape *shape, CUstream handle, void **params,
		void **extra, const CUlaunchAttribute *attributes, unsigned n)
{
	CUresult why;
	STREAM_OR_RETURN(s, handle);
	why = s->capture ? CUDA_SUCCESS : capture_implicit(s);
	if (why != CUDA_SUCCESS)
		return why;
	std::shared_ptr<struct kernel_work> w =
		launch_make(s->ctx, f, shape, params, extra, attributes, n, &why);

	if (!w)
		return why;
	driver.launches++;
	if (s->capture && s->priority) { /* the node has its stream's */
		CUlaunchAttribute own = {};

		own.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
		own.value.priority = s->priority;
		w->attributes.insert(w->attributes.begin(), own); /* the launch's counts more */
	}
	why = stream_give(s, w);
	for (unsigned i = 0; i < n && why == CUDA_SUCCESS; i++) {
		CUevent e = attributes[i].id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT
				    ? attributes[i].value.programmaticEvent.event
			    : attributes[i].id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
				    ? attributes[i].value.launchCompletionEvent.event
				    : nullptr;

		if (e)
			why = soft::cuEventRecord(e, handle);
	}
	return why;
}
} // namespace

std::shared_ptr<struct kernel_work> launch_make(struct context *ctx, CUfunction f,
						const struct launch_shape *shape, void **params,
						void **extra, const CUlaunchAttribute *attributes,
						unsigned nattribute, CUresult *why)
{
	struct kernel *kernel = object_find<struct kernel>(f);
	struct function *function =
		kernel ? kernel_function(kernel, ctx) : object_find<struct function>(f);

	*why = CUDA_ERROR_INVALID_HANDLE;
	if (!function || function->module->ctx != ctx)
		return nullptr;
	const struct function_attributes *a = &function->attributes;
	if (kernel && kernel->attributes.count(ctx->device->ordinal))
		a = &kernel->attributes[ctx->device->ordinal];
	*why = check_shape(shape, function->kernel, a);
	if (*why == CUDA_SUCCESS)
		*why = check_attributes(shape, function->kernel, attributes, nattribute);
	auto w = std::make_shared<struct kernel_work>();
	w->kernel = function->kernel;
	w->function = reinterpret_cast<CUfunction>(function);
	w->handle = reinterpret_cast<CUkernel>(function->from);
	w->ctx = reinterpret_cast<CUcontext>(ctx);
	w->grid = shape->grid;
	w->block = shape->block;
	w->shared_bytes = shape->shared_bytes;
	if (nattribute)
		w->attributes.assign(attributes, attributes + nattribute);
	if (*why == CUDA_SUCCESS)
		*why = copy_params(w.get(), params, extra);
	return *why == CUDA_SUCCESS ? w : nullptr;
}

CUresult soft::cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			      unsigned by, unsigned bz, unsigned shared_bytes, CUstream s,
			      void **params, void **extra)
{
	struct launch_shape shape = {{gx, gy, gz}, {bx, by, bz}, shared_bytes};

	return launch(f, &shape, s, params, extra, nullptr, 0);
}

CUresult soft::cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	struct launch_shape shape = {{c->gridDimX, c->gridDimY, c->gridDimZ},
				     {c->blockDimX, c->blockDimY, c->blockDimZ},
				     c->sharedMemBytes};
	return launch(f, &shape, c->hStream, params, extra, c->attrs, c->numAttrs);
}

CUresult soft::cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
					 unsigned bx, unsigned by, unsigned bz,
					 unsigned shared_bytes, CUstream s, void **params)
{
	struct launch_shape shape = {{gx, gy, gz}, {bx, by, bz}, shared_bytes};
	CUlaunchAttribute cooperative = {};

	cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
	cooperative.value.cooperative = 1;
	return launch(f, &shape, s, params, nullptr, &cooperative, 1);
}
