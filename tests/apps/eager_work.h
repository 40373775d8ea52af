/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of `eager`: known by name and layout, they do what the decoders say. */
#ifndef AF_TESTS_APPS_EAGER_WORK_H
#define AF_TESTS_APPS_EAGER_WORK_H

#include "matcher/launch.h"

/* The software GPU shall have the kernel of that launch. 0, or -1: there are too many. */
int work_register(const struct launch *l);

#endif
