/* SPDX-License-Identifier: Apache-2.0 */
/* A line on stderr that says how far a long piece of work is; nothing unless that is a terminal. */
#ifndef AF_TOOLS_PROGRESS_H
#define AF_TOOLS_PROGRESS_H

#include <stdint.h>

void progress_show(const char *what, uint64_t done, uint64_t all);
/* Takes the line away. */
void progress_end(void);

#endif
