/* SPDX-License-Identifier: GPL-2.0-only */
/* The rules of granting (semantics.md section 6): one test a rule, and random runs against the budget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "measure/rng.h"
#include "policy/slice_ext.h"
#include "slice/slot.h"

#define US 1000ull
#define MS 1000000ull
#define SEC 1000000000ull

static struct roost_knobs knobs;
static struct roost_task task;
static struct roost_ext_cpu cpu;
static const u64 t0 = 10 * SEC;

static int fresh(void **state)
{
	memset(&knobs, 0, sizeof(knobs));
	knobs.slice_ext_ns = 30 * US;
	knobs.slice_ext_overruns = 8;
	memset(&task, 0, sizeof(task));
	task.pid = 77;
	memset(&cpu, 0, sizeof(cpu));
	return 0;
}

static u32 preempt(u32 request, u32 granted, u64 now)
{
	return roost_ext_at_preempt(&knobs, &task, &cpu, request, granted, now);
}

static u32 stop(u32 request, u64 now)
{
	return roost_ext_at_stop(&knobs, &task, &cpu, request, now);
}

static void outside_a_section_nothing_is_granted(void **state)
{
	assert_int_equal(preempt(0, 0, t0), ROOST_EXT_OUTSIDE);
	assert_int_equal(stop(0, t0), ROOST_EXT_END_NONE);
	assert_int_equal(task.ext_end_ns, 0);
}

static void a_grant_lasts_slice_ext(void **state)
{
	assert_int_equal(preempt(1, 0, t0), ROOST_EXT_GRANT);
	assert_int_equal(cpu.end_ns, t0 + 30 * US);
	assert_int_equal(preempt(1, 1, t0 + 30 * US - 1), ROOST_EXT_HOLD);
	assert_false(roost_ext_at_timer(&cpu, t0 + 30 * US - 1));
	assert_true(roost_ext_at_timer(&cpu, t0 + 30 * US));
	assert_int_equal(preempt(1, 1, t0 + 30 * US), ROOST_EXT_OVER);
	assert_int_equal(stop(1, t0 + 31 * US), ROOST_EXT_END_EXPIRED);
	assert_false(roost_ext_at_timer(&cpu, t0 + 40 * US));
}

static void one_grant_a_section(void **state)
{
	assert_int_equal(preempt(1, 0, t0), ROOST_EXT_GRANT);
	stop(1, t0 + 30 * US);
	/* the byte says GRANTED or SPENT until the section ends, however many slices later that is */
	assert_int_equal(preempt(1, ROOST_EXT_SPENT, t0 + 3 * MS), ROOST_EXT_REFUSE_SPENT);
	assert_int_equal(preempt(1, ROOST_EXT_GRANTED, t0 + 6 * MS), ROOST_EXT_REFUSE_SPENT);
	assert_int_equal(preempt(1, 0, t0 + 9 * MS), ROOST_EXT_GRANT);
}

static void given_back_in_time(void **state)
{
	task.ext_overruns = 7;
	preempt(1, 0, t0);
	assert_int_equal(preempt(0, 0, t0 + 5 * US), ROOST_EXT_OVER);
	assert_int_equal(stop(0, t0 + 5 * US), ROOST_EXT_END_GIVEN_BACK);
	assert_int_equal(task.ext_overruns, 0);
	assert_int_equal(stop(0, t0 + 6 * US), ROOST_EXT_END_NONE);
}

static void blocking_cuts_it_short_and_counts_for_nothing(void **state)
{
	task.ext_overruns = 3;
	preempt(1, 0, t0);
	assert_int_equal(stop(1, t0 + 5 * US), ROOST_EXT_END_CUT);
	assert_int_equal(task.ext_overruns, 3);
}

static void off_means_off(void **state)
{
	knobs.slice_ext_ns = 0;
	assert_int_equal(preempt(1, 0, t0), ROOST_EXT_REFUSE_OFF);
	assert_int_equal(preempt(0, 0, t0), ROOST_EXT_OUTSIDE);
}

static void switched_off_while_a_grant_runs_it_ends_as_promised(void **state)
{
	preempt(1, 0, t0);
	knobs.slice_ext_ns = 0;
	assert_int_equal(preempt(1, 1, t0 + 10 * US), ROOST_EXT_HOLD);
	assert_int_equal(preempt(1, 1, t0 + 30 * US), ROOST_EXT_OVER);
}

static void overruns_in_a_row_block_for_a_second(void **state)
{
	u64 now = t0;

	for (int i = 0; i < 8; i++, now += 10 * MS) {
		assert_int_equal(preempt(1, 0, now), ROOST_EXT_GRANT);
		assert_int_equal(stop(1, now + 30 * US), ROOST_EXT_END_EXPIRED);
	}
	now = now - 10 * MS + 30 * US;
	assert_int_equal(preempt(1, 0, now + SEC - 1), ROOST_EXT_REFUSE_BLOCKED);
	assert_int_equal(preempt(1, 0, now + SEC), ROOST_EXT_GRANT);
}

static void one_given_back_starts_the_row_anew(void **state)
{
	u64 now = t0;

	for (int i = 0; i < 100; i++, now += 10 * MS) {
		assert_int_equal(preempt(1, 0, now), ROOST_EXT_GRANT);
		stop(i % 8 != 7, i % 8 == 7 ? now + US : now + 30 * US);
	}
	assert_int_equal(task.ext_blocked_until_ns, 0);
}

static void another_tasks_grant_is_not_mine(void **state)
{
	struct roost_task other = { .pid = 78 };

	preempt(1, 0, t0);
	assert_int_equal(roost_ext_at_preempt(&knobs, &other, &cpu, 0, 0, t0 + US), ROOST_EXT_OUTSIDE);
	assert_int_equal(roost_ext_at_stop(&knobs, &other, &cpu, 1, t0 + US), ROOST_EXT_END_NONE);
	assert_int_equal(preempt(1, 1, t0 + 2 * US), ROOST_EXT_HOLD);
}

static void a_timer_that_cannot_be_started_takes_it_back(void **state)
{
	preempt(1, 0, t0);
	roost_ext_take_back(&task, &cpu);
	assert_int_equal(stop(1, t0 + US), ROOST_EXT_END_NONE);
	assert_int_equal(preempt(1, 0, t0 + 2 * US), ROOST_EXT_GRANT);
}

static void a_clock_that_runs_back_fills_nothing(void **state)
{
	cpu.stamp_ns = t0;
	cpu.bucket_ns = 0;
	assert_int_equal(preempt(1, 0, t0 - SEC), ROOST_EXT_REFUSE_BUDGET);
}

/*
 * Greedy threads on one CPU, grants of any length, timers late by up to 20 us: in every window of a second
 * grants take at most 5 %, but for the lateness of the last. Windows are checked at every end of a grant.
 */
static void never_more_than_5_percent_of_a_cpu(void **state)
{
	static struct {
		u64 from, to;
	} got[200000];

	for (u64 seed = 1; seed <= 20; seed++) {
		struct rng r = { seed };
		unsigned nr = 0, oldest = 0;
		u64 now = t0, in_window = 0, worst = 0;

		fresh(NULL);
		knobs.slice_ext_ns = 1 + rng_below(&r, 1000) * US;
		knobs.slice_ext_overruns = 1000;
		while (now < t0 + 20 * SEC && nr < 200000) {
			u64 late = rng_below(&r, 20 * US);

			now += rng_below(&r, 2) ? rng_below(&r, 200 * US) : rng_below(&r, 20 * MS);
			task.pid = 1 + (u32)rng_below(&r, 4);
			task.ext_blocked_until_ns = 0;
			if (preempt(1, 0, now) != ROOST_EXT_GRANT)
				continue;
			got[nr].from = now;
			now += knobs.slice_ext_ns + late;
			assert_int_equal(stop(1, now), ROOST_EXT_END_EXPIRED);
			got[nr].to = now;
			in_window += now - got[nr].from;
			nr++;
			while (got[oldest].to + SEC <= now)
				in_window -= got[oldest].to - got[oldest].from, oldest++;
			if (in_window > worst)
				worst = in_window;
		}
		assert_true(nr > 100);
		/* a grant that reaches into the window counts whole here: one more of the longest */
		assert_true(worst <= 50 * MS + knobs.slice_ext_ns + 40 * US);
	}
}

static void the_slot_is_found_where_the_client_looks(void **state)
{
	assert_int_equal(ROOST_EXT_GRANTED, ROOST_SLICE_GRANTED);
	assert_int_equal(ROOST_EXT_SPENT, ROOST_SLICE_SPENT);
	assert_int_equal(roost_ext_slot_index(64 + 63, 0, 64), 63);
	assert_int_equal(roost_ext_slot_index(64 + 63, 1, 64), 0);
	assert_int_equal(roost_ext_slot_index(0xffffffffu, 2, 64), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(outside_a_section_nothing_is_granted, fresh),
		cmocka_unit_test_setup(a_grant_lasts_slice_ext, fresh),
		cmocka_unit_test_setup(one_grant_a_section, fresh),
		cmocka_unit_test_setup(given_back_in_time, fresh),
		cmocka_unit_test_setup(blocking_cuts_it_short_and_counts_for_nothing, fresh),
		cmocka_unit_test_setup(off_means_off, fresh),
		cmocka_unit_test_setup(switched_off_while_a_grant_runs_it_ends_as_promised, fresh),
		cmocka_unit_test_setup(overruns_in_a_row_block_for_a_second, fresh),
		cmocka_unit_test_setup(one_given_back_starts_the_row_anew, fresh),
		cmocka_unit_test_setup(another_tasks_grant_is_not_mine, fresh),
		cmocka_unit_test_setup(a_timer_that_cannot_be_started_takes_it_back, fresh),
		cmocka_unit_test_setup(a_clock_that_runs_back_fills_nothing, fresh),
		cmocka_unit_test_setup(never_more_than_5_percent_of_a_cpu, fresh),
		cmocka_unit_test(the_slot_is_found_where_the_client_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
