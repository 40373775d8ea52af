/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a recording. Text goes through a buffer that is written now and then, or straight
 * into pages mapped from the file: then all that was recorded is there however the process ends
 * (what is behind it in the last page is 0). A mapped file must be nobody else's to cut short, or
 * the program would die of it. One user at a time.
 */
#ifndef AF_SHIM_RECORD_FILE_H
#define AF_SHIM_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for one line at least, after record_file_room. */
enum { RECORD_LINE = 1 << 17 };

struct record_file {
	int fd; /* -1: not open */
	char *at;
	size_t used, size; /* of what is at `at` */
	long long offset;  /* in the file; -1: buffered, not mapped */
	uint64_t written;  /* when, in ms */
};

/* Opens and empties the file. mapped: where it cannot be mapped, a pipe for instance, it is
 * buffered all the same. False, with errno, if it cannot: EBUSY where another process records
 * there, ENXIO where it is a pipe that nobody reads. */
bool record_file_open(struct record_file *f, const char *path, bool mapped);
/* Makes room for a line; false if the recording had to end (warned once). */
bool record_file_room(struct record_file *f);
/* Ends it: what is buffered is written, the file is as long as its text. */
void record_file_close(struct record_file *f);

#endif
