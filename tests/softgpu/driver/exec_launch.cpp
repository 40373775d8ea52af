/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instantiation and launch. A launch is one operation of its stream; it runs the nodes in an order
 * that their edges allow and that is another one each time, as branches on a GPU overlap.
 */
#include "tests/softgpu/driver/block.h"
#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/event.h"
#include "tests/softgpu/driver/exec.h"
#include "tests/softgpu/driver/observe.h"
#include "tests/softgpu/driver/stream.h"

namespace
{
struct step {
	std::shared_ptr<const struct work> work; /* NULL: nothing to do here */
	std::vector<unsigned> after;
	struct point wait, reach; /* events, as they stand at the launch */
	std::shared_ptr<int64_t> time;
	uint64_t number; /* tells the observer which node it is */
};

/* Steps for the nodes, a child graph's between two of their own; roots come behind `before`. */
void flatten(const std::vector<struct exec_node> &nodes, const std::vector<unsigned> &before,
	     std::vector<struct step> *out)
{
	std::vector<unsigned> first, last;

	for (const struct exec_node &x : nodes) {
		unsigned at = static_cast<unsigned>(out->size());

		out->push_back({x.enabled ? x.work : nullptr, {}, {}, {}, {}, at + 1});
		first.push_back(at);
		if (!x.child.empty()) {
			flatten(x.child, {at}, out);
			unsigned end = static_cast<unsigned>(out->size());

			out->push_back({nullptr, {}, {}, {}, {}, end + 1});
			for (unsigned i = at; i < end; i++)
				out->back().after.push_back(i);
			at = end;
		}
		last.push_back(at);
	}
	for (size_t i = 0; i < nodes.size(); i++) {
		std::vector<unsigned> *after = &(*out)[first[i]].after;

		for (unsigned a : nodes[i].after)
			after->push_back(last[a]);
		if (nodes[i].after.empty())
			*after = before;
	}
}

/* The steps in an order that the random number picks among those possible. */
std::vector<struct step> shuffle(const std::vector<struct step> &steps, uint64_t random)
{
	std::vector<std::vector<unsigned>> next(steps.size());
	std::vector<size_t> missing(steps.size());
	std::vector<unsigned> ready;
	std::vector<struct step> order;

	for (unsigned i = 0; i < steps.size(); i++) {
		missing[i] = steps[i].after.size();
		if (!missing[i])
			ready.push_back(i);
		for (unsigned a : steps[i].after)
			next[a].push_back(i);
	}
	while (!ready.empty()) {
		random = mix64(random);
		std::swap(ready[random % ready.size()], ready.back());
		unsigned i = ready.back();

		ready.pop_back();
		order.push_back(steps[i]);
		for (unsigned n : next[i])
			if (--missing[n] == 0)
				ready.push_back(n);
	}
	return order;
}

/* Settles what the steps' events mean. False if one was destroyed; nothing has happened then. */
bool bind_events(std::vector<struct step> *steps)
{
	std::vector<std::pair<struct step *, const struct event_work *>> found;

	for (struct step &s : *steps) {
		auto w = dynamic_cast<const struct event_work *>(s.work.get());

		if (w && !object_find<struct event>(w->event))
			return false;
		if (w)
			found.push_back({&s, w});
	}
	for (const auto &f : found) {
		struct event *e = object_find<struct event>(f.second->event);

		if (f.second->wait) {
			f.first->wait = e->at;
			continue;
		}
		e->recorded = true;
		e->capture_id = 0;
		e->at = f.first->reach = point_new();
		e->time = f.first->time = std::make_shared<int64_t>(0);
	}
	return true;
}

CUresult run(const std::vector<struct step> &steps, uint32_t call)
{
	CUresult result = CUDA_SUCCESS;

	for (const struct step &s : steps) {
		if (s.wait.queue || s.reach.queue) {
			pthread_mutex_lock(&driver.lock);
			point_wait(s.wait);
			if (s.reach.queue) {
				*s.time = event_now();
				point_reach(s.reach);
			}
			pthread_mutex_unlock(&driver.lock);
		} else if (s.work && result == CUDA_SUCCESS) {
			struct observe_work o(call, s.number);

			result = s.work->run();
		}
	}
	return result;
}

CUresult instantiate(CUgraphExec *out, CUgraph handle, unsigned long long flags)
{
	struct graph *g = object_find<struct graph>(handle);
	std::vector<struct exec_node> nodes;

	if (!out || !g || flags >= CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY * 2 ||
	    capture_uses(g) || !exec_copy(g, &nodes))
		return CUDA_ERROR_INVALID_VALUE;
	if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (g->execs && graph_has_memory(g))
		return CUDA_ERROR_NOT_SUPPORTED; /* its addresses can be in use only once */
	struct exec *x = object_new<struct exec>();
	x->graph = g;
	x->graph_id = g->id;
	g->execs++;
	x->nodes = nodes;
	x->flags = flags;
	x->objects = g->objects;
	user_objects_retain(x->objects);
	*out = reinterpret_cast<CUgraphExec>(x);
	return CUDA_SUCCESS;
}

CUresult instantiate_log(CUgraphExec *out, CUgraph g, CUgraphNode *node, char *log, size_t bytes)
{
	if (node)
		*node = nullptr;
	if (log && bytes)
		*log = 0;
	return instantiate(out, g, 0);
}
} // namespace

CUresult soft::cuGraphInstantiate(CUgraphExec *out, CUgraph g, CUgraphNode *node, char *log,
				  size_t bytes)
{
	return instantiate_log(out, g, node, log, bytes);
}

CUresult soft::cuGraphInstantiate_v2(CUgraphExec *out, CUgraph g, CUgraphNode *node, char *log,
				     size_t bytes)
{
	return instantiate_log(out, g, node, log, bytes);
}

CUresult soft::cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph g, unsigned long long flags)
{
	return instantiate(out, g, flags);
}

CUresult soft::cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph g,
					    CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	if (p->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) {
		STREAM_OR_RETURN(s, p->hUploadStream);
	}
	CUresult r = instantiate(out, g, p->flags);
	p->hErrNode_out = nullptr;
	p->result_out = r == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
			: r == CUDA_ERROR_NOT_SUPPORTED
				? CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED
				: CUDA_GRAPH_INSTANTIATE_ERROR;
	return r;
}

CUresult soft::cuGraphExecDestroy(CUgraphExec handle)
{
	struct exec *x = object_find<struct exec>(handle);

	if (!x)
		return CUDA_ERROR_INVALID_VALUE;
	struct graph *g = object_find<struct graph>(x->graph);
	if (g && g->id == x->graph_id)
		g->execs--;
	user_objects_release(x->objects, x->last);
	object_delete(x); /* launches under way hold their work */
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *out)
{
	struct exec *x = object_find<struct exec>(handle);

	if (!x || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = x->flags;
	return CUDA_SUCCESS;
}

CUresult soft::cuGraphUpload(CUgraphExec x, CUstream handle)
{
	STREAM_OR_RETURN(s, handle);
	if (!object_find<struct exec>(x))
		return CUDA_ERROR_INVALID_VALUE;
	return s->capture ? capture_breaks(s->capture) : capture_implicit(s);
}

CUresult soft::cuGraphLaunch(CUgraphExec handle, CUstream stream_handle)
{
	static uint64_t launches; /* under the lock */
	STREAM_OR_RETURN(s, stream_handle);
	struct exec *x = object_find<struct exec>(handle);
	std::vector<struct step> steps;

	if (!x)
		return CUDA_ERROR_INVALID_VALUE;
	if (s->capture) {
		struct graph *child = exec_graph(x->nodes);

		if (!graph_has_memory(child))
			return capture_add_child(s, child);
		graph_delete(child);
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	CUresult r = capture_implicit(s);
	if (r != CUDA_SUCCESS)
		return r;
	queue_make_room(s->queue); /* here, as it may give up the lock and x with it */
	x = object_find<struct exec>(handle);
	if (!x)
		return CUDA_ERROR_INVALID_VALUE;
	flatten(x->nodes, {}, &steps);
	steps = shuffle(steps, driver.seed + ++launches);
	if (!bind_events(&steps))
		return CUDA_ERROR_INVALID_VALUE;
	x->last = stream_submit(
		s, {{x->last}, [steps, call = observe_call()] { return run(steps, call); }});
	return CUDA_SUCCESS;
}
