/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AF_TOOLS_RUN_H
#define AF_TOOLS_RUN_H

/* Puts libautofuse.so first into this process's LD_PRELOAD, for what it starts. 0; -1 with a
 * message. */
int run_preload(void);

#endif
