// SPDX-License-Identifier: Apache-2.0
#include "tools/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void status_start(struct status *p, bool wanted)
{
	*p = (struct status){wanted && isatty(STDERR_FILENO), false, now_ms() + 1000};
}

void status_say(struct status *p, const char *fmt, ...)
{
	uint64_t now;
	va_list ap;

	if (!p->on || (now = now_ms()) < p->next)
		return;
	p->next = now + 200;
	p->said = true;
	fputs("\r\033[Kautofuse: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fflush(stderr);
}

void status_end(struct status *p)
{
	if (p->said)
		fputs("\r\033[K", stderr);
	p->said = false;
}
