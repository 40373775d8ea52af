/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/cudart/runtime.h"

namespace
{
struct row {
	cudaError_t code;
	const char *name, *words;
};

const struct row rows[] = {
#define ERROR(driver, runtime, words) {cuda##runtime, "cuda" #runtime, words},
#include "tests/softgpu/errors.def"
#undef ERROR
	/* The runtime's own. */
	{cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
	 "invalid configuration argument"},
	{cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
	{cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
	 "invalid device function"},
	{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
	 "CUDA driver version is insufficient for CUDA runtime version"},
	{cudaErrorMissingConfiguration, "cudaErrorMissingConfiguration",
	 "kernel launch has no configuration"},
};

const struct row *find(cudaError_t code)
{
	for (const struct row &r : rows)
		if (r.code == code)
			return &r;
	return nullptr;
}
} // namespace

const char *cudaGetErrorName(cudaError_t code)
{
	const struct row *r = find(code);

	return r ? r->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t code)
{
	const struct row *r = find(code);

	return r ? r->words : "unrecognized error code";
}
