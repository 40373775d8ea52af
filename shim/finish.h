/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the process: held launches out, background threads kept from the driver, report. */
#ifndef AF_SHIM_FINISH_H
#define AF_SHIM_FINISH_H

/* Registers the exit handler: at the first launch, so that it runs before the runtime's own. */
void finish_arm(void);
/* The same once more where a recording begins: a process may end without a launch. */
void finish_arm_recording(void);

#endif
