/* SPDX-License-Identifier: Apache-2.0 */
/* How far a long job is: one line on stderr that is written over, on a terminal only. */
#ifndef AF_TOOLS_PROGRESS_H
#define AF_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool on, said;
	uint64_t next; /* ms */
};

/* Nothing is said in the first second; wanted = false: nothing ever. */
void progress_start(struct progress *p, bool wanted);
/* At most five times a second. */
void progress_say(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Clears the line. */
void progress_end(struct progress *p);

#endif
