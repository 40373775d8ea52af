/* SPDX-License-Identifier: Apache-2.0 */
/* Where the cache lives, and whether it is the user's own. */
#ifndef AF_SHIM_CACHE_DIR_H
#define AF_SHIM_CACHE_DIR_H

#include <stdbool.h>
#include <sys/stat.h>

/* The directory for the cache option's value ("" is the default place). 0, or -1: there is none. */
int cache_dir_resolve(const char *option, char *path, unsigned size);
/* Opens it, made if needed (0700). A descriptor, or -1 (warned). */
int cache_dir_open(const char *path);
/* Does it belong to this user, and can nobody else write it? */
bool cache_dir_own(const struct stat *st);

#endif
