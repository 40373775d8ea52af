/* SPDX-License-Identifier: Apache-2.0 */
/* The part of check_body.h that concerns chains. */
#ifndef AF_SHIM_CHECK_CHAIN_H
#define AF_SHIM_CHECK_CHAIN_H

#include "shim/check_body.h"

/* Memory that has to be copied before any member runs; r: room for GROUP_MAX_SLOTS. How many. */
unsigned check_chain_copies(const struct group *g, struct range *r);
/* Memory that copies of all take. */
uint64_t check_chain_bytes(const struct group *g);
/* Does it mean something to run only the first part of its rows? */
bool check_chain_in_part(const struct group *g);
/* As check_body, for a chain's group. */
bool check_chain_body(const struct check *c, const struct group *g, const struct verdict *v,
		      const struct ours *o, const struct check_sink *sink, void *arg);

#endif
