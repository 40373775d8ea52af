/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/object.h"

std::unordered_map<const void *, enum object_kind> &objects =
	*new std::unordered_map<const void *, enum object_kind>();
