/* SPDX-License-Identifier: Apache-2.0 */
/* For small programs: whose is this address, and TAP. */
#ifndef AF_TESTS_PRELOAD_OWNER_H
#define AF_TESTS_PRELOAD_OWNER_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* File name, without its folder, of the object that holds an address. */
static inline const char *owner(const void *addr)
{
	const char *slash;
	Dl_info info;

	if (!addr || !dladdr(addr, &info))
		return "nobody";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

static int tests, failures;

#define ok(condition, ...)                                                                         \
	do {                                                                                       \
		int ok_ = (condition) ? 1 : 0;                                                     \
		failures += !ok_;                                                                  \
		printf("%sok %d - ", ok_ ? "" : "not ", ++tests);                                  \
		printf(__VA_ARGS__);                                                               \
		putchar('\n');                                                                     \
	} while (0)

/* Is the address in that library? */
#define ok_owner(addr, library, ...)                                                               \
	do {                                                                                       \
		const char *who_ = owner((const void *)(addr));                                    \
		ok(!strcmp(who_, library), __VA_ARGS__);                                           \
		if (strcmp(who_, library))                                                         \
			printf("# it is %s's, not %s's\n", who_, library);                         \
	} while (0)

static inline int finished(void)
{
	printf("1..%d\n", tests);
	fflush(stdout);
	return failures != 0;
}

#endif
