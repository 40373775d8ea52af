/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/gpu/sweep.cuh"
