/* SPDX-License-Identifier: Apache-2.0 */
/* How far a long job is: one line on stderr that is written over, on a terminal only. */
#ifndef AF_TOOLS_STATUS_H
#define AF_TOOLS_STATUS_H

#include <stdbool.h>
#include <stdint.h>

struct status {
	bool on, said;
	uint64_t next; /* ms */
};

/* Nothing is said in the first second; wanted = false: nothing ever. */
void status_start(struct status *p, bool wanted);
/* At most five times a second. */
void status_say(struct status *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Clears the line. */
void status_end(struct status *p);

#endif
