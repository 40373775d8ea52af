/* SPDX-License-Identifier: Apache-2.0 */
/* The driver, a context, the program's images and ours. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim/probe_child_chain.h"

enum { SHMEM_DEFAULT = 48 << 10 }; /* dynamic shared memory that needs no opting in */

bool probe_ok(struct probe *p, CUresult rc, const char *what)
{
	const char *name = NULL;

	if (rc == CUDA_SUCCESS)
		return true;
	if (p->cu.cuGetErrorName)
		p->cu.cuGetErrorName(rc, &name);
	return probe_fail(p, REASON_NO_VERDICT, "%s: %s", what, name ? name : "error");
}

static bool load_driver(struct probe *p)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return probe_fail(p, REASON_NO_VERDICT, "%s", dlerror());
#define PROBE_CALL(name)                                                                           \
	p->cu.name = (__typeof__(p->cu.name))dlsym(lib, #name);                                    \
	if (!p->cu.name)                                                                           \
		return probe_fail(p, REASON_NO_VERDICT, "the driver has no " #name);
#include "shim/probe_child_calls.def"
#undef PROBE_CALL
	probe_pace_calls(&p->cu);
	return true;
}

static bool attribute(struct probe *p, CUdevice dev, CUdevice_attribute what, int *v)
{
	return probe_ok(p, p->cu.cuDeviceGetAttribute(v, what, dev), "cuDeviceGetAttribute");
}

static bool open_context(struct probe *p)
{
	CUcontext ctx;
	CUdevice dev;
	char name[256] = "";
	int major, minor, shmem;

	if (!probe_ok(p, p->cu.cuInit(0), "cuInit") ||
	    !probe_ok(p, p->cu.cuDeviceGet(&dev, p->device), "cuDeviceGet") ||
	    !probe_ok(p, p->cu.cuDeviceGetName(name, sizeof(name), dev), "cuDeviceGetName") ||
	    !attribute(p, dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major) ||
	    !attribute(p, dev, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor) ||
	    !attribute(p, dev, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &p->limits.sm_count) ||
	    !attribute(p, dev, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &shmem) ||
	    !probe_ok(p, p->cu.cuDevicePrimaryCtxRetain(&ctx, dev), "cuDevicePrimaryCtxRetain") ||
	    !probe_ok(p, p->cu.cuCtxSetCurrent(ctx), "cuCtxSetCurrent") ||
	    !probe_ok(p, p->cu.cuStreamCreate(&p->stream, CU_STREAM_NON_BLOCKING),
		      "cuStreamCreate"))
		return false;
	p->cc = (unsigned)(10 * major + minor);
	p->limits.max_shmem = (unsigned)shmem;
	p->softgpu = strstr(name, "softgpu") != NULL;
	return true;
}

static bool load_ours(struct probe *p)
{
	size_t bytes;

	if (p->ours)
		return true;
	if (fused_nkernels > sizeof(p->function) / sizeof(*p->function))
		return probe_fail(p, REASON_NO_VERDICT, "too many kernels");
	return probe_ok(p, p->cu.cuModuleLoadData(&p->ours, fused_image(&bytes)),
			"loading our kernels");
}

/* Few of our kernels run in a probe; the driver takes its time for each. */
static bool load_kernel(struct probe *p, unsigned i)
{
	return probe_ok(p, p->cu.cuModuleGetFunction(&p->function[i], p->ours, fused_kernels[i]),
			fused_kernels[i]) &&
	       probe_ok(p,
			p->cu.cuFuncSetAttribute(p->function[i],
						 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
						 (int)p->limits.max_shmem),
			fused_kernels[i]);
}

static bool load_theirs(struct probe *p)
{
	for (unsigned i = 0; i < p->nimage; i++)
		if (!probe_ok(p, p->cu.cuModuleLoadData(&p->image[i].module, p->image[i].bytes),
			      "loading the program's image"))
			return false;
	for (unsigned i = 0; i < p->nmember; i++) {
		struct probe_member *m = &p->member[i];

		if (!probe_ok(p,
			      p->cu.cuModuleGetFunction(&m->function, m->image->module,
							m->kernel.name),
			      m->kernel.name))
			return false;
		if (m->m.launch.shmem > SHMEM_DEFAULT &&
		    !probe_ok(p,
			      p->cu.cuFuncSetAttribute(
				      m->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
				      (int)m->m.launch.shmem),
			      m->kernel.name))
			return false;
	}
	return true;
}

bool probe_device_open_theirs(struct probe *p)
{
	bool ok;

	if (!p->open) {
		p->open = load_driver(p) && open_context(p);
		probe_lap("a context");
	}
	ok = p->open && load_theirs(p);
	probe_lap("the program's images");
	return ok;
}

bool probe_device_open(struct probe *p)
{
	return probe_device_open_theirs(p) && load_ours(p);
}

bool probe_launch(struct probe *p, const struct fused_launch *l)
{
	void *params[] = {(void *)l->params};

	if (!p->function[l->index] && !load_kernel(p, l->index))
		return false;
	return probe_ok(p,
			p->cu.cuLaunchKernel(p->function[l->index], l->grid[0], l->grid[1],
					     l->grid[2], l->block[0], l->block[1], l->block[2],
					     l->shmem, p->stream, params, NULL),
			l->kernel);
}

static void unmap(const struct probe_image *img)
{
	const uintptr_t at = (uintptr_t)img->bytes, skip = at % (uintptr_t)sysconf(_SC_PAGESIZE);

	if (img->bytes)
		munmap((void *)(at - skip), img->size + skip);
}

static void let_go(struct probe *p)
{
	struct probe_tools *t = p->tools;

	if (p->arena)
		p->cu.cuMemFree_v2(p->arena);
	for (unsigned i = 0; i < GEN_PARTS; i++)
		if (t->kernel[i].module)
			p->cu.cuModuleUnload(t->kernel[i].module);
	for (unsigned i = 0; i < p->nimage; i++) {
		if (p->image[i].module)
			p->cu.cuModuleUnload(p->image[i].module);
		unmap(&p->image[i]);
	}
	for (unsigned i = 0; i < GROUP_MAX_MEMBERS; i++) {
		free((char *)p->member[i].kernel.name);
		free(p->member[i].kernel.param);
	}
	free(t->places);
	*t = (struct probe_tools){
		.nvrtc = t->nvrtc, .eval = t->eval, .floats = t->floats, .eval_made = t->eval_made};
}

bool probe_device_next(struct probe *p)
{
	static struct probe next;

	/* What went wrong on the device comes with any later call. */
	if (p->open && p->cu.cuStreamSynchronize(p->stream))
		return false;
	let_go(p);
	next.tools = p->tools;
	next.cu = p->cu;
	next.open = p->open;
	next.stream = p->stream;
	next.ours = p->ours;
	memcpy(next.function, p->function, sizeof(next.function));
	next.limits = p->limits;
	next.cc = p->cc;
	next.softgpu = p->softgpu;
	*p = next;
	return true;
}
