/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram of durations in fixed memory, for latencies of any size.
 *
 * Values below 128 have a bucket each; above, every power of two is cut into 128 equal buckets, so a
 * bucket is at most 1/128 of its value wide, and the middle of it, which is what is reported, is off by
 * less than 0.4 %. The exact smallest, largest and mean value are kept beside the buckets.
 * Not safe for two writers: give every thread its own and merge.
 */
#ifndef ROOST_MEASURE_HIST_H
#define ROOST_MEASURE_HIST_H

#include <jansson.h>
#include <stdint.h>

#define HIST_SUB_BITS 7
#define HIST_SUB (1u << HIST_SUB_BITS)
#define HIST_BUCKETS ((64 - HIST_SUB_BITS + 1) * HIST_SUB)

struct hist {
	uint64_t count;
	uint64_t min;
	uint64_t max;
	long double sum;
	uint64_t bucket[HIST_BUCKETS];
};

void hist_init(struct hist *h);
void hist_add(struct hist *h, uint64_t value);
void hist_add_n(struct hist *h, uint64_t value, uint64_t n);
void hist_merge(struct hist *into, const struct hist *from);
/* The smallest recorded value that at least @q (0..1) of all values do not exceed; 0 when empty. */
uint64_t hist_quantile(const struct hist *h, double q);
double hist_mean(const struct hist *h);

/* {"count","min","mean","p50","p90","p95","p99","p999","max"} and, if @with_cdf, "cdf": [[q, value], ...]. */
json_t *hist_json(const struct hist *h, int with_cdf);

/* The bucket arithmetic, open to tests. */
unsigned hist_index(uint64_t value);
uint64_t hist_bucket_low(unsigned index);
uint64_t hist_bucket_mid(unsigned index);

#endif
