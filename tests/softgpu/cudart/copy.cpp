/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills. */
#include "tests/softgpu/cudart/runtime.h"

namespace
{
CUresult copy(const struct api &d, void *to, const void *from, size_t bytes,
	      enum cudaMemcpyKind kind)
{
	if (!bytes)
		return CUDA_SUCCESS;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return d.cuMemcpyHtoD_v2(device_pointer(to), from, bytes);
	case cudaMemcpyDeviceToHost:
		return d.cuMemcpyDtoH_v2(to, device_pointer(from), bytes);
	case cudaMemcpyDeviceToDevice:
		return d.cuMemcpyDtoD_v2(device_pointer(to), device_pointer(from), bytes);
	default:
		return d.cuMemcpy(device_pointer(to), device_pointer(from), bytes);
	}
}

CUresult copy_async(const struct api &d, void *to, const void *from, size_t bytes,
		    enum cudaMemcpyKind kind, cudaStream_t s)
{
	if (!bytes)
		return CUDA_SUCCESS;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return d.cuMemcpyHtoDAsync_v2(device_pointer(to), from, bytes, s);
	case cudaMemcpyDeviceToHost:
		return d.cuMemcpyDtoHAsync_v2(to, device_pointer(from), bytes, s);
	case cudaMemcpyDeviceToDevice:
		return d.cuMemcpyDtoDAsync_v2(device_pointer(to), device_pointer(from), bytes, s);
	default:
		return d.cuMemcpyAsync(device_pointer(to), device_pointer(from), bytes, s);
	}
}

CUmemorytype type_of(bool host, enum cudaMemcpyKind kind)
{
	if (kind == cudaMemcpyDefault || kind == cudaMemcpyHostToHost)
		return CU_MEMORYTYPE_UNIFIED;
	return host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

CUDA_MEMCPY2D box(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
		  size_t height, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D c = {};

	c.dstMemoryType = type_of(kind == cudaMemcpyDeviceToHost, kind);
	c.dstHost = to;
	c.dstDevice = device_pointer(to);
	c.dstPitch = to_pitch;
	c.srcMemoryType = type_of(kind == cudaMemcpyHostToDevice, kind);
	c.srcHost = from;
	c.srcDevice = device_pointer(from);
	c.srcPitch = from_pitch;
	c.WidthInBytes = width;
	c.Height = height;
	return c;
}

CUresult copy_box(const struct api &d, const CUDA_MEMCPY2D &c)
{
	return d.cuMemcpy2DUnaligned_v2(&c);
}

CUresult copy_box_async(const struct api &d, const CUDA_MEMCPY2D &c, cudaStream_t s)
{
	return d.cuMemcpy2DAsync_v2(&c, s);
}

/* to_symbol: from `p` to the variable; else the other way. */
CUresult copy_symbol(const struct api &d, const void *symbol, void *p, size_t bytes, size_t offset,
		     enum cudaMemcpyKind kind, bool to_symbol, bool async, cudaStream_t s)
{
	CUdeviceptr at;
	size_t size;
	cudaError_t r = symbol_find(symbol, &at, &size);

	if (r != cudaSuccess)
		return static_cast<CUresult>(r);
	if (offset > size || bytes > size - offset)
		return CUDA_ERROR_INVALID_VALUE;
	void *variable = reinterpret_cast<void *>(at + offset);
	void *to = to_symbol ? variable : p, *from = to_symbol ? p : variable;
	return async ? copy_async(d, to, from, bytes, kind, s) : copy(d, to, from, bytes, kind);
}
} // namespace

RUNTIME_BOTH(cudaMemcpy, _ptds,
	     (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind),
	     copy(d, to, from, bytes, kind))
RUNTIME_BOTH(cudaMemcpyAsync, _ptsz,
	     (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s),
	     copy_async(d, to, from, bytes, kind, s))
RUNTIME_BOTH(cudaMemcpy2D, _ptds,
	     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
	      size_t height, enum cudaMemcpyKind kind),
	     copy_box(d, box(to, to_pitch, from, from_pitch, width, height, kind)))
RUNTIME_BOTH(cudaMemcpy2DAsync, _ptsz,
	     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
	      size_t height, enum cudaMemcpyKind kind, cudaStream_t s),
	     copy_box_async(d, box(to, to_pitch, from, from_pitch, width, height, kind), s))
RUNTIME_BOTH(cudaMemcpyToSymbol, _ptds,
	     (const void *symbol, const void *from, size_t bytes, size_t offset,
	      enum cudaMemcpyKind kind),
	     copy_symbol(d, symbol, const_cast<void *>(from), bytes, offset, kind, true, false,
			 nullptr))
RUNTIME_BOTH(cudaMemcpyFromSymbol, _ptds,
	     (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
	     copy_symbol(d, symbol, to, bytes, offset, kind, false, false, nullptr))
RUNTIME_BOTH(cudaMemcpyToSymbolAsync, _ptsz,
	     (const void *symbol, const void *from, size_t bytes, size_t offset,
	      enum cudaMemcpyKind kind, cudaStream_t s),
	     copy_symbol(d, symbol, const_cast<void *>(from), bytes, offset, kind, true, true, s))
RUNTIME_BOTH(cudaMemcpyFromSymbolAsync, _ptsz,
	     (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
	      cudaStream_t s),
	     copy_symbol(d, symbol, to, bytes, offset, kind, false, true, s))
RUNTIME_BOTH(cudaMemset, _ptds, (void *to, int value, size_t bytes),
	     bytes ? d.cuMemsetD8_v2(device_pointer(to), static_cast<unsigned char>(value), bytes)
		   : CUDA_SUCCESS)
RUNTIME_BOTH(cudaMemsetAsync, _ptsz, (void *to, int value, size_t bytes, cudaStream_t s),
	     bytes ? d.cuMemsetD8Async(device_pointer(to), static_cast<unsigned char>(value), bytes,
				       s)
		   : CUDA_SUCCESS)
RUNTIME_BOTH(cudaMemset2D, _ptds, (void *to, size_t pitch, int value, size_t width, size_t height),
	     d.cuMemsetD2D8_v2(device_pointer(to), pitch, static_cast<unsigned char>(value), width,
			       height))
RUNTIME_BOTH(cudaMemset2DAsync, _ptsz,
	     (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t s),
	     d.cuMemsetD2D8Async(device_pointer(to), pitch, static_cast<unsigned char>(value),
				 width, height, s))
RUNTIME_BOTH(cudaMemPrefetchAsync, _ptsz,
	     (const void *p, size_t bytes, struct cudaMemLocation location, unsigned flags,
	      cudaStream_t s),
	     d.cuMemPrefetchAsync_v2(device_pointer(p), bytes,
				     {static_cast<CUmemLocationType>(location.type), location.id},
				     flags, s))

cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, size_t bytes)
{
	RUNTIME_CALL(legacy.cuMemcpyDtoD_v2(device_pointer(to), device_pointer(from), bytes));
}
