/* SPDX-License-Identifier: Apache-2.0 */
/* The probe request of shim/probe.h as text. */
#ifndef AF_SHIM_PROBE_REQUEST_H
#define AF_SHIM_PROBE_REQUEST_H

#include <stdio.h>

#include "shim/verdict.h"

/* image_file/image_offset: where the child finds each member's image. */
void probe_request(FILE *f, const struct verdict *v, const struct group *g, int device,
		   char (*image_file)[4096], const uint64_t *image_offset);

#endif
