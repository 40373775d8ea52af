/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/softgpu/driver/block.h"
#include "tests/softgpu/driver/pool.h"
#include "tests/softgpu/driver/report.h"
#include "tests/softgpu/driver/state.h"

namespace
{
/*
 * As the real driver, this one does not work in a child that was forked after cuInit. The lock may
 * have been anybody's at the fork.
 */
void forked()
{
	pthread_mutex_init(&driver.lock, nullptr);
	driver.forked = true;
}

uint64_t random_seed()
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return mix64(static_cast<uint64_t>(t.tv_nsec) + (static_cast<uint64_t>(getpid()) << 32));
}
} // namespace

CUresult soft::cuInit(unsigned flags)
{
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (driver.initialised)
		return CUDA_SUCCESS;
	long long devices = env_number("SOFTGPU_DEVICES", 1);
	if (devices <= 0)
		return CUDA_ERROR_NO_DEVICE;
	driver.device_memory = static_cast<size_t>(env_number("SOFTGPU_MEMORY", 8ll << 30));
	driver.capability = static_cast<int>(env_number("SOFTGPU_CAPABILITY", 90));
	driver.seed = static_cast<uint64_t>(
		env_number("SOFTGPU_SEED", static_cast<long long>(random_seed())));
	driver.launch_blocking = blocking && strcmp(blocking, "1") == 0;
	driver.devices.resize(static_cast<size_t>(devices));
	for (struct device &d : driver.devices) {
		d.ordinal = static_cast<int>(&d - driver.devices.data());
		d.default_pool = d.current_pool = pool_new(&d);
	}
	report_environment();
	pthread_atfork(nullptr, nullptr, forked);
	driver.initialised = true;
	return CUDA_SUCCESS;
}
