/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a comparison. */
#ifndef AF_TOOLS_AB_STATS_H
#define AF_TOOLS_AB_STATS_H

struct ab_interval {
	double median, low, high;
	double confidence; /* of [low, high]; what n allows where that is less than was wanted */
};

/* The middle of x[n], which is sorted in place; n > 0. */
double ab_median(double *x, unsigned n);

/*
 * The median of x[n] (sorted in place) and an interval for the median of what x is a sample of, of
 * at least that confidence if n allows. The interval is between two order statistics and assumes no
 * distribution: the number of values below the true median is binomial(n, 1/2) (W. J. Conover,
 * Practical Nonparametric Statistics, 3rd ed. 1999, section 3.2, confidence interval for a
 * quantile).
 */
struct ab_interval ab_median_interval(double *x, unsigned n, double confidence);

#endif
