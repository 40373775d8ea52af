/* SPDX-License-Identifier: Apache-2.0 */
/* A cache directory of a test's own, new for each and gone behind it: setup and teardown. */
#ifndef AF_TESTS_UNIT_OWN_CACHE_H
#define AF_TESTS_UNIT_OWN_CACHE_H

#include <stdio.h>
#include <stdlib.h>

#include "shim/cache.h"

static char own_cache[256];

static int own_cache_make(void **arg)
{
	const char *tmp = getenv("AF_TMP");

	snprintf(own_cache, sizeof(own_cache), "%s/autofuse-cache-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(own_cache) && !cache_open(own_cache, 1) ? 0 : -1;
}

static int own_cache_remove(void **arg)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf %s", own_cache);
	return system(command);
}

#endif
