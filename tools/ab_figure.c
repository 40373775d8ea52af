// SPDX-License-Identifier: Apache-2.0
/* The number by which a program tells its own speed. */
#include <stdlib.h>
#include <string.h>

#include "tools/ab.h"

/* The last match's group in the lines of text, which is changed. */
static bool last_match(const regex_t *pattern, char *text, double *value)
{
	bool found = false;
	char *save = NULL;

	for (char *line = strtok_r(text, "\r\n", &save); line;
	     line = strtok_r(NULL, "\r\n", &save)) {
		regmatch_t at[2];
		char *end;
		double v;

		if (regexec(pattern, line, 2, at, 0) || at[1].rm_so < 0)
			continue;
		v = strtod(line + at[1].rm_so, &end);
		if (end == line + at[1].rm_so || v <= 0)
			continue;
		*value = v;
		found = true;
	}
	return found;
}

bool ab_figure(const struct ab_request *q, const struct ab_run *r, double *value)
{
	char *copy = malloc(r->out_kept + 1u), err[sizeof(r->err)];
	bool found = false;

	if (copy) {
		for (unsigned i = 0; i < r->out_kept; i++)
			copy[i] = r->out[i] ? r->out[i] : ' ';
		copy[r->out_kept] = 0;
		found = last_match(&q->figure, copy, value);
	}
	free(copy);
	memcpy(err, r->err, sizeof(err));
	return found || last_match(&q->figure, err, value);
}
