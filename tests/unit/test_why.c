/* SPDX-License-Identifier: GPL-2.0-only */
/* test_why.c - counters and decisions in words; that the words are in step with policy/wake.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "run/counters.h"
#include "run/why.h"

/* The least host that policy/wake.h compiles under; nothing of it is called. */
typedef void env_task;
#define env_for(i, n) for ((i) = 0; (i) < (n); (i)++)
static u64 env_now(void) { return 0; }
static struct roost_knobs *env_knobs(void) { static struct roost_knobs k; return &k; }
static struct roost_machine *env_machine(void) { static struct roost_machine m; return &m; }
static struct roost_cpu *env_cpu(s32 cpu) { return NULL; }
static struct roost_llc *env_llc(u32 llc) { return NULL; }
static struct roost_llc_word *env_word(u32 i) { return NULL; }
static bool env_allowed(env_task *p, s32 cpu) { return true; }
static u64 env_allowed_word(env_task *p, u32 w) { return ~0ULL; }
static u64 env_domain(s32 cpu) { return 0; }
#include "policy/wake.h"

static void in_step_with_the_policy(void **state)
{
	(void)env_now;
	assert_int_equal(POLICY_STEP_COUNT, WHY_STEPS);
	assert_int_equal(POLICY_PASS_RULE + 1, WHY_REASONS);
	assert_string_equal(why_step_names[POLICY_STEP_BIAS], "bias-prev");
	assert_string_equal(why_step_names[POLICY_STEP_TARGET], "target");
	assert_string_equal(why_step_names[POLICY_STEP_PREV], "prev");
	assert_string_equal(why_step_names[POLICY_STEP_KTHREAD], "per-cpu-kthread");
	assert_string_equal(why_step_names[POLICY_STEP_RECENT], "recent");
	assert_string_equal(why_step_names[POLICY_STEP_SMT], "idle-smt");
	assert_string_equal(why_step_names[POLICY_STEP_CORE], "idle-core");
	assert_string_equal(why_step_names[POLICY_STEP_SCAN], "scan");
	assert_string_equal(why_reason_names[POLICY_PASS_OFF], "off");
	assert_string_equal(why_reason_names[POLICY_PASS_SAME], "looked-at");
	assert_string_equal(why_reason_names[POLICY_PASS_FAR], "other-llc");
	assert_string_equal(why_reason_names[POLICY_PASS_BUSY], "busy");
	assert_string_equal(why_reason_names[POLICY_PASS_NOT_ALLOWED], "not-allowed");
	assert_string_equal(why_reason_names[POLICY_PASS_CORE], "idle-core-first");
	assert_string_equal(why_reason_names[POLICY_PASS_DEPTH], "depth");
	assert_string_equal(why_reason_names[POLICY_PASS_RULE], "no-case");
}

static void a_decision_in_words(void **state)
{
	struct roost_event e = {
		.now_ns = 12345678901, .pid = 42, .waker_pid = 7, .comm = "ser\033[ver", .waker_comm = "sixteen-letters!",
		.waker = 2, .prev = 3, .target = 3, .cpu = 5, .rule = ROOST_RULE_SCAN_CPU,
		.target_rule = ROOST_TARGET_LIGHTER_PREV, .claimed = 1,
		.passed = POLICY_PASS_OFF << (4 * POLICY_STEP_BIAS) | POLICY_PASS_BUSY << (4 * POLICY_STEP_TARGET) |
			  POLICY_PASS_SAME << (4 * POLICY_STEP_PREV),
	};
	char line[512], small[24];

	why_line(&e, 10000000000, line, sizeof(line));
	assert_string_equal(line, "   2.345678  ser?[ver[42] woken by sixteen-letters![7] on 2: prev 3, target 3 "
			    "(prev-lighter) -> CPU 5 (idle) by scan-cpu [bias-prev: off, target: busy, prev: looked at already]");
	why_line(&e, 99999999999, line, sizeof(line));
	assert_non_null(strstr(line, "   0.000000  ser"));
	e.rule = ROOST_RULE_FORK_IDLE;      /* a fork has no target */
	why_line(&e, 10000000000, line, sizeof(line));
	assert_non_null(strstr(line, ": prev 3 -> CPU 5 (idle) by fork-idle"));
	why_line(&e, 0, small, sizeof(small));
	assert_int_equal(strlen(small), sizeof(small) - 1);
	e.rule = 9999;
	e.target_rule = 200;
	e.passed = ~0u;
	why_line(&e, 0, line, sizeof(line));
	assert_non_null(strstr(line, "by ?"));
}

static void counters(void **state)
{
	struct roost_stats cpu[3], sum, later, diff;

	memset(cpu, 0, sizeof(cpu));
	for (int i = 0; i < 3; i++) {
		cpu[i].nr_wakeups = 10 + (u64)i;
		cpu[i].wait_max_ns = (u64)(5 - i) * 100;
		cpu[i].rule_distance[ROOST_RULE_SCAN_CPU][ROOST_DIST_NODE] = 2;
		cpu[i].rule_distance[ROOST_RULE_STEAL_LLC][ROOST_DIST_LLC] = 100;
		cpu[i].ext_refused = 1;
	}
	counters_sum(&sum, cpu, 3);
	assert_true(sum.nr_wakeups == 33 && sum.wait_max_ns == 500 && sum.ext_refused == 3);
	assert_true(counters_moved(&sum, ROOST_DIST_CORE) == 6);    /* what was stolen is not a placement */
	assert_true(counters_moved(&sum, ROOST_DIST_FAR) == 0);
	cpu[1].nr_wakeups += 4;
	counters_sum(&later, cpu, 3);
	counters_since(&diff, &later, &sum);
	assert_true(diff.nr_wakeups == 4 && diff.ext_refused == 0 && diff.wait_max_ns == 500);
	for (size_t i = 0; i < counter_count; i++)
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(counter_table[i].offset, counter_table[j].offset);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_step_with_the_policy),
		cmocka_unit_test(a_decision_in_words),
		cmocka_unit_test(counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
