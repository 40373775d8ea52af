/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration: options, pattern switches and kernel signatures, from (later wins) the
 * defaults, the files embedded in the library, the XDG file (~/.config/autofuse/autofuse.ini),
 * AUTOFUSE_CONFIG (files separated by ':'), the environment, the command line.
 */
#ifndef AF_CONFIG_CONFIG_H
#define AF_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdio.h>

#include "config/log.h"

/* Values of the CHOICE options (choices.def); those of `log` are in log.h. */
enum numerics { NUMERICS_EXACT, NUMERICS_CLOSE };
enum graphs { GRAPHS_OFF, GRAPHS_ON, GRAPHS_ALWAYS };
enum families { FAMILIES_NO, FAMILIES_GRAPHS, FAMILIES_YES };
enum stores { STORES_ALL, STORES_PROVEN, STORES_ASSUME_DEAD };
enum stand_in { STAND_IN_MEASURED, STAND_IN_WRITTEN, STAND_IN_GENERATED };
enum verify { VERIFY_OFF, VERIFY_SAMPLE, VERIFY_ALWAYS };

struct options {
#define AF_TYPE_BOOL bool
#define AF_TYPE_INT long
#define AF_TYPE_SIZE unsigned long
#define AF_TYPE_TEXT char *
#define AF_TYPE_PATH char *
#define AF_TYPE_CHOICE_numerics int
#define AF_TYPE_CHOICE_verify int
#define AF_TYPE_CHOICE_graphs int
#define AF_TYPE_CHOICE_stores int
#define AF_TYPE_CHOICE_families int
#define AF_TYPE_CHOICE_stand_in int
#define AF_TYPE_CHOICE_log int
#define OPTION(field, type, def, env, help) AF_TYPE_##type field;
#include "config/options.def"
#undef OPTION
};

/* One key of a [kernel] section as written; what it means is the matcher's business (sig.h). */
struct config_pair {
	char *key, *value;
	int line;
};

/* A [kernel LABEL] section. Later files' sections come later in the list and win over equal labels.
 */
struct config_kernel {
	char *label;
	const char *file; /* for messages; owned by the configuration */
	int line;
	struct config_pair *pair;
	unsigned npair;
	struct config_kernel *next;
};

/* `enable` of a [pattern NAME] section. Later ones win. */
struct config_switch {
	char *pattern;
	bool enable;
	const char *file;
	int line;
	struct config_switch *next;
};

struct config {
	struct options opt;
	const char *
		*origin; /* per option row: "default", "FILE:LINE", "environment", "command line" */
	struct config_kernel *kernel;
	struct config_switch *pattern;
	struct config_kernel **kernel_tail;
	struct config_switch **pattern_tail;
	struct config_text *text; /* strings that origin and file point to */
	unsigned errors;          /* bad lines met (each was warned about) */
};

/*
 * Reads everything there is to read. Never fails: a bad line is warned about (file, line, what was
 * expected) and skipped, the defaults stand. environ_ok = false skips environment and files
 * (tests). Sets log_level as soon as the log option is known.
 */
void config_load(struct config *c, bool environ_ok);
/* Adds one INI text; name is used in messages. Returns the number of bad lines. */
unsigned config_add_text(struct config *c, const char *name, const char *text);
/* The same from a file; one that cannot be read is warned about and counts as one bad line. */
unsigned config_add_file(struct config *c, const char *path);
/* Sets one option by name ('-' counts as '_'); origin must outlive c. 0, or -1 with the accepted
 * values in err. */
int config_set(struct config *c, const char *option, const char *value, const char *origin,
	       char *err, unsigned errsize);
/* Is a pattern switched on? The [pattern] sections say, then the `patterns` option, word by word;
 * patterns that nobody mentions are on. */
bool config_pattern(const struct config *c, const char *name);
/* Calls fn for every pattern name that a section or the `patterns` option mentions, with where. */
void config_patterns_each(const struct config *c,
			  void (*fn)(void *arg, const char *name, const char *where), void *arg);
/* Prints every option, its value and where it came from, then switches and kernel sections, as a
 * text that can be read back. */
void config_print(const struct config *c, FILE *f);
void config_free(struct config *c);

#endif
