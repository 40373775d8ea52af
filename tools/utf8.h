/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files, kernels and the like in JSON: nobody promised that they are UTF-8. */
#ifndef AF_TOOLS_UTF8_H
#define AF_TOOLS_UTF8_H

#include <jansson.h>

/* The text as a JSON string; each byte that is not UTF-8 becomes U+FFFD. NULL: "?". */
json_t *utf8_json(const char *text);

#endif
