/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/params.h"

#include <string.h>

#include "shim/driver.h"

const void *params_extra(void **extra, size_t *bytes)
{
	const void *buf = NULL;

	*bytes = 0;
	for (unsigned i = 0; extra && i < 16 && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
		if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buf = extra[i + 1];
		else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1])
			*bytes = *(const size_t *)extra[i + 1];
		else
			return NULL;
	}
	return buf;
}

bool params_pack(void **params, void **extra, const struct kernel *k, uint8_t *out)
{
	const void *buf;
	size_t bytes;

	if (!k->nparam || (params && extra))
		return false;
	memset(out, 0, k->param_bytes);
	if (params) {
		for (uint32_t i = 0; i < k->nparam; i++)
			memcpy(out + k->param[i].offset, params[i], k->param[i].bytes);
		return true;
	}
	buf = params_extra(extra, &bytes);
	if (!buf || bytes != k->param_bytes)
		return false;
	memcpy(out, buf, k->param_bytes);
	return true;
}
