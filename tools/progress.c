// SPDX-License-Identifier: Apache-2.0
#include "tools/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { EVERY_MS = 100 };

static bool shown;

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void progress_show(const char *what, uint64_t done, uint64_t all)
{
	static int64_t last;
	int64_t now = now_ms();

	if (now - last < EVERY_MS || !isatty(STDERR_FILENO))
		return;
	last = now;
	shown = true;
	fprintf(stderr, "\r\033[K%3u%%  %.60s", all ? (unsigned)(done * 100 / all) : 0, what);
	fflush(stderr);
}

void progress_end(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}
