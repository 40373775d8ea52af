/* SPDX-License-Identifier: Apache-2.0 */
/* Host functions, and waits for and writes of memory words, in stream order. */
#include <sched.h>
#include <unistd.h>
#include "tests/softgpu/driver/capture.h"
#include "tests/softgpu/driver/memory.h"
#include "tests/softgpu/driver/stream.h"

CUresult host_work::run() const
{
	fn(data);
	return CUDA_SUCCESS;
}

CUresult soft::cuLaunchHostFunc(CUstream handle, CUhostFn fn, void *data)
{
	STREAM_OR_RETURN(s, handle);
	if (!fn)
		return CUDA_ERROR_INVALID_VALUE;
	auto w = std::make_shared<struct host_work>();
	w->fn = fn;
	w->data = data;
	return stream_give(s, w);
}

CUresult soft::cuStreamAddCallback(CUstream handle, CUstreamCallback fn, void *data, unsigned flags)
{
	STREAM_OR_RETURN(s, handle);
	if (!fn || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (s->capture)
		return capture_breaks(s->capture);
	CUresult r = capture_implicit(s);
	if (r != CUDA_SUCCESS)
		return r;
	std::shared_ptr<CUresult> fault = s->ctx->fault;
	stream_submit(s, {{}, [=] {
				  fn(handle, *fault, data);
				  return CUDA_SUCCESS;
			  }});
	return CUDA_SUCCESS;
}

namespace
{
template <class T> bool satisfied(const T *p, T value, unsigned how)
{
	T now = __atomic_load_n(p, __ATOMIC_ACQUIRE);

	switch (how) {
	case CU_STREAM_WAIT_VALUE_GEQ:
		return static_cast<typename std::make_signed<T>::type>(now - value) >= 0;
	case CU_STREAM_WAIT_VALUE_EQ:
		return now == value;
	case CU_STREAM_WAIT_VALUE_AND:
		return (now & value) != 0;
	default:
		return static_cast<T>(~(now | value)) != 0; /* NOR */
	}
}

/* A wait for, or a write of, one word. */
struct value_work : work {
	std::function<CUresult()> act;

	CUgraphNodeType type() const override
	{
		return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
	}
	CUresult run() const override
	{
		return act();
	}
};

CUresult give_value(CUstream handle, CUdeviceptr at, const std::function<CUresult()> &act)
{
	STREAM_OR_RETURN(s, handle);
	if (!memory_find(at))
		return CUDA_ERROR_INVALID_VALUE;
	auto w = std::make_shared<struct value_work>();
	w->act = act;
	return stream_give(s, w);
}

template <class T> CUresult wait_value(CUstream s, CUdeviceptr at, T value, unsigned flags)
{
	const T *p = reinterpret_cast<const T *>(at);
	unsigned how = flags & ~static_cast<unsigned>(CU_STREAM_WAIT_VALUE_FLUSH);

	if (how > CU_STREAM_WAIT_VALUE_NOR || at % sizeof(T))
		return CUDA_ERROR_INVALID_VALUE;
	return give_value(s, at, [=] {
		for (unsigned turns = 0; !satisfied(p, value, how); turns++)
			turns < 100 ? sched_yield() : usleep(50);
		return CUDA_SUCCESS;
	});
}

template <class T> CUresult write_value(CUstream s, CUdeviceptr at, T value)
{
	T *p = reinterpret_cast<T *>(at);

	if (at % sizeof(T))
		return CUDA_ERROR_INVALID_VALUE;
	return give_value(s, at, [=] {
		__atomic_store_n(p, value, __ATOMIC_RELEASE);
		return CUDA_SUCCESS;
	});
}
} // namespace

CUresult soft::cuStreamWaitValue32_v2(CUstream s, CUdeviceptr at, cuuint32_t value, unsigned flags)
{
	return wait_value<uint32_t>(s, at, value, flags);
}

CUresult soft::cuStreamWaitValue64_v2(CUstream s, CUdeviceptr at, cuuint64_t value, unsigned flags)
{
	return wait_value<uint64_t>(s, at, value, flags);
}

CUresult soft::cuStreamWriteValue32_v2(CUstream s, CUdeviceptr at, cuuint32_t value, unsigned)
{
	return write_value<uint32_t>(s, at, value);
}

CUresult soft::cuStreamWriteValue64_v2(CUstream s, CUdeviceptr at, cuuint64_t value, unsigned)
{
	return write_value<uint64_t>(s, at, value);
}

CUresult soft::cuStreamWaitValue32(CUstream s, CUdeviceptr at, cuuint32_t value, unsigned flags)
{
	return soft::cuStreamWaitValue32_v2(s, at, value, flags);
}

CUresult soft::cuStreamWaitValue64(CUstream s, CUdeviceptr at, cuuint64_t value, unsigned flags)
{
	return soft::cuStreamWaitValue64_v2(s, at, value, flags);
}

CUresult soft::cuStreamWriteValue32(CUstream s, CUdeviceptr at, cuuint32_t value, unsigned flags)
{
	return soft::cuStreamWriteValue32_v2(s, at, value, flags);
}

CUresult soft::cuStreamWriteValue64(CUstream s, CUdeviceptr at, cuuint64_t value, unsigned flags)
{
	return soft::cuStreamWriteValue64_v2(s, at, value, flags);
}

CUresult soft::cuStreamBatchMemOp_v2(CUstream s, unsigned n, CUstreamBatchMemOpParams *op, unsigned)
{
	CUresult r = CUDA_SUCCESS;

	for (unsigned i = 0; i < n && r == CUDA_SUCCESS; i++)
		switch (op[i].operation) {
		case CU_STREAM_MEM_OP_WAIT_VALUE_32:
			r = soft::cuStreamWaitValue32_v2(s, op[i].waitValue.address,
							 op[i].waitValue.value,
							 op[i].waitValue.flags);
			break;
		case CU_STREAM_MEM_OP_WAIT_VALUE_64:
			r = soft::cuStreamWaitValue64_v2(s, op[i].waitValue.address,
							 op[i].waitValue.value64,
							 op[i].waitValue.flags);
			break;
		case CU_STREAM_MEM_OP_WRITE_VALUE_32:
			r = soft::cuStreamWriteValue32_v2(s, op[i].writeValue.address,
							  op[i].writeValue.value, 0);
			break;
		case CU_STREAM_MEM_OP_WRITE_VALUE_64:
			r = soft::cuStreamWriteValue64_v2(s, op[i].writeValue.address,
							  op[i].writeValue.value64, 0);
			break;
		case CU_STREAM_MEM_OP_BARRIER:
		case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
			break;
		default:
			r = CUDA_ERROR_INVALID_VALUE;
		}
	return r;
}

CUresult soft::cuStreamBatchMemOp(CUstream s, unsigned n, CUstreamBatchMemOpParams *op,
				  unsigned flags)
{
	return soft::cuStreamBatchMemOp_v2(s, n, op, flags);
}
