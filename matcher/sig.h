/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel signatures: the decoder for hand-written kernels, driven by [kernel LABEL] sections.
 *
 *   match = NAME-or-glob ...     mangled names, separated by blanks; fnmatch(3) globs. May be given
 *                                several times, as may args: a line holds 198 characters
 *   op    = add | rmsnorm | ...  opcode.def; opaque takes back what an earlier section says
 *   args  = out in0:f32 - n=4    one word per parameter, in order: a role of role.def, "inout"
 *                                (in0 and out at one address; its slot has the role out) or "-";
 *                                ":DTYPE" overrides dtype;
 *                                "=NUMBER" demands that value, else the launch is opaque
 *   dtype = f32                  element type of the operands
 *   n, rows, cols = EXPR         where no argument has that role: a product or quotient, left to
 *                                right, of argument roles (n, rows, cols), grid.x|y|z, block.x|y|z
 *                                and integers; "/" must divide evenly. rows defaults to n/cols if
 *                                there is an n, else to grid.x
 *   eps   = NUMBER               where it is a constant of the kernel's code
 *
 * A section read later goes before an earlier one that matches the same name, and takes the place
 * of one with the same label. A kernel whose parameters differ in number or size from what a
 * section says is not the kernel it speaks of.
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
