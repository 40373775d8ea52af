/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a whole launch. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_GRID_H
#define AF_TESTS_SOFTGPU_DRIVER_GRID_H

#include <map>
#include <string>
#include "tests/softgpu/driver/work.h"

/*
 * How often each kernel has run to its end, in streams and graphs alike. Own lock.
 */
std::map<std::string, uint64_t> grid_counts();
void grid_counts_reset();

#endif
