/* SPDX-License-Identifier: Apache-2.0 */
/* A candidate, unpacked: one number per field of candidate.def. Shared by host code and kernels. */
#ifndef AF_FUSED_FIELDS_H
#define AF_FUSED_FIELDS_H

#include <stdint.h>

struct fields {
#define FIELD(name, bits) uint16_t name;
#define VALUE(field, value, token)
#include "fused/candidate.def"
#undef FIELD
#undef VALUE
};

/* Values as enumerators: WALK_STRIDED is spelled FIELD_walk_STRIDED, and so on. */
enum {
#define FIELD(name, bits) FIELD_##name##_start_, FIELD_##name##_reset_ = -1,
#define VALUE(field, value, token) FIELD_##field##_##value,
#include "fused/candidate.def"
#undef FIELD
#undef VALUE
};

#endif
