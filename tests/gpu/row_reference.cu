/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/gpu/row_reference.cuh"
