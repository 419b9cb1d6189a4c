/* SPDX-License-Identifier: GPL-2.0-only */
/* The log-linear histogram; hist.h says what it promises. */
#include "measure/hist.h"

#include <math.h>
#include <string.h>

void hist_init(struct hist *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

unsigned hist_index(uint64_t value)
{
	unsigned octave;

	if (value < HIST_SUB)
		return value;
	octave = 63 - __builtin_clzll(value) - HIST_SUB_BITS;
	return (octave + 1) * HIST_SUB + (unsigned)((value >> octave) - HIST_SUB);
}

uint64_t hist_bucket_low(unsigned index)
{
	if (index < HIST_SUB)
		return index;
	return (uint64_t)(HIST_SUB + index % HIST_SUB) << (index / HIST_SUB - 1);
}

uint64_t hist_bucket_mid(unsigned index)
{
	uint64_t width = index < 2 * HIST_SUB ? 1 : 1ull << (index / HIST_SUB - 1);

	return hist_bucket_low(index) + (width - 1) / 2;
}

void hist_add_n(struct hist *h, uint64_t value, uint64_t n)
{
	if (!n)
		return;
	h->bucket[hist_index(value)] += n;
	h->count += n;
	h->sum += (long double)value * n;
	if (value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
}

void hist_add(struct hist *h, uint64_t value)
{
	hist_add_n(h, value, 1);
}

void hist_merge(struct hist *into, const struct hist *from)
{
	for (unsigned i = 0; i < HIST_BUCKETS; i++)
		into->bucket[i] += from->bucket[i];
	into->count += from->count;
	into->sum += from->sum;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
}

uint64_t hist_quantile(const struct hist *h, double q)
{
	uint64_t rank, seen = 0;

	if (!h->count)
		return 0;
	if (!(q > 0))
		return h->min;
	if (q >= 1)
		return h->max;
	rank = (uint64_t)ceil(q * (double)h->count);
	for (unsigned i = hist_index(h->min); i < HIST_BUCKETS; i++) {
		uint64_t mid;

		seen += h->bucket[i];
		if (seen < rank)
			continue;
		mid = hist_bucket_mid(i);
		return mid < h->min ? h->min : mid > h->max ? h->max : mid;
	}
	return h->max;
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)(h->sum / h->count) : 0;
}

/* Points dense enough for a curve, and denser in the tail, where the interest is. */
static const double cdf_points[] = {
	0, .01, .05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .65, .7, .75, .8, .85, .9,
	.925, .95, .96, .97, .98, .985, .99, .995, .998, .999, .9995, .9999, .99999, 1,
};

json_t *hist_json(const struct hist *h, int with_cdf)
{
	json_t *cdf, *o;

	o = json_pack("{s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I}",
		      "count", (json_int_t)h->count, "min", (json_int_t)(h->count ? h->min : 0),
		      "mean", hist_mean(h), "p50", (json_int_t)hist_quantile(h, .5),
		      "p90", (json_int_t)hist_quantile(h, .9), "p95", (json_int_t)hist_quantile(h, .95),
		      "p99", (json_int_t)hist_quantile(h, .99), "p999", (json_int_t)hist_quantile(h, .999),
		      "max", (json_int_t)h->max);
	if (!o || !with_cdf || !h->count)
		return o;
	cdf = json_array();
	for (unsigned i = 0; i < sizeof(cdf_points) / sizeof(cdf_points[0]); i++)
		json_array_append_new(cdf, json_pack("[f, I]", cdf_points[i],
						     (json_int_t)hist_quantile(h, cdf_points[i])));
	json_object_set_new(o, "cdf", cdf);
	return o;
}
