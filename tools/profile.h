/* SPDX-License-Identifier: Apache-2.0 */
/* From a recording's times to the profile that later runs use. */
#ifndef AF_TOOLS_PROFILE_H
#define AF_TOOLS_PROFILE_H

#include "tools/recording.h"

/*
 * Saves, for every verdict and number of rows that ran both ways often enough, the median times of
 * the members and of the fused kernel (shim/cache_profile.h) in the cache directory of the
 * configuration. *slower: at how many of them fusing does not pay. Returns how many there are, or
 * -1 if they could not be saved (said so).
 */
int profile_save(const struct recording *r, const char *cache, unsigned *slower);

#endif
