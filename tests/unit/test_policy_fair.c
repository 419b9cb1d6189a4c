/* SPDX-License-Identifier: GPL-2.0-only */
/* The order within a queue (policy/fair.h): weights, shared slices, lag, what sleeping is worth, who preempts whom. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "model/policy_host.h"

#define SLICE 3000000ULL

static int setup(void **state)
{
	host_reset();
	host.machine.nr_cpu_ids = 4;
	host.knobs.slice_ns = SLICE;
	host.knobs.slice_min_ns = 750000;
	return 0;
}

static void weights_are_a_table_of_steps_of_one_and_a_quarter(void **state)
{
	assert_int_equal(policy_weight(0, false), 1024);
	assert_int_equal(policy_weight(-20, false), 88761);
	assert_int_equal(policy_weight(19, false), 15);
	assert_int_equal(policy_weight(-20, true), 3);
	assert_int_equal(policy_weight(20, false), 1024);       /* no such nice */
	assert_int_equal(policy_weight(-21, false), 1024);
	for (s32 n = -20; n < 19; n++) {
		double step = (double)policy_weight(n, false) / policy_weight(n + 1, false);

		assert_true(step > 1.18 && step < 1.29);
	}
	for (s32 n = -20; n <= 19; n++)
		assert_true(fabs(policy_weight(n, false) / (1024 * pow(1.25, -n)) - 1) < 0.12);
}

static void virtual_time_runs_by_weight(void **state)
{
	assert_int_equal(policy_virtual(1000, 1024), 1000);
	assert_int_equal(policy_virtual(1000, 2048), 500);
	assert_int_equal(policy_virtual(1000, 512), 2000);
	assert_int_equal(policy_virtual(1000, 0), 1024000);     /* no division by zero */
	/* a second of the lightest does not wrap */
	assert_int_equal(policy_virtual(1000000000ULL, 3), 1000000000ULL * 1024 / 3);
}

static void slices_are_shared_down_to_a_least(void **state)
{
	assert_int_equal(policy_slice(0), SLICE);
	assert_int_equal(policy_slice(1), SLICE);
	assert_int_equal(policy_slice(2), SLICE / 2);
	assert_int_equal(policy_slice(4), SLICE / 4);
	assert_int_equal(policy_slice(5), 750000);
	assert_int_equal(policy_slice(1000), 750000);
	host.knobs.slice_ns = 500000;           /* the slice below the least slice: the slice */
	assert_int_equal(policy_slice(7), 500000);
}

static struct roost_task sleeper(s64 lag_at_sleep)
{
	struct roost_task t = { .weight = 1024, .flags = ROOST_TASK_SLEPT, .lag = lag_at_sleep };

	return t;
}

/* Sleeps while @moved of virtual time go by on its CPU; what it is owed when it wakes there. */
static s64 owed_after(s64 lag_at_sleep, u64 moved)
{
	struct roost_cpu c = { .vtime = 1000000000000ULL };
	struct roost_task t = sleeper(lag_at_sleep);

	t.vruntime = c.vtime - (u64)lag_at_sleep;
	c.vtime += moved;
	policy_place(&t, &c, &c, 1);
	assert_false(t.flags & ROOST_TASK_SLEPT);
	return (s64)(c.vtime - t.vruntime);
}

static void sleeping_earns_nothing(void **state)
{
	assert_int_equal(owed_after(0, 0), 0);
	assert_int_equal(owed_after(0, 10 * SLICE), 0);
	assert_int_equal(owed_after(0, 1000000000000ULL), 0);
	assert_int_equal(owed_after(1000, 10 * SLICE), 1000);
}

static void a_sleeper_gains_at_most_one_slice(void **state)
{
	assert_int_equal(owed_after((s64)SLICE, 0), SLICE);
	assert_int_equal(owed_after((s64)SLICE + 1, 0), SLICE);
	assert_int_equal(owed_after(50 * (s64)SLICE, 50 * SLICE), SLICE);
}

static void debts_are_bounded_and_forgiven_as_time_goes_by(void **state)
{
	assert_int_equal(owed_after(-50 * (s64)SLICE, 0), -(s64)SLICE);
	assert_int_equal(owed_after(-1000, 400), -600);
	assert_int_equal(owed_after(-1000, 1000), 0);
	assert_int_equal(owed_after(-1000, 5000), 0);
}

static void bounds_are_in_the_tasks_own_measure(void **state)
{
	struct roost_cpu c = { .vtime = 1000000000000ULL };
	struct roost_task t = { .weight = 2048 };

	t.vruntime = c.vtime - 10 * SLICE;
	policy_place(&t, &c, &c, 1);
	assert_int_equal(c.vtime - t.vruntime, SLICE / 2);
}

static void a_move_keeps_the_lag_and_not_the_number(void **state)
{
	struct roost_cpu from = { .vtime = 500 * SLICE }, to = { .vtime = 3 * SLICE };
	struct roost_task t = { .weight = 1024, .vruntime = 500 * SLICE - 700 };

	policy_place(&t, &from, &to, 1);
	assert_int_equal(t.vruntime, 3 * SLICE - 700);
}

static void a_new_task_begins_half_a_slice_late(void **state)
{
	struct roost_cpu to = { .vtime = 9 * SLICE };
	struct roost_task t = { .weight = 1024 };

	policy_place(&t, NULL, &to, 1);
	assert_int_equal(t.vruntime, 9 * SLICE + SLICE / 2);
}

/* A task alone on its CPU moves the queue's time: who wakes there finds none of it to its credit. */
static void virtual_time_goes_with_the_task_that_runs_alone(void **state)
{
	struct roost_cpu c = { .vtime = 100 };
	struct roost_task t = { .weight = 1024, .vruntime = 100, .pid = 7 };
	struct roost_task late = sleeper(0);

	late.vruntime = 100;
	policy_begin(&c, &t, 1000);
	policy_place(&late, &c, &c, 1000 + 5 * SLICE);
	assert_int_equal(c.vtime, 100 + 5 * SLICE);
	assert_int_equal(late.vruntime, 100 + 5 * SLICE);
	/* it never goes back */
	assert_int_equal(policy_vtime(&c, 500), 100 + 5 * SLICE);
}

static void running_is_charged_once(void **state)
{
	struct roost_cpu c = { 0 };
	struct roost_task t = { .weight = 512 };

	policy_begin(&c, &t, 1000);
	assert_int_equal(policy_charge(&t, 3000), 2000);
	assert_int_equal(t.vruntime, 4000);
	assert_int_equal(policy_charge(&t, 3000), 0);
	assert_int_equal(policy_charge(&t, 2000), 0);           /* a clock that steps back */
	assert_int_equal(t.vruntime, 4000);
	policy_end(&c);
	assert_int_equal(c.curr_weight, 0);
}

/* A host that holds the CPU back, or a clock that jumps: nobody pays for what he cannot have run. */
static void a_jump_of_the_clock_is_not_charged(void **state)
{
	static const u64 jumps[] = { 1000000000, 5000000000, 1ull << 62 };
	const u64 most = SLICE + POLICY_LATE_NS;

	for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		struct roost_cpu c = { 0 };
		struct roost_task t = { .weight = 1024, .vruntime = 7 };

		policy_begin(&c, &t, 1000);
		/* where it runs alone, the queue's time goes as far as the task's own */
		assert_int_equal(policy_vtime(&c, 1000 + jumps[i]), 7 + most);
		assert_int_equal(policy_charge(&t, 1000 + jumps[i]), most);
		assert_int_equal(t.vruntime, 7 + most);
		assert_int_equal(policy_charge(&t, 1500 + jumps[i]), 500);
	}
}

static void deadlines_are_a_slice_ahead_and_two_for_who_yields(void **state)
{
	struct roost_task t = { .weight = 1024, .vruntime = 50 };

	policy_set_deadline(&t, 1);
	assert_int_equal(t.deadline, 50 + SLICE);
	policy_set_deadline(&t, 3);
	assert_int_equal(t.deadline, 50 + SLICE / 3);
	assert_int_equal(t.slice_ns, SLICE / 3);
	t.flags = ROOST_TASK_YIELDED;
	policy_set_deadline(&t, 2);
	assert_int_equal(t.deadline, 50 + SLICE / 2 + SLICE);
}

static void who_preempts_whom(void **state)
{
	static const struct {
		bool runs, curr_idle;
		u32 flags;
		s64 ahead;
		bool preempts;
	} rows[] = {
		{ false, false, 0, -100, false },               /* nobody to preempt */
		{ true, false, 0, -1, true },
		{ true, false, 0, 0, false },                   /* equal deadlines: who runs goes on */
		{ true, false, 0, 1, false },
		{ true, false, ROOST_TASK_BATCH, -100, false },
		{ true, false, ROOST_TASK_IDLE_CLASS, -100, false },
		{ true, true, 0, 100, true },                   /* anything preempts SCHED_IDLE */
		{ true, true, ROOST_TASK_BATCH, 100, true },
		{ true, true, ROOST_TASK_IDLE_CLASS, -100, false },
		{ true, true, ROOST_TASK_IDLE_CLASS | ROOST_TASK_BATCH, -100, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* across the wrap of virtual time */
		for (u64 base = 1000; ; base = (u64)-50) {
			struct roost_cpu c = { .curr_weight = rows[i].runs ? 1024 : 0, .curr_idle_class = rows[i].curr_idle,
					       .curr_deadline = base };
			struct roost_task t = { .weight = 1024, .flags = rows[i].flags, .deadline = base + (u64)rows[i].ahead };

			assert_int_equal(policy_preempts(&c, &t, base), rows[i].preempts);
			if (base != 1000)
				break;
		}
	}
}

/* A task that began alone, with a whole slice before it, is not preempted by every wakee with a shared slice. */
static void who_runs_shares_its_slice_with_those_who_come(void **state)
{
	struct roost_task curr = { .weight = 1024, .vruntime = 5000000 }, wakee = { .weight = 1024, .vruntime = 5000000 };
	struct roost_cpu c = { .nr_runnable = 1, .vtime = 5000000 };

	policy_set_deadline(&curr, c.nr_runnable);
	policy_begin(&c, &curr, 1000);
	assert_int_equal(policy_curr_deadline(&c), curr.deadline);
	c.nr_runnable = 2;
	policy_set_deadline(&wakee, c.nr_runnable);
	assert_true(policy_before(wakee.deadline, c.curr_deadline));
	assert_false(policy_preempts(&c, &wakee, policy_curr_deadline(&c)));
	wakee.vruntime--;                                       /* it has had less: it comes first */
	policy_set_deadline(&wakee, c.nr_runnable);
	assert_true(policy_preempts(&c, &wakee, policy_curr_deadline(&c)));
	c.nr_runnable = 1;                                      /* a slice that has shrunk does not grow again by that */
	c.curr_deadline = 5000000 + 10;
	assert_int_equal(policy_curr_deadline(&c), 5000000 + 10);
}

/* No wakeup takes the CPU from a task before it has had the least slice; SCHED_IDLE has no such right. */
static void who_runs_has_the_least_slice(void **state)
{
	const u64 least = env_knobs()->slice_min_ns, slice = env_knobs()->slice_ns, since[] = { 1000, (u64)-50 };
	struct roost_cpu c = { .curr_weight = 1024 };
	struct roost_task t = { .weight = 1024 };

	for (size_t i = 0; i < 2; i++) { /* across the wrap of the clock too */
		assert_true(policy_protected(&c, since[i], since[i]));
		assert_true(policy_protected(&c, since[i], since[i] + least - 1));
		assert_false(policy_protected(&c, since[i], since[i] + least));
		c.curr_idle_class = 1;
		assert_false(policy_protected(&c, since[i], since[i]));
		c.curr_idle_class = 0;
	}
	host.knobs.slice_ns = least / 2; /* never longer than the slice itself */
	assert_false(policy_protected(&c, 1000, 1000 + least / 2));
	host.knobs.slice_ns = slice;
	c.preempt_due = 1; /* what was due is over with the task it was meant for */
	policy_begin(&c, &t, 1000);
	assert_int_equal(c.preempt_due, 0);
}

/* Another weight: as much time of the CPU is owed as before, and a slice of it at most. */
static void a_new_weight_keeps_what_is_owed(void **state)
{
	static const u32 weights[] = { ROOST_WEIGHT_IDLE, 15, 335, 1024, 3121, 88761 };
	const size_t nr = sizeof(weights) / sizeof(weights[0]);
	const s64 slice = (s64)env_knobs()->slice_ns;

	for (size_t i = 0; i < nr * nr; i++) {
		u32 from = weights[i / nr], to = weights[i % nr];

		for (s64 owed = -2 * slice; owed <= 2 * slice; owed += slice / 4) {
			u64 base = i % 2 ? 5000000000ULL : (u64)-50;    /* across the wrap as well */
			struct roost_cpu c = { .vtime = base, .nr_queued = 1 };
			s64 lag = owed * ROOST_WEIGHT_NICE0 / from, now, bounded = owed > slice ? slice : owed < -slice ? -slice : owed;
			struct roost_task t = { .weight = from, .vruntime = base - (u64)lag, .lag = lag };

			policy_reweight(&t, &c, to, 1000);
			assert_int_equal(t.weight, to);
			now = (s64)(base - t.vruntime);
			if (from == to) {
				assert_int_equal(now, lag);
				continue;
			}
			/* rounding: to a unit of either measure */
			assert_true(llabs(now * to / ROOST_WEIGHT_NICE0 - bounded) <= 1 + to / ROOST_WEIGHT_NICE0 + from / ROOST_WEIGHT_NICE0);
			assert_int_equal(t.lag, now);
		}
	}
	struct roost_task fresh = { .vruntime = 7 };    /* a new one has no frame yet */

	policy_reweight(&fresh, NULL, 1024, 1000);
	assert_int_equal(fresh.weight, 1024);
	assert_int_equal(fresh.vruntime, 7);
}

static void nobody_waits_for_ever(void **state)
{
	struct roost_cpu c = { .vtime = 5000, .nr_queued = 1 };
	struct roost_task ahead = { .vruntime = 5000 + 1000000000ULL }, behind = { .vruntime = 4000 };
	u64 now = 77 * POLICY_WAIT_MAX_NS;

	assert_false(policy_overdue(0, now));                   /* does not wait */
	assert_false(policy_overdue(now - POLICY_WAIT_MAX_NS, now));
	assert_true(policy_overdue(now - POLICY_WAIT_MAX_NS - 1, now));
	policy_forgive(&ahead, &c, now);
	assert_int_equal(ahead.vruntime, 5000);                 /* the queue's time will not jump */
	policy_forgive(&behind, &c, now);
	assert_int_equal(behind.vruntime, 4000);                /* what it is owed it keeps */
}

static void an_overdue_turn_is_not_cut_short(void **state)
{
	struct roost_cpu c = { .nr_queued = 1 };
	struct roost_task idle = { .weight = ROOST_WEIGHT_IDLE, .flags = ROOST_TASK_IDLE_CLASS }, wakee = { .weight = 1024 };

	policy_begin(&c, &idle, 1000);
	assert_true(policy_preempts(&c, &wakee, policy_curr_deadline(&c)));
	assert_false(policy_protected(&c, 1000, 1000));         /* an ordinary turn of SCHED_IDLE */
	policy_end(&c);
	policy_forgive(&idle, &c, 2000);
	policy_begin(&c, &idle, 2000);
	assert_true(policy_protected(&c, 2000, 2000));
	assert_true(policy_protected(&c, 2000, 2000 + policy_read(env_knobs()->slice_min_ns) - 1));
	assert_false(policy_protected(&c, 2000, 2000 + policy_read(env_knobs()->slice_min_ns)));
	policy_begin(&c, &idle, 3000);                          /* its next slice, or another turn */
	assert_false(policy_protected(&c, 3000, 3000));
}

#define TEST(f) cmocka_unit_test_setup(f, setup)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(weights_are_a_table_of_steps_of_one_and_a_quarter),
		TEST(virtual_time_runs_by_weight),
		TEST(slices_are_shared_down_to_a_least),
		TEST(sleeping_earns_nothing),
		TEST(a_sleeper_gains_at_most_one_slice),
		TEST(debts_are_bounded_and_forgiven_as_time_goes_by),
		TEST(bounds_are_in_the_tasks_own_measure),
		TEST(a_move_keeps_the_lag_and_not_the_number),
		TEST(a_new_task_begins_half_a_slice_late),
		TEST(virtual_time_goes_with_the_task_that_runs_alone),
		TEST(running_is_charged_once),
		TEST(deadlines_are_a_slice_ahead_and_two_for_who_yields),
		TEST(who_preempts_whom),
		TEST(who_runs_shares_its_slice_with_those_who_come),
		TEST(who_runs_has_the_least_slice),
		TEST(a_jump_of_the_clock_is_not_charged),
		TEST(an_overdue_turn_is_not_cut_short),
		TEST(a_new_weight_keeps_what_is_owed),
		TEST(nobody_waits_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
