/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts that come and go, on any driver: KiB of device memory that are gone in the last, beyond
 * what was gone in the first. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 8, LIVES_US = 200000 };

int main(void)
{
	size_t first = 0, left = 0, all;

	if (cuInit(0))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		CUcontext ctx;

		if (cuCtxCreate_v2(&ctx, 0, 0) || usleep(LIVES_US) ||
		    cuMemGetInfo_v2(&left, &all) || cuCtxDestroy_v2(ctx))
			return 1;
		first = i ? first : left;
	}
	printf("%lld\n", ((long long)first - (long long)left) / 1024);
	return 0;
}
