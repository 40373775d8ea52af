/* SPDX-License-Identifier: Apache-2.0 */
/* Where a probe's time goes (AUTOFUSE_LOG=debug). */
#include <time.h>

#include "config/log.h"
#include "shim/probe_child.h"

void probe_lap(const char *what)
{
	static struct timespec last;
	struct timespec now;
	double s;

	if (log_level < LOG_DEBUG)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	s = (double)(now.tv_sec - last.tv_sec) + 1e-9 * (double)(now.tv_nsec - last.tv_nsec);
	if (what && last.tv_sec)
		log_debug("probe: %.3f s: %s", s, what);
	last = now;
}
