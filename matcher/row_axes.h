/* SPDX-License-Identifier: Apache-2.0 */
/* Axes of ops, and by what they are found. Used by row_axes*.c only. */
#ifndef AF_MATCHER_ROW_AXES_H
#define AF_MATCHER_ROW_AXES_H

#include "matcher/row_space.h"

/* An op's own axes, innermost first. */
struct own {
	unsigned n;
	int64_t size[SPACE_MAX_AXES], pos[SPACE_MAX_AXES];
	bool columns; /* axis 0 is the program's columns */
};

/* The axis in which `at` lies is two from there on. False if that cannot be. */
bool own_cut(struct own *a, int64_t at);
/* The axes of op m, cut where any of its operands needs it. False if there are none that do. */
bool own_axes(const struct space *s, unsigned m, struct own *a);

/*
 * Operand `mine` of op m lists memory that operand `theirs` of op `other` lists, too. LINK_NATURAL:
 * no memory says anything; op m is taken to go through the space, or its rows, or some columns of
 * each, in order.
 */
enum { LINK_NATURAL = 0xff };
struct link {
	uint8_t m, mine, other, theirs;
	uint64_t weight;
};

/* Finds the axes of op l->m by that link; false: none fit, and the space is as it was.
 * (row_axes_fit.c) */
bool axes_place(struct space *s, const struct link *l);
/* In the order of the space: all of it, or one number a row, or some columns. */
bool axes_place_naturally(struct space *s, unsigned m);

#endif
