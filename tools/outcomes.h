/* SPDX-License-Identifier: Apache-2.0 */
/* What came of each group in a recorded process: its `g` and `gg` lines. */
#ifndef AF_TOOLS_OUTCOMES_H
#define AF_TOOLS_OUTCOMES_H

#include <stdbool.h>
#include <stdint.h>

#include "matcher/reason.h"

struct outcomes;

struct outcome_of {
	bool fused, checked;
	enum reason why;
};

struct outcomes *outcomes_new(void);
/* The group of these n launches; what is said first stands. */
void outcomes_add(struct outcomes *o, const uint32_t *launch, unsigned n,
		  const struct outcome_of *what);
/* The same; what is said last stands. */
void outcomes_set(struct outcomes *o, const uint32_t *launch, unsigned n,
		  const struct outcome_of *what);
/* The group of these n launches, or NULL. */
const struct outcome_of *outcomes_find(const struct outcomes *o, const uint32_t *launch,
				       unsigned n);
void outcomes_free(struct outcomes *o);

#endif
