/* SPDX-License-Identifier: Apache-2.0 */
/* The one thing that writing JSON needs help with. */
#ifndef AF_CONFIG_JSON_H
#define AF_CONFIG_JSON_H

#include <stdio.h>

/* Writes s as a JSON string, quotes and all; NULL as "". Bytes from 0x80 on go out as they are. */
void json_text(FILE *f, const char *s);

#endif
