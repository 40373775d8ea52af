// SPDX-License-Identifier: Apache-2.0
#include "config/embedded.h"

#include <stddef.h>

const struct embedded embedded[] = {
#define EMBEDDED(name, text) {name, text},
#include "embedded.def"
#undef EMBEDDED
	{NULL, NULL},
};
