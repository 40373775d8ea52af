/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between a device and the host: as the software GPU has it. */
#include "tests/softgpu/device.h"

extern "C" float row_interp_rsqrt(float a);
float row_interp_rsqrt(float a)
{
	return rsqrtf(a);
}
