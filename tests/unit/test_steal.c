/* SPDX-License-Identifier: GPL-2.0-only */
/* The pull side (policy/steal.h): when a waiting task may be taken, from whom first, who is sent for it, slow balance. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "model/policy_host.h"

#define DELAY 500000ULL
#define NOW 10000000ULL

/* 16 CPUs: cores {0,1} {2,3}.., LLCs of 4 CPUs, nodes of 8. */
static int setup(void **state)
{
	host_reset();
	host.knobs.steal_delay_ns = DELAY;
	host.knobs.balance_ns = 20000000;
	host.machine = (struct roost_machine){ .nr_cpu_ids = 16, .nr_llcs = 4, .nr_words = 4, .nr_nodes = 2, .smt = 1 };
	for (u32 c = 0; c < 16; c++) {
		host.cpu[c] = (struct roost_cpu){ .flags = ROOST_CPU_ONLINE, .llc = c / 4, .node = c / 8, .core = c & ~1u, .word = c / 4,
						  .siblings = { (u16)(c & ~1u), (u16)(c | 1) }, .nr_siblings = 2, .pull_from = -1 };
		host.word[c / 4].member |= policy_bit((s32)c);
	}
	for (u32 l = 0; l < 4; l++)
		host.llc[l] = (struct roost_llc){ .node = l / 2, .first_word = l, .nr_words = 1, .weight = 4, .smt = 1 };
	return 0;
}

static void the_delay_is_strict_to_the_nanosecond(void **state)
{
	struct roost_cpu *c = &host.cpu[0];

	assert_false(policy_may_steal(c, NOW - DELAY + 1, NOW));
	assert_false(policy_may_steal(c, NOW - DELAY, NOW));
	assert_true(policy_may_steal(c, NOW - DELAY - 1, NOW));
	assert_false(policy_may_steal(c, 0, NOW));                      /* nothing waits */
	host.knobs.steal_delay_ns = 0;
	assert_false(policy_may_steal(c, NOW, NOW));
	assert_true(policy_may_steal(c, NOW - 1, NOW));
}

static void where_it_cannot_run_it_need_not_wait(void **state)
{
	host.cpu[0].flags = ROOST_CPU_ONLINE | ROOST_CPU_RT_HELD;
	assert_true(policy_may_steal(&host.cpu[0], NOW, NOW));
	host.cpu[0].flags = 0;
	assert_true(policy_may_steal(&host.cpu[0], NOW, NOW));
	assert_false(policy_may_steal(&host.cpu[0], 0, NOW));
}

static void waits(s32 cpu, u64 since)
{
	static struct roost_task t[16];

	policy_queued(&host.cpu[cpu], cpu, &t[cpu], since);
}

static void queueing_keeps_count_bit_and_stamp(void **state)
{
	struct roost_task a = { 0 }, b = { 0 };
	struct roost_cpu *c = &host.cpu[5];

	policy_queued(c, 5, &a, 100);
	policy_queued(c, 5, &b, 200);
	assert_int_equal(c->nr_queued, 2);
	assert_int_equal(c->oldest_wait_ns, 100);
	assert_int_equal(host.word[1].waiting, policy_bit(5));
	assert_true(a.flags & ROOST_TASK_QUEUED);
	policy_unqueued(c, 5, &b);
	assert_int_equal(host.word[1].waiting, policy_bit(5));
	assert_int_equal(c->oldest_wait_ns, 100);       /* may be too early, never too late */
	policy_unqueued(c, 5, &a);
	assert_int_equal(c->nr_queued, 0);
	assert_int_equal(c->oldest_wait_ns, 0);
	assert_int_equal(host.word[1].waiting, 0);
	assert_false(a.flags & ROOST_TASK_QUEUED);
}

static void nearest_first(void **state)
{
	static const struct {
		s32 victim;
		u32 rule;
	} order[] = {
		{ 1, ROOST_RULE_STEAL_CORE }, { 2, ROOST_RULE_STEAL_LLC }, { 6, ROOST_RULE_STEAL_NODE }, { 12, ROOST_RULE_STEAL_FAR },
	};
	u32 rule;

	for (int i = 3; i >= 0; i--)
		waits(order[i].victim, NOW - DELAY - 1);
	for (int i = 0; i < 4; i++) {
		host.cpu[0].far_steal_ns = 0;
		assert_int_equal(policy_victim(&host.cpu[0], 0, NOW, &rule), order[i].victim);
		assert_int_equal(rule, order[i].rule);
		assert_int_equal(policy_steal_rule(&host.cpu[order[i].victim], &host.cpu[0]), order[i].rule);
		host.cpu[order[i].victim].nr_queued = 0;        /* taken; its bit may be late */
	}
	host.cpu[0].far_steal_ns = 0;
	assert_int_equal(policy_victim(&host.cpu[0], 0, NOW, &rule), -1);
}

static void fresh_waits_are_left_alone(void **state)
{
	u32 rule;

	waits(1, NOW - DELAY);
	waits(12, NOW - 5);
	assert_int_equal(policy_victim(&host.cpu[0], 0, NOW, &rule), -1);
	host.cpu[0].far_steal_ns = 0;
	assert_int_equal(policy_victim(&host.cpu[0], 0, NOW + 1, &rule), 1);
}

static void beyond_its_llc_it_looks_once_a_delay(void **state)
{
	u32 rule;

	assert_int_equal(policy_victim(&host.cpu[0], 0, NOW, &rule), -1);
	waits(12, NOW - 2 * DELAY);
	assert_int_equal(policy_victim(&host.cpu[0], 0, NOW + DELAY - 1, &rule), -1);
	assert_int_equal(policy_victim(&host.cpu[0], 0, NOW + DELAY, &rule), 12);
}

static void distances(void **state)
{
	assert_int_equal(policy_distance(0, 0), ROOST_DIST_SAME);
	assert_int_equal(policy_distance(0, 1), ROOST_DIST_CORE);
	assert_int_equal(policy_distance(0, 3), ROOST_DIST_LLC);
	assert_int_equal(policy_distance(0, 4), ROOST_DIST_NODE);
	assert_int_equal(policy_distance(0, 8), ROOST_DIST_FAR);
	assert_int_equal(policy_distance(9, 0), ROOST_DIST_FAR);
	assert_int_equal(policy_distance(0, 99), ROOST_DIST_SAME);      /* no such CPU */
}

static void the_nearest_idle_cpu_it_may_use_is_sent_once(void **state)
{
	struct host_task p = { { ~0ULL } };

	host.word[0].idle = policy_bit(3);
	host.word[1].idle = policy_bit(4);
	host.word[3].idle = policy_bit(15);
	assert_int_equal(policy_fetcher(&p, 0), 3);
	assert_int_equal(host.word[0].idle, 0);
	assert_int_equal(policy_fetcher(&p, 0), 4);
	p.mask[0] = ~policy_bit(15);
	assert_int_equal(policy_fetcher(&p, 0), -1);
	assert_int_equal(host.word[3].idle, policy_bit(15));    /* not for it, and not taken */
	assert_int_equal(policy_fetcher(NULL, 0), 15);
	assert_int_equal(policy_fetcher(NULL, 0), -1);
}

static void balance_hands_to_who_is_ahead_and_has_less(void **state)
{
	u64 interval = host.knobs.balance_ns;

	for (u32 c = 0; c < 16; c++) {
		host.cpu[c].nr_runnable = 2;
		host.cpu[c].vtime = 1000 * interval;
	}
	assert_int_equal(policy_balance_to(0, 0), -1);
	host.cpu[2].vtime += interval;          /* exactly one interval ahead: not enough */
	host.cpu[2].nr_runnable = 1;
	assert_int_equal(policy_balance_to(0, 0), -1);
	host.cpu[2].vtime += 1;
	assert_int_equal(policy_balance_to(0, 0), 2);
	host.cpu[2].nr_runnable = 2;            /* ahead, but with as much to do */
	assert_int_equal(policy_balance_to(0, 0), -1);
	host.cpu[2].nr_runnable = 1;
	host.cpu[2].flags |= ROOST_CPU_RT_HELD;
	assert_int_equal(policy_balance_to(0, 0), -1);
	host.cpu[2].flags = ROOST_CPU_ONLINE;
	host.cpu[2].pull_from = 5;              /* has one coming already */
	assert_int_equal(policy_balance_to(0, 0), -1);
	/* its own LLC and one other a call, each in its turn */
	host.cpu[13].nr_runnable = 1;
	host.cpu[13].vtime += 5 * interval;
	assert_int_equal(policy_balance_to(0, 0), -1);
	assert_int_equal(policy_balance_to(0, 1), -1);
	assert_int_equal(policy_balance_to(0, 2), 13);
}

static void what_a_balanced_task_is_owed_is_bounded(void **state)
{
	struct roost_cpu *from = &host.cpu[0], *to = &host.cpu[8];
	u64 interval = host.knobs.balance_ns;
	struct roost_task t = { .vruntime = 100 };

	from->vtime = 100;
	to->vtime = 7000;
	to->vtime_lead = (s64)(500 * interval);
	policy_balance_place(&t, from, to);
	assert_int_equal(to->vtime - t.vruntime, 2 * interval);
	t.vruntime = 5000 * interval;
	policy_balance_place(&t, from, to);
	assert_int_equal(t.vruntime - to->vtime, 2 * interval);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_delay_is_strict_to_the_nanosecond),
		TEST(where_it_cannot_run_it_need_not_wait),
		TEST(queueing_keeps_count_bit_and_stamp),
		TEST(nearest_first),
		TEST(fresh_waits_are_left_alone),
		TEST(beyond_its_llc_it_looks_once_a_delay),
		TEST(distances),
		TEST(the_nearest_idle_cpu_it_may_use_is_sent_once),
		TEST(balance_hands_to_who_is_ahead_and_has_less),
		TEST(what_a_balanced_task_is_owed_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
