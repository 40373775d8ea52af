/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs made by calls: nodes, edges, what is asked of them, copies. */
#include "tests/softgpu/test.h"

static CUgraph graph(void)
{
	CUgraph g;

	OK(cuGraphCreate(&g, 0));
	return g;
}

/* A node that appends to a log behind up to two others. */
static CUgraphNode append(CUgraph g, CUgraphNode a, CUgraphNode b, CUdeviceptr log, int value)
{
	CUgraphNode after[2] = {a, b}, out;
	void *params[] = {&log, &value};
	CUDA_KERNEL_NODE_PARAMS p = {.func = test_function("test_append"),
				     .gridDimX = 1,
				     .gridDimY = 1,
				     .gridDimZ = 1,
				     .blockDimX = 1,
				     .blockDimY = 1,
				     .blockDimZ = 1,
				     .kernelParams = params};

	OK(cuGraphAddKernelNode(&out, g, after, (size_t)(a ? b ? 2 : 1 : 0), &p));
	return out;
}

static CUgraphNode empty(CUgraph g)
{
	CUgraphNode out;

	OK(cuGraphAddEmptyNode(&out, g, NULL, 0));
	return out;
}

static size_t edges(CUgraph g)
{
	size_t n;

	OK(cuGraphGetEdges(g, NULL, NULL, NULL, &n));
	return n;
}

static void edges_come_and_go(void **state)
{
	CUgraph g = graph();
	CUgraphNode a = empty(g), b = empty(g), c = empty(g), out[4];
	CUgraphNode from[] = {a, a, b}, to[] = {b, c, c};
	size_t n = 4;

	OK(cuGraphAddDependencies(g, from, to, NULL, 3));
	assert_int_equal(edges(g), 3);
	/* Twice the same, to itself, or to a stranger: none of the list is added. */
	assert_int_equal(cuGraphAddDependencies(g, from, to, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGraphAddDependencies(g, &a, &a, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(edges(g), 3);
	OK(cuGraphNodeGetDependentNodes(a, out, NULL, &n));
	assert_int_equal(n, 2);
	assert_ptr_equal(out[0], b);
	assert_ptr_equal(out[1], c);
	n = 4;
	OK(cuGraphNodeGetDependencies(c, out, NULL, &n));
	assert_int_equal(n, 2);
	assert_null(out[2]);
	n = 4;
	OK(cuGraphGetRootNodes(g, out, &n));
	assert_int_equal(n, 1);
	assert_ptr_equal(out[0], a);
	OK(cuGraphRemoveDependencies(g, from, to, NULL, 2));
	assert_int_equal(edges(g), 1);
	assert_int_equal(cuGraphRemoveDependencies(g, from, to, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphDestroyNode(b));
	assert_int_equal(edges(g), 0);
	assert_int_equal(cuGraphDestroyNode(b), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphGetNodes(g, NULL, &n));
	assert_int_equal(n, 2);
	OK(cuGraphDestroy(g));
	assert_int_equal(cuGraphGetNodes(g, NULL, &n), CUDA_ERROR_INVALID_VALUE);
}

static void edges_with_data(void **state)
{
	const CUgraphEdgeData early = {.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
				       .type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC};
	CUdeviceptr log = test_ints(8);
	CUgraph g = graph(), copy;
	CUgraphNode a = append(g, NULL, NULL, log, 1), b = append(g, NULL, NULL, log, 2),
		    e = empty(g), from, to;
	CUgraphEdgeData data;
	size_t n = 1;

	OK(cuGraphAddDependencies(g, &a, &b, &early, 1));
	/* Only between kernels. */
	assert_int_equal(cuGraphAddDependencies(g, &b, &e, &early, 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGraphAddDependencies(g, &e, &b, &early, 1), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGraphGetEdges(g, &from, &to, NULL, &n), CUDA_ERROR_LOSSY_QUERY);
	assert_int_equal(cuGraphNodeGetDependencies(b, &from, NULL, &n), CUDA_ERROR_LOSSY_QUERY);
	OK(cuGraphClone(&copy, g));
	OK(cuGraphGetEdges(copy, &from, &to, &data, &n));
	assert_int_equal(n, 1);
	assert_memory_equal(&data, &early, sizeof(data));
	/* An edge is only removed by its own data. */
	assert_int_equal(cuGraphRemoveDependencies(g, &a, &b, NULL, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphRemoveDependencies(g, &a, &b, &early, 1));
	OK(cuGraphDestroy(copy));
	OK(cuGraphDestroy(g));
	OK(cuMemFree(log));
}

static void clones_are_independent(void **state)
{
	CUdeviceptr log = test_ints(8);
	CUgraph g = graph(), parent = graph(), copy, inner, inner_copy;
	CUgraphNode a = append(g, NULL, NULL, log, 1), b = append(g, a, NULL, log, 2), child, twin,
		    found;
	CUDA_KERNEL_NODE_PARAMS p;
	size_t n;

	OK(cuGraphAddChildGraphNode(&child, parent, NULL, 0, g));
	OK(cuGraphDestroyNode(a)); /* the child is a copy */
	OK(cuGraphChildGraphNodeGetGraph(child, &inner));
	OK(cuGraphGetNodes(inner, NULL, &n));
	assert_int_equal(n, 2);
	assert_int_equal(cuGraphDestroy(inner), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphClone(&copy, parent));
	OK(cuGraphNodeFindInClone(&twin, child, copy));
	assert_ptr_not_equal(twin, child);
	OK(cuGraphChildGraphNodeGetGraph(twin, &inner_copy));
	assert_ptr_not_equal(inner, inner_copy);
	assert_int_equal(edges(inner_copy), 1);
	assert_int_equal(cuGraphNodeFindInClone(&found, b, copy), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(cuGraphNodeFindInClone(&found, child, parent), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphDestroyNode(twin));
	assert_int_equal(cuGraphNodeFindInClone(&found, child, copy), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphDestroy(copy));
	OK(cuGraphDestroy(parent));
	OK(cuGraphClone(&copy, g));
	OK(cuGraphNodeFindInClone(&twin, b, copy));
	OK(cuGraphKernelNodeGetParams(b, &p));
	p.gridDimX = 7;
	OK(cuGraphKernelNodeSetParams(b, &p));
	OK(cuGraphDestroy(g));
	OK(cuGraphKernelNodeGetParams(twin, &p));
	assert_int_equal(p.gridDimX, 1);
	assert_int_equal(*(int *)p.kernelParams[1], 2);
	OK(cuGraphDestroy(copy));
	OK(cuMemFree(log));
}

static void parameters_are_copied_and_attributes_stay(void **state)
{
	CUdeviceptr log = test_ints(8);
	CUgraph g = graph();
	CUgraphNode a = append(g, NULL, NULL, log, 5), b = append(g, a, NULL, log, 6);
	CUkernelNodeAttrValue v = {.cooperative = 1}, back;
	CUDA_KERNEL_NODE_PARAMS p;
	int value = 9;
	void *params[] = {&log, &value};

	OK(cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
	OK(cuGraphKernelNodeGetParams(a, &p));
	assert_int_equal(*(int *)p.kernelParams[1], 5);
	p.kernelParams = params;
	OK(cuGraphKernelNodeSetParams(a, &p));
	value = 10;
	OK(cuGraphKernelNodeGetParams(a, &p));
	assert_int_equal(*(int *)p.kernelParams[1], 9);
	OK(cuGraphKernelNodeGetAttribute(a, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &back));
	assert_int_equal(back.cooperative, 1);
	OK(cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &back));
	assert_int_equal(back.cooperative, 0);
	OK(cuGraphKernelNodeCopyAttributes(b, a));
	OK(cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &back));
	assert_int_equal(back.cooperative, 1);
	OK(cuGraphKernelNodeGetParams(b, &p));
	assert_int_equal(*(int *)p.kernelParams[1], 6);
	v.deviceUpdatableKernelNode.deviceUpdatable = 1;
	assert_int_equal(cuGraphKernelNodeSetAttribute(
				 a, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &v),
			 CUDA_ERROR_NOT_SUPPORTED);
	OK(cuGraphDestroy(g));
	OK(cuMemFree(log));
}

/* One call for all types, with its own layouts of their parameters. */
static void generic_nodes(void **state)
{
	CUgraph g = graph(), child = graph();
	CUdeviceptr word = test_ints(1);
	CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
	CUgraphNode fill, node;
	CUgraphNodeType type;
	CUDA_MEMSET_NODE_PARAMS m;

	p.memset.dst = word;
	p.memset.value = 3;
	p.memset.elementSize = 4;
	p.memset.width = p.memset.height = 1;
	OK(cuGraphAddNode(&fill, g, NULL, NULL, 0, &p));
	p.memset.value = 4;
	OK(cuGraphNodeSetParams(fill, &p));
	OK(cuGraphMemsetNodeGetParams(fill, &m));
	assert_int_equal(m.value, 4);
	p.memset.elementSize = 3;
	assert_int_equal(cuGraphNodeSetParams(fill, &p), CUDA_ERROR_INVALID_VALUE);
	empty(child);
	p = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph = {.graph = child}};
	OK(cuGraphAddNode(&node, g, &fill, NULL, 1, &p));
	OK(cuGraphNodeGetType(node, &type));
	assert_int_equal(type, CU_GRAPH_NODE_TYPE_GRAPH);
	assert_ptr_not_equal(p.graph.graph, child); /* the node's own comes back */
	assert_int_equal(cuGraphNodeSetParams(fill, &p), CUDA_ERROR_INVALID_VALUE);
	p = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
	assert_int_equal(cuGraphAddNode(&node, g, NULL, NULL, 0, &p), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuGraphDestroy(child));
	OK(cuGraphDestroy(g));
	OK(cuMemFree(word));
}

/* Memory nodes: they run, and what a graph with them refuses. */
static void memory_nodes_and_their_refusals(void **state)
{
	CUDA_MEM_ALLOC_NODE_PARAMS m = {
		.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
			      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
		.bytesize = 64};
	CUgraph g = graph(), copy, parent = graph();
	CUgraphNode take, use, give, child;
	CUdeviceptr back, out = test_ints(8), at;
	CUgraphExec x, second;
	CUstream s;
	CUDA_MEMSET_NODE_PARAMS f = {0, 0, 9, 4, 8, 1};
	int value = 0;

	OK(cuGraphAddMemAllocNode(&take, g, NULL, 0, &m));
	f.dst = m.dptr;
	OK(cuGraphAddMemsetNode(&use, g, &take, 1, &f, test_context()));
	OK(cuGraphAddMemFreeNode(&give, g, &use, 1, m.dptr));
	OK(cuGraphMemFreeNodeGetParams(give, &back));
	assert_int_equal(back, m.dptr);
	assert_int_equal(cuGraphClone(&copy, g), CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(cuGraphDestroyNode(use), CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(cuGraphRemoveDependencies(g, &take, &use, NULL, 1),
			 CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(cuGraphAddChildGraphNode(&child, parent, NULL, 0, g),
			 CUDA_ERROR_NOT_SUPPORTED);
	OK(cuGraphInstantiate(&x, g, 0));
	assert_int_equal(cuGraphInstantiate(&second, g, 0), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuGraphLaunch(x, NULL));
	OK(cuGraphExecDestroy(x));
	OK(cuGraphInstantiate(&x, g, 0));
	OK(cuGraphExecDestroy(x));
	OK(cuGraphDestroy(g));
	OK(cuGraphDestroy(parent));
	/* A capture makes them, too. */
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuMemAllocAsync(&at, 32, s));
	OK(cuMemsetD32Async(at, 6, 8, s));
	OK(cuMemcpyDtoDAsync(out, at, 32, s));
	OK(cuMemFreeAsync(at, s));
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphInstantiate(&x, g, 0));
	assert_int_equal(cuGraphClone(&copy, g), CUDA_ERROR_NOT_SUPPORTED);
	OK(cuGraphDestroy(g));
	OK(cuGraphLaunch(x, s));
	OK(cuStreamSynchronize(s));
	OK(cuGraphExecDestroy(x));
	OK(cuMemcpyDtoH(&value, out + 28, 4));
	assert_int_equal(value, 6);
	OK(cuStreamDestroy(s));
	OK(cuMemFree(out));
}

static int destroyed;

static void destroy(void *data)
{
	__atomic_fetch_add((int *)data, 1, __ATOMIC_SEQ_CST);
}

static void user_objects_live_as_long_as_graphs(void **state)
{
	CUgraph g = graph(), copy;
	CUgraphExec x;
	CUuserObject o;

	OK(cuUserObjectCreate(&o, &destroyed, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	OK(cuGraphRetainUserObject(g, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
	OK(cuGraphClone(&copy, g));
	OK(cuGraphInstantiate(&x, copy, 0));
	OK(cuGraphDestroy(g));
	OK(cuGraphDestroy(copy));
	usleep(20000);
	assert_int_equal(__atomic_load_n(&destroyed, __ATOMIC_SEQ_CST), 0);
	OK(cuGraphExecDestroy(x));
	while (!__atomic_load_n(&destroyed, __ATOMIC_SEQ_CST))
		usleep(1000);
	assert_int_equal(cuUserObjectRelease(o, 1), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_come_and_go),
		cmocka_unit_test(edges_with_data),
		cmocka_unit_test(clones_are_independent),
		cmocka_unit_test(parameters_are_copied_and_attributes_stay),
		cmocka_unit_test(generic_nodes),
		cmocka_unit_test(memory_nodes_and_their_refusals),
		cmocka_unit_test(user_objects_live_as_long_as_graphs),
	};

	return TEST_RUN(tests, test_begin);
}
