/* SPDX-License-Identifier: Apache-2.0 */
/* From a node's parameters, in whatever layout a call has them, to work. */
#include "tests/softgpu/driver/copy.h"
#include "tests/softgpu/driver/event.h"
#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/launch.h"

namespace
{
std::shared_ptr<const struct work> make_kernel(const CUDA_KERNEL_NODE_PARAMS *p,
					       const struct kernel_work *before, CUresult *why)
{
	struct launch_shape shape = {{p->gridDimX, p->gridDimY, p->gridDimZ},
				     {p->blockDimX, p->blockDimY, p->blockDimZ},
				     p->sharedMemBytes};
	struct function *f = object_find<struct function>(p->func);
	struct context *ctx = f        ? f->module->ctx
			      : p->ctx ? object_find<struct context>(p->ctx)
				       : context_current(why);

	if (!ctx) {
		*why = p->ctx ? CUDA_ERROR_INVALID_CONTEXT : *why;
		return nullptr;
	}
	return launch_make(ctx, p->func ? p->func : reinterpret_cast<CUfunction>(p->kern), &shape,
			   p->kernelParams, p->extra, before ? before->attributes.data() : nullptr,
			   before ? static_cast<unsigned>(before->attributes.size()) : 0, why);
}

std::shared_ptr<const struct work> make_event(CUevent e, bool wait, CUresult *why)
{
	auto w = std::make_shared<struct event_work>();

	w->event = e;
	w->wait = wait;
	*why = object_find<struct event>(e) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	return *why == CUDA_SUCCESS ? w : nullptr;
}

std::shared_ptr<const struct work> make_host(const CUDA_HOST_NODE_PARAMS_v2 *p, CUresult *why)
{
	auto w = std::make_shared<struct host_work>();

	w->fn = p->fn;
	w->data = p->userData;
	*why = p->fn ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	return p->fn ? w : nullptr;
}
} // namespace

std::shared_ptr<const struct work> node_work(const CUgraphNodeParams *p, const struct work *before,
					     CUresult *why)
{
	*why = CUDA_SUCCESS;
	switch (p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL: {
		CUDA_KERNEL_NODE_PARAMS q;

		static_assert(sizeof(q) == sizeof(p->kernel), "one layout, two names");
		memcpy(&q, &p->kernel, sizeof(q));
		return make_kernel(&q, dynamic_cast<const struct kernel_work *>(before), why);
	}
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		*why = CUDA_ERROR_INVALID_VALUE;
		return p->memcpy.flags ? nullptr : copy_make(&p->memcpy.copyParams, why);
	case CU_GRAPH_NODE_TYPE_MEMSET: {
		CUDA_MEMSET_NODE_PARAMS q = {p->memset.dst,   p->memset.pitch,
					     p->memset.value, p->memset.elementSize,
					     p->memset.width, p->memset.height};

		return fill_make(&q, why);
	}
	case CU_GRAPH_NODE_TYPE_HOST:
		return make_host(&p->host, why);
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return std::make_shared<struct empty_work>();
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return make_event(p->eventWait.event, true, why);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return make_event(p->eventRecord.event, false, why);
	default:
		*why = CUDA_ERROR_NOT_SUPPORTED;
		return nullptr;
	}
}

CUgraphNodeParams node_params(const CUDA_KERNEL_NODE_PARAMS *p)
{
	CUgraphNodeParams q = {};

	q.type = CU_GRAPH_NODE_TYPE_KERNEL;
	memcpy(&q.kernel, p, sizeof(*p));
	return q;
}

CUgraphNodeParams node_params(const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
	CUgraphNodeParams q = {};

	static_assert(sizeof(*p) < sizeof(q.kernel), "the older layout is the newer one's start");
	q.type = CU_GRAPH_NODE_TYPE_KERNEL;
	memcpy(&q.kernel, p, sizeof(*p));
	return q;
}

CUgraphNodeParams node_params(const CUDA_MEMCPY3D *p)
{
	CUgraphNodeParams q = {};

	q.type = CU_GRAPH_NODE_TYPE_MEMCPY;
	q.memcpy.copyParams = *p;
	return q;
}

CUgraphNodeParams node_params(const CUDA_MEMSET_NODE_PARAMS *p)
{
	CUgraphNodeParams q = {};

	q.type = CU_GRAPH_NODE_TYPE_MEMSET;
	q.memset = {p->dst, p->pitch, p->value, p->elementSize, p->width, p->height, nullptr};
	return q;
}

CUgraphNodeParams node_params(const CUDA_HOST_NODE_PARAMS *p)
{
	CUgraphNodeParams q = {};

	q.type = CU_GRAPH_NODE_TYPE_HOST;
	q.host.fn = p->fn;
	q.host.userData = p->userData;
	return q;
}

CUgraphNodeParams node_params_event(CUgraphNodeType type, CUevent e)
{
	CUgraphNodeParams q = {};

	q.type = type;
	if (type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
		q.eventWait.event = e;
	else
		q.eventRecord.event = e;
	return q;
}
