/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's parameters, in the two forms that launches and graph nodes have them. */
#ifndef AF_SHIM_PARAMS_H
#define AF_SHIM_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "matcher/launch.h"

/* The packed buffer of an `extra` list (cuda.h, CU_LAUNCH_PARAM_*), its size in *bytes; NULL if
 * there is none or the list is malformed. */
const void *params_extra(void **extra, size_t *bytes);
/*
 * Copies them as the kernel sees them into out, which has room for k->param_bytes. False if they
 * cannot be had whole, or if the driver will refuse them: both forms, or a buffer of another size.
 */
bool params_pack(void **params, void **extra, const struct kernel *k, uint8_t *out);

#endif
