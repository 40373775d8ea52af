/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who gets a wrapper: look-ups of driver functions by dlsym or cuGetProcAddress are answered with
 * the hook or thunk of the very function that the real look-up found (by pointer, so versions and
 * stream flavours cannot be mixed up). Runs before anything of ours is set up: no allocation, no
 * lock of ours, no message.
 */
#ifndef AF_SHIM_ROUTE_H
#define AF_SHIM_ROUTE_H

#include <stdbool.h>

/* Does the process call our dlsym? Another preloaded library's before it hands out driver functions
 * that we then do not see. */
bool route_first(void);

/* The driver stays loaded from now on: our threads and exit handler call it after the program may
 * have closed its last handle. Allocates; not for the dlsym path. */
void route_keep(void);

/* What stands for a driver function: its hook, its thunk, or itself if it already is ours. */
void *route_pointer(void *function);

#endif
