/* SPDX-License-Identifier: Apache-2.0 */
/* Driver functions outside the table. */
#include "tests/softgpu/driver/context.h"
#include "tests/softgpu/softgpu.h"

int cuSoftgpuExtra(void)
{
	pthread_mutex_lock(&driver.lock);
	CUresult r = soft::cuCtxSynchronize();
	pthread_mutex_unlock(&driver.lock);
	return r;
}

int cuSoftgpuInterop(long *sum, long a, long b, long c, long d, long e, double x, long f, long g,
		     long h, double y)
{
	*sum = a + b + c + d + e + f + g + h + static_cast<long>(x) + static_cast<long>(y);
	return CUDA_SUCCESS;
}
