/* SPDX-License-Identifier: Apache-2.0 */
/* What people call a chain: the most specific pattern that its members make up. */
#ifndef AF_MATCHER_CHAIN_NAME_H
#define AF_MATCHER_CHAIN_NAME_H

#include "matcher/group.h"

enum pattern_id chain_name(const struct member *const *member, unsigned n);

#endif
