/* SPDX-License-Identifier: Apache-2.0 */
/* Interprocess handles and profiler control. */
#include <string.h>
#include <unistd.h>
#include "tests/softgpu/driver/event.h"
#include "tests/softgpu/driver/memory.h"

/* A handle can be had; no other process can open it. */
CUresult soft::cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr p)
{
	struct allocation *a = memory_find(p);
	pid_t owner = getpid();

	if (!out || !a || a->kind != MEMORY_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	memset(out, 0, sizeof(*out));
	memcpy(out->reserved, &a->base, sizeof(a->base));
	memcpy(out->reserved + sizeof(a->base), &owner, sizeof(owner));
	return CUDA_SUCCESS;
}

CUresult soft::cuIpcOpenMemHandle_v2(CUdeviceptr *, CUipcMemHandle handle, unsigned)
{
	pid_t owner;

	memcpy(&owner, handle.reserved + sizeof(uintptr_t), sizeof(owner));
	return owner == getpid() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult soft::cuIpcGetEventHandle(CUipcEventHandle *out, CUevent handle)
{
	struct event *e = object_find<struct event>(handle);

	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out || !(e->flags & CU_EVENT_INTERPROCESS))
		return CUDA_ERROR_INVALID_VALUE;
	memset(out, 0, sizeof(*out));
	memcpy(out->reserved, &handle, sizeof(handle));
	return CUDA_SUCCESS;
}

CUresult soft::cuProfilerStart()
{
	return CUDA_SUCCESS;
}

CUresult soft::cuProfilerStop()
{
	return CUDA_SUCCESS;
}
