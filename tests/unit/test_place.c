/* SPDX-License-Identifier: GPL-2.0-only */
/* Idle transitions (policy/idle.h), and where a new task starts (policy/place.h). */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "model/policy_host.h"

#define NOW 1000000000ULL
#define GRACE 1000000ULL

/* 16 CPUs: cores {0,1} {2,3}.., LLCs of 4 CPUs, nodes of 8; all busy with one task each. */
static int setup(void **state)
{
	host_reset();
	host.machine = (struct roost_machine){ .nr_cpu_ids = 16, .nr_llcs = 4, .nr_words = 4, .nr_nodes = 2, .smt = 1 };
	for (u32 c = 0; c < 16; c++) {
		host.cpu[c] = (struct roost_cpu){ .flags = ROOST_CPU_ONLINE, .llc = c / 4, .node = c / 8, .core = c & ~1u, .word = c / 4,
						  .siblings = { (u16)(c & ~1u), (u16)(c | 1) }, .nr_siblings = 2, .nr_runnable = 1,
						  .load = 1024, .capacity = 1024, .capacity_max = 1024 };
		host.word[c / 4].member |= policy_bit((s32)c);
	}
	for (u32 l = 0; l < 4; l++)
		host.llc[l] = (struct roost_llc){ .node = l / 2, .first_word = l, .nr_words = 1, .weight = 4, .scan_depth = 4, .smt = 1,
						  .load = 4096 };
	return 0;
}

static void idle(s32 cpu)
{
	host.cpu[cpu].nr_runnable = 0;
	host.cpu[cpu].load = 0;
	policy_went_idle(&host.cpu[cpu], cpu, NOW);
}

static struct roost_choice fork_at(s32 parent, struct host_task *p)
{
	struct policy_wake w = { .prev = parent, .waker = parent, .recent = -1, .now_ns = NOW, .wakee_load = 1024 };
	struct roost_choice ch;

	policy_fork(p, &w, &ch);
	return ch;
}

static void the_hint_is_set_by_the_last_sibling_that_goes_idle(void **state)
{
	idle(2);
	assert_int_equal(host.llc[0].has_idle_core, 0);
	assert_int_equal(host.word[0].core, 0);
	idle(3);
	assert_int_equal(host.llc[0].has_idle_core, 1);
	assert_int_equal(host.word[0].core, policy_bit(2) | policy_bit(3));
	policy_left_idle(&host.cpu[2], 2, NOW);
	assert_int_equal(host.word[0].core, 0);
	assert_int_equal(host.word[0].idle, policy_bit(3));
	assert_int_equal(host.cpu[2].idle_exit_ns, NOW);
}

/* Between the claim of a CPU and its leaving idle the core's candidate bits are stale: fork has to see that. */
static void the_core_of_a_claimed_cpu_is_no_idle_core(void **state)
{
	struct roost_choice ch;

	idle(2);
	idle(3);
	idle(5);
	assert_int_equal(policy_take(2, false, NOW), POLICY_OK_CLAIMED);
	assert_int_equal(host.word[0].core, policy_bit(2) | policy_bit(3));
	ch = fork_at(0, NULL);
	assert_int_equal(ch.rule, ROOST_RULE_FORK_IDLE);
	assert_int_equal(ch.cpu, 3);
}

static void an_offline_sibling_does_not_keep_a_core_busy(void **state)
{
	host.cpu[3].flags = 0;
	idle(2);
	assert_int_equal(host.word[0].core, policy_bit(2));
	assert_int_equal(host.llc[0].has_idle_core, 1);
}

static void without_smt_there_are_no_cores_and_no_hint(void **state)
{
	host.machine.smt = 0;
	idle(2);
	idle(3);
	assert_int_equal(host.word[0].core, 0);
	assert_int_equal(host.llc[0].has_idle_core, 0);
}

static void grace_holds_from_the_stamp_to_its_last_nanosecond(void **state)
{
	struct roost_cpu *c = &host.cpu[0];

	host.knobs.idle_grace_ns = GRACE;
	assert_false(policy_idle(c, 0, NOW));                   /* never idled */
	policy_left_idle(c, 0, NOW);
	assert_true(policy_idle(c, 0, NOW));
	assert_true(policy_idle(c, 0, NOW - 50));               /* another CPU's clock reading, taken before the stamp */
	assert_true(policy_idle(c, 0, NOW + GRACE - 1));
	assert_false(policy_idle(c, 0, NOW + GRACE));
	host.knobs.idle_grace_max_queued = 1;
	assert_false(policy_idle(c, 0, NOW));
	host.knobs.idle_grace_max_queued = 2;
	assert_true(policy_idle(c, 0, NOW));
	host.knobs.idle_grace_ns = 0;
	assert_false(policy_idle(c, 0, NOW));
}

static void a_core_in_its_grace_counts_as_idle(void **state)
{
	host.knobs.idle_grace_ns = GRACE;
	policy_left_idle(&host.cpu[0], 0, NOW);
	assert_int_equal(host.llc[0].has_idle_core, 0);
	policy_left_idle(&host.cpu[1], 1, NOW + 10);
	assert_int_equal(host.llc[0].has_idle_core, 1);
	assert_int_equal(host.word[0].core, policy_bit(0) | policy_bit(1));
	assert_int_equal(policy_core_state(0, NOW + GRACE - 1), POLICY_CORE_IDLE);
	assert_int_equal(policy_core_state(0, NOW + GRACE), POLICY_CORE_BUSY);
	host.knobs.idle_grace_max_queued = 1;
	assert_int_equal(policy_core_state(0, NOW + 20), POLICY_CORE_FULL);
}

/* The bound on the queue comes and goes within one grace: the CPU stays a candidate. */
static void a_full_cpu_in_its_grace_is_found_again(void **state)
{
	struct policy_wake w = { .prev = 2, .waker = 2, .recent = -1, .now_ns = NOW + 10, .wakee_load = 1024 };
	struct roost_choice ch;

	host.knobs.idle_grace_ns = GRACE;
	host.knobs.idle_grace_max_queued = 2;
	policy_left_idle(&host.cpu[0], 0, NOW);
	host.cpu[0].nr_runnable = 2;
	policy_wakeup(NULL, &w, &ch);
	assert_int_equal(ch.rule, ROOST_RULE_TARGET_LAST);
	host.cpu[0].nr_runnable = 1;
	policy_wakeup(NULL, &w, &ch);
	assert_int_equal(ch.rule, ROOST_RULE_SCAN_CPU);
	assert_int_equal(ch.cpu, 0);
	assert_int_equal(ch.claimed, 0);
	w.now_ns = NOW + GRACE;
	policy_wakeup(NULL, &w, &ch);
	assert_int_equal(ch.rule, ROOST_RULE_TARGET_LAST);
	assert_int_equal(host.word[0].grace, 0);        /* over for good */
}

/* With affinity to all CPUs and the sibling in another partition: never there. */
static void a_partition_that_splits_a_core_is_respected(void **state)
{
	struct policy_wake w = { .prev = 0, .waker = 0, .recent = 2, .now_ns = NOW, .wakee_load = 1024 };
	struct roost_choice ch;

	host.knobs.idle_smt = 1;
	for (u32 c = 1; c < 16; c++)
		host.domain[c] = 1;
	idle(1);
	idle(2);
	policy_wakeup(NULL, &w, &ch);
	assert_int_equal(ch.cpu, 0);
	assert_int_equal(ch.rule, ROOST_RULE_TARGET_LAST);
	host.domain[1] = 0;
	policy_wakeup(NULL, &w, &ch);
	assert_int_equal(ch.cpu, 1);
	assert_int_equal(ch.rule, ROOST_RULE_IDLE_SMT);
}

/* An offline CPU's candidate bits may be left over; its grace is of no use. */
static void an_offline_cpu_in_its_grace_is_not_chosen(void **state)
{
	struct policy_wake w = { .prev = 2, .waker = 2, .recent = -1, .now_ns = NOW + 10, .wakee_load = 1024 };
	struct roost_choice ch;

	host.knobs.idle_grace_ns = GRACE;
	policy_left_idle(&host.cpu[0], 0, NOW);
	policy_left_idle(&host.cpu[1], 1, NOW);
	host.cpu[0].flags = host.cpu[1].flags = 0;
	host.word[0].member &= ~3ULL;
	assert_int_equal(host.word[0].core, 3);
	policy_wakeup(NULL, &w, &ch);
	assert_int_equal(ch.cpu, 2);
}

static void sidle_follows_the_counts(void **state)
{
	struct roost_cpu *c = &host.cpu[6];

	c->nr_runnable = 2;
	c->nr_idle_class = 2;
	policy_sidle_update(c, 6);
	assert_int_equal(host.word[1].sidle, policy_bit(6));
	assert_int_equal(policy_take(6, true, NOW), POLICY_NOT_OK);
	assert_int_equal(policy_take(6, false, NOW), POLICY_OK_BUSY);
	c->flags |= ROOST_CPU_RT_HELD;
	policy_sidle_update(c, 6);
	assert_int_equal(host.word[1].sidle, 0);
	c->flags = ROOST_CPU_ONLINE;
	policy_sidle_update(c, 6);
	c->nr_runnable = 3;
	policy_sidle_update(c, 6);
	assert_int_equal(host.word[1].sidle, 0);
}

static void a_fork_prefers_an_idle_core_to_a_nearer_thread(void **state)
{
	struct roost_choice ch;

	idle(1);
	idle(12);
	idle(13);
	ch = fork_at(0, NULL);
	assert_int_equal(ch.rule, ROOST_RULE_FORK_CORE);
	assert_int_equal(ch.cpu, 12);
	assert_int_equal(ch.claimed, 1);
	ch = fork_at(0, NULL);
	assert_int_equal(ch.rule, ROOST_RULE_FORK_IDLE);
	assert_int_equal(ch.cpu, 1);
	ch = fork_at(0, NULL);
	assert_int_equal(ch.rule, ROOST_RULE_FORK_IDLE);
	assert_int_equal(ch.cpu, 13);
}

static void a_fork_goes_near_before_far(void **state)
{
	idle(9);
	idle(7);
	assert_int_equal(fork_at(0, NULL).cpu, 7);
	assert_int_equal(fork_at(0, NULL).cpu, 9);
}

static void a_fork_with_nothing_idle_goes_where_least_is(void **state)
{
	struct host_task p = { { ~0ULL } };
	struct roost_choice ch;

	host.llc[2].load = 1000;
	host.cpu[9].load = 10;
	ch = fork_at(0, &p);
	assert_int_equal(ch.rule, ROOST_RULE_FORK_LEAST);
	assert_int_equal(ch.cpu, 9);
	host.cpu[9].flags |= ROOST_CPU_RT_HELD;         /* last, however light */
	assert_int_equal(fork_at(0, &p).cpu, 8);
	p.mask[0] = policy_bit(0) | policy_bit(14);     /* that LLC is not for it */
	ch = fork_at(0, &p);
	assert_true(ch.cpu == 0 || ch.cpu == 14);
	p.mask[0] = policy_bit(14);
	assert_int_equal(fork_at(14, &p).cpu, 14);
}

static void an_idle_cpu_outside_the_mask_is_not_forked_to(void **state)
{
	struct host_task p = { { policy_bit(0) | policy_bit(1) } };

	idle(2);
	idle(3);
	assert_int_equal(fork_at(0, &p).rule, ROOST_RULE_FORK_LEAST);
	assert_int_equal(host.word[0].idle, policy_bit(2) | policy_bit(3));
}

static void depth_is_recomputed_once_an_interval(void **state)
{
	for (u32 c = 0; c < 4; c++) {
		host.cpu[c].util_avg = ROOST_UTIL_ONE;
		host.cpu[c].util_stamp_ns = NOW;
		host.cpu[c].curr_weight = 1024;
	}
	host.llc[0].depth_stamp_ns = NOW - POLICY_DEPTH_INTERVAL_NS + 1;
	policy_depth_update(0, NOW, POLICY_DEPTH_INTERVAL_NS);
	assert_int_equal(host.llc[0].scan_depth, 4);
	policy_depth_update(0, NOW + 1, POLICY_DEPTH_INTERVAL_NS);
	assert_int_equal(host.llc[0].scan_depth, 0);    /* wholly busy */
	assert_int_equal(host.llc[0].load, 4096);
	/* CPUs that idle write no average: it fades all the same */
	for (u32 c = 0; c < 4; c++)
		host.cpu[c].curr_weight = 0;
	policy_depth_update(0, NOW + 20 * ROOST_UTIL_HALF_LIFE_NS, POLICY_DEPTH_INTERVAL_NS);
	assert_int_equal(host.llc[0].scan_depth, 4);
}

#define TEST(f) cmocka_unit_test_setup(f, setup)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_hint_is_set_by_the_last_sibling_that_goes_idle),
		TEST(the_core_of_a_claimed_cpu_is_no_idle_core),
		TEST(an_offline_sibling_does_not_keep_a_core_busy),
		TEST(without_smt_there_are_no_cores_and_no_hint),
		TEST(grace_holds_from_the_stamp_to_its_last_nanosecond),
		TEST(a_core_in_its_grace_counts_as_idle),
		TEST(a_full_cpu_in_its_grace_is_found_again),
		TEST(a_partition_that_splits_a_core_is_respected),
		TEST(an_offline_cpu_in_its_grace_is_not_chosen),
		TEST(sidle_follows_the_counts),
		TEST(a_fork_prefers_an_idle_core_to_a_nearer_thread),
		TEST(a_fork_goes_near_before_far),
		TEST(a_fork_with_nothing_idle_goes_where_least_is),
		TEST(an_idle_cpu_outside_the_mask_is_not_forked_to),
		TEST(depth_is_recomputed_once_an_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
