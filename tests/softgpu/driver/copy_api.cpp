/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies. As on a GPU an asynchronous copy from pageable memory reads it before the call returns,
 * one to pageable memory waits, and a copy within the device does not wait even in its plain form.
 */
#include "tests/softgpu/driver/copy.h"

namespace
{
enum how { HOW_SYNC, HOW_ASYNC };

CUresult give(const CUDA_MEMCPY3D *c, CUstream handle, enum how how)
{
	CUresult why;
	STREAM_OR_RETURN(s, handle);
	std::shared_ptr<struct copy_work> w = copy_make(c, &why);

	if (!w)
		return why;
	bool capturing = s->capture != nullptr;
	bool from_pageable = w->height && memory_pageable(w->from);
	bool to_pageable = w->height && memory_pageable(w->to);
	if (from_pageable && !capturing)
		for (size_t z = 0; z < w->depth; z++)
			for (size_t y = 0; y < w->height; y++) {
				const char *row = w->from + z * w->from_slice + y * w->from_pitch;

				w->snapshot.insert(w->snapshot.end(), row, row + w->width);
			}
	bool device_only = c->srcMemoryType == CU_MEMORYTYPE_DEVICE &&
			   c->dstMemoryType == CU_MEMORYTYPE_DEVICE;
	struct point at;
	CUresult r = stream_give(s, w, &at);
	if (r == CUDA_SUCCESS && !capturing && ((how == HOW_SYNC && !device_only) || to_pageable)) {
		std::shared_ptr<CUresult> fault = s->ctx->fault;

		point_wait(at);
		r = *fault;
	}
	return r;
}

CUresult give_linear(CUmemorytype to_type, uintptr_t to, CUmemorytype from_type, uintptr_t from,
		     size_t bytes, CUstream handle, enum how how)
{
	CUDA_MEMCPY3D c = {};

	c.dstMemoryType = to_type;
	c.dstHost = reinterpret_cast<void *>(to);
	c.dstDevice = to;
	c.srcMemoryType = from_type;
	c.srcHost = reinterpret_cast<const void *>(from);
	c.srcDevice = from;
	c.WidthInBytes = bytes;
	c.Height = c.Depth = 1;
	return give(&c, handle, how);
}

CUresult give_2d(const CUDA_MEMCPY2D *p, CUstream handle, enum how how)
{
	CUDA_MEMCPY3D c = {};

	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	c.srcXInBytes = p->srcXInBytes;
	c.srcY = p->srcY;
	c.srcMemoryType = p->srcMemoryType;
	c.srcHost = p->srcHost;
	c.srcDevice = p->srcDevice;
	c.srcPitch = p->srcPitch;
	c.dstXInBytes = p->dstXInBytes;
	c.dstY = p->dstY;
	c.dstMemoryType = p->dstMemoryType;
	c.dstHost = p->dstHost;
	c.dstDevice = p->dstDevice;
	c.dstPitch = p->dstPitch;
	c.WidthInBytes = p->WidthInBytes;
	c.Height = p->Height;
	c.Depth = 1;
	return give(&c, handle, how);
}

uintptr_t address(const void *p)
{
	return reinterpret_cast<uintptr_t>(p);
}

const CUmemorytype HOST = CU_MEMORYTYPE_HOST, DEVICE = CU_MEMORYTYPE_DEVICE,
		   ANY = CU_MEMORYTYPE_UNIFIED;
} // namespace

CUresult soft::cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	return give_linear(DEVICE, to, HOST, address(from), bytes, nullptr, HOW_SYNC);
}

CUresult soft::cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	return give_linear(HOST, address(to), DEVICE, from, bytes, nullptr, HOW_SYNC);
}

CUresult soft::cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return give_linear(DEVICE, to, DEVICE, from, bytes, nullptr, HOW_SYNC);
}

CUresult soft::cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return give_linear(ANY, to, ANY, from, bytes, nullptr, HOW_SYNC);
}

CUresult soft::cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes)
{
	return give_linear(DEVICE, to, DEVICE, from, bytes, nullptr, HOW_SYNC);
}

CUresult soft::cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream s)
{
	return give_linear(DEVICE, to, HOST, address(from), bytes, s, HOW_ASYNC);
}

CUresult soft::cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream s)
{
	return give_linear(HOST, address(to), DEVICE, from, bytes, s, HOW_ASYNC);
}

CUresult soft::cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s)
{
	return give_linear(DEVICE, to, DEVICE, from, bytes, s, HOW_ASYNC);
}

CUresult soft::cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s)
{
	return give_linear(ANY, to, ANY, from, bytes, s, HOW_ASYNC);
}

CUresult soft::cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
				 size_t bytes, CUstream s)
{
	return give_linear(DEVICE, to, DEVICE, from, bytes, s, HOW_ASYNC);
}

CUresult soft::cuMemcpy2D_v2(const CUDA_MEMCPY2D *c)
{
	return give_2d(c, nullptr, HOW_SYNC);
}

CUresult soft::cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *c)
{
	return give_2d(c, nullptr, HOW_SYNC);
}

CUresult soft::cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream s)
{
	return give_2d(c, s, HOW_ASYNC);
}

CUresult soft::cuMemcpy3D_v2(const CUDA_MEMCPY3D *c)
{
	return c ? give(c, nullptr, HOW_SYNC) : CUDA_ERROR_INVALID_VALUE;
}

CUresult soft::cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *c, CUstream s)
{
	return c ? give(c, s, HOW_ASYNC) : CUDA_ERROR_INVALID_VALUE;
}
