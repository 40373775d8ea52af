/* SPDX-License-Identifier: Apache-2.0 */
/* The exported functions. Each counts, may be made to fail, takes the lock and runs its body. */
#include <string.h>
#include "tests/softgpu/driver/inject.h"
#include "tests/softgpu/driver/observe.h"
#include "tests/softgpu/driver/registry.h"
#include "tests/softgpu/driver/state.h"

namespace
{
bool works_before_init(enum api_call call)
{
	switch (call) {
	case CALL_cuInit:
	case CALL_cuDriverGetVersion:
	case CALL_cuGetProcAddress:
	case CALL_cuGetProcAddress_v2:
	case CALL_cuGetErrorName:
	case CALL_cuGetErrorString:
	case CALL_cuGetExportTable:
	case CALL_cuThreadExchangeStreamCaptureMode:
		return true;
	default:
		return false;
	}
}

/* One call from entry to return. */
struct call {
	CUresult answer; /* other than CUDA_SUCCESS: the body must not run */
	bool outer_default;

	call(enum api_call c, enum api_flavour flavour) : outer_default(self.per_thread_default)
	{
		if (c == CALL_cuInit)
			companions_load(); /* their constructors run: not under the lock */
		observe_enter(api_rows[c].name);
		answer = inject(c);
		pthread_mutex_lock(&driver.lock);
		if (answer == CUDA_SUCCESS && !works_before_init(c) && !driver.initialised)
			answer = CUDA_ERROR_NOT_INITIALIZED;
		if (driver.forked && c != CALL_cuDriverGetVersion)
			answer = CUDA_ERROR_NOT_INITIALIZED;
		self.per_thread_default = flavour != FLAVOUR_legacy;
	}
	~call()
	{
		self.per_thread_default = outer_default;
		pthread_mutex_unlock(&driver.lock);
	}
};
} // namespace

#define DRIVER_API(name, base, since, flavour, stream, params, args)                               \
	extern "C" __attribute__((visibility("default"))) CUresult name params                     \
	{                                                                                          \
		struct call c(CALL_##name, FLAVOUR_##flavour);                                     \
		__typeof__(&::name) body =                                                         \
			reinterpret_cast<__typeof__(&::name)>(api_rows[CALL_##name].body);         \
		return c.answer == CUDA_SUCCESS ? body args : c.answer;                            \
	}
#include "driver_api.def"
#undef DRIVER_API

struct api_row api_rows[CALL_COUNT] = {
#define DRIVER_API(name, base, since, flavour, stream, params, args)                               \
	{#name,                                                                                    \
	 #base,                                                                                    \
	 since,                                                                                    \
	 FLAVOUR_##flavour,                                                                        \
	 reinterpret_cast<void *>(&::name),                                                        \
	 reinterpret_cast<void *>(static_cast<__typeof__(&::name)>(&soft::name))},
#include "driver_api.def"
#undef DRIVER_API
};

/* Per-thread-stream flavours run their sibling's body; per_thread_default tells them apart. */
static bool share_bodies()
{
	for (struct api_row &row : api_rows) {
		size_t bytes = strlen(row.name) - strlen("_ptsz");

		if (row.flavour == FLAVOUR_legacy)
			continue;
		for (const struct api_row &other : api_rows)
			if (strncmp(other.name, row.name, bytes) == 0 && !other.name[bytes])
				row.body = other.body;
	}
	return true;
}
__attribute__((used)) static const bool shared =
	share_bodies(); /* behind api_rows, hence after it */
