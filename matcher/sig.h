/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel signatures: the decoder for hand-written kernels, driven by [kernel LABEL] sections.
 *
 *   match  = NAME-or-glob ...    mangled names, separated by blanks; fnmatch(3) globs. May be given
 *                                several times, as may args: a line holds 198 characters
 *   op     = add | rmsnorm | ... opcode.def; opaque takes back what an earlier section says
 *   args   = WORD ...            one word per parameter, in order:
 *                                ROLE     of role.def: an operand's address, an extent, eps
 *                                inout    in0 and out at one address; its slot has the role out
 *                                @NAME    an integer that expressions use by this name
 *                                -        anything else
 *                                ROLE[EXPR]  an operand of EXPR elements, one behind the other,
 * where the operation does not say how many (no blanks inside) ROLE:DTYPE  an operand of another
 * type than dtype WORD=NUMBER demands that value of what is no operand dtype  = f32 element type of
 * the operands (mean and rstd: f32 unless they say otherwise themselves) n, rows, cols = EXPR where
 * no argument has that role: a product or quotient, left to right, of argument roles (n, rows,
 * cols), @NAMEs, grid.x|y|z, block.x|y|z and integers; "/" must divide evenly. rows defaults to
 *                                n/cols if there is an n, else to grid.x. An operand's EXPR may
 * also use n, rows and cols where they are no arguments eps    = NUMBER              where it is a
 * constant of the kernel's code weight = w | 1+w             what a norm multiplies by
 *
 * ROLE[SIZE:STRIDE|SIZE:STRIDE] is an operand with dimensions, in elements, outermost first
 * (sig_box.c); of elementwise operations, which then all have these sizes, and of cat.
 *
 * A section read later goes before an earlier one that matches the same name, and takes the place
 * of one with the same label. A kernel whose parameters differ in number or size from what a
 * section says is not the kernel it speaks of. Sections with the same match are alternatives: each
 * launch is decoded by the first whose demands and sizes it meets (so one kernel that does two
 * things, as told by an argument, has two sections). Operands that an operation can do without
 * (MAY_ in opcode.def) are absent where a launch hands NULL for them; any other NULL is refused.
 */
#ifndef AF_MATCHER_SIG_H
#define AF_MATCHER_SIG_H

#include "config/config.h"
#include "matcher/decode.h"

/*
 * Compiles every [kernel] section of c. Bad ones are warned about by file and line, with the
 * accepted values, and left out; returns how many. Call once before the first decode_kernel;
 * a second call replaces the set for kernels asked about later (tests).
 */
unsigned sig_compile(const struct config *c);
/* Frees every set. For tests that compile millions of them: no kernel record that a signature knew
 * may be used any more. */
void sig_forget(void);
extern const struct decoder sig_decoder;
/* Number of compiled signatures. With 0 signatures nothing can fuse on the signature path. */
unsigned sig_count(void);
/* Could this mangled name, or any in this image's string tables, match a signature? (name test) */
bool sig_matches(const char *name);

#endif
