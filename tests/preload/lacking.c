/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program linked to a newer driver than it finds: functions that it never calls do no harm, and
 * calls of functions that we export but the driver lacks are answered. Prints TAP.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "tests/preload/owner.h"

int main(void)
{
	CUdevice device;

	ok(cuLibraryUnload(NULL) == CUDA_ERROR_NOT_FOUND, "before anything else: a hook answers");
	ok(cuGraphAddNode_v2(NULL, NULL, NULL, NULL, 0, NULL) == CUDA_ERROR_NOT_FOUND,
	   "a thunk answers");
	ok(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS,
	   "what there is works");
	ok(cuLibraryUnload(NULL) == CUDA_ERROR_NOT_FOUND, "a hook still answers");
	ok(cuGraphAddNode_v2(NULL, NULL, NULL, NULL, 0, NULL) == CUDA_ERROR_NOT_FOUND,
	   "and a thunk");
	return finished();
}
