/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a program's text besides gen_body.h's. */
#ifndef AF_FUSED_GEN_WRITE_H
#define AF_FUSED_GEN_WRITE_H

#include "fused/gen_body.h"

enum { GEN_ROW_THREADS_LONG = 1024 };

/* The struct ROW: pointers of a row, and its values by the level at which they are there. */
void gen_row_text(FILE *f, const struct gen *g);
/* Statements that make the values of that level that are the same in all columns. */
void gen_row_values(FILE *f, const struct gen *g, unsigned level, const char *w);
/* The structs STAGED and, if asked for, OWN: where values that are kept lie, in shared memory or
 * (of one chunk) in registers. */
void gen_kept_text(FILE *f, const struct gen *g, bool own);
/* Stores of an element a row, by the thread of which `who` holds. */
void gen_row_stores(FILE *f, const struct gen *g, const char *who);
/* Kernels. 0 or -1. */
int gen_cells_text(FILE *f, const struct gen *g, unsigned max_shmem);
int gen_rows_text(FILE *f, const struct gen *g, unsigned max_shmem);

void gen_kernel_name(char name[GEN_NAME], const struct gen *g, char suffix);

#endif
