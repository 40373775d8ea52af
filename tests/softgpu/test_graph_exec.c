/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs: in which order they run, how they change, what an update answers. */
#include "tests/softgpu/test.h"

static CUDA_KERNEL_NODE_PARAMS kernel_params(const char *name, void **params)
{
	return (CUDA_KERNEL_NODE_PARAMS){.func = test_function(name),
					 .gridDimX = 1,
					 .gridDimY = 1,
					 .gridDimZ = 1,
					 .blockDimX = 1,
					 .blockDimY = 1,
					 .blockDimZ = 1,
					 .kernelParams = params};
}

static CUgraphNode append(CUgraph g, CUgraphNode after, CUdeviceptr log, int value)
{
	CUDA_KERNEL_NODE_PARAMS p = kernel_params("test_append", (void *[]){&log, &value});
	CUgraphNode out;

	OK(cuGraphAddKernelNode(&out, g, &after, after ? 1 : 0, &p));
	return out;
}

static CUresult set(CUgraphExec x, CUgraphNode node, CUdeviceptr log, int value)
{
	CUDA_KERNEL_NODE_PARAMS p = kernel_params("test_append", (void *[]){&log, &value});

	return cuGraphExecKernelNodeSetParams(x, node, &p);
}

static CUgraph graph(void)
{
	CUgraph g;

	OK(cuGraphCreate(&g, 0));
	return g;
}

static CUgraphExec instantiate(CUgraph g)
{
	CUgraphExec x;

	OK(cuGraphInstantiate(&x, g, 0));
	return x;
}

/* Launches on an empty log and reads it; its first int is how many others follow. */
static const int *run(CUgraphExec x, CUdeviceptr log)
{
	static int values[16];

	OK(cuMemsetD32(log, 0, 16));
	OK(cuGraphLaunch(x, NULL));
	OK(cuMemcpyDtoH(values, log, sizeof(values)));
	return values;
}

/* a before b and c, these before d; b and c in either order, from launch to launch. */
static void branches_run_in_any_order(void **state)
{
	CUdeviceptr log = test_ints(16);
	CUgraph g = graph();
	CUgraphNode a = append(g, NULL, log, 1), b = append(g, a, log, 2), c = append(g, a, log, 3),
		    d = append(g, b, log, 4);
	int seen[4] = {0};

	OK(cuGraphAddDependencies(g, &c, &d, NULL, 1));
	CUgraphExec x = instantiate(g);
	for (int i = 0; i < 200 && !(seen[2] && seen[3]); i++) {
		const int *v = run(x, log);

		assert_int_equal(v[0], 4);
		assert_int_equal(v[1], 1);
		assert_int_equal(v[2] + v[3], 5);
		assert_int_equal(v[4], 4);
		seen[v[2]] = 1;
	}
	assert_true(seen[2] && seen[3]);
	OK(cuGraphExecDestroy(x));
	OK(cuGraphDestroy(g));
	OK(cuMemFree(log));
}

/* Edges may lead back to nodes made earlier, but not around. */
static void order_is_of_edges_not_of_creation(void **state)
{
	CUdeviceptr log = test_ints(16);
	CUgraph g = graph();
	CUgraphNode a = append(g, NULL, log, 1), b = append(g, NULL, log, 2);
	CUgraphExec x;

	OK(cuGraphAddDependencies(g, &b, &a, NULL, 1));
	x = instantiate(g);
	for (int i = 0; i < 20; i++) {
		const int *v = run(x, log);

		assert_int_equal(v[1], 2);
		assert_int_equal(v[2], 1);
	}
	OK(cuGraphExecDestroy(x));
	OK(cuGraphAddDependencies(g, &a, &b, NULL, 1));
	assert_int_equal(cuGraphInstantiate(&x, g, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphRemoveDependencies(g, &a, &b, NULL, 1));
	CUDA_GRAPH_INSTANTIATE_PARAMS p = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH};
	assert_int_equal(cuGraphInstantiateWithParams(&x, g, &p), CUDA_ERROR_NOT_SUPPORTED);
	assert_int_equal(p.result_out, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
	OK(cuGraphDestroy(g));
	OK(cuMemFree(log));
}

static void children_run_whole(void **state)
{
	CUdeviceptr log = test_ints(16);
	CUgraph g = graph(), inner = graph(), twin;
	CUgraphNode a = append(g, NULL, log, 1), child, nodes[2], last;
	size_t n = 2;

	append(inner, append(inner, NULL, log, 2), log, 3);
	OK(cuGraphAddChildGraphNode(&child, g, &a, 1, inner));
	last = append(g, child, log, 4);
	assert_non_null(last);
	CUgraphExec x = instantiate(g);
	const int *v = run(x, log);
	for (int i = 0; i < 4; i++)
		assert_int_equal(v[i + 1], i + 1);
	/* Nodes inside are changed by their own handles. */
	OK(cuGraphChildGraphNodeGetGraph(child, &twin));
	OK(cuGraphGetNodes(twin, nodes, &n));
	OK(set(x, nodes[1], log, 30));
	OK(cuGraphNodeSetEnabled(x, nodes[0], 0));
	assert_int_equal(cuGraphNodeSetEnabled(x, child, 0), CUDA_ERROR_INVALID_VALUE);
	v = run(x, log);
	assert_int_equal(v[0], 3);
	assert_int_equal(v[2], 30);
	/* Or all at once, by a graph of the same shape; what is disabled stays so. */
	OK(cuGraphExecChildGraphNodeSetParams(x, child, inner));
	v = run(x, log);
	assert_int_equal(v[0], 3);
	assert_int_equal(v[2], 3);
	append(inner, NULL, log, 5);
	assert_int_equal(cuGraphExecChildGraphNodeSetParams(x, child, inner),
			 CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphExecDestroy(x));
	OK(cuGraphDestroy(inner));
	OK(cuGraphDestroy(g));
	OK(cuMemFree(log));
}

static void a_launch_into_a_capture_becomes_a_child(void **state)
{
	CUdeviceptr log = test_ints(16);
	CUgraph g = graph(), captured;
	CUgraphNode node;
	CUgraphNodeType type;
	CUstream s;
	size_t n = 1;

	append(g, NULL, log, 1);
	CUgraphExec x = instantiate(g);
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	OK(cuGraphLaunch(x, s));
	LAUNCH("test_append", 1, s, &log, &(int){2});
	OK(cuStreamEndCapture(s, &captured));
	OK(cuGraphExecDestroy(x));
	OK(cuGraphGetRootNodes(captured, &node, &n));
	OK(cuGraphNodeGetType(node, &type));
	assert_int_equal(type, CU_GRAPH_NODE_TYPE_GRAPH);
	x = instantiate(captured);
	const int *v = run(x, log);
	assert_int_equal(v[1], 1);
	assert_int_equal(v[2], 2);
	OK(cuGraphExecDestroy(x));
	OK(cuGraphDestroy(captured));
	OK(cuGraphDestroy(g));
	OK(cuStreamDestroy(s));
	OK(cuMemFree(log));
}

/* A graph waits for one event and records another in its middle. */
static void event_nodes(void **state)
{
	CUdeviceptr p = test_ints(4), flag = test_ints(1), late = test_ints(1);
	CUstream s, t, u;
	CUevent before, middle;
	CUgraph g = graph();
	CUgraphNode wait, mark, record, stuck;
	CUDA_KERNEL_NODE_PARAMS k = kernel_params("test_mark", (void *[]){&p, &(int){7}});

	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&before, 0));
	OK(cuEventCreate(&middle, CU_EVENT_DISABLE_TIMING));
	OK(cuGraphAddEventWaitNode(&wait, g, NULL, 0, before));
	OK(cuGraphAddKernelNode(&mark, g, &wait, 1, &k));
	OK(cuGraphAddEventRecordNode(&record, g, &mark, 1, middle));
	k = kernel_params("test_wait", (void *[]){&late});
	OK(cuGraphAddKernelNode(&stuck, g, &record, 1, &k));
	CUgraphExec x = instantiate(g);
	LAUNCH("test_wait", 1, t, &flag);
	OK(cuEventRecord(before, t));
	OK(cuGraphLaunch(x, s));
	assert_int_equal(cuEventQuery(middle), CUDA_ERROR_NOT_READY);
	OK(cuStreamCreate(&u, CU_STREAM_NON_BLOCKING));
	OK(cuMemsetD32Async(flag, 1, 1, u));
	OK(cuEventSynchronize(middle));
	assert_int_equal(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	OK(cuMemsetD32Async(late, 1, 1, u));
	OK(cuStreamSynchronize(s));
	assert_int_equal(test_int(p, 0), 7);
	OK(cuGraphExecDestroy(x));
	OK(cuGraphDestroy(g));
	OK(cuEventDestroy(before));
	OK(cuEventDestroy(middle));
	OK(cuStreamDestroy(s));
	OK(cuStreamDestroy(t));
	OK(cuStreamDestroy(u));
	OK(cuMemFree(p));
	OK(cuMemFree(flag));
	OK(cuMemFree(late));
}

static void nodes_are_named_by_the_graph(void **state)
{
	CUdeviceptr log = test_ints(16);
	CUgraph g = graph(), other = graph();
	CUgraphNode a = append(g, NULL, log, 1), b = append(g, a, log, 2),
		    stranger = append(other, NULL, log, 3);
	CUgraphExec x = instantiate(g);
	CUDA_KERNEL_NODE_PARAMS p = kernel_params("test_mark", (void *[]){&log, &(int){0}});

	assert_int_equal(set(x, stranger, log, 4), CUDA_ERROR_INVALID_VALUE);
	OK(set(x, a, log, 5));
	OK(cuGraphExecKernelNodeSetParams(x, b, &p)); /* another kernel */
	assert_int_equal(run(x, log)[1], 5);
	assert_int_equal(run(x, log)[0], 0);
	p.blockDimX = 5000;
	assert_int_equal(cuGraphExecKernelNodeSetParams(x, b, &p), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphDestroyNode(b));
	assert_int_equal(set(x, b, log, 6), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphDestroy(g));
	assert_int_equal(set(x, a, log, 6), CUDA_ERROR_INVALID_VALUE);
	assert_int_equal(run(x, log)[1], 5); /* and it still runs */
	OK(cuGraphExecDestroy(x));
	OK(cuGraphDestroy(other));
	OK(cuMemFree(log));
}

static void copies_and_fills_change_within_limits(void **state)
{
	CUdeviceptr p = test_ints(16);
	CUcontext ctx = test_context();
	CUgraph g = graph();
	CUgraphNode fill, copy;
	CUDA_MEMSET_NODE_PARAMS m = {p, 0, 1, 4, 4, 1};
	CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			   .srcDevice = p,
			   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			   .dstDevice = p + 32,
			   .WidthInBytes = 16,
			   .Height = 1,
			   .Depth = 1};
	int host = 0;

	OK(cuGraphAddMemsetNode(&fill, g, NULL, 0, &m, ctx));
	OK(cuGraphAddMemcpyNode(&copy, g, &fill, 1, &c, ctx));
	CUgraphExec x = instantiate(g);
	m.value = 2;
	m.width = 2;
	OK(cuGraphExecMemsetNodeSetParams(x, fill, &m, ctx));
	c.WidthInBytes = 8;
	OK(cuGraphExecMemcpyNodeSetParams(x, copy, &c, ctx));
	OK(cuGraphLaunch(x, NULL));
	assert_int_equal(test_int(p, 9), 2);
	assert_int_equal(test_int(p, 10), 0);
	c.WidthInBytes = 4;
	c.Height = 2;
	c.srcPitch = c.dstPitch = 8;
	assert_int_equal(cuGraphExecMemcpyNodeSetParams(x, copy, &c, ctx),
			 CUDA_ERROR_INVALID_VALUE);
	c.Height = 1;
	c.dstMemoryType = CU_MEMORYTYPE_HOST;
	c.dstHost = &host;
	assert_int_equal(cuGraphExecMemcpyNodeSetParams(x, copy, &c, ctx),
			 CUDA_ERROR_INVALID_VALUE);
	m.height = 2;
	m.pitch = 16;
	assert_int_equal(cuGraphExecMemsetNodeSetParams(x, fill, &m, ctx),
			 CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphExecDestroy(x));
	OK(cuGraphDestroy(g));
	OK(cuMemFree(p));
}

/* Updates x by g, which must answer that and blame these. */
static void update(CUgraphExec x, CUgraph g, CUgraphExecUpdateResult expected, CUgraphNode node,
		   CUgraphNode from)
{
	CUgraphExecUpdateResultInfo info;

	assert_int_equal(cuGraphExecUpdate(x, g, &info),
			 expected ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS);
	assert_int_equal(info.result, expected);
	assert_ptr_equal(info.errorNode, node);
	assert_ptr_equal(info.errorFromNode, from);
}

static void updates_and_their_answers(void **state)
{
	CUdeviceptr log = test_ints(16);
	CUgraph g = graph(), h = graph();
	CUgraphNode a = append(g, NULL, log, 1), b = append(g, a, log, 2), c, d, e;
	CUkernelNodeAttrValue cooperative = {.cooperative = 1};
	CUgraphExec x = instantiate(g);

	OK(cuGraphNodeSetEnabled(x, a, 0));
	c = append(h, NULL, log, 11);
	update(x, h, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, NULL, NULL);
	OK(cuGraphAddEmptyNode(&d, h, &c, 1));
	update(x, h, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, d, NULL);
	assert_int_equal(run(x, log)[1], 2); /* all or nothing */
	OK(cuGraphDestroyNode(d));
	e = append(h, NULL, log, 12);
	update(x, h, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, e, NULL);
	OK(cuGraphAddDependencies(h, &c, &e, NULL, 1));
	OK(cuGraphKernelNodeSetAttribute(e, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &cooperative));
	update(x, h, CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, e, NULL);
	cooperative.cooperative = 0;
	OK(cuGraphKernelNodeSetAttribute(e, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &cooperative));
	update(x, h, CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL, NULL);
	OK(cuGraphDestroy(h));
	const int *v = run(x, log);
	assert_int_equal(v[0], 1); /* a is still off */
	assert_int_equal(v[1], 12);
	OK(cuGraphNodeSetEnabled(x, a, 1)); /* handles are still the first graph's */
	assert_int_equal(run(x, log)[1], 11);
	OK(set(x, b, log, 13));
	assert_int_equal(run(x, log)[2], 13);
	OK(cuGraphExecDestroy(x));
	OK(cuGraphDestroy(g));
	OK(cuMemFree(log));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches_run_in_any_order),
		cmocka_unit_test(order_is_of_edges_not_of_creation),
		cmocka_unit_test(children_run_whole),
		cmocka_unit_test(a_launch_into_a_capture_becomes_a_child),
		cmocka_unit_test(event_nodes),
		cmocka_unit_test(nodes_are_named_by_the_graph),
		cmocka_unit_test(copies_and_fills_change_within_limits),
		cmocka_unit_test(updates_and_their_answers),
	};

	return TEST_RUN(tests, test_begin);
}
