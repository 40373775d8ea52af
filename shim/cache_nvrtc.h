/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which NVRTC was found by a search, noted in the cache directory: the library, which never loads
 * it, then knows the version that its images are kept under, and starts no child for one that is
 * there already.
 */
#ifndef AF_SHIM_CACHE_NVRTC_H
#define AF_SHIM_CACHE_NVRTC_H

#include <stdint.h>

/* The version noted for the search (a hash of all that it goes by); 0 if there is none, or if the
 * file that was found is another one now. One that is gone still counts: its images are good. */
unsigned cache_nvrtc_get(uint64_t search);
void cache_nvrtc_put(uint64_t search, unsigned version, const char *path);

#endif
