/* SPDX-License-Identifier: GPL-2.0-only */
/* Utilisation: the integer average against the exact series, the estimate, E(c) that never drifts, capacity, fits, depth. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/policy_host.h"

static u64 rng_state = 1;

static u64 rng(void)
{
	u64 z = rng_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static double exact_decay(u64 delta_ns)
{
	return exp2(-(double)delta_ns / (double)ROOST_UTIL_HALF_LIFE_NS);
}

/* util.h promises 2^-22. */
static void decay_is_exact_to_2_pow_minus_22(void **state)
{
	double worst = 0;

	for (u64 d = 0; d < 40 * ROOST_UTIL_HALF_LIFE_NS; d += 1 + (d < 70000 ? 0 : rng() % 1500)) {
		double error = fabs((double)policy_util_decay(d) / 4294967296.0 - exact_decay(d));

		worst = error > worst ? error : worst;
	}
	print_message("decay: worst error 2^%.1f\n", log2(worst));
	assert_true(worst < 0x1p-22);
}

static void decay_at_its_edges(void **state)
{
	assert_true(policy_util_decay(0) == 1ULL << 32);
	assert_true(llabs((s64)policy_util_decay(ROOST_UTIL_HALF_LIFE_NS) - (1LL << 31)) <= 1);
	assert_int_equal(policy_util_decay(32 * ROOST_UTIL_HALF_LIFE_NS), 0);
	assert_int_equal(policy_util_decay(~0ULL), 0);
	/* falls with time, but for the error where one table entry gives way to the next */
	for (u64 d = 1; d < 3 * ROOST_UTIL_HALF_LIFE_NS; d += 997)
		assert_true(policy_util_decay(d) <= policy_util_decay(d - 1) + (1ULL << 11));
}

/*
 * A long random sequence of busy and idle times: the integer average stays within a bound of the exact one. Each step adds
 * the error of its factor and two roundings, which fade with the average itself: the more steps in a half-life, the more of
 * them add up. The bounds are of 1, so that 1/1024 would be one unit of what decisions compare.
 */
static double worst_of_series(u64 step_min_ns, u64 step_max_ns, u32 steps)
{
	double exact = 0, worst = 0;
	u32 avg = 0;

	for (u32 i = 0; i < steps; i++) {
		u64 d = step_min_ns + rng() % (step_max_ns - step_min_ns + 1);
		bool busy = rng() & 1;
		double f = exact_decay(d), error;

		avg = policy_util_advance(avg, d, busy);
		exact = exact * f + (busy ? 1 - f : 0);
		assert_true(avg <= ROOST_UTIL_ONE);
		error = fabs((double)avg / ROOST_UTIL_ONE - exact);
		worst = error > worst ? error : worst;
	}
	return worst;
}

static void average_follows_the_exact_series(void **state)
{
	static const struct {
		u64 min_ns, max_ns;
		double bound;
	} rows[] = {
		{ 1000, 10000, 1.0 / 8192 }, { 20000, 200000, 1.0 / 32768 }, { 500000, 8000000, 1.0 / 131072 },
		{ 1000, 100000000, 1.0 / 131072 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double worst = worst_of_series(rows[i].min_ns, rows[i].max_ns, 1000000);

		print_message("steps of %llu..%llu us: worst error %.6f (bound %.6f)\n", rows[i].min_ns / 1000, rows[i].max_ns / 1000, worst,
			      rows[i].bound);
		assert_true(worst < rows[i].bound);
	}
}

static void always_busy_is_one_and_always_idle_is_zero(void **state)
{
	u32 busy = 0, idle = ROOST_UTIL_ONE;

	for (int i = 0; i < 1000; i++) {
		busy = policy_util_advance(busy, 4000000, true);
		idle = policy_util_advance(idle, 4000000, false);
	}
	assert_true(busy >= ROOST_UTIL_ONE - 8);
	assert_true(idle <= 8);
	assert_int_equal(policy_util_scale(ROOST_UTIL_ONE), ROOST_CAPACITY);
	/* one half-life from nothing is a half */
	assert_true(llabs((s64)policy_util_advance(0, ROOST_UTIL_HALF_LIFE_NS, true) - ROOST_UTIL_ONE / 2) <= 1);
}

static void task_time_is_counted_once_and_never_backwards(void **state)
{
	struct roost_task t = { .util.avg = ROOST_UTIL_ONE / 2, .runnable_avg = ROOST_UTIL_ONE };
	u32 before;

	policy_task_averages(&t, 1000, true);   /* the first stamp counts nothing */
	assert_int_equal(t.util.avg, ROOST_UTIL_ONE / 2);
	policy_task_averages(&t, 1000 + ROOST_UTIL_HALF_LIFE_NS, false);
	assert_true(llabs((s64)t.util.avg - ROOST_UTIL_ONE / 4) <= 1);
	assert_true(llabs((s64)t.runnable_avg - ROOST_UTIL_ONE / 2) <= 1);
	before = t.util.avg;
	policy_task_averages(&t, 500, true);
	assert_int_equal(t.util.avg, before);
	assert_int_equal(t.util.stamp_ns, 1000 + ROOST_UTIL_HALF_LIFE_NS);
}

/* Waiting is no running, but makes a CPU's load. */
static void waiting_counts_as_runnable(void **state)
{
	const u64 half = ROOST_UTIL_HALF_LIFE_NS, start = 1000;
	struct roost_task t = { .weight = 2048, .util.stamp_ns = start, .wait_start_ns = start };

	policy_task_averages(&t, start + half, false);          /* it waited all the time */
	assert_int_equal(t.util.avg, 0);
	assert_true(llabs((s64)t.runnable_avg - ROOST_UTIL_ONE / 2) <= 1);
	assert_true(abs((int)policy_task_load(&t) - 1024) <= 1);
	t.wait_start_ns = start + half + half * 3 / 4;          /* it slept, and waited for the last quarter */
	t.runnable_avg = 0;
	policy_task_averages(&t, start + 2 * half, false);
	assert_true(llabs((s64)t.runnable_avg - ROOST_UTIL_ONE / 8) <= 1);
}

/* A CPU's average load beside the exact series, the load changing at random and the averages taken at ticks of 4 ms. */
static void average_load_follows_the_exact_one(void **state)
{
	static struct roost_cpu c;
	double exact = 0, worst = 0;
	u64 now = 1000000, tick = now;

	c = (struct roost_cpu){ .util_busy = 1 };
	policy_cpu_averages(&c, now);
	for (int i = 0; i < 200000; i++) {
		u64 step = 1000 + rng() % 300000;
		double f = exp2(-(double)step / ROOST_UTIL_HALF_LIFE_NS);

		exact = exact * f + (double)c.load * (1 - f);
		now += step;
		policy_load_until(&c, now);
		/* a random walk between none and about forty tasks */
		c.load = rng() % 2 ? c.load + 1024 : c.load > 1024 ? c.load - 1024 : 0;
		if (c.load > 40960)
			c.load = 40960;
		if (now - tick < 4000000)
			continue;
		tick = now;
		policy_cpu_averages(&c, now);
		if (i > 2000 && fabs((double)c.load_avg - exact) > worst)
			worst = fabs((double)c.load_avg - exact);
	}
	/* within a fifth of a task: a load changes by little within 4 ms of a half-life of 32 */
	assert_true(worst < 205);
	assert_true(worst > 0);
}

static void average_load_of_an_idle_cpu_fades(void **state)
{
	const u64 half = ROOST_UTIL_HALF_LIFE_NS;
	struct roost_cpu c = { .util_busy = 1, .util_stamp_ns = half, .load_avg = 4096 };

	assert_int_equal(policy_load_avg(&c, 2 * half), 4096);  /* busy: as its own tick last wrote it */
	c.util_busy = 0;
	assert_true(llabs((s64)policy_load_avg(&c, 2 * half) - 2048) <= 1);
	assert_int_equal(policy_load_avg(&c, half - 1), 4096);  /* a clock that is behind */
	policy_cpu_busy(&c, 2 * half, true);
	assert_true(llabs((s64)c.load_avg - 2048) <= 1);
	c.load_avg = (u64)-500;                                 /* two took their part off what was there for one */
	assert_int_equal(policy_load_avg(&c, 2 * half), 0);
	policy_cpu_busy(&c, 3 * half, true);                    /* no change: nothing to do */
	assert_int_equal(c.util_stamp_ns, 2 * half);
}

/* A task that changes CPUs takes its part along, and never more than there is. */
static void average_load_moves_with_the_task(void **state)
{
	struct roost_task t = { .weight = 1024, .runnable_avg = ROOST_UTIL_ONE, .count_cpu = -1 };

	host_reset();
	host.machine.nr_cpu_ids = 2;
	host.machine.nr_words = host.machine.nr_llcs = 1;
	host.cpu[0].util_busy = host.cpu[1].util_busy = 1;
	policy_count_in(&t, &host.cpu[0], 0, 1000);
	assert_int_equal(host.cpu[0].load_avg, 1024);
	policy_count_out(&t, 2000);
	policy_count_in(&t, &host.cpu[0], 0, 3000);             /* the same CPU: it is in there already */
	assert_int_equal(host.cpu[0].load_avg, 1024);
	policy_count_out(&t, 4000);
	host.cpu[0].load_avg = 500;                             /* part of it has faded */
	policy_count_in(&t, &host.cpu[1], 1, 5000);
	assert_int_equal(host.cpu[0].load_avg, 0);
	assert_int_equal(host.cpu[1].load_avg, 1024);
	policy_count_out(&t, 6000);
}

static void estimate_rises_at_once_and_falls_by_quarters(void **state)
{
	struct roost_util u = { .avg = 800u << 10 };

	policy_util_hold(&u);
	assert_int_equal(u.est, 800);
	u.avg = 0;
	policy_util_hold(&u);
	assert_int_equal(u.est, 600);
	assert_int_equal(policy_util_of(&u), 600);      /* the peak holds */
	for (int i = 0; i < 40; i++)
		policy_util_hold(&u);
	assert_int_equal(u.est, 0);                     /* and fades entirely */
	u.avg = 900u << 10;
	assert_int_equal(policy_util_of(&u), 900);      /* more than ever: at once */
}

/* 10^7 times in or out, on any CPU, with estimates that change meanwhile. */
static void sum_of_estimates_never_drifts(void **state)
{
	enum { TASKS = 300, CPUS = 16, OPERATIONS = 10000000 };
	static struct roost_task tasks[TASKS];
	static bool in[TASKS];
	u32 i, c, runnable = 0;

	host_reset();
	host.machine.nr_cpu_ids = CPUS;
	host.machine.nr_words = 1;
	host.machine.nr_llcs = 1;
	for (i = 0; i < TASKS; i++)
		tasks[i].weight = policy_nice_weight[i % 40];
	for (i = 0; i < OPERATIONS; i++) {
		u64 r = rng();
		u32 n = (u32)(r % TASKS);
		struct roost_task *t = &tasks[n];

		if (in[n]) {
			t->util.est = (u32)(r >> 32) % 1025;    /* as at dequeue: before it is taken off */
			policy_count_out(t, i);
			policy_count_out(t, i);                    /* twice is once */
			runnable--;
		} else {
			c = (u32)(r >> 40) % CPUS;
			if (r >> 60 == 0)
				t->flags ^= ROOST_TASK_IDLE_CLASS;
			policy_count_in(t, &host.cpu[c], (s32)c, i);
			t->util.est = (u32)(r >> 20) % 1025;    /* changes while it runs */
			runnable++;
		}
		in[n] = !in[n];
		if (i % 100000 == 0) {
			u32 nr = 0;

			for (c = 0; c < CPUS; c++) {
				u64 est = 0, load = 0;

				for (n = 0; n < TASKS; n++)
					if (in[n] && tasks[n].count_cpu == (s32)c) {
						est += tasks[n].est_counted;
						load += tasks[n].weight;
					}
				assert_int_equal(host.cpu[c].est_sum, est);
				assert_int_equal(host.cpu[c].load, load);
				nr += host.cpu[c].nr_runnable;
			}
			assert_int_equal(nr, runnable);
		}
	}
	for (i = 0; i < TASKS; i++)
		policy_count_out(&tasks[i], OPERATIONS);
	for (c = 0; c < CPUS; c++) {
		assert_int_equal(host.cpu[c].est_sum, 0);
		assert_int_equal(host.cpu[c].load, 0);
		assert_int_equal(host.cpu[c].nr_runnable, 0);
		assert_int_equal(host.cpu[c].nr_idle_class, 0);
	}
	assert_int_equal(host.word[0].sidle, 0);
}

static void fits_with_a_margin_of_20_percent_strictly(void **state)
{
	struct roost_cpu c = { .capacity = 1024, .est_sum = 400 };

	/* 1024 * 1024 / 1280 = 819.2 */
	assert_true(policy_fits(&c, 419));
	assert_false(policy_fits(&c, 420));
	c.capacity = 1280;                      /* 1024 exactly: strict */
	assert_true(policy_fits(&c, 623));
	assert_false(policy_fits(&c, 624));
	c.capacity = 0;
	c.est_sum = 0;
	assert_false(policy_fits(&c, 0));
	c.est_sum = ~0u;
	c.capacity = 1024;
	assert_false(policy_fits(&c, ~0u));     /* no wrap */
}

static void capacity_is_what_others_leave(void **state)
{
	struct roost_cpu c = { .capacity = 1024, .capacity_max = 1024 };

	assert_int_equal(policy_capacity(1024, 0, 0), 1024);
	assert_int_equal(policy_capacity(1024, ROOST_UTIL_ONE / 4, ROOST_UTIL_ONE / 4), 512);
	assert_int_equal(policy_capacity(600, ROOST_UTIL_ONE / 2, 0), 300);
	assert_int_equal(policy_capacity(1024, ROOST_UTIL_ONE, ROOST_UTIL_ONE), 1);
	/* a higher class holds it for a half-life, then is gone for long */
	policy_capacity_update(&c, 1000, true, 0);
	policy_capacity_update(&c, 1000 + ROOST_UTIL_HALF_LIFE_NS, true, 0);
	assert_in_range(c.capacity, 511, 513);
	policy_capacity_update(&c, 1000 + 30 * ROOST_UTIL_HALF_LIFE_NS, false, 0);
	assert_in_range(c.capacity, 1023, 1024);
}

static void scan_depth_is_the_formula(void **state)
{
	for (u32 weight = 1; weight <= 512; weight++) {
		u32 last = weight;

		for (u32 x = 0; x <= 1024; x++) {
			double y = floor((double)x * x * 117 * 117 / (10000.0 * 1024));
			u32 depth = policy_scan_depth(x, weight);

			y = 1024 - (y < 1024 ? y : 1024);
			assert_int_equal(depth, (u32)floor(y * weight / 1024));
			assert_true(depth <= last);
			last = depth;
		}
		assert_int_equal(policy_scan_depth(0, weight), weight);
		/* "about zero above 85 %" */
		assert_int_equal(policy_scan_depth(1024 * 86 / 100, weight), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decay_is_exact_to_2_pow_minus_22),
		cmocka_unit_test(decay_at_its_edges),
		cmocka_unit_test(average_follows_the_exact_series),
		cmocka_unit_test(always_busy_is_one_and_always_idle_is_zero),
		cmocka_unit_test(task_time_is_counted_once_and_never_backwards),
		cmocka_unit_test(estimate_rises_at_once_and_falls_by_quarters),
		cmocka_unit_test(waiting_counts_as_runnable),
		cmocka_unit_test(average_load_follows_the_exact_one),
		cmocka_unit_test(average_load_of_an_idle_cpu_fades),
		cmocka_unit_test(average_load_moves_with_the_task),
		cmocka_unit_test(sum_of_estimates_never_drifts),
		cmocka_unit_test(fits_with_a_margin_of_20_percent_strictly),
		cmocka_unit_test(capacity_is_what_others_leave),
		cmocka_unit_test(scan_depth_is_the_formula),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
