// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include "config/options.h"

void config_print(const struct config *c, FILE *f)
{
	char buf[64];

	fprintf(f, "[autofuse]\n");
	for (int i = 0; i < OPTION_COUNT; i++)
		fprintf(f, "; %s (%s)\n%s = %s ; %s\n", option_row[i].help, option_row[i].env,
			option_row[i].name, option_format(&c->opt, i, buf, sizeof(buf)),
			c->origin && c->origin[i] ? c->origin[i] : "?");
	for (const struct config_switch *s = c->pattern; s; s = s->next)
		fprintf(f, "\n[pattern %s]\nenable = %s ; %s:%d\n", s->pattern,
			s->enable ? "yes" : "no", s->file, s->line);
	for (const struct config_kernel *k = c->kernel; k; k = k->next) {
		fprintf(f, "\n[kernel %s] ; %s:%d\n", k->label, k->file, k->line);
		for (unsigned i = 0; i < k->npair; i++)
			fprintf(f, "%s = %s\n", k->pair[i].key, k->pair[i].value);
	}
}
