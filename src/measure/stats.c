/* SPDX-License-Identifier: GPL-2.0-only */
/* Medians, the ratio's exact interval, outliers; stats.h says why these. */
#include "measure/stats.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MAX 60	/* rounds up to which the rank distribution is computed exactly */
#define RANKS_MIN 6	/* rounds from which ranks alone reach 95 % */
#define HALF_MAX 300.0	/* its exponential is still a number */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Puts the k-th smallest at v[k], smaller ones before it, larger ones behind it. */
static double select_kth(double *v, unsigned n, unsigned k)
{
	unsigned lo = 0, hi = n - 1;

	while (lo < hi) {
		double pivot = v[lo + (hi - lo) / 2];
		unsigned i = lo, j = hi;

		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			double t = v[i];

			v[i++] = v[j];
			v[j--] = t;
		}
		if (k <= j)
			hi = j;
		else
			lo = j + 1;
	}
	return v[k];
}

double stat_quantile(const double *v, unsigned n, double q)
{
	double copy[STAT_ROUNDS_MAX], at;
	unsigned k, m = 0;

	for (unsigned i = 0; i < n && i < STAT_ROUNDS_MAX; i++)
		if (!isnan(v[i]))
			copy[m++] = v[i];
	if (!m)
		return NAN;
	qsort(copy, m, sizeof(*copy), by_value);
	at = q * (m - 1);
	k = (unsigned)at;
	return k + 1 < m ? copy[k] + (at - k) * (copy[k + 1] - copy[k]) : copy[m - 1];
}

double stat_median(const double *v, unsigned n)
{
	return stat_quantile(v, n, 0.5);
}

/*
 * How many of the ordered means of two lie below the lower end: the largest K with P(W < K) <= 2.5 %, W the
 * signed-rank sum of n signs.
 */
static unsigned rank_cut(unsigned n)
{
	static double p[EXACT_MAX * (EXACT_MAX + 1) / 2 + 1];
	unsigned pairs = n * (n + 1) / 2, k = 0;
	double sum = 0;

	if (n > EXACT_MAX) {
		double mean = pairs / 2.0, sd = sqrt(n * (n + 1.0) * (2.0 * n + 1.0) / 24.0);

		return (unsigned)(mean - 1.959964 * sd - 0.5);
	}
	memset(p, 0, sizeof(p));
	p[0] = 1;
	for (unsigned i = 1; i <= n; i++)
		for (unsigned w = pairs + 1; w--; )
			p[w] = 0.5 * (p[w] + (w >= i ? p[w - i] : 0));
	while (sum + p[k] <= 0.025)
		sum += p[k++];
	return k;
}

static unsigned cached_cut(unsigned n)
{
	static _Atomic uint32_t cut[EXACT_MAX + 1];

	if (n > EXACT_MAX)
		return rank_cut(n);
	if (!cut[n])
		cut[n] = rank_cut(n) + 1;
	return cut[n] - 1;
}

/*
 * Counts and ticks come in steps, and a few of them tie: 1, 1 against 2, 2 says little, but has no spread. What the step
 * hides is added to the variance of the log ratios: a twelfth of its square a value. The step is the least difference
 * between any two of the 2 @n values, so it is never below the real one.
 */
static double hidden_variance(const double *v, unsigned n)
{
	double sorted[2 * RANKS_MIN], step = 0, sum = 0;

	memcpy(sorted, v, 2 * n * sizeof(*v));
	qsort(sorted, 2 * n, sizeof(*sorted), by_value);
	for (unsigned i = 1; i < 2 * n; i++) {
		double gap = sorted[i] - sorted[i - 1];

		if (gap > 1e-9 * sorted[i] && (!(step > 0) || gap < step))
			step = gap;
	}
	for (unsigned i = 0; i < 2 * n; i++)
		sum += step / v[i] * (step / v[i]) / 12 / n;
	return sum;
}

/* 97.5 % of Student's t for n - 1 degrees of freedom, n = 2..5. */
static const double t_975[RANKS_MIN] = { 0, 0, 12.7062, 4.3027, 3.1824, 2.7764 };

static void t_interval(const double *d, unsigned n, double hidden, double centre, double *lo, double *hi)
{
	double mean = 0, var = hidden, half;

	for (unsigned i = 0; i < n; i++)
		mean += d[i] / n;
	for (unsigned i = 0; i < n; i++)
		var += (d[i] - mean) * (d[i] - mean) / (n - 1);
	half = fmin(t_975[n] * sqrt(var / n), HALF_MAX);
	/* About the mean, as the theory has it, and never without the shown centre. */
	*lo = fmin(mean - half, centre);
	*hi = fmax(mean + half, centre);
}

static int centre_and_interval(const double *d, unsigned n, double hidden, double *centre, double *lo, double *hi)
{
	unsigned pairs = n * (n + 1) / 2, k = 0, cut;
	double small[EXACT_MAX * (EXACT_MAX + 1) / 2], *w = small;

	if (n > EXACT_MAX)
		w = malloc(pairs * sizeof(*w));
	if (!w)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = i; j < n; j++)
			w[k++] = (d[i] + d[j]) / 2;
	*centre = select_kth(w, pairs, pairs / 2);
	if (pairs % 2 == 0)
		*centre = (*centre + select_kth(w, pairs, pairs / 2 - 1)) / 2;
	if (n < RANKS_MIN) {
		t_interval(d, n, hidden, *centre, lo, hi);
	} else {
		cut = cached_cut(n);
		*lo = select_kth(w, pairs, cut - 1);
		*hi = select_kth(w, pairs, pairs - cut);
	}
	if (w != small)
		free(w);
	return 0;
}

int stat_ratio(const double *base, const double *other, unsigned n, struct stat_ratio *out)
{
	double d[STAT_ROUNDS_MAX], few[2 * RANKS_MIN], hidden = 0, centre, lo, hi;
	unsigned m = 0;
	int rc;

	for (unsigned i = 0; i < n && m < STAT_ROUNDS_MAX; i++) {
		if (isnan(base[i]) || isnan(other[i]))
			continue;
		if (!(base[i] > 0) || !(other[i] > 0) || isinf(base[i]) || isinf(other[i]))
			return -EDOM;
		if (m < RANKS_MIN) {
			few[2 * m] = base[i];
			few[2 * m + 1] = other[i];
		}
		d[m++] = log(other[i]) - log(base[i]);
	}
	if (m < 2)
		return -ENODATA;
	if (m < RANKS_MIN)
		hidden = hidden_variance(few, m);
	rc = centre_and_interval(d, m, hidden, &centre, &lo, &hi);
	if (rc)
		return rc;
	*out = (struct stat_ratio){ .rounds = m, .ratio = exp(centre), .lo = exp(lo), .hi = exp(hi) };
	out->call = lo > 0 ? STAT_MORE : hi < 0 ? STAT_LESS : STAT_NO_DIFFERENCE;
	return 0;
}

int stat_tight(const struct stat_ratio *r, double within)
{
	return r->rounds >= 8 && r->hi <= r->ratio * (1 + within) && r->lo >= r->ratio * (1 - within);
}

unsigned stat_outliers(const double *v, unsigned n, unsigned char *flag)
{
	double dev[STAT_ROUNDS_MAX], median = stat_median(v, n), mad;
	unsigned found = 0;

	memset(flag, 0, n);
	if (n < 4 || n > STAT_ROUNDS_MAX)
		return 0;
	for (unsigned i = 0; i < n; i++)
		dev[i] = fabs(v[i] - median);
	mad = stat_median(dev, n);
	for (unsigned i = 0; i < n; i++) {
		flag[i] = dev[i] > 3.5 * 1.4826 * mad && dev[i] > 0.05 * fabs(median);
		found += flag[i];
	}
	return found;
}
