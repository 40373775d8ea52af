/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/softgpu/driver/state.h"
#include <stdio.h>
#include <stdlib.h>

struct driver &driver = *new struct driver();
__thread struct thread_state self;

uint64_t thread_id()
{
	if (!self.id)
		self.id = ++driver.next_id;
	return self.id;
}

long long env_number(const char *name, long long fallback)
{
	const char *text = getenv(name);
	char *end;

	if (!text || !*text)
		return fallback;
	long long value = strtoll(text, &end, 0);
	if (*end) {
		fprintf(stderr, "softgpu: %s=%s: not a number\n", name, text);
		return fallback;
	}
	return value;
}
