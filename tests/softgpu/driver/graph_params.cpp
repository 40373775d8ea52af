/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and attributes of nodes: asked and changed. */
#include "tests/softgpu/driver/event.h"
#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/launch.h"

namespace
{
template <class T> const T *work_of(CUgraphNode handle)
{
	struct node *n = object_find<struct node>(handle);

	return n ? dynamic_cast<const T *>(n->work.get()) : nullptr;
}

CUresult set(CUgraphNode handle, const CUgraphNodeParams *p)
{
	struct node *n = object_find<struct node>(handle);
	CUresult why;

	if (!n || !p || n->work->type() != p->type)
		return CUDA_ERROR_INVALID_VALUE;
	std::shared_ptr<const struct work> w = node_work(p, n->work.get(), &why);
	if (w)
		n->work = w;
	return why;
}

template <class T> CUresult set_typed(CUgraphNode handle, const T *p)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	CUgraphNodeParams q = node_params(p);
	return set(handle, &q);
}

CUresult get_event(CUgraphNode handle, bool wait, CUevent *out)
{
	const struct event_work *w = work_of<struct event_work>(handle);

	if (!w || w->wait != wait || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = w->event;
	return CUDA_SUCCESS;
}

CUresult set_event(CUgraphNode handle, CUgraphNodeType type, CUevent e)
{
	CUgraphNodeParams q = node_params_event(type, e);

	return set(handle, &q);
}

/* Gives a node the same kernel with other attributes. */
CUresult set_attributes(struct node *n, const std::vector<CUlaunchAttribute> &attributes)
{
	const struct kernel_work *k = dynamic_cast<const struct kernel_work *>(n->work.get());
	struct launch_shape shape = {k->grid, k->block, k->shared_bytes};
	CUresult why;
	std::shared_ptr<struct kernel_work> w =
		launch_make(object_find<struct context>(k->ctx), k->function, &shape,
			    k->from_extra ? nullptr : const_cast<void **>(k->pointers.data()),
			    k->from_extra ? const_cast<void **>(k->extra) : nullptr,
			    attributes.data(), static_cast<unsigned>(attributes.size()), &why);

	if (w)
		n->work = w;
	return why;
}
} // namespace

CUresult soft::cuGraphKernelNodeGetParams_v2(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS *out)
{
	const struct kernel_work *w = work_of<struct kernel_work>(handle);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = {w->function,
		w->grid.x,
		w->grid.y,
		w->grid.z,
		w->block.x,
		w->block.y,
		w->block.z,
		w->shared_bytes,
		w->from_extra ? nullptr : const_cast<void **>(w->pointers.data()),
		w->from_extra ? const_cast<void **>(w->extra) : nullptr,
		w->handle,
		w->ctx};
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v1 *out)
{
	CUDA_KERNEL_NODE_PARAMS q;
	CUresult r =
		out ? soft::cuGraphKernelNodeGetParams_v2(handle, &q) : CUDA_ERROR_INVALID_VALUE;

	if (r == CUDA_SUCCESS)
		memcpy(out, &q, sizeof(*out));
	return r;
}

CUresult soft::cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D *out)
{
	const struct copy_work *w = work_of<struct copy_work>(handle);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = w->params;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS *out)
{
	const struct fill_work *w = work_of<struct fill_work>(handle);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = w->params;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS *out)
{
	const struct host_work *w = work_of<struct host_work>(handle);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = {w->fn, w->data};
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *out)
{
	return get_event(node, false, out);
}

CUresult soft::cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *out)
{
	return get_event(node, true, out);
}

CUresult soft::cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	return set_typed(node, p);
}

CUresult soft::cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	return set_typed(node, p);
}

CUresult soft::cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *p)
{
	return set_typed(node, p);
}

CUresult soft::cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p)
{
	return set_typed(node, p);
}

CUresult soft::cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
	return set_typed(node, p);
}

CUresult soft::cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent e)
{
	return set_event(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, e);
}

CUresult soft::cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent e)
{
	return set_event(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, e);
}

CUresult soft::cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *p)
{
	return set(node, p);
}

CUresult soft::cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
					     CUkernelNodeAttrValue *out)
{
	const struct kernel_work *w = work_of<struct kernel_work>(handle);

	if (!w || !out)
		return CUDA_ERROR_INVALID_VALUE;
	memset(out, 0, sizeof(*out));
	for (const CUlaunchAttribute &a : w->attributes)
		if (a.id == id)
			*out = a.value;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
					     const CUkernelNodeAttrValue *value)
{
	const struct kernel_work *w = work_of<struct kernel_work>(handle);
	CUlaunchAttribute added = {};

	if (!w || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
		return CUDA_ERROR_NOT_SUPPORTED;
	std::vector<CUlaunchAttribute> attributes;
	for (const CUlaunchAttribute &a : w->attributes)
		if (a.id != id)
			attributes.push_back(a);
	added.id = id;
	added.value = *value;
	attributes.push_back(added);
	return set_attributes(object_find<struct node>(handle), attributes);
}

CUresult soft::cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
	const struct kernel_work *f = work_of<struct kernel_work>(from);

	if (!f || !work_of<struct kernel_work>(to))
		return CUDA_ERROR_INVALID_VALUE;
	return set_attributes(object_find<struct node>(to),
			      std::vector<CUlaunchAttribute>(f->attributes));
}
