/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target is one file with these two functions, by the names libFuzzer knows. It links with
 * libFuzzer where clang has it (`make fuzz`) and with main.c, a driver of our own, everywhere
 * (`make check`).
 */
#ifndef AF_TESTS_FUZZ_H
#define AF_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* libFuzzer calls it where a target has one, main.c for half of its changes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
	__attribute__((weak));
/* One change to a file of lines (lines.c); the size afterwards, at most room. */
size_t fuzz_lines(uint8_t *data, size_t size, size_t room, unsigned seed);

/* A path under which a reader of files finds these bytes; good until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);
/* Where output goes that nobody reads. */
FILE *fuzz_sink(void);
/* Messages would drown the findings. */
void fuzz_quiet(void);

#endif
