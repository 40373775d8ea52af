/* SPDX-License-Identifier: Apache-2.0 */
/* Launches and groups into lines. */
#ifndef AF_TOOLS_LISTING_LINES_H
#define AF_TOOLS_LISTING_LINES_H

#include "tools/listing.h"

/* Folds every stream, fills l->line and each stream's `loops`. */
void listing_lines(struct listing *l);
/* Fills in what the lines of groups save. */
void listing_savings(struct listing *l);

#endif
