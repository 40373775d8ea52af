/* SPDX-License-Identifier: Apache-2.0 */
/* Fills. None of them waits, as on a GPU for device memory. */
#include "tests/softgpu/driver/copy.h"

static CUresult give(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width,
		     size_t height, CUstream handle)
{
	CUDA_MEMSET_NODE_PARAMS f = {to, pitch, value, element, width, height};
	CUresult why;
	STREAM_OR_RETURN(s, handle);
	std::shared_ptr<struct fill_work> w = fill_make(&f, &why);

	return w ? stream_give(s, w) : why;
}

CUresult soft::cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t n)
{
	return give(to, 0, value, 1, n, 1, nullptr);
}

CUresult soft::cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t n)
{
	return give(to, 0, value, 2, n, 1, nullptr);
}

CUresult soft::cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t n)
{
	return give(to, 0, value, 4, n, 1, nullptr);
}

CUresult soft::cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
			       size_t height)
{
	return give(to, pitch, value, 1, width, height, nullptr);
}

CUresult soft::cuMemsetD2D16_v2(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
				size_t height)
{
	return give(to, pitch, value, 2, width, height, nullptr);
}

CUresult soft::cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
				size_t height)
{
	return give(to, pitch, value, 4, width, height, nullptr);
}

CUresult soft::cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream s)
{
	return give(to, 0, value, 1, n, 1, s);
}

CUresult soft::cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t n, CUstream s)
{
	return give(to, 0, value, 2, n, 1, s);
}

CUresult soft::cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n, CUstream s)
{
	return give(to, 0, value, 4, n, 1, s);
}

CUresult soft::cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width,
				 size_t height, CUstream s)
{
	return give(to, pitch, value, 1, width, height, s);
}

CUresult soft::cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width,
				  size_t height, CUstream s)
{
	return give(to, pitch, value, 2, width, height, s);
}

CUresult soft::cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
				  size_t height, CUstream s)
{
	return give(to, pitch, value, 4, width, height, s);
}
