/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of the library and the command, on stderr, one line each, "autofuse: ...". */
#ifndef AF_CONFIG_LOG_H
#define AF_CONFIG_LOG_H

enum log_level { LOG_QUIET, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Messages above this level are dropped. Starts at LOG_WARN. */
extern enum log_level log_level;

/* One write(2) per message; never allocates, keeps errno. */
void log_msg(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A line that no level drops (the exit summary). */
void log_always(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define log_warn(...) log_msg(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_msg(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_msg(LOG_DEBUG, __VA_ARGS__)

/* Warns the first time it is reached in a process, then stays silent. */
#define log_warn_once(...)                                                                         \
	do {                                                                                       \
		static char said_;                                                                 \
		if (!__atomic_exchange_n(&said_, 1, __ATOMIC_RELAXED))                             \
			log_warn(__VA_ARGS__);                                                     \
	} while (0)

#endif
