/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation and free nodes. The memory is there from the node's making until neither its graph nor
 * an executable graph made of it is left, so that addresses hold; freeing it changes nothing.
 */
#include "tests/softgpu/driver/graph_memory.h"

namespace
{
struct memory {
	int device;
	uintptr_t base;
	size_t bytes;
};

/* On a driver's thread, once nobody holds it. */
void release(void *arg)
{
	struct memory *m = static_cast<struct memory *>(arg);

	pthread_mutex_lock(&driver.lock);
	struct allocation *a = memory_at(m->base);
	if (a)
		memory_leave(a);
	memory_return(m->device, reinterpret_cast<void *>(m->base), m->bytes);
	pthread_mutex_unlock(&driver.lock);
	delete m;
}

template <class T> const T *work_of(CUgraphNode handle)
{
	struct node *n = object_find<struct node>(handle);

	return n ? dynamic_cast<const T *>(n->work.get()) : nullptr;
}
} // namespace

std::shared_ptr<const struct work> graph_memory_take(struct graph *g, const CUmemPoolProps *props,
						     size_t bytes, CUdeviceptr *out, CUresult *why)
{
	auto w = std::make_shared<struct alloc_work>();
	void *p = bytes && device_get(props->location.id) ? memory_take(props->location.id, bytes)
							  : nullptr;

	*why = bytes ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
	if (!p)
		return nullptr;
	*out = reinterpret_cast<CUdeviceptr>(p);
	memory_enter(*out, bytes, MEMORY_GRAPH, props->location.id, nullptr);
	w->params.poolProps = *props;
	w->params.bytesize = bytes;
	w->params.dptr = *out;
	g->objects[user_object_new(new memory{props->location.id, *out, bytes}, release)] = 1;
	*why = CUDA_SUCCESS;
	return w;
}

std::shared_ptr<const struct work> graph_memory_free(CUdeviceptr at, CUresult *why)
{
	struct allocation *a = memory_at(at);
	auto w = std::make_shared<struct free_work>();

	*why = a && (a->kind == MEMORY_GRAPH || a->kind == MEMORY_POOLED)
		       ? CUDA_SUCCESS
		       : CUDA_ERROR_INVALID_VALUE;
	w->at = at;
	return *why == CUDA_SUCCESS ? w : nullptr;
}

CUresult soft::cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after,
				      size_t n, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
	CUgraphNodeParams q = {};

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	static_assert(sizeof(*p) == sizeof(q.alloc), "one layout, two names");
	q.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
	memcpy(&q.alloc, p, sizeof(*p));
	CUresult r = soft::cuGraphAddNode(out, g, after, n, &q);
	p->dptr = q.alloc.dptr;
	return r;
}

CUresult soft::cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph g, const CUgraphNode *after,
				     size_t n, CUdeviceptr at)
{
	CUgraphNodeParams q = {};

	q.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
	q.free.dptr = at;
	return soft::cuGraphAddNode(out, g, after, n, &q);
}

CUresult soft::cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *out)
{
	const struct alloc_work *w = work_of<struct alloc_work>(node);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = w->params;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *out)
{
	const struct free_work *w = work_of<struct free_work>(node);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = w->at;
	return CUDA_SUCCESS;
}

CUresult soft::cuDeviceGraphMemTrim(CUdevice dev)
{
	return device_get(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
