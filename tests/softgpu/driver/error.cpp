/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/api.h"

namespace
{
struct row {
	CUresult code;
	const char *name, *words;
};

const struct row rows[] = {
#define ERROR(driver, runtime, words) {CUDA_##driver, "CUDA_" #driver, words},
#include "tests/softgpu/errors.def"
#undef ERROR
};

const struct row *find(CUresult code)
{
	for (const struct row &r : rows)
		if (r.code == code)
			return &r;
	return nullptr;
}
} // namespace

CUresult soft::cuGetErrorName(CUresult code, const char **out)
{
	const struct row *r = find(code);

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = r ? r->name : nullptr;
	return r ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult soft::cuGetErrorString(CUresult code, const char **out)
{
	const struct row *r = find(code);

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = r ? r->words : nullptr;
	return r ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
