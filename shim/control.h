/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switching fusion off and on in a running process: the options control (a file) and toggle_signal.
 * Off means that no sequence that begins from then on is substituted, held or checked; launches are
 * still watched, so that on again is on at once. Without either option there is no thread.
 */
#ifndef AF_SHIM_CONTROL_H
#define AF_SHIM_CONTROL_H

#include <stdbool.h>

extern int control_off; /* read with control_on */

static inline bool control_on(void)
{
	return !__atomic_load_n(&control_off, __ATOMIC_RELAXED);
}

/* Once, when the configuration is read. */
void control_start(void);

#endif
