/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fair.h - the order within one CPU's queue: virtual deadlines, weights from nice, bounded lag.
 *
 * A task's vruntime advances by run time * 1024 / weight. Its deadline is its vruntime plus one slice in
 * the same measure, and the queue runs the earliest deadline first. A queue's vtime is where its tasks
 * are; each CPU has its own. A task that wakes elsewhere keeps its distance to the queue's vtime (its lag)
 * and not its number, bounded to one slice either way.
 */
#ifndef ROOST_POLICY_FAIR_H
#define ROOST_POLICY_FAIR_H

#include "env.h"

/* Weights of nice -20..19, as in the fair class: 1024 at 0, each step about 1.25. */
static const u32 policy_nice_weight[40] __attribute__((unused)) = {
	88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916,
	9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277,
	1024, 820, 655, 526, 423, 335, 272, 215, 172, 137,
	110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
};

policy_inline u32 policy_weight(s32 nice, bool idle_class)
{
	u32 i = (u32)(nice + 20);

	if (idle_class)
		return ROOST_WEIGHT_IDLE;
	return policy_nice_weight[i < 40 ? i : 20];
}

/* Run time to virtual time. */
policy_inline u64 policy_virtual(u64 delta_ns, u32 weight)
{
	if (POLICY_LIKELY(weight == ROOST_WEIGHT_NICE0))
		return delta_ns;
	return delta_ns * ROOST_WEIGHT_NICE0 / (weight ? weight : 1);
}

/* The slice where @nr_runnable tasks compete. */
policy_inline u64 policy_slice(u32 nr_runnable)
{
	struct roost_knobs *k = env_knobs();
	u64 slice = policy_read(k->slice_ns), least = policy_read(k->slice_min_ns), share;

	if (nr_runnable <= 1)
		return slice;
	share = slice / nr_runnable;
	return share > least ? share : policy_min(least, slice);
}

/*
 * What a task that began at @start_ns can have run by @now: a tick ends a slice, so no more than one and a late tick. What is
 * beyond that was a host that held the CPU back, or a clock that jumped (a TSC found unstable: by a second); a task that had
 * to pay for it would wait until the others had run as long.
 */
#define POLICY_LATE_NS 20000000ULL

policy_inline u64 policy_ran(u64 start_ns, u64 now)
{
	u64 most = policy_read(env_knobs()->slice_ns) + POLICY_LATE_NS;

	return policy_before(start_ns, now) ? policy_min(now - start_ns, most) : 0;
}

/* The running task's vruntime now, as far as the CPU's record tells. */
policy_inline u64 policy_curr_vruntime(struct roost_cpu *c, u64 now)
{
	u32 weight = policy_read(c->curr_weight);

	if (!weight)
		return policy_read(c->curr_vruntime);
	return policy_read(c->curr_vruntime) + policy_virtual(policy_ran(policy_read(c->curr_start_ns), now), weight);
}

/*
 * The queue's vtime now. It only goes forward. Where one task has the CPU to itself, its vtime is that
 * task's vruntime: who comes later must not find the time gone by since that task began to its credit.
 */
policy_inline u64 policy_vtime(struct roost_cpu *c, u64 now)
{
	u64 vtime = policy_read(c->vtime), curr;

	if (policy_read(c->nr_queued) || !policy_read(c->curr_weight))
		return vtime;
	curr = policy_curr_vruntime(c, now);
	if (policy_before(vtime, curr)) {
		policy_write(c->vtime, curr);
		vtime = curr;
	}
	return vtime;
}

/* A task goes to sleep: what it is owed then is all it can be owed when it wakes. */
policy_inline void policy_sleep(struct roost_task *t, struct roost_cpu *c, u64 now)
{
	t->lag = (s64)(policy_vtime(c, now) - t->vruntime);
	t->flags |= ROOST_TASK_SLEPT;
}

/*
 * Gives a task that becomes runnable its place in the queue of @to. @from is the CPU whose frame its
 * vruntime is in, NULL for a new task: that one starts with the queue, half a slice late, so that a
 * parent that forks does not lose its turn to its children.
 *
 * Sleeping earns nothing: a task is owed no more than when it went to sleep. What it had taken in advance
 * is forgiven as virtual time goes by.
 */
policy_fn int policy_place(struct roost_task *t policy_nonnull, struct roost_cpu *from, struct roost_cpu *to policy_nonnull,
			   u64 now)
{
	s64 most = (s64)policy_virtual(policy_read(env_knobs()->slice_ns), t->weight);
	s64 lag = from ? (s64)(policy_vtime(from, now) - t->vruntime) : -(s64)((u64)most / 2);
	s64 owed = t->lag > 0 ? t->lag : 0;

	if (from && lag > owed && (t->flags & ROOST_TASK_SLEPT))
		lag = owed;
	if (lag > most)
		lag = most;
	if (lag < -most)
		lag = -most;
	t->vruntime = policy_vtime(to, now) - (u64)lag;
	t->flags &= ~ROOST_TASK_SLEPT;
	return 0;
}

/* @lag of a task of weight @from in the measure of weight @to: as much time of the CPU. At most a slice, as everywhere. */
policy_inline s64 policy_scale_lag(s64 lag, u32 from, u32 to)
{
	u64 most = policy_virtual(policy_read(env_knobs()->slice_ns), from);
	u64 size = policy_min(lag < 0 ? -(u64)lag : (u64)lag, most);

	size = size * from / (to ? to : 1);
	return lag < 0 ? -(s64)size : (s64)size;
}

/*
 * The task, not queued and charged up to now, gets another weight: it is owed, or owes, as much time of the CPU as before.
 * @c is the CPU whose frame its vruntime is in, NULL for a new task. What SCHED_IDLE ran in a slice is a second of its own
 * virtual time: a nice 0 that began with such a debt would wait for it.
 */
policy_inline void policy_reweight(struct roost_task *t, struct roost_cpu *c, u32 weight, u64 now)
{
	u64 vtime;

	if (weight == t->weight)
		return;
	if (c && t->weight) {
		vtime = policy_vtime(c, now);
		t->vruntime = vtime - (u64)policy_scale_lag((s64)(vtime - t->vruntime), t->weight, weight);
		t->lag = policy_scale_lag(t->lag, t->weight, weight);
	}
	t->weight = weight;
}

/*
 * A task waits for its turn no longer than this, whatever the weights: of one of weight 3 beside one of 88761 the order of
 * deadlines would ask for minutes, and the kernel takes a scheduler off that lets a task wait for 30 s.
 */
#define POLICY_WAIT_MAX_NS 5000000000ULL

policy_inline bool policy_overdue(u64 wait_start_ns, u64 now)
{
	return wait_start_ns && policy_before(wait_start_ns + POLICY_WAIT_MAX_NS, now);
}

/*
 * An overdue task gets its turn: what it had in advance is forgiven, or the queue's virtual time would jump to it. SCHED_IDLE or
 * not, no wakeup ends that turn before the least slice is over: a turn without time would be another five seconds, and the task
 * may be in a section that RCU waits for.
 */
policy_inline void policy_forgive(struct roost_task *t, struct roost_cpu *c, u64 now)
{
	u64 vtime = policy_vtime(c, now);

	if (policy_before(vtime, t->vruntime))
		t->vruntime = vtime;
	t->flags |= ROOST_TASK_OVERDUE;
}

policy_inline void policy_set_deadline(struct roost_task *t, u32 nr_runnable)
{
	t->slice_ns = policy_slice(nr_runnable);
	t->deadline = t->vruntime + policy_virtual(t->slice_ns, t->weight);
	if (t->flags & ROOST_TASK_YIELDED)
		t->deadline += policy_virtual(policy_read(env_knobs()->slice_ns), t->weight);
}

/* Counts what the task ran since run_start_ns (policy_ran). Returns the run time. */
policy_inline u64 policy_charge(struct roost_task *t, u64 now)
{
	u64 delta = t->run_start_ns ? policy_ran(t->run_start_ns, now) : 0;

	t->run_start_ns = now;
	t->vruntime += policy_virtual(delta, t->weight);
	return delta;
}

/* The task gets the CPU: the queue's vtime is at least where this task is. */
policy_inline void policy_begin(struct roost_cpu *c, struct roost_task *t, u64 now)
{
	t->run_start_ns = now;
	policy_write(c->curr_vruntime, t->vruntime);
	policy_write(c->curr_start_ns, now);
	policy_write(c->curr_deadline, t->deadline);
	policy_write(c->curr_idle_class, (t->flags & (ROOST_TASK_IDLE_CLASS | ROOST_TASK_OVERDUE)) == ROOST_TASK_IDLE_CLASS);
	t->flags &= ~ROOST_TASK_OVERDUE;
	policy_write(c->curr_pid, t->pid);
	policy_write(c->curr_weight, t->weight);
	policy_write(c->preempt_due, 0);
	if (policy_before(policy_read(c->vtime), t->vruntime))
		policy_write(c->vtime, t->vruntime);
}

/* The task gives the CPU up. */
policy_inline void policy_end(struct roost_cpu *c)
{
	policy_write(c->curr_weight, 0);
	policy_write(c->curr_pid, 0);
	policy_write(c->curr_deadline, 0);
}

/*
 * The running task's deadline, its slice shared by those that are runnable by now: measured like a wakee's. One that began
 * alone has a whole slice before it, and would be preempted by every wakee whose slice is a shared one.
 */
policy_inline u64 policy_curr_deadline(struct roost_cpu *c)
{
	u64 deadline = policy_read(c->curr_deadline), shared;

	shared = policy_read(c->curr_vruntime) + policy_virtual(policy_slice(policy_read(c->nr_runnable)), policy_read(c->curr_weight));
	return policy_before(shared, deadline) ? shared : deadline;
}

/*
 * A wakeup preempts when its deadline is earlier than the running task's, @curr_deadline; anything preempts SCHED_IDLE, which
 * itself, like SCHED_BATCH, preempts nobody.
 */
policy_inline bool policy_preempts(struct roost_cpu *c, const struct roost_task *t, u64 curr_deadline)
{
	if (!policy_read(c->curr_weight))
		return false;
	if (t->flags & ROOST_TASK_IDLE_CLASS)
		return false;
	if (policy_read(c->curr_idle_class))
		return true;
	if (t->flags & ROOST_TASK_BATCH)
		return false;
	return policy_before(t->deadline, curr_deadline);
}

/*
 * The running task, picked at @since_ns, has not had the least slice yet, and keeps the CPU so long: where each task wakes
 * the next, every wakeup would be a switch, and soon another one back. A wakeup that would preempt leaves preempt_due, and
 * the tick that finds the time over does it. SCHED_IDLE has no such right.
 */
policy_inline bool policy_protected(struct roost_cpu *c, u64 since_ns, u64 now)
{
	struct roost_knobs *k = env_knobs();
	u64 least = policy_min(policy_read(k->slice_min_ns), policy_read(k->slice_ns));

	return !policy_read(c->curr_idle_class) && policy_before(now, since_ns + least);
}

#endif
