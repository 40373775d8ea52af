/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels and variables that companion libraries registered. Has a lock of its own. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_REGISTRY_H
#define AF_TESTS_SOFTGPU_DRIVER_REGISTRY_H

#include <stdint.h>
#include <string>
#include <vector>
#include "tests/softgpu/engine.h"

const struct softgpu_kernel *registry_kernel(const char *name);
const struct softgpu_variable *registry_variable(const char *name);
std::vector<std::string> registry_kernel_names();

/*
 * Loads the companions: those of SOFTGPU_KERNELS, then <executable>.softgpu.so and, beside the
 * directory of libcuda.so.1, libautofuse.softgpu.so. SOFTGPU_KERNELS is set to all of them for
 * children. Once per process; not under the driver's lock, as constructors run.
 */
void companions_load();

#endif
