/* SPDX-License-Identifier: Apache-2.0 */
/* What an image pointer given to the driver points to. */
#ifndef AF_SHIM_IMAGE_BYTES_H
#define AF_SHIM_IMAGE_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Finds the bytes behind an image pointer that the driver has just accepted: follows a fatbin
 * wrapper to its data and measures fatbin, cubin or PTX by its own header. NULL if the form is
 * unknown.
 */
const void *image_bytes(const void *data, uint64_t *bytes);

/* Could a signature match a kernel in it? Names are only read from plain cubins; what else there
 * is may hold anything. */
bool image_matters(const void *data, uint64_t bytes);

#endif
