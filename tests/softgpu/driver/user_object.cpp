/* SPDX-License-Identifier: Apache-2.0 */
/* User objects: what a program wants to outlive the graphs that use it. */
#include "tests/softgpu/driver/graph.h"

struct user_object {
	static const enum object_kind KIND = OBJECT_USER;
	void *data;
	CUhostFn destroy;
	unsigned references;
};

namespace
{
/* The destructor runs on a thread of the driver, as it does on a GPU. */
void release(struct user_object *o, unsigned n, const struct point &last)
{
	static std::shared_ptr<struct queue> &queue =
		*new std::shared_ptr<struct queue>(std::make_shared<struct queue>());

	o->references -= n;
	if (o->references)
		return;
	queue_submit(queue, {{last}, [fn = o->destroy, data = o->data] {
				     fn(data);
				     return CUDA_SUCCESS;
			     }});
	object_delete(o);
}
} // namespace

struct user_object *user_object_new(void *data, CUhostFn destroy, unsigned references)
{
	struct user_object *o = object_new<struct user_object>();

	o->data = data;
	o->destroy = destroy;
	o->references = references;
	return o;
}

void user_objects_retain(const std::map<struct user_object *, unsigned> &held)
{
	for (const auto &o : held)
		o.first->references += o.second;
}

void user_objects_release(const std::map<struct user_object *, unsigned> &held,
			  const struct point &last)
{
	for (const auto &o : held)
		release(o.first, o.second, last);
}

CUresult soft::cuUserObjectCreate(CUuserObject *out, void *data, CUhostFn destroy,
				  unsigned references, unsigned flags)
{
	if (!out || !destroy || !references || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
		return CUDA_ERROR_INVALID_VALUE;
	*out = reinterpret_cast<CUuserObject>(user_object_new(data, destroy, references));
	return CUDA_SUCCESS;
}

CUresult soft::cuUserObjectRetain(CUuserObject handle, unsigned n)
{
	struct user_object *o = object_find<struct user_object>(handle);

	if (!o || !n)
		return CUDA_ERROR_INVALID_VALUE;
	o->references += n;
	return CUDA_SUCCESS;
}

CUresult soft::cuUserObjectRelease(CUuserObject handle, unsigned n)
{
	struct user_object *o = object_find<struct user_object>(handle);

	if (!o || !n || n > o->references)
		return CUDA_ERROR_INVALID_VALUE;
	release(o, n, {});
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphRetainUserObject(CUgraph graph, CUuserObject handle, unsigned n,
				       unsigned flags)
{
	struct graph *g = object_find<struct graph>(graph);
	struct user_object *o = object_find<struct user_object>(handle);

	if (!g || !o || !n || flags & ~static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE))
		return CUDA_ERROR_INVALID_VALUE;
	if (flags & CU_GRAPH_USER_OBJECT_MOVE && n > o->references)
		return CUDA_ERROR_INVALID_VALUE;
	if (!(flags & CU_GRAPH_USER_OBJECT_MOVE))
		o->references += n;
	g->objects[o] += n;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphReleaseUserObject(CUgraph graph, CUuserObject handle, unsigned n)
{
	struct graph *g = object_find<struct graph>(graph);
	struct user_object *o = object_find<struct user_object>(handle);

	if (!g || !o || !n || !g->objects.count(o) || n > g->objects[o])
		return CUDA_ERROR_INVALID_VALUE;
	g->objects[o] -= n;
	if (!g->objects[o])
		g->objects.erase(o);
	release(o, n, {});
	return CUDA_SUCCESS;
}
