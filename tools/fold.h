/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what repeats in a sequence of numbers, loops inside loops: A B C C C A B C C C becomes
 * (A B (C)x3)x2.
 *
 * Online and greedy. Numbers are pushed on a list; whenever the last p elements equal the p before
 * them, both are replaced by one element that stands for a loop of two rounds (a single element is
 * one only when it comes a third time), and whenever the elements behind a loop equal its body, the
 * loop takes them in as one more round. Inner loops thus
 * close before outer ones, which then see them as single elements, so that equal outer rounds are
 * short and equal lists again. Only periods at which the newest element occurred before come into
 * question: they are met along the chain of its earlier places. Hashes of prefixes compare two
 * stretches in constant time; a match is compared element by element before anything is folded,
 * which the removal of these elements pays for. So the cost is linear in the sequence (times at
 * most LOOKS looks a number), the memory linear in what did not fold.
 *
 * What it does not find: periods above 16,384 elements of the list, and those at whose every
 * element the same number was there over LOOKS times in one period. A loop is found at the first
 * place where two rounds are complete, which need not be where the program's own loop begins.
 */
#ifndef AF_TOOLS_FOLD_H
#define AF_TOOLS_FOLD_H

#include <stdint.h>

struct fold;

/* NULL if out of memory. */
struct fold *fold_new(void);
void fold_free(struct fold *f);
/* Appends sym, below 2^31. 0; -1 if out of memory (the sequence then ends before it). */
int fold_add(struct fold *f, uint32_t sym);

/* Hears the whole sequence again, in order, with the loops that were found. Any may be NULL. */
struct fold_visitor {
	void *arg;
	/* An element of the outermost list begins, the `top`-th: `rounds` rounds of `length`
	 * numbers each; one that is no loop has one round of one. */
	void (*top)(void *arg, uint32_t top, uint32_t rounds, uint64_t length);
	/* Rounds of a loop, the outermost included, begin and end; length as for top. */
	void (*begin)(void *arg, uint32_t round, uint32_t rounds, uint64_t length);
	void (*end)(void *arg, uint32_t round, uint64_t length);
	void (*item)(void *arg, uint64_t at, uint32_t sym); /* the at-th number */
};
void fold_walk(const struct fold *f, const struct fold_visitor *v);

#endif
