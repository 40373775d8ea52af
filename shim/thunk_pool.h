/* SPDX-License-Identifier: Apache-2.0 */
/* Number of thunks for driver functions outside the table. A 580 driver exports 37 such names. */
#define THUNK_POOL 512
