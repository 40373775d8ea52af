/* SPDX-License-Identifier: Apache-2.0 */
/* What the process did, for tests that compare it with what others say it did. */
#ifndef AF_TESTS_SOFTGPU_DRIVER_REPORT_H
#define AF_TESTS_SOFTGPU_DRIVER_REPORT_H

/* SOFTGPU_REPORT: writes the report when the process exits. */
void report_environment();

#endif
