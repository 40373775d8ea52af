// SPDX-License-Identifier: Apache-2.0
#include "config/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/pipe.h"

enum log_level log_level = LOG_WARN;

static void say(const char *fmt, va_list ap)
{
	static const char prefix[] = "autofuse: ";
	char line[1024];
	const int start = (int)sizeof(prefix) - 1, room = (int)sizeof(line) - start;
	int saved = errno, n;

	memcpy(line, prefix, sizeof(prefix));
	n = vsnprintf(line + start, (size_t)room, fmt, ap);
	n = n < 0 ? 0 : n > room - 1 ? room - 1 : n;
	line[start + n] = '\n'; /* over the terminating NUL */
	if (pipe_write(STDERR_FILENO, line, (size_t)(start + n + 1)) < 0)
		n = 0; /* then nobody is listening */
	errno = saved;
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	va_list ap;

	if (level > log_level || level == LOG_QUIET)
		return;
	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

void log_always(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}
