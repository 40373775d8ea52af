/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/copy.h"
#include <string.h>

namespace
{
enum side { SIDE_HOST, SIDE_DEVICE, SIDE_BAD };

struct end {
	enum side side;
	uintptr_t first; /* address of the box's first byte */
	size_t pitch, slice;
};

struct end end_of(CUmemorytype type, uintptr_t host, CUdeviceptr device, size_t x, size_t y,
		  size_t z, size_t pitch, size_t rows, const CUDA_MEMCPY3D *c)
{
	struct end e = {SIDE_BAD, 0, pitch ? pitch : c->WidthInBytes, 0};
	uintptr_t base = type == CU_MEMORYTYPE_HOST ? host : device;
	size_t bytes;

	if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE &&
	    type != CU_MEMORYTYPE_UNIFIED)
		return e; /* arrays */
	e.slice = e.pitch * (rows ? rows : c->Height);
	e.first = base + z * e.slice + y * e.pitch + x;
	bytes = (c->Depth - 1) * e.slice + (c->Height - 1) * e.pitch + c->WidthInBytes;
	if (c->Height > 1 && e.pitch < c->WidthInBytes)
		return e;
	if (type == CU_MEMORYTYPE_HOST)
		e.side = base ? SIDE_HOST : SIDE_BAD;
	else if (memory_covers(e.first, bytes))
		e.side = SIDE_DEVICE;
	else if (type == CU_MEMORYTYPE_UNIFIED && base && !memory_find(e.first))
		e.side = SIDE_HOST;
	return e;
}

template <class F> void each_row(const struct copy_work *c, F f)
{
	for (size_t z = 0; z < c->depth; z++)
		for (size_t y = 0; y < c->height; y++)
			f(c->to + z * c->to_slice + y * c->to_pitch,
			  c->from + z * c->from_slice + y * c->from_pitch);
}
} // namespace

std::shared_ptr<struct copy_work> copy_make(const CUDA_MEMCPY3D *c, CUresult *why)
{
	auto w = std::make_shared<struct copy_work>();

	w->params = *c;
	w->width = c->WidthInBytes;
	w->height = c->Height;
	w->depth = c->Depth;
	*why = CUDA_SUCCESS;
	if (!w->width || !w->height || !w->depth) {
		w->height = 0;
		return w;
	}
	struct end from =
		end_of(c->srcMemoryType, reinterpret_cast<uintptr_t>(c->srcHost), c->srcDevice,
		       c->srcXInBytes, c->srcY, c->srcZ, c->srcPitch, c->srcHeight, c);
	struct end to =
		end_of(c->dstMemoryType, reinterpret_cast<uintptr_t>(c->dstHost), c->dstDevice,
		       c->dstXInBytes, c->dstY, c->dstZ, c->dstPitch, c->dstHeight, c);
	if (from.side == SIDE_BAD || to.side == SIDE_BAD) {
		*why = CUDA_ERROR_INVALID_VALUE;
		return nullptr;
	}
	w->from = reinterpret_cast<const char *>(from.first);
	w->from_pitch = from.pitch;
	w->from_slice = from.slice;
	w->to = reinterpret_cast<char *>(to.first);
	w->to_pitch = to.pitch;
	w->to_slice = to.slice;
	return w;
}

CUresult copy_work::run() const
{
	const char *stored = snapshot.empty() ? nullptr : snapshot.data();

	each_row(this, [&](char *t, const char *f) {
		memmove(t, stored ? stored : f, width);
		stored = stored ? stored + width : nullptr;
	});
	return CUDA_SUCCESS;
}

std::shared_ptr<struct fill_work> fill_make(const CUDA_MEMSET_NODE_PARAMS *f, CUresult *why)
{
	auto w = std::make_shared<struct fill_work>();
	size_t row = f->width * f->elementSize;

	w->params = *f;
	*why = CUDA_ERROR_INVALID_VALUE;
	if ((f->elementSize != 1 && f->elementSize != 2 && f->elementSize != 4) ||
	    f->dst % f->elementSize)
		return nullptr;
	if (row && f->height &&
	    ((f->height > 1 && f->pitch < row) ||
	     !memory_covers(f->dst, (f->height - 1) * f->pitch + row)))
		return nullptr;
	*why = CUDA_SUCCESS;
	return w;
}

template <class T> static void fill_row(void *p, size_t n, unsigned value)
{
	T *t = static_cast<T *>(p);

	for (size_t i = 0; i < n; i++)
		t[i] = static_cast<T>(value);
}

CUresult fill_work::run() const
{
	for (size_t y = 0; y < params.height; y++) {
		void *row = reinterpret_cast<void *>(params.dst + y * params.pitch);

		if (params.elementSize == 1)
			memset(row, static_cast<int>(params.value), params.width);
		else if (params.elementSize == 2)
			fill_row<uint16_t>(row, params.width, params.value);
		else
			fill_row<uint32_t>(row, params.width, params.value);
	}
	return CUDA_SUCCESS;
}
