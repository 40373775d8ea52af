/* SPDX-License-Identifier: Apache-2.0 */
/* Look-up of entry points by name, version and stream flavour. */
#include <string.h>
#include "tests/softgpu/driver/api.h"
#include "tests/softgpu/softgpu.h"

namespace
{
/* The entry for a name, or NULL. */
void *find(const char *symbol, int version, cuuint64_t flags,
	   CUdriverProcAddressQueryResult *status)
{
	const struct api_row *legacy = nullptr, *per_thread = nullptr;
	bool named = false;
	void *entry = nullptr;

	for (const struct api_row &row : api_rows) {
		if (strcmp(row.base, symbol) != 0)
			continue;
		named = true;
		const struct api_row **best = row.flavour == FLAVOUR_legacy ? &legacy : &per_thread;
		if (row.since <= version && (!*best || row.since > (*best)->since))
			*best = &row;
	}
	if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM && per_thread)
		entry = per_thread->entry;
	else if (legacy)
		entry = legacy->entry;
	/* Functions outside the table, as a newer driver has them. */
	if (strcmp(symbol, "cuSoftgpuExtra") == 0)
		entry = reinterpret_cast<void *>(cuSoftgpuExtra);
	if (strcmp(symbol, "cuSoftgpuInterop") == 0)
		entry = reinterpret_cast<void *>(cuSoftgpuInterop);
	*status = entry   ? CU_GET_PROC_ADDRESS_SUCCESS
		  : named ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
			  : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return entry;
}
} // namespace

/* Both as the driver of an H200 answered (580.159, CUDA 13.0). */
CUresult soft::cuGetProcAddress(const char *symbol, void **out, int version, cuuint64_t flags)
{
	CUdriverProcAddressQueryResult status;
	void *entry = find(symbol, version, flags, &status);

	if (!entry)
		return CUDA_ERROR_NOT_FOUND;
	*out = entry;
	return CUDA_SUCCESS;
}

CUresult soft::cuGetProcAddress_v2(const char *symbol, void **out, int version, cuuint64_t flags,
				   CUdriverProcAddressQueryResult *status)
{
	CUdriverProcAddressQueryResult ignored;

	if (flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
		return CUDA_ERROR_INVALID_VALUE;
	*out = find(symbol, version, flags, status ? status : &ignored);
	return CUDA_SUCCESS;
}

/* Private tables of the real driver: there are none here. */
CUresult soft::cuGetExportTable(const void **, const CUuuid *)
{
	return CUDA_ERROR_NOT_FOUND;
}
