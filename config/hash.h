/* SPDX-License-Identifier: Apache-2.0 */
/* uthash as a guest may use it: out of memory leaves the element out instead of ending the program.
 */
#ifndef AF_CONFIG_HASH_H
#define AF_CONFIG_HASH_H

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(elt) ((void)(elt))
#include <uthash.h>

#endif
