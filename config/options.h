/* SPDX-License-Identifier: Apache-2.0 */
/* The option table (options.def) at run time: names, and values to and from text. */
#ifndef AF_CONFIG_OPTIONS_H
#define AF_CONFIG_OPTIONS_H

#include "config/config.h"

enum option_id {
#define OPTION(field, type, def, env, help) OPTION_##field,
#include "config/options.def"
#undef OPTION
	OPTION_COUNT
};

struct option_row {
	const char *name, *def, *env, *help;
	unsigned char type;
	unsigned short offset; /* in struct options */
};
extern const struct option_row option_row[OPTION_COUNT];

/* The row of that name ('-' counts as '_'), or -1. */
int option_find(const char *name);
/* May the option be given without a value, meaning yes? */
bool option_is_switch(int id);
/* Can the value be empty? */
bool option_is_text(int id);
/* Stores value into o. 0, or -1 with what would have been accepted in err; o is then unchanged. */
int option_parse(struct options *o, int id, const char *value, char *err, unsigned errsize);
/* The value as option_parse reads it, in buf or elsewhere. */
const char *option_format(const struct options *o, int id, char *buf, unsigned size);
void option_free_all(struct options *o);

#endif
