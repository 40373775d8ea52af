/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a configuration file: [autofuse], [pattern NAME], [kernel LABEL]. */
#ifndef AF_CONFIG_SECTIONS_H
#define AF_CONFIG_SECTIONS_H

#include <stddef.h>

#include "config/config.h"

/* Adds one text to c; bad lines are warned about, counted in c->errors and returned. */
unsigned sections_read(struct config *c, const char *name, const char *text, size_t size);
void sections_free(struct config *c);

/* A copy of text that lives as long as c ("?" if there is no memory). In config.c. */
const char *config_keep(struct config *c, const char *text);

#endif
