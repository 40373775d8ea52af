/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one INI text through inih, whose packaged form cuts long lines and names without a word
 * and gives no line numbers: our reader counts lines, refuses what would be cut, and reports every
 * bad line. Indentation means nothing; ';' and '#' begin a comment line, " ;" one after a value.
 */
#ifndef AF_CONFIG_INIFILE_H
#define AF_CONFIG_INIFILE_H

#include <stdbool.h>
#include <stddef.h>

struct inifile_sink {
	void *arg;
	/*
	 * A [KIND NAME] or [KIND] line (name is then ""). False: refused, and the sink has counted
	 * it; the keys below are skipped without a word.
	 */
	bool (*section)(void *arg, const char *kind, const char *name, int line);
	/* A key of the section that was opened last. False: refused, and counted by the sink. */
	bool (*key)(void *arg, const char *key, const char *value, int line);
	/* A line that is neither. */
	void (*bad)(void *arg, int line, const char *expected);
};

/* Strings handed to the sink are valid during the call. */
void inifile_read(const char *text, size_t size, const struct inifile_sink *sink);

#endif
