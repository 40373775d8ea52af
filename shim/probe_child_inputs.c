/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each family's rows hold. Most rows are chosen by their sums x = a + b, which are then taken
 * apart without rounding.
 */
#include "shim/probe_child_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "shim/probe_child_source.h"

const char *probe_family_name(enum probe_family f)
{
	static const char *const name[] = {
#define PROBE_FAMILY(name, any_order, help) #name,
#include "shim/probe_child_families.def"
#undef PROBE_FAMILY
	};
	return name[f];
}

bool probe_family_any_order(enum probe_family f)
{
	static const bool any[] = {
#define PROBE_FAMILY(name, any_order, help) any_order,
#include "shim/probe_child_families.def"
#undef PROBE_FAMILY
	};
	return any[f];
}

bool probe_family_normal(enum probe_family f)
{
	return f == PROBE_FAMILY_exact || f == PROBE_FAMILY_wide || f == PROBE_FAMILY_normal;
}

/* An integer row can have elements up to this, so that its squares add up exactly. */
static int64_t integer_most(const struct probe_batch *b)
{
	int64_t m = (int64_t)sqrt(0x1p24 / (double)b->cols);

	return m < 1 ? 1 : m > 120 ? 120 : m;
}

/* Sums of an integer row. Later rows are scaled to bring the mean near eps. */
static void integers(struct source *s, int64_t row)
{
	const struct probe_batch *b = s->b;
	int64_t most = integer_most(b);
	int shift = 0, lowest = b->type == DT_f16 ? -20 : -60;
	static const int beyond[] = {0, 0, 1, 3}; /* eps, as powers of two */

	if (row % 4 && b->eps > 0)
		shift = ilogb(sqrt(3 * b->eps) / (double)most) + beyond[row % 4];
	shift = shift < lowest ? lowest : shift > 0 ? 0 : shift;
	s->grid = ldexp(1, shift);
	s->most = (double)most * s->grid;
	for (int64_t i = 0; i < b->cols; i++)
		s->x[i] = (double)(below(s, 2 * most + 1) - most) * s->grid;
}

/*
 * One large element (in every fourth row two or three), beside which the others' squares are about
 * half a unit in the last place: each addition on the large one's way to the total rounds what
 * comes from the other side, so another tree gives another total. In every fourth row magnitudes
 * over a few powers of two instead. The mean is a little above a power of four: there the last
 * place of the mean is worth most, and that of its inverse root least, so that the one shows in the
 * other.
 */
static void wide(struct source *s, int64_t row)
{
	const struct probe_batch *b = s->b;
	int64_t large = row % 4 == 1 ? 2 + below(s, 2) : row % 4 == 3 ? b->cols : 1;
	double ss = 0, scale;

	for (int64_t i = 0; i < b->cols; i++)
		s->x[i] = row % 4 == 3
				  ? ldexp(1 + unit(s), -(int)below(s, b->type == DT_f32 ? 4 : 9))
				  : sqrt(0x1p-23 * (0.1 + 1.4 * unit(s)));
	for (int64_t i = 0; large < b->cols && i < large; i++)
		s->x[below(s, b->cols)] = 1 + unit(s) / 4;
	for (int64_t i = 0; i < b->cols; i++)
		ss += s->x[i] * s->x[i];
	scale = sqrt((1.01 + 0.2 * unit(s)) * (double)b->cols / ss);
	for (int64_t i = 0; i < b->cols; i++)
		s->x[i] *= sign(s) * scale;
}

void source_pieces(struct source *s, const int64_t *at, int64_t n, double left)
{
	enum dtype t = s->b->type;

	for (int64_t k = 0; k < n; k++) {
		double x = left > 0 ? stored(t, sqrt(left)) : 0;

		if (s->grid > 0)
			x = fmin(floor(sqrt(left > 0 ? left : 0) / s->grid) * s->grid, s->most);
		else if (x * x > left)
			x = stored(t, x * (1 - ldexp(1, -digits(t))));
		s->x[at[k]] = x * sign(s);
		left -= x * x;
	}
}

static void shuffle(struct source *s)
{
	for (int64_t i = s->b->cols - 1; i > 0; i--) {
		int64_t j = below(s, i + 1);
		double x = s->x[i];

		s->x[i] = s->x[j];
		s->x[j] = x;
	}
}

/*
 * Squares whose sum lies within a unit or two of where it rounds to Inf: a few large elements, many
 * small ones of all magnitudes, then what is missing in ever smaller pieces. Whether a kernel's
 * result is Inf or not then hangs on every rounding on the way, whatever the type of the result.
 */
static void overflow(struct source *s)
{
	const struct probe_batch *b = s->b;
	double u = 0x1p104, left = 0x1p128 - u / 2 + u * (3 * unit(s) - 1.5);
	int64_t large = 1 + below(s, 3), i = 0, last = b->cols < 8 ? b->cols / 2 : 4, at[4];
	double gap = ldexp(left, -4 - (int)below(s, 4)), each = (left - gap) / (double)large;

	for (; i < large && i < b->cols - last; i++)
		s->x[i] = sqrt(each * (1 - unit(s) / 16));
	for (int64_t k = 0; k < i; k++) {
		s->x[k] = stored(b->type, s->x[k]);
		left -= s->x[k] * s->x[k];
	}
	each = left / (double)(b->cols - i + 1);
	for (; i < b->cols - last; i++) {
		s->x[i] = stored(b->type, sqrt(each * (0.2 + 1.2 * unit(s))));
		left -= s->x[i] * s->x[i];
	}
	for (int64_t k = 0; k < last; k++)
		at[k] = i + k;
	source_pieces(s, at, last, left);
	for (i = 0; i < b->cols; i++)
		s->x[i] *= sign(s);
	shuffle(s);
}

static void special(struct source *s, int64_t row)
{
	static const double odd[] = {INFINITY, -INFINITY, NAN};

	for (int64_t i = 0; i < s->b->cols; i++)
		s->x[i] = gauss(s);
	/* Row 0 has none, so that the weights' are seen. */
	for (int64_t k = 0; k < row && k < 3; k++)
		s->x[below(s, s->b->cols)] = odd[(row + k) % 3];
}

static void scaled(struct source *s, double scale, int spread)
{
	for (int64_t i = 0; i < s->b->cols; i++)
		s->x[i] = gauss(s) * scale * ldexp(1, (int)below(s, spread) - spread / 2);
}

static void zeros(struct source *s, int64_t row)
{
	for (int64_t i = 0; i < s->b->cols; i++)
		s->x[i] = copysign(0, sign(s));
	if (row % 3)
		s->x[below(s, s->b->cols)] = ldexp(gauss(s), row % 2 ? 0 : -20);
}

/*
 * Integers so large that they times a weight overflow, though they times the scale do not; and so
 * small that the scale is large and overflows with a weight. Halves go no further than they can.
 */
static void extreme(struct source *s, int64_t row)
{
	double up = s->b->type == DT_f16 ? 1 : row % 2 ? 0x1p48 : 0x1p-50;

	integers(s, 0);
	s->grid = 0;
	for (int64_t i = 0; i < s->b->cols; i++)
		s->x[i] *= up;
}

/*
 * In turn: integers, for the weights' sake; subnormal elements; and one large element among some so
 * small that their scaled values are subnormal, though they are not. No square but the large one's,
 * or exact ones, is more than 0.
 */
static void tiny(struct source *s, int64_t row)
{
	const struct probe_batch *b = s->b;
	int64_t most = integer_most(b);

	if (row % 3 == 0 || (row % 3 == 2 && b->type == DT_f16)) {
		integers(s, 0);
		return;
	}
	for (int64_t i = 0; i < b->cols; i++)
		s->x[i] = row % 3 == 2 ? sign(s) * ldexp(1 + unit(s), -126 + (int)below(s, 2))
				       : ldexp((double)(below(s, 2 * most + 1) - most),
					       b->type == DT_f16 ? -24 : -133);
	if (row % 3 == 2)
		s->x[below(s, b->cols)] = ldexp(1, 5 + ilogb(sqrt((double)b->cols)));
}

void source_choose(struct source *s, int64_t row)
{
	double eps = s->b->eps > 0 ? s->b->eps : 1e-6;

	s->grid = 0;
	switch (s->b->family) {
	case PROBE_FAMILY_exact:
		integers(s, row);
		break;
	case PROBE_FAMILY_tiny:
		tiny(s, row);
		break;
	case PROBE_FAMILY_extreme:
		extreme(s, row);
		break;
	case PROBE_FAMILY_wide:
		wide(s, row);
		break;
	case PROBE_FAMILY_zeros:
		zeros(s, row);
		break;
	case PROBE_FAMILY_special:
		special(s, row);
		break;
	case PROBE_FAMILY_overflow:
		if (s->b->type == DT_f16)
			scaled(s, 30000,
			       3); /* its squares cannot overflow; its sums and results can */
		else
			overflow(s);
		break;
	case PROBE_FAMILY_underflow:
		scaled(s, s->b->type == DT_f16 ? 0x1p-20 : 0x1p-68, 12);
		break;
	case PROBE_FAMILY_epsilon:
		scaled(s, sqrt(eps) * ldexp(1, (int)(row % 4) - 4), 3);
		break;
	default:
		scaled(s, 1, 1);
	}
	for (int64_t i = 0; i < s->b->cols; i++)
		s->x[i] = stored(s->b->type, s->x[i]);
}

/* a + b = x without rounding. */
static void take_apart(struct source *s, int64_t at, double x)
{
	struct probe_batch *b = s->b;
	double a = x, half = stored(b->type, x / 2);

	switch (below(s, 4)) {
	case 0:
		a = 0;
		break;
	case 1:
		if (half * 2 == x)
			a = half;
		break;
	case 2: /* opposite signs */
		if (stored(b->type, 2 * x) == 2 * x)
			a = 2 * x;
	}
	if (!isfinite(x))
		a = x;
	probe_store(b->type, b->a, at, a);
	probe_store(b->type, b->b, at, isfinite(x) ? x - a : isnan(x) ? gauss(s) : x);
	if (x == 0 && signbit(x)) { /* only -0 + -0 is -0 */
		probe_store(b->type, b->a, at, -0.0);
		probe_store(b->type, b->b, at, -0.0);
	}
}

/* Sums at or next to the middle of two representable numbers, and differences of near equals. */
static void ties(struct source *s, int64_t row)
{
	struct probe_batch *b = s->b;
	int p = digits(b->type);

	for (int64_t i = 0; i < b->cols; i++) {
		double a = stored(b->type, sign(s) * ldexp(1 + unit(s), (int)below(s, 5) - 2)), c;
		double half = ldexp(1, ilogb(a) - p);

		switch (below(s, 3)) {
		case 0:
			c = sign(s) * half * (double)(2 * below(s, 4) + 1);
			break;
		case 1:
			c = sign(s) * half * (1 + ldexp(sign(s), -(int)below(s, p) - 1));
			break;
		default:
			c = -a + 2 * half * (double)below(s, 4);
		}
		probe_store(b->type, b->a, row * b->cols + i, a);
		probe_store(b->type, b->b, row * b->cols + i, c);
	}
}

static double usual_weight(struct source *s)
{
	return sign(s) * ldexp(1 + unit(s), (int)below(s, 3) - 2);
}

static void choose_weights(struct source *s)
{
	static const double odd[] = {0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-140, -0x1p-133, 1, -1};
	struct probe_batch *b = s->b;

	for (int64_t i = 0; i < b->cols; i++) {
		double w = usual_weight(s);

		if (b->family == PROBE_FAMILY_tiny && i % 4)
			w = ldexp(w, b->weight_type == DT_f16 ? -15 : i % 4 == 1 ? -126 : -132);
		if (b->family == PROBE_FAMILY_extreme && i % 2)
			w = b->weight_type == DT_f16 ? w * 0x1p14 : w * 0x1p126;
		if ((b->family == PROBE_FAMILY_special || b->family == PROBE_FAMILY_zeros) &&
		    !below(s, 8))
			w = odd[below(s, sizeof(odd) / sizeof(*odd))];
		probe_store(b->weight_type, b->w, i, w);
	}
}

void probe_batch_fill(struct probe_batch *b, enum probe_family f, uint64_t seed)
{
	struct source s = {.b = b, .state = seed * 0x2545f4914f6cdd1du + (uint64_t)f};
	bool tuned = b->type != DT_f32 && (f == PROBE_FAMILY_exact || f == PROBE_FAMILY_wide ||
					   f == PROBE_FAMILY_epsilon);

	b->family = f;
	if (b->silu) {
		probe_batch_fill_silu(b, f, seed);
		return;
	}
	s.x = malloc((size_t)b->cols * sizeof(*s.x));
	if (!s.x)
		return;
	choose_weights(&s);
	for (int64_t r = 0; r < b->rows; r++) {
		/* Families vary by row: single-row batches have their turn of each kind. */
		int64_t kind = r + (b->rows < 8 ? below(&s, 8) * b->rows : 0);

		if (f == PROBE_FAMILY_ties) {
			ties(&s, r);
			continue;
		}
		source_choose(&s, kind);
		if (tuned)
			source_tune(&s, kind);
		for (int64_t i = 0; i < b->cols; i++)
			take_apart(&s, r * b->cols + i, s.x[i]);
	}
	free(s.x);
}

int64_t probe_batch_rows(enum dtype type, int64_t cols)
{
	/* Tuned columns are shared among the rows of a batch: not fewer than a dozen each. */
	int64_t most = 32768 / cols, share = cols / TUNED_COLUMNS;

	most = type != DT_f32 && most > share ? share : most;
	return most < 1 ? 1 : most > 32 ? 32 : most;
}

bool probe_batch_init(struct probe_batch *b, enum dtype type, enum dtype weight_type, int64_t rows,
		      int64_t cols, double eps)
{
	size_t n = (size_t)rows * (size_t)cols;

	memset(b, 0, sizeof(*b));
	b->rows = rows;
	b->cols = cols;
	b->type = type;
	b->weight_type = weight_type;
	b->eps = eps;
	b->a = calloc(n, dtype_bytes(type));
	b->b = calloc(n, dtype_bytes(type));
	b->w = calloc((size_t)cols, dtype_bytes(weight_type));
	return b->a && b->b && b->w;
}

void probe_batch_free(struct probe_batch *b)
{
	free(b->a);
	free(b->b);
	free(b->w);
	memset(b, 0, sizeof(*b));
}
