/* SPDX-License-Identifier: Apache-2.0 */
/* The graphs that captures make. */
#include "tests/softgpu/test.h"

static CUstream stream(unsigned flags)
{
	CUstream s;

	OK(cuStreamCreate(&s, flags));
	return s;
}

static CUstream begin(void)
{
	CUstream s = stream(CU_STREAM_NON_BLOCKING);

	OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	return s;
}

static void a_captured_line_of_nodes(void **state)
{
	CUdeviceptr log = test_ints(8), word = test_ints(1);
	CUstream s = stream(CU_STREAM_NON_BLOCKING);
	CUgraph g;
	CUgraphExec x;
	CUgraphNode nodes[8], from[8], to[8];
	CUgraphNodeType type;
	CUDA_KERNEL_NODE_PARAMS params;
	size_t n = 8, edges = 8;
	int value = 1;

	OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	LAUNCH("test_append", 1, s, &log, &value);
	value = 2; /* parameters were copied */
	OK(cuMemsetD32Async(word, 5, 1, s));
	OK(cuMemcpyDtoDAsync(log + 28, word, 4, s));
	LAUNCH("test_append", 1, s, &log, &value);
	OK(cuStreamEndCapture(s, &g));
	assert_int_equal(test_int(log, 0), 0); /* nothing ran */
	OK(cuGraphGetNodes(g, nodes, &n));
	assert_int_equal(n, 4);
	OK(cuGraphGetEdges(g, from, to, NULL, &edges));
	assert_int_equal(edges, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_ptr_equal(from[i], nodes[i]);
		assert_ptr_equal(to[i], nodes[i + 1]);
	}
	OK(cuGraphNodeGetType(nodes[1], &type));
	assert_int_equal(type, CU_GRAPH_NODE_TYPE_MEMSET);
	OK(cuGraphKernelNodeGetParams(nodes[3], &params));
	assert_int_equal(*(int *)params.kernelParams[1], 2);
	assert_ptr_equal(params.func, test_function("test_append"));
	OK(cuGraphInstantiate(&x, g, 0));
	OK(cuGraphDestroy(g));
	OK(cuGraphLaunch(x, s));
	OK(cuGraphLaunch(x, s));
	OK(cuStreamSynchronize(s));
	assert_int_equal(test_int(log, 0), 4);
	assert_int_equal(test_int(log, 4), 2);
	assert_int_equal(test_int(log, 7), 5);
	OK(cuGraphExecDestroy(x));
	OK(cuStreamDestroy(s));
	OK(cuMemFree(log));
	OK(cuMemFree(word));
}

static void a_second_stream_joins_by_events(void **state)
{
	CUdeviceptr log = test_ints(8);
	CUstream s = stream(CU_STREAM_NON_BLOCKING), t = stream(CU_STREAM_NON_BLOCKING);
	CUevent fork, join;
	CUstreamCaptureStatus status;
	CUgraph g;
	size_t n;

	OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
	OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
	for (int joined = 0; joined < 2; joined++) {
		OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
		LAUNCH("test_append", 1, s, &log, &(int){1});
		OK(cuEventRecord(fork, s));
		OK(cuStreamWaitEvent(t, fork, 0));
		OK(cuStreamIsCapturing(t, &status));
		assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
		LAUNCH("test_append", 1, t, &log, &(int){2});
		LAUNCH("test_append", 1, s, &log, &(int){3});
		OK(cuEventRecord(join, t));
		if (joined)
			OK(cuStreamWaitEvent(s, join, 0));
		assert_int_equal(cuStreamEndCapture(s, &g),
				 joined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
	}
	OK(cuGraphGetNodes(g, NULL, &n));
	assert_int_equal(n, 3);
	OK(cuGraphDestroy(g));
	OK(cuEventDestroy(fork));
	OK(cuEventDestroy(join));
	OK(cuStreamDestroy(s));
	OK(cuStreamDestroy(t));
	OK(cuMemFree(log));
}

/* What the stream's next node will depend on: asked, replaced, added to. */
static void dependencies_of_a_capture(void **state)
{
	CUdeviceptr log = test_ints(8);
	CUstream s = begin();
	CUstreamCaptureStatus status;
	cuuint64_t id;
	CUgraph g, ended;
	const CUgraphNode *tails;
	const CUgraphEdgeData *data;
	CUgraphNode first, extra, from[4], to[4];
	size_t n;

	LAUNCH("test_append", 1, s, &log, &(int){1});
	OK(cuStreamGetCaptureInfo(s, &status, &id, &g, &tails, &data, &n));
	assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	assert_int_equal(n, 1);
	first = tails[0];
	OK(cuGraphAddEmptyNode(&extra, g, &first, 1));
	OK(cuStreamUpdateCaptureDependencies(s, &extra, NULL, 1,
					     CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
	OK(cuStreamGetCaptureInfo(s, &status, &id, &g, &tails, &data, &n));
	assert_int_equal(n, 2);
	OK(cuStreamUpdateCaptureDependencies(s, &extra, NULL, 1,
					     CU_STREAM_SET_CAPTURE_DEPENDENCIES));
	LAUNCH("test_append", 1, s, &log, &(int){2});
	OK(cuStreamEndCapture(s, &ended));
	assert_ptr_equal(ended, g);
	n = 4;
	OK(cuGraphGetEdges(g, from, to, NULL, &n));
	assert_int_equal(n, 2);
	assert_ptr_equal(from[0], first);
	assert_ptr_equal(from[1], extra);
	OK(cuGraphDestroy(g));
	OK(cuStreamDestroy(s));
	OK(cuMemFree(log));
}

/* A kernel that may begin early is captured with a programmatic edge. */
static void early_launches_leave_edge_data(void **state)
{
	CUstream s = begin();
	CUlaunchAttribute early = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
				   .value.programmaticStreamSerializationAllowed = 1};
	CUlaunchConfig c = {1, 1, 1, 1, 1, 1, 0, s, &early, 1};
	CUgraphNode from, to;
	CUgraphEdgeData data;
	CUgraph g;
	size_t n = 1;

	for (int i = 0; i < 2; i++)
		OK(cuLaunchKernelEx(&c, test_function("test_nothing"), NULL, NULL));
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphGetEdges(g, &from, &to, &data, &n));
	assert_int_equal(data.type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
	assert_int_equal(data.from_port, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
	OK(cuGraphDestroy(g));
	OK(cuStreamDestroy(s));
}

/* Events that the capture leaves to the world outside it. */
static void external_events_become_nodes(void **state)
{
	CUstream s = begin();
	CUgraphNode nodes[2];
	CUgraphNodeType type;
	CUevent e;
	CUgraph g;
	size_t n = 2;

	OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	OK(cuStreamWaitEvent(s, e, CU_EVENT_WAIT_EXTERNAL));
	OK(cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL));
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphGetNodes(g, nodes, &n));
	assert_int_equal(n, 2);
	OK(cuGraphNodeGetType(nodes[0], &type));
	assert_int_equal(type, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
	OK(cuGraphNodeGetType(nodes[1], &type));
	assert_int_equal(type, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
	OK(cuGraphDestroy(g));
	OK(cuEventDestroy(e));
	OK(cuStreamDestroy(s));
}

static void disabled_nodes_do_nothing(void **state)
{
	CUdeviceptr p = test_ints(1);
	CUstream s = stream(CU_STREAM_NON_BLOCKING);
	CUgraph g;
	CUgraphExec x;
	CUgraphNode node;
	size_t n = 1;
	unsigned enabled;

	OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	LAUNCH("test_mark", 1, s, &p, &(int){1});
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphGetNodes(g, &node, &n));
	OK(cuGraphInstantiate(&x, g, 0));
	OK(cuGraphNodeSetEnabled(x, node, 0));
	OK(cuGraphNodeGetEnabled(x, node, &enabled));
	assert_int_equal(enabled, 0);
	OK(cuGraphLaunch(x, s));
	OK(cuStreamSynchronize(s));
	assert_int_equal(test_int(p, 0), 0);
	OK(cuGraphNodeSetEnabled(x, node, 1));
	OK(cuGraphLaunch(x, s));
	OK(cuStreamSynchronize(s));
	assert_int_equal(test_int(p, 0), 1);
	OK(cuGraphExecDestroy(x));
	OK(cuGraphDestroy(g));
	OK(cuStreamDestroy(s));
	OK(cuMemFree(p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_captured_line_of_nodes),
		cmocka_unit_test(a_second_stream_joins_by_events),
		cmocka_unit_test(dependencies_of_a_capture),
		cmocka_unit_test(early_launches_leave_edge_data),
		cmocka_unit_test(external_events_become_nodes),
		cmocka_unit_test(disabled_nodes_do_nothing),
	};

	return TEST_RUN(tests, test_begin);
}
