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

/* A path under which a reader of files finds these bytes; good until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);
/* Where output goes that nobody reads. */
FILE *fuzz_sink(void);
/* Messages would drown the findings. */
void fuzz_quiet(void);

#endif
