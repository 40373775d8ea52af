/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an image that was built beside a unit test. */
#ifndef AF_TESTS_UNIT_IMAGE_FILE_H
#define AF_TESTS_UNIT_IMAGE_FILE_H

#include <libgen.h>
#include "tests/unit/unit.h"

extern char *program_invocation_name;

static inline char *image_file(const char *name, size_t *bytes)
{
	char self[4096], path[4200], *data;
	FILE *f;

	snprintf(self, sizeof(self), "%s", program_invocation_name);
	snprintf(path, sizeof(path), "%s/%s", dirname(self), name);
	f = fopen(path, "rb");
	if (!f)
		fail_msg("%s is missing", path);
	fseek(f, 0, SEEK_END);
	*bytes = (size_t)ftell(f);
	rewind(f);
	data = malloc(*bytes + 1);
	assert_int_equal(fread(data, 1, *bytes, f), *bytes);
	data[*bytes] = '\0';
	fclose(f);
	return data;
}

#endif
