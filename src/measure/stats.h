/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics of interleaved runs: what is the ratio of two variants, how sure is it, which runs stand out.
 *
 * Runs come in rounds; in each round every variant runs once, in random order. What is estimated is the
 * ratio other/base: with d_i = log(other_i) - log(base_i) of round i, the centre of the d_i is the median of
 * all means of two of them (Hodges and Lehmann), and the ratio is its exponential. The interval is the exact
 * one of the signed-rank test, turned round.
 *
 * Why this and not a bootstrap of the medians: when two variants do not differ, the random order makes d_i and
 * -d_i equally likely, whatever the runs' distribution is and however much the machine drifts from round to round,
 * and that is all the signed-rank test needs. So a false difference is called in at most 5 % of cases, by
 * construction, from six rounds on. Percentile bootstraps of medians miss 95 % by several points at 5 to 10
 * rounds, and are far too wide when rounds drift. tests/unit/test_stats.c measures both claims.
 * With fewer than six rounds no rank test can reach 95 %: there the t interval of the d_i is used. Counts and ticks tie at so
 * few rounds, which is no proof of there being no spread: what the step between values hides is added to it.
 */
#ifndef ROOST_MEASURE_STATS_H
#define ROOST_MEASURE_STATS_H

#define STAT_ROUNDS_MAX 1000

enum stat_call {
	STAT_NO_DIFFERENCE,	/* the interval holds 1 */
	STAT_LESS,		/* other is below base */
	STAT_MORE,
};

struct stat_ratio {
	unsigned rounds;	/* that both variants finished */
	double ratio, lo, hi;	/* other / base and its 95 % interval */
	enum stat_call call;
};

double stat_median(const double *v, unsigned n);
double stat_quantile(const double *v, unsigned n, double q);

/*
 * base[i] and other[i] are of one round; a NaN marks a run that did not count, and drops its round.
 * 0; -ENODATA with fewer than two rounds left; -EDOM when a value is not above 0, so that there is no ratio.
 */
int stat_ratio(const double *base, const double *other, unsigned n, struct stat_ratio *out);

/*
 * Is the interval within +-@within (0.03 = 3 %) of the ratio? Stopping a measurement as soon as it looks
 * tight would favour lucky stretches; stat_test's coverage includes this rule.
 */
int stat_tight(const struct stat_ratio *r, double within);

/*
 * Sets @flag[i] for runs more than 3.5 robust standard deviations (1.4826 * median absolute deviation) and
 * more than 5 % from the median. Returns how many. They are named, never dropped.
 */
unsigned stat_outliers(const double *v, unsigned n, unsigned char *flag);

#endif
