// SPDX-License-Identifier: Apache-2.0
/* Adds up the reports that the processes of one run wrote. */
#include <dirent.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "tools/ab.h"

static uint64_t number(const json_t *j, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(j, key));
}

static void add(struct ab_counts *c, const json_t *report)
{
	const json_t *launches = json_object_get(report, "launches");
	const json_t *kernels = json_object_get(report, "kernels");
	json_t *pattern, *n;
	const char *name, *word;

	c->reports++;
	c->launches += number(launches, "program");
	c->sent += number(launches, "sent");
	c->fused += number(launches, "fused");
	json_object_foreach(json_object_get(report, "patterns"), name, pattern)
	{
		c->checked += number(pattern, "checked");
		json_object_foreach(json_object_get(pattern, "rejected"), word, n)
		{
			enum reason r = reason_parse(word);

			if (r < REASON_COUNT)
				c->rejected[r] += (uint64_t)json_integer_value(n);
		}
	}
	for (size_t i = 0; i < json_array_size(kernels); i++)
		c->known_kernels +=
			json_is_string(json_object_get(json_array_get(kernels, i), "decoder"));
}

void ab_read_reports(const char *dir, struct ab_counts *c)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[4400];

	memset(c, 0, sizeof(*c));
	while (d && (e = readdir(d))) {
		json_t *report;

		if (strncmp(e->d_name, "report-", 7))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		report = json_load_file(path, 0, NULL);
		if (report)
			add(c, report);
		json_decref(report);
		unlink(path);
	}
	if (d)
		closedir(d);
}
