/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every launch looks at lies next to each other in memory, whichever file it belongs to:
 * between two launches a program like Python leaves little in near caches, and each line that is
 * not there is waited for. Not for what every launch writes, which threads would take from each
 * other. Threads' own are the only ones in .tdata.
 */
#ifndef AF_SHIM_HOT_H
#define AF_SHIM_HOT_H

#define HOT __attribute__((section("af_hot")))
#define HOT_THREAD __attribute__((section(".tdata")))

#endif
