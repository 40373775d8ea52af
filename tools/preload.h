/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the library into LD_PRELOAD of what this command runs next. */
#ifndef AF_TOOLS_PRELOAD_H
#define AF_TOOLS_PRELOAD_H

/* 0, or -1 with a sentence on stderr. */
int preload_set(void);

#endif
