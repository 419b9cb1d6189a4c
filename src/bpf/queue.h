/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * queue.h - a task's way into and out of a CPU's queue: counting, placing, queueing, taking.
 *
 * Queue number = CPU number. Who runs what is decided by the order of deadlines in the CPU's own queue;
 * a task goes straight to the local queue only where an idle CPU was claimed for it or where it preempts,
 * and always to the local queue of the CPU it is being put on, never to another's (that races with a
 * change of its affinity). Everything else is pulled by the CPU that runs it, or, where that is being
 * taken down and runs no dispatch any more, handed back to it by the one that found it (hand_back).
 */
#ifndef ROOST_BPF_QUEUE_H
#define ROOST_BPF_QUEUE_H

#include "spin.bpf.h"

/* The task waits no longer in a CPU's queue. */
static __always_inline void unqueue(struct roost_task *t)
{
	struct roost_cpu *q;

	if (!(t->flags & ROOST_TASK_QUEUED))
		return;
	q = env_cpu(t->queue_cpu);
	if (q)
		policy_unqueued(q, t->queue_cpu, t);
}

/* Its vruntime in the frame of @cpu's queue from now on. */
static __always_inline void place(struct roost_task *t, struct roost_cpu *c, s32 cpu, u64 now)
{
	policy_place(t, t->cpu >= 0 ? env_cpu(t->cpu) : 0, c, now);
	t->cpu = cpu;
}

/*
 * The task no longer counts where it did: it sleeps, or another CPU runs it. One that is on its way out idles by then, and
 * the kernel, which waits for it to become empty, looks only when it schedules: whoever took its last task has to see to
 * that (6.16: the machine's hotplug hung for ever).
 */
static __always_inline void count_out(struct roost_task *t, u64 now)
{
	struct roost_cpu *c = t->flags & ROOST_TASK_RUNNABLE ? env_cpu(t->count_cpu) : 0;

	policy_count_out(t, now);
	if (c && POLICY_UNLIKELY(!(policy_read(c->flags) & ROOST_CPU_ONLINE)))
		scx_bpf_kick_cpu(t->count_cpu, 0);
}

static __always_inline void kick_idle(s32 cpu)
{
	struct roost_cpu *c = env_cpu(cpu);

	if (c && spin_wake(c, cpu))
		return;
	COUNT(nr_kicks_idle);
	scx_bpf_kick_cpu(cpu, ROOST_FLAG(scx_kick_flags, SCX_KICK_IDLE));
}

/* Sends an idle CPU, if there is one, for what waits on @cpu, which cannot run it. */
static __always_inline void send_helper(s32 cpu, struct roost_cpu *c)
{
	struct roost_cpu *o;
	s32 helper;

	if (!policy_read(c->nr_queued))
		return;
	helper = policy_fetcher(0, cpu);
	o = helper >= 0 ? env_cpu(helper) : 0;
	if (o) {
		policy_write(o->pull_from, cpu);
		kick_idle(helper);
	}
}

/* Puts the task into the queue of @cpu, and wakes the CPU if it idles. */
static __always_inline void queue_on(struct task_struct *p, struct roost_task *t, struct roost_cpu *c, s32 cpu, u64 now,
				     u64 enq_flags)
{
	struct roost_llc_word *w;
	u64 bit = policy_bit(cpu);

	t->queue_cpu = cpu;
	COUNT(nr_enqueued);
	policy_queued(c, cpu, t, now);
	compat_insert_vtime(p, (u64)cpu, t->slice_ns, t->deadline, enq_flags);
	/* the CPU may have gone idle since it last looked: whoever clears its bit wakes it */
	w = env_word(c->word);
	if (w && (policy_read(w->idle) & bit) && (policy_word_clear(&w->idle, bit) & bit))
		kick_idle(cpu);
	else if (POLICY_UNLIKELY(!(policy_read(c->flags) & ROOST_CPU_ONLINE)))
		send_helper(cpu, c); /* it went offline after it was chosen */
	else
		spin_wake(c, cpu);
}

/* The task can run there at all: not where a higher class sits, if it may go elsewhere. */
static __always_inline bool usable(struct roost_cpu *c)
{
	return (policy_read(c->flags) & (ROOST_CPU_ONLINE | ROOST_CPU_RT_HELD)) == ROOST_CPU_ONLINE;
}

static __always_inline bool movable(struct task_struct *p)
{
	return p->nr_cpus_allowed > 1 && !p->migration_disabled;
}

/*
 * How many of a queue are looked at, and how many for one that is overdue, which is far behind. Variables: of a count that is
 * compared with a constant the verifier follows every value, and with it every way through the loop.
 */
u32 pull_look = 24;
u32 overdue_look = 4096;

static __always_inline u64 look_limit(u32 rule)
{
	return rule == ROOST_RULE_OVERDUE ? policy_read(overdue_look) : policy_read(pull_look);
}

/*
 * The pid of the task that @cpu takes from @from's queue by @rule, 0 if there is none: the one that has waited longest of those
 * looked at, if it has waited long enough. For balance any wait is; overdue are those of @cpu's own queue.
 */
__noinline u64 pull_whom(s32 cpu, s32 from, u32 rule)
{
	u64 best = 0, looked = 0, limit = look_limit(rule);
	u64 now = env_now(), oldest = 0, first = 0;
	struct roost_cpu *v = env_cpu(from);
	struct bpf_iter_scx_dsq it;
	struct roost_task *t;
	struct task_struct *p;

	if (!v)
		return 0;
	if (!bpf_iter_scx_dsq_new(&it, (u64)from, 0)) {
		while ((p = bpf_iter_scx_dsq_next(&it))) {
			if (looked++ >= limit)
				break;
			t = task_of(p);
			if (!t || !t->wait_start_ns)
				continue;
			if (!first || policy_before(t->wait_start_ns, first))
				first = t->wait_start_ns;
			if (best && !policy_before(t->wait_start_ns, oldest))
				continue;
			if (rule == ROOST_RULE_OVERDUE) {
				if (!policy_overdue(t->wait_start_ns, now))
					continue;
			} else {
				if (rule != ROOST_RULE_BALANCE && !policy_may_steal(v, t->wait_start_ns, now))
					continue;
				if (p->migration_disabled || (t->flags & ROOST_TASK_SPINNER) || !env_allowed(p, cpu))
					continue;
			}
			best = (u64)p->pid;
			oldest = t->wait_start_ns;
		}
	}
	bpf_iter_scx_dsq_destroy(&it);
	/* the hint of the longest wait goes forward as far as was seen */
	if (first && looked <= limit)
		policy_write(v->oldest_wait_ns, first);
	return best;
}

static __always_inline void count_pull(s32 cpu, s32 from, u32 rule)
{
	struct roost_stats *s = stats_here();
	u32 d = policy_distance(from, cpu);

	if (!s || rule >= ROOST_RULE_COUNT || d >= ROOST_DIST_COUNT)
		return;
	s->rule[rule]++;
	s->rule_distance[rule][d]++;
	if (rule != ROOST_RULE_BALANCE && rule != ROOST_RULE_OVERDUE)
		s->rule_idle[rule]++;
}

/* Moves the task @pid of @from's queue to this CPU's local queue. */
__noinline bool pull_one(s32 cpu, s32 from, u32 rule, u64 pid)
{
	struct roost_cpu *c = env_cpu(cpu), *v = env_cpu(from);
	u64 looked = 0, limit = look_limit(rule);
	struct bpf_iter_scx_dsq it;
	struct roost_task *t;
	struct task_struct *p;
	bool moved = false;

	if (!c || !v)
		return false;
	if (!bpf_iter_scx_dsq_new(&it, (u64)from, 0)) {
		while ((p = bpf_iter_scx_dsq_next(&it))) {
			if (looked++ >= limit)
				break;
			if ((u64)p->pid != pid)
				continue;
			t = task_of(p);
			if (!t || !compat_move(&it, p, ROOST_DSQ_LOCAL, 0))
				break;
			moved = true;
			if (rule == ROOST_RULE_OVERDUE) {
				policy_forgive(t, c, env_now());
			} else if (rule == ROOST_RULE_BALANCE && t->cpu == from) {
				policy_balance_place(t, v, c);
				t->cpu = cpu;
			} else {
				place(t, c, cpu, env_now());
			}
			policy_set_deadline(t, policy_read(c->nr_runnable) + 1);
			break;
		}
	}
	bpf_iter_scx_dsq_destroy(&it);
	if (moved)
		count_pull(cpu, from, rule);
	return moved;
}

/*
 * @from is on its way out, dispatches nothing any more, and what is bound to it waits in its queue: its kernel threads, on
 * which the kernel may wait before it takes the CPU down. The first of them goes to the local queue there, from which the
 * CPU still runs tasks; the next one when somebody looks here again.
 */
__noinline int hand_back(s32 from)
{
	u64 looked = 0, limit = policy_read(pull_look);
	struct bpf_iter_scx_dsq it;
	struct task_struct *p;

	if (!bpf_iter_scx_dsq_new(&it, (u64)from, 0)) {
		while ((p = bpf_iter_scx_dsq_next(&it))) {
			if (looked++ >= limit)
				break;
			if (movable(p) || scx_bpf_task_cpu(p) != from)
				continue;
			if (compat_move(&it, p, ROOST_DSQ_LOCAL_ON | (u32)from, 0))
				scx_bpf_kick_cpu(from, 0);
			break;
		}
	}
	bpf_iter_scx_dsq_destroy(&it);
	return 0;
}

/*
 * The pid of the first in @cpu's queue if that one is overdue, else 0. It is the next by the order of deadlines, and has only the
 * running task before it; the queue need not be walked for another.
 */
__noinline u64 overdue_head(s32 cpu)
{
	struct bpf_iter_scx_dsq it;
	struct task_struct *p;
	struct roost_task *t;
	u64 pid = 0;

	if (!bpf_iter_scx_dsq_new(&it, (u64)cpu, 0)) {
		p = bpf_iter_scx_dsq_next(&it);
		t = p ? task_of(p) : 0;
		if (t && policy_overdue(t->wait_start_ns, env_now()))
			pid = (u64)p->pid;
	}
	bpf_iter_scx_dsq_destroy(&it);
	return pid;
}

static __always_inline bool pull(s32 cpu, s32 from, u32 rule)
{
	struct roost_cpu *v = env_cpu(from);
	u64 pid = rule == ROOST_RULE_OVERDUE ? overdue_head(cpu) : 0;

	if (!pid)
		pid = pull_whom(cpu, from, rule);
	if (pid)
		return pull_one(cpu, from, rule, pid);
	if (POLICY_UNLIKELY(v && !(policy_read(v->flags) & ROOST_CPU_ONLINE)))
		hand_back(from);
	return false;
}

#endif
