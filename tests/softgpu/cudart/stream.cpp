/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events. */
#include "tests/softgpu/cudart/runtime.h"

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
	RUNTIME_CALL(legacy.cuStreamCreate(out, CU_STREAM_DEFAULT));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
	RUNTIME_CALL(legacy.cuStreamCreate(out, flags));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
	RUNTIME_CALL(legacy.cuStreamCreateWithPriority(out, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
	RUNTIME_CALL(legacy.cuStreamDestroy_v2(s));
}

RUNTIME_BOTH(cudaStreamSynchronize, _ptsz, (cudaStream_t s), d.cuStreamSynchronize(s))
RUNTIME_BOTH(cudaStreamQuery, _ptsz, (cudaStream_t s), d.cuStreamQuery(s))
RUNTIME_BOTH(cudaStreamWaitEvent, _ptsz, (cudaStream_t s, cudaEvent_t e, unsigned flags),
	     d.cuStreamWaitEvent(s, e, flags))
RUNTIME_BOTH(cudaStreamGetFlags, _ptsz, (cudaStream_t s, unsigned *out), d.cuStreamGetFlags(s, out))
RUNTIME_BOTH(cudaStreamGetPriority, _ptsz, (cudaStream_t s, int *out),
	     d.cuStreamGetPriority(s, out))
RUNTIME_BOTH(cudaStreamGetId, _ptsz, (cudaStream_t s, unsigned long long *out),
	     d.cuStreamGetId(s, out))
RUNTIME_BOTH(cudaStreamGetDevice, _ptsz, (cudaStream_t s, int *out), d.cuStreamGetDevice(s, out))
RUNTIME_BOTH(cudaStreamAddCallback, _ptsz,
	     (cudaStream_t s, cudaStreamCallback_t fn, void *data, unsigned flags),
	     d.cuStreamAddCallback(s, reinterpret_cast<CUstreamCallback>(fn), data, flags))
RUNTIME_BOTH(cudaStreamAttachMemAsync, _ptsz,
	     (cudaStream_t s, void *p, size_t bytes, unsigned flags),
	     d.cuStreamAttachMemAsync(s, device_pointer(p), bytes, flags))

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	RUNTIME_CALL(legacy.cuCtxGetStreamPriorityRange(least, greatest));
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
	RUNTIME_CALL(legacy.cuEventCreate(out, CU_EVENT_DEFAULT));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
	RUNTIME_CALL(legacy.cuEventCreate(out, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
	RUNTIME_CALL(legacy.cuEventDestroy_v2(e));
}

RUNTIME_BOTH(cudaEventRecord, _ptsz, (cudaEvent_t e, cudaStream_t s), d.cuEventRecord(e, s))
RUNTIME_BOTH(cudaEventRecordWithFlags, _ptsz, (cudaEvent_t e, cudaStream_t s, unsigned flags),
	     d.cuEventRecordWithFlags(e, s, flags))

cudaError_t cudaEventQuery(cudaEvent_t e)
{
	RUNTIME_CALL(legacy.cuEventQuery(e));
}

cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
	RUNTIME_CALL(legacy.cuEventSynchronize(e));
}

cudaError_t cudaEventElapsedTime(float *out, cudaEvent_t first, cudaEvent_t second)
{
	RUNTIME_CALL(legacy.cuEventElapsedTime_v2(out, first, second));
}
