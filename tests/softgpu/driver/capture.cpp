/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/capture.h"
#include <algorithm>

namespace
{
std::vector<struct capture *> &active = *new std::vector<struct capture *>();

/* Is every node that the capture's streams end with an ancestor of what its origin ends with? */
bool joined(const struct capture *c)
{
	std::set<const struct node *> seen;
	std::vector<struct node *> todo = c->origin->tails.nodes;

	while (!todo.empty()) {
		struct node *n = todo.back();

		todo.pop_back();
		if (seen.insert(n).second)
			todo.insert(todo.end(), n->after.nodes.begin(), n->after.nodes.end());
	}
	for (const struct stream *s : c->streams)
		for (const struct node *n : s->tails.nodes)
			if (!seen.count(n))
				return false;
	return true;
}

void end(struct capture *c)
{
	for (struct stream *s : c->streams) {
		s->capture = nullptr;
		s->tails = {};
	}
	active.erase(std::find(active.begin(), active.end(), c));
	delete c;
}

CUresult begin(CUstream handle, CUstreamCaptureMode mode, struct graph *into,
	       const struct dependencies &after)
{
	STREAM_OR_RETURN(s, handle);
	if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	if (s->what == STREAM_LEGACY)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (s->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	struct capture *c = new struct capture();
	c->id = ++driver.next_id;
	c->owns_graph = !into;
	c->graph = into ? into : graph_new();
	c->mode = mode;
	c->origin = s;
	c->thread = thread_id();
	active.push_back(c);
	capture_join(c, s, after);
	return CUDA_SUCCESS;
}

CUresult info(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
	      const CUgraphNode **nodes, const CUgraphEdgeData **edges, size_t *n)
{
	STREAM_OR_RETURN(s, handle);
	if (!status)
		return CUDA_ERROR_INVALID_VALUE;
	if (!s->capture) {
		CUresult r = s->what == STREAM_LEGACY ? capture_implicit(s) : CUDA_SUCCESS;

		*status = CU_STREAM_CAPTURE_STATUS_NONE;
		return r;
	}
	if (nodes && !edges && s->tails.special())
		return CUDA_ERROR_LOSSY_QUERY;
	*status = s->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
				      : CU_STREAM_CAPTURE_STATUS_ACTIVE;
	if (id)
		*id = s->capture->id;
	if (graph)
		*graph = reinterpret_cast<CUgraph>(s->capture->graph);
	if (nodes)
		*nodes = reinterpret_cast<const CUgraphNode *>(s->tails.nodes.data());
	if (edges)
		*edges = s->tails.edges.data();
	if (n)
		*n = s->tails.nodes.size();
	return CUDA_SUCCESS;
}

CUresult update(CUstream handle, const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t n,
		unsigned flags)
{
	struct dependencies after;
	STREAM_OR_RETURN(s, handle);
	if (!s->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES ||
	    !dependencies_read(&after, s->capture->graph, nodes, edges, n))
		return CUDA_ERROR_INVALID_VALUE;
	if (flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES)
		capture_join(s->capture, s, after);
	else
		s->tails = after;
	return CUDA_SUCCESS;
}

/* A kernel that may begin before the kernel before it has ended. */
bool programmatic(const struct work *w)
{
	const struct kernel_work *k = dynamic_cast<const struct kernel_work *>(w);

	if (k)
		for (const CUlaunchAttribute &a : k->attributes)
			if (a.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
				return a.value.programmaticStreamSerializationAllowed != 0;
	return false;
}
} // namespace

struct capture *capture_find(uint64_t id)
{
	for (struct capture *c : active)
		if (c->id == id)
			return c;
	return nullptr;
}

CUresult capture_add(struct stream *s, const std::shared_ptr<const struct work> &w)
{
	if (s->capture->invalid)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	struct dependencies after = s->tails;
	for (size_t i = 0; i < after.nodes.size() && programmatic(w.get()); i++)
		if (after.nodes[i]->work->type() == CU_GRAPH_NODE_TYPE_KERNEL) {
			after.edges[i].type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
			after.edges[i].from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
		}
	struct node *n = graph_add(s->capture->graph, w, after);
	s->tails = {};
	s->tails.add(n);
	return CUDA_SUCCESS;
}

CUresult capture_add_child(struct stream *s, struct graph *child)
{
	if (s->capture->invalid) {
		graph_delete(child);
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	}
	struct node *n = graph_add_child(s->capture->graph, child, s->tails);
	s->tails = {};
	s->tails.add(n);
	return CUDA_SUCCESS;
}

bool capture_uses(const struct graph *g)
{
	for (const struct capture *c : active)
		if (c->graph == g)
			return true;
	return false;
}

CUresult capture_implicit(struct stream *s)
{
	CUresult r = CUDA_SUCCESS;

	if (s->what == STREAM_LEGACY)
		for (struct stream *other : s->ctx->streams)
			if (other->capture && other->blocking()) {
				other->capture->invalid = true;
				r = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
			}
	return r;
}

CUresult capture_forbids()
{
	CUresult r = CUDA_SUCCESS;

	if (active.empty() || self.capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_SUCCESS;
	for (struct capture *c : active) {
		bool everywhere = c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
				  self.capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;

		if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
		    (everywhere || c->thread == thread_id()))
			r = capture_breaks(c);
	}
	return r;
}

CUresult capture_breaks(struct capture *c)
{
	c->invalid = true;
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

void capture_join(struct capture *c, struct stream *s, const struct dependencies &after)
{
	s->capture = c;
	c->streams.insert(s);
	for (size_t i = 0; i < after.nodes.size(); i++)
		s->tails.add(after.nodes[i], after.edges[i]);
}

void capture_forget(struct stream *s)
{
	struct capture *c = s->capture;

	if (!c)
		return;
	c->invalid = true;
	c->streams.erase(s);
	s->capture = nullptr;
	if (c->origin == s) { /* nobody can end it any more */
		if (c->owns_graph)
			graph_delete(c->graph);
		end(c);
	}
}

CUresult soft::cuStreamBeginCapture(CUstream s)
{
	return begin(s, CU_STREAM_CAPTURE_MODE_GLOBAL, nullptr, {});
}

CUresult soft::cuStreamBeginCapture_v2(CUstream s, CUstreamCaptureMode mode)
{
	return begin(s, mode, nullptr, {});
}

CUresult soft::cuStreamBeginCaptureToGraph(CUstream s, CUgraph handle, const CUgraphNode *nodes,
					   const CUgraphEdgeData *edges, size_t n,
					   CUstreamCaptureMode mode)
{
	struct graph *g = object_find<struct graph>(handle);
	struct dependencies after;

	if (!dependencies_read(&after, g, nodes, edges, n))
		return CUDA_ERROR_INVALID_VALUE;
	return begin(s, mode, g, after);
}

CUresult soft::cuStreamEndCapture(CUstream handle, CUgraph *out)
{
	STREAM_OR_RETURN(s, handle);
	struct capture *c = s->capture;

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!c)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (c->origin != s) {
		c->invalid = true;
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	}
	bool foreign = c->thread != thread_id() && c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
	CUresult r = foreign      ? CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
		     : c->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
		     : !joined(c) ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED
				  : CUDA_SUCCESS;
	*out = r == CUDA_SUCCESS ? reinterpret_cast<CUgraph>(c->graph) : nullptr;
	if (r != CUDA_SUCCESS && c->owns_graph)
		graph_delete(c->graph);
	end(c);
	return r;
}

CUresult soft::cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *status)
{
	return info(s, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

CUresult soft::cuStreamGetCaptureInfo(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id)
{
	return info(s, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUresult soft::cuStreamGetCaptureInfo_v2(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id,
					 CUgraph *graph, const CUgraphNode **nodes, size_t *n)
{
	return info(s, status, id, graph, nodes, nullptr, n);
}

CUresult soft::cuStreamGetCaptureInfo_v3(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id,
					 CUgraph *graph, const CUgraphNode **nodes,
					 const CUgraphEdgeData **edges, size_t *n)
{
	return info(s, status, id, graph, nodes, edges, n);
}

CUresult soft::cuStreamUpdateCaptureDependencies(CUstream s, CUgraphNode *nodes, size_t n,
						 unsigned flags)
{
	return update(s, nodes, nullptr, n, flags);
}

CUresult soft::cuStreamUpdateCaptureDependencies_v2(CUstream s, CUgraphNode *nodes,
						    const CUgraphEdgeData *edges, size_t n,
						    unsigned flags)
{
	return update(s, nodes, edges, n, flags);
}
