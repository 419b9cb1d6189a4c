/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count.h - which tasks are runnable where: number, load and the sum of estimates, E(c) of semantics.md. What is added when a
 * task becomes runnable is remembered with the task and taken off again as it was, whatever its estimate or its CPU has become,
 * so the sums never drift: they are zero when nothing is runnable (tests/unit/test_util.c).
 */
#ifndef ROOST_POLICY_COUNT_H
#define ROOST_POLICY_COUNT_H

#include "idle.h"
#include "util.h"

/* Its part of the average load goes with a task, or all would come to the CPU that was light when the averages were last taken. */
policy_inline void policy_load_moves(const struct roost_task *t, struct roost_cpu *from, struct roost_cpu *to)
{
	u64 part = policy_task_load(t);

	__sync_fetch_and_add(&to->load_avg, part);
	if (from)
		__sync_fetch_and_add(&from->load_avg, -policy_min(part, policy_read(from->load_avg)));
}

/* Takes part in E(c), load and the count of runnable tasks of @cpu from now on. */
policy_inline void policy_count_in(struct roost_task *t, struct roost_cpu *c, s32 cpu, u64 now)
{
	policy_load_until(c, now);
	if (t->count_cpu != cpu) {
		policy_load_moves(t, env_cpu(t->count_cpu), c);
		t->count_cpu = cpu;
	}
	t->flags |= ROOST_TASK_RUNNABLE;
	t->est_counted = t->util.est;
	__sync_fetch_and_add(&c->nr_runnable, 1);
	__sync_fetch_and_add(&c->load, t->weight);
	__sync_fetch_and_add(&c->est_sum, t->est_counted);
	if (t->flags & ROOST_TASK_IDLE_CLASS)
		__sync_fetch_and_add(&c->nr_idle_class, 1);
	policy_sidle_update(c, cpu);
}

/* No more. Weight and class are those it was counted in with: a host counts it out before it changes them. */
policy_inline void policy_count_out(struct roost_task *t, u64 now)
{
	struct roost_cpu *c = env_cpu(t->count_cpu);

	if (!(t->flags & ROOST_TASK_RUNNABLE) || !c)
		return;
	policy_load_until(c, now);
	t->flags &= ~ROOST_TASK_RUNNABLE;
	__sync_fetch_and_add(&c->nr_runnable, -1);
	__sync_fetch_and_add(&c->load, -(u64)t->weight);
	__sync_fetch_and_add(&c->est_sum, -t->est_counted);
	if (t->flags & ROOST_TASK_IDLE_CLASS)
		__sync_fetch_and_add(&c->nr_idle_class, -1);
	policy_sidle_update(c, t->count_cpu);
}

#endif
