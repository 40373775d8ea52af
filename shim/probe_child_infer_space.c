/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a kernel's sizes may come from. Equal numbers are only a beginning: what is listed here is
 * tried at other values (probe_child_infer_check.c).
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shim/probe_child_infer.h"

struct list {
	const struct infer_facts *f;
	struct infer_space *s;
	unsigned n;
};

static const char axis[] = "xyz";

/* Part of a size: arguments with their words, and dimensions. */
static void use(struct infer_space *s, unsigned arg, const char *word)
{
	s->use[s->nuse].arg = (uint8_t)arg;
	snprintf(s->use[s->nuse].word, sizeof(s->use[0].word), "%s", word);
	s->nuse++;
}

static void key(struct infer_space *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void key(struct infer_space *s, const char *fmt, ...)
{
	size_t used = strlen(s->keys);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->keys + used, sizeof(s->keys) - used, fmt, ap);
	va_end(ap);
}

static struct infer_space *next(struct list *l, int64_t rows, int64_t cols)
{
	struct infer_space *s;

	if (l->n == INFER_SPACES)
		return NULL;
	s = &l->s[l->n++];
	memset(s, 0, sizeof(*s));
	s->rows = rows;
	s->cols = cols;
	return s;
}

/* Could the argument be a size? Its value, else 0. */
static int64_t number(const struct infer_facts *f, unsigned i)
{
	const struct infer_arg *a = &f->arg[i];

	return a->pointer || (a->bytes != 4 && a->bytes != 8) || a->value < 0 ||
			       a->value > (int64_t)1 << 40
		       ? 0
		       : a->value;
}

static bool divides(int64_t d, int64_t n)
{
	return d > 0 && n % d == 0;
}

/* Are there as many rows of threads, or blocks? (To an elementwise kernel, which of two sizes is
 * the rows is all the same; this is for who reads it.) */
static bool counts_rows(const struct infer_facts *f, int64_t v)
{
	if (f->grid[1] > 1 || f->block[1] > 1)
		return (v + f->block[1] - 1) / f->block[1] == f->grid[1];
	return v == f->grid[0];
}

/* Products of three, two, one argument; then of one and a dimension of the grid. */
static void by_arguments(struct list *l, int64_t n)
{
	const struct infer_facts *f = l->f;
	struct infer_space *s;

	for (unsigned i = 0; i < f->narg; i++)
		for (unsigned k = i + 1; k < f->narg; k++)
			for (unsigned m = k + 1; m < f->narg; m++) {
				int64_t a = number(f, i), b = number(f, k), c = number(f, m);

				if (divides(a, n) && divides(b, n / a) && c == n / a / b &&
				    (s = next(l, 1, n))) {
					use(s, i, "@a");
					use(s, k, "@b");
					use(s, m, "cols");
					key(s, "rows  = @a*@b\n");
				}
			}
	for (unsigned i = 0; i < f->narg; i++)
		for (unsigned k = i + 1; k < f->narg; k++)
			if (divides(number(f, i), n) && number(f, k) == n / number(f, i) &&
			    (s = next(l, 1, n))) {
				bool swap = !counts_rows(f, number(f, i)) &&
					    counts_rows(f, number(f, k));

				use(s, i, swap ? "cols" : "rows");
				use(s, k, swap ? "rows" : "cols");
			}
	for (unsigned i = 0; i < f->narg; i++)
		if (number(f, i) == n && (s = next(l, 1, n)))
			use(s, i, "n");
	for (unsigned i = 0; i < f->narg; i++)
		for (unsigned d = 0; d < 3; d++)
			if (divides(number(f, i), n) && n / number(f, i) == f->grid[d] &&
			    (s = next(l, 1, n))) {
				use(s, i, "cols");
				key(s, "rows  = grid.%c\n", axis[d]);
				s->grid = (uint8_t)(1 << d);
			}
	for (unsigned i = 0; i < f->narg; i++)
		for (int by = 2; by <= 8; by *= 2)
			if (number(f, i) && number(f, i) == n / by && n % by == 0 &&
			    (s = next(l, 1, n))) {
				use(s, i, "@n");
				key(s, "n     = @n*%d\n", by);
			}
}

/* What the whole grid covers: every thread takes `each` elements, or every block. */
static void by_grid(struct list *l, int64_t n)
{
	const struct infer_facts *f = l->f;
	int64_t threads = 1, blocks = 1;
	struct infer_space *s;
	char dims[64] = "grid.x*block.x", grid[32] = "grid.x";
	uint8_t g = 1, b = 1;

	for (unsigned d = 0; d < 3; d++) {
		blocks *= f->grid[d];
		threads *= (int64_t)f->grid[d] * f->block[d];
		if (d && f->grid[d] > 1) {
			snprintf(dims + strlen(dims), sizeof(dims) - strlen(dims), "*grid.%c",
				 axis[d]);
			snprintf(grid + strlen(grid), sizeof(grid) - strlen(grid), "*grid.%c",
				 axis[d]);
			g |= (uint8_t)(1 << d);
		}
		if (d && f->block[d] > 1) {
			snprintf(dims + strlen(dims), sizeof(dims) - strlen(dims), "*block.%c",
				 axis[d]);
			b |= (uint8_t)(1 << d);
		}
	}
	for (int each = 1; each <= 16; each *= 2)
		if (n == threads * each && (s = next(l, 1, n))) {
			key(s, each > 1 ? "n     = %s*%d\n" : "n     = %s\n", dims, each);
			s->grid = g;
			s->block = b;
		}
	/* The same where dimensions that are 1 count, too. */
	for (int each = 1; each <= 8 && (g != 7 || b != 7); each *= 2)
		if (n == threads * each && (s = next(l, 1, n))) {
			key(s, "n     = grid.x*block.x*grid.y*block.y*grid.z*block.z");
			key(s, each > 1 ? "*%d\n" : "\n", each);
			s->grid = s->block = 7;
		}
	if (divides(blocks, n) && (s = next(l, 1, n))) {
		key(s, "n     = %s*%lld\n", grid, (long long)(n / blocks));
		s->grid = g;
	}
}

unsigned infer_spaces_elements(const struct infer_facts *f, int64_t n, struct infer_space *s)
{
	struct list l = {f, s, 0};

	if (n <= 0)
		return 0;
	by_arguments(&l, n);
	by_grid(&l, n);
	return l.n;
}

/* Ways to say how many rows there are, as additions to *base (which says the columns, unless
 * `rest`: then they are what is left). */
static void rows_of(struct list *l, const struct infer_space *base, int64_t n, int64_t rows,
		    int64_t cols, int taken)
{
	const struct infer_facts *f = l->f;
	struct infer_space *s;

#define START() ((s = next(l, rows, cols)) && (*s = *base, s->rows = rows, s->cols = cols, true))
	for (int i = 0; i < (int)f->narg; i++)
		for (int k = i + 1; k < (int)f->narg; k++)
			if (i != taken && k != taken && divides(number(f, (unsigned)i), rows) &&
			    number(f, (unsigned)k) == rows / number(f, (unsigned)i) && START()) {
				use(s, (unsigned)i, "@a");
				use(s, (unsigned)k, "@b");
				key(s, "rows  = @a*@b\n");
			}
	for (int i = 0; i < (int)f->narg; i++)
		if (i != taken && number(f, (unsigned)i) == rows && START())
			use(s, (unsigned)i, "rows");
	for (int i = 0; i < (int)f->narg; i++)
		if (i != taken && number(f, (unsigned)i) == n && START())
			use(s, (unsigned)i, "n");
	for (unsigned d = 0; d < 3; d++)
		if (f->grid[d] == rows && START()) {
			if (d)
				key(s, "rows  = grid.%c\n", axis[d]);
			s->grid |= (uint8_t)(1 << d);
		}
	if (f->grid[1] > 1 && f->grid[0] > 1 && (int64_t)f->grid[0] * f->grid[1] == rows &&
	    START()) {
		key(s, "rows  = grid.x*grid.y\n");
		s->grid |= 3;
	}
	if (f->block[1] > 1 && (int64_t)f->grid[0] * f->block[1] == rows && START()) {
		key(s, "rows  = grid.x*block.y\n");
		s->grid |= 1;
		s->block |= 2;
	}
	if (f->block[0] > 32 && f->block[0] % 32 == 0 &&
	    (int64_t)f->grid[0] * f->block[0] == rows * 32 && START()) {
		key(s, "rows  = grid.x*block.x/32\n");
		s->grid |= 1;
		s->block |= 1;
	}
	if (divides(f->grid[0], rows) && rows > f->grid[0] && START()) {
		key(s, "rows  = grid.x*%lld\n", (long long)(rows / f->grid[0]));
		s->grid |= 1;
	}
	/* One, whatever the grid. */
	if (rows == 1 && START()) {
		key(s, "rows  = 1\n");
		s->one = true;
	}
#undef START
}

unsigned infer_spaces_rows(const struct infer_facts *f, int64_t n, struct infer_space *s)
{
	struct list l = {f, s, 0};
	struct infer_space base;

	for (unsigned i = 0; i < f->narg && n > 0; i++)
		for (int by = 1; by <= 8; by *= 2) {
			int64_t cols = number(f, i) * by;

			if (cols < 2 || !divides(cols, n))
				continue;
			memset(&base, 0, sizeof(base));
			use(&base, i, by > 1 ? "@c" : "cols");
			if (by > 1)
				key(&base, "cols  = @c*%d\n", by);
			rows_of(&l, &base, n, n / cols, cols, (int)i);
		}
	for (int by = 1; by <= 8 && n > 0; by *= 2) {
		int64_t cols = (int64_t)f->block[0] * by;

		if (cols < 2 || !divides(cols, n))
			continue;
		memset(&base, 0, sizeof(base));
		key(&base, by > 1 ? "cols  = block.x*%d\n" : "cols  = block.x\n", by);
		base.block = 1;
		rows_of(&l, &base, n, n / cols, cols, -1);
	}
	/* A constant of the code: what a block of the grid works on. */
	for (unsigned d = 0; d < 3 && n > 0; d++)
		if (divides(f->grid[d], n) && n / f->grid[d] > 1 && (d == 0 || f->grid[d] > 1)) {
			memset(&base, 0, sizeof(base));
			key(&base, "cols  = %lld\n", (long long)(n / f->grid[d]));
			rows_of(&l, &base, n, f->grid[d], n / f->grid[d], -1);
		}
	return l.n;
}
