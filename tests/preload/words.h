/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments as plain words, for comparing what a caller passed with what a driver got. */
#ifndef AF_TESTS_PRELOAD_WORDS_H
#define AF_TESTS_PRELOAD_WORDS_H

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
#include <cudaProfiler.h>
#include <stdint.h>
#include <string.h>

enum { WORDS_MAX = 256, FAKE_LOG = 256 };

/* One call that the fake driver got. */
struct words_seen {
	const char *name;
	unsigned n;
	unsigned char bytes[WORDS_MAX];
};
/* The last FAKE_LOG calls; call number i is in entry i % FAKE_LOG. */
struct fake_log {
	unsigned long calls;
	struct words_seen call[FAKE_LOG];
};

#ifdef __cplusplus
template <class T> void words_add(words_seen *w, const T &value)
{
	if (w->n + sizeof(T) <= WORDS_MAX) {
		memcpy(w->bytes + w->n, &value, sizeof(T));
		w->n += sizeof(T);
	}
}
template <class... A> void words_pack(words_seen *w, const A &...values)
{
	w->n = 0;
	(words_add(w, values), ...);
}
#endif

/* The fake driver's own interface. */
#ifdef __cplusplus
extern "C" {
#endif
extern struct fake_log fake_log;
/* Outside the table: nine integers and nine floats, so that both kinds spill to the stack. */
CUresult cuFakeOutside(long a, double b, long c, double d, long e, double f, long g, double h,
		       long i, double j, long k, double l, long m, double n, long o, double p,
		       long q, double r);
/* dlsym(handle, name) called from inside the driver. */
void *fake_lookup(void *handle, const char *name);
#ifdef __cplusplus
}
#endif

#endif
