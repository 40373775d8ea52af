/* SPDX-License-Identifier: Apache-2.0 */
#include "fused/candidate.h"

/*
 * Hash of a tree of additions. Sums commute, so their two sides enter alike; adding nothing (0) is
 * not an addition: squares are never -0, so x + 0 is x bit by bit.
 */
static uint64_t mix(uint64_t x)
{
	/* The finaliser of splitmix64. */
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static uint64_t add(uint64_t a, uint64_t b)
{
	if (!a || !b)
		return a | b;
	return mix(mix(a) + mix(b) + 0x9e3779b97f4a7c15u) | 1;
}

static uint64_t square(int64_t i)
{
	return mix((uint64_t)i + 0xd1b54a32d192ed03u) | 1;
}

static uint64_t fuse(uint64_t a, int64_t i, bool exact_squares)
{
	if (!a || exact_squares)
		return add(a, square(i));
	return mix(a ^ (mix((uint64_t)i + 0x8bb84b93962eacc9u) | 1)) | 1;
}

#define NODE uint64_t
#define NODE_ZERO 0
#define ADD(a, b) add(a, b)
#define SQUARE(i) square(i)
#define FUSE(a, i) fuse(a, i, ctx)
#define ORDER_CTX bool
#define ORDER_QUALIFIER
#define ORDER_FN tree
#include "fused/order.inc"

uint64_t candidate_tree(const struct fields *f, int64_t cols, bool exact_squares)
{
	uint64_t sum[2048];

	return tree(f, cols, exact_squares, sum);
}
