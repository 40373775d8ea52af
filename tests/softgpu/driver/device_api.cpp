/* SPDX-License-Identifier: Apache-2.0 */
/* Devices and their primary contexts. */
#include <stdio.h>
#include <string.h>
#include "tests/softgpu/driver/context.h"
#include "tests/softgpu/engine.h"

CUresult soft::cuDriverGetVersion(int *out)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = 13000;
	return CUDA_SUCCESS;
}

CUresult soft::cuDeviceGetCount(int *out)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = static_cast<int>(driver.devices.size());
	return CUDA_SUCCESS;
}

CUresult soft::cuDeviceGet(CUdevice *out, int ordinal)
{
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_get(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*out = ordinal;
	return CUDA_SUCCESS;
}

CUresult soft::cuDeviceGetName(char *out, int bytes, CUdevice dev)
{
	if (!device_get(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!out || bytes <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(out, static_cast<size_t>(bytes), "softgpu: CUDA on the CPU");
	return CUDA_SUCCESS;
}

CUresult soft::cuDeviceGetUuid_v2(CUuuid *out, CUdevice dev)
{
	if (!device_get(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	memcpy(out->bytes, "softgpu device 0", sizeof(out->bytes));
	out->bytes[15] = static_cast<char>('0' + dev);
	return CUDA_SUCCESS;
}

CUresult soft::cuDeviceGetUuid(CUuuid *out, CUdevice dev)
{
	return soft::cuDeviceGetUuid_v2(out, dev);
}

CUresult soft::cuDeviceTotalMem_v2(size_t *out, CUdevice dev)
{
	if (!device_get(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*out = driver.device_memory;
	return CUDA_SUCCESS;
}

CUresult soft::cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
	if (!device_get(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*major = driver.capability / 10;
	*minor = driver.capability % 10;
	return CUDA_SUCCESS;
}

CUresult soft::cuDeviceGetPCIBusId(char *out, int bytes, CUdevice dev)
{
	if (!device_get(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(out, static_cast<size_t>(bytes), "0000:%02x:00.0", static_cast<unsigned>(dev) + 1);
	return CUDA_SUCCESS;
}

CUresult soft::cuDeviceGetByPCIBusId(CUdevice *out, const char *text)
{
	unsigned domain, bus;

	if (!out || !text || sscanf(text, "%x:%x:", &domain, &bus) != 2)
		return CUDA_ERROR_INVALID_VALUE;
	return soft::cuDeviceGet(out, static_cast<int>(bus) - 1);
}

CUresult soft::cuDeviceCanAccessPeer(int *out, CUdevice dev, CUdevice peer)
{
	if (!device_get(dev) || !device_get(peer))
		return CUDA_ERROR_INVALID_DEVICE;
	*out = dev != peer;
	return CUDA_SUCCESS;
}

CUresult soft::cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice dev)
{
	struct device *d = device_get(dev);

	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!d->primary)
		d->last_primary = d->primary = context_new(d, d->primary_flags, 3020, true);
	d->primary_refs++;
	*out = reinterpret_cast<CUcontext>(d->primary);
	return CUDA_SUCCESS;
}

CUresult soft::cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	struct device *d = device_get(dev);

	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	if (d->primary)
		context_delete(d->primary);
	d->primary = nullptr; /* the references stay */
	return CUDA_SUCCESS;
}

CUresult soft::cuDevicePrimaryCtxReset(CUdevice dev)
{
	return soft::cuDevicePrimaryCtxReset_v2(dev);
}

CUresult soft::cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	struct device *d = device_get(dev);

	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!d->primary_refs)
		return CUDA_ERROR_INVALID_CONTEXT;
	return --d->primary_refs ? CUDA_SUCCESS : soft::cuDevicePrimaryCtxReset_v2(dev);
}

CUresult soft::cuDevicePrimaryCtxRelease(CUdevice dev)
{
	return soft::cuDevicePrimaryCtxRelease_v2(dev);
}

CUresult soft::cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned flags)
{
	struct device *d = device_get(dev);

	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	d->primary_flags = flags;
	if (d->primary)
		d->primary->flags = flags;
	return CUDA_SUCCESS;
}

CUresult soft::cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned flags)
{
	return soft::cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

CUresult soft::cuDevicePrimaryCtxGetState(CUdevice dev, unsigned *flags, int *active)
{
	struct device *d = device_get(dev);

	if (!d)
		return CUDA_ERROR_INVALID_DEVICE;
	if (flags)
		*flags = d->primary_flags;
	if (active)
		*active = d->primary != nullptr;
	return CUDA_SUCCESS;
}
