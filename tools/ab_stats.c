// SPDX-License-Identifier: Apache-2.0
#include "tools/ab_stats.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double ab_median(double *x, unsigned n)
{
	qsort(x, n, sizeof(*x), by_value);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/* P(B <= k), B binomial(n, 1/2). */
static double binomial_below(unsigned n, unsigned k)
{
	double sum = 0;

	for (unsigned i = 0; i <= k; i++)
		sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) - n * log(2));
	return sum;
}

struct ab_interval ab_median_interval(double *x, unsigned n, double confidence)
{
	struct ab_interval r = {.median = ab_median(x, n)};
	unsigned k = 0; /* values left out at each end */

	while (2 * (k + 1) < n && 1 - 2 * binomial_below(n, k + 1) >= confidence)
		k++;
	r.low = x[k];
	r.high = x[n - 1 - k];
	r.confidence = n > 1 ? 1 - 2 * binomial_below(n, k) : 0;
	return r;
}
