/* SPDX-License-Identifier: GPL-2.0-only */
/* The latency histogram: bucket arithmetic, the promised error, quantiles, merging, JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>

#include "measure/hist.h"
#include "measure/rng.h"

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void buckets_tile_all_values(void **state)
{
	struct rng r = { 1 };

	for (unsigned i = 1; i < HIST_BUCKETS; i++) {
		assert_true(hist_bucket_low(i) > hist_bucket_low(i - 1));
		assert_int_equal(hist_index(hist_bucket_low(i)), i);
		assert_int_equal(hist_index(hist_bucket_low(i) - 1), i - 1);
		assert_int_equal(hist_index(hist_bucket_mid(i)), i);
	}
	assert_int_equal(hist_index(UINT64_MAX), HIST_BUCKETS - 1);
	for (int i = 0; i < 200000; i++) {
		uint64_t v = rng_u64(&r) >> rng_below(&r, 64);
		uint64_t mid = hist_bucket_mid(hist_index(v));

		assert_true(fabs((double)mid - (double)v) <= 0.005 * (double)v);
	}
}

/* Every quantile, of values over nine decades, within 1 % of the sorted list's. */
static void quantiles_match_a_sorted_list(void **state)
{
	static const double q[] = { 0, .001, .1, .5, .9, .95, .99, .999, .9999, 1 };
	enum { N = 50000 };
	uint64_t *v = calloc(N, sizeof(*v));
	struct hist *h = malloc(sizeof(*h));
	struct rng r = { 7 };
	long double sum = 0;

	hist_init(h);
	for (int i = 0; i < N; i++) {
		v[i] = (uint64_t)pow(10, 9 * rng_unit(&r));
		sum += v[i];
		hist_add(h, v[i]);
	}
	qsort(v, N, sizeof(*v), by_value);
	for (unsigned i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		uint64_t rank = (uint64_t)ceil(q[i] * N);
		double exact = (double)v[rank ? rank - 1 : 0];

		assert_true(fabs((double)hist_quantile(h, q[i]) - exact) <= 0.01 * exact);
	}
	assert_true(fabs(hist_mean(h) - (double)(sum / N)) < 1e-6 * hist_mean(h));
	assert_int_equal(h->min, v[0]);
	assert_int_equal(h->max, v[N - 1]);
	free(h);
	free(v);
}

static void merging_is_adding(void **state)
{
	struct hist *all = malloc(sizeof(*all)), *a = malloc(sizeof(*a)), *b = malloc(sizeof(*b));
	struct rng r = { 3 };

	hist_init(all);
	hist_init(a);
	hist_init(b);
	for (int i = 0; i < 10000; i++) {
		uint64_t v = rng_below(&r, 1u << 20);

		hist_add(all, v);
		hist_add(i % 3 ? a : b, v);
	}
	hist_merge(a, b);
	assert_int_equal(a->count, all->count);
	assert_int_equal(a->min, all->min);
	assert_int_equal(a->max, all->max);
	assert_memory_equal(a->bucket, all->bucket, sizeof(all->bucket));
	hist_init(b);
	hist_merge(a, b); /* an empty one changes nothing, its "min" least of all */
	assert_int_equal(a->min, all->min);
	free(all);
	free(a);
	free(b);
}

static void edges(void **state)
{
	struct hist *h = malloc(sizeof(*h));
	json_t *j;

	hist_init(h);
	assert_int_equal(hist_quantile(h, .5), 0);
	j = hist_json(h, 1);
	assert_int_equal(json_integer_value(json_object_get(j, "min")), 0);
	assert_null(json_object_get(j, "cdf"));
	json_decref(j);

	hist_add(h, 0);
	hist_add(h, UINT64_MAX);
	hist_add_n(h, 5, 0);
	assert_int_equal(h->count, 2);
	assert_int_equal(hist_quantile(h, .5), 0);
	assert_true(hist_quantile(h, 1) == UINT64_MAX);
	hist_init(h);
	hist_add_n(h, 1000003, 9);
	assert_int_equal(hist_quantile(h, .5), 1000003); /* clamped to what was seen */
	j = hist_json(h, 1);
	assert_int_equal(json_integer_value(json_object_get(j, "count")), 9);
	assert_int_equal(json_integer_value(json_object_get(j, "p99")), 1000003);
	assert_true(json_array_size(json_object_get(j, "cdf")) > 20);
	json_decref(j);
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_tile_all_values),
		cmocka_unit_test(quantiles_match_a_sorted_list),
		cmocka_unit_test(merging_is_adding),
		cmocka_unit_test(edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
