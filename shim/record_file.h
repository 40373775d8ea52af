/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a recording. Text goes straight into pages mapped from it, so that all that was
 * recorded is there however the process ends (what is behind it in the last page is then 0). Where
 * the file cannot be mapped, a pipe for instance, it goes through a buffer. One user at a time.
 */
#ifndef AF_SHIM_RECORD_FILE_H
#define AF_SHIM_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Room for one line at least, after record_file_room. */
enum { RECORD_LINE = 1 << 17 };

struct record_file {
	int fd; /* -1: not open */
	char *at;
	size_t used, size; /* of what is at `at` */
	long long offset;  /* in the file; -1: buffered, not mapped */
};

/* Opens and empties the file. False, with errno, if it cannot. */
bool record_file_open(struct record_file *f, const char *path);
/* Makes room for a line; false if the recording had to end (warned once). */
bool record_file_room(struct record_file *f);
/* Ends it: what is buffered is written, the file is as long as its text. */
void record_file_close(struct record_file *f);

#endif
