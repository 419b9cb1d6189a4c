/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpus.bpf.h - what happens to CPUs: they go idle and leave idle, real-time tasks take them, they go offline and
 * come back. Included by roost.bpf.c alone.
 */
#ifndef ROOST_BPF_CPUS_BPF_H
#define ROOST_BPF_CPUS_BPF_H

/* Capacity up to now; interrupts as the kernel counts them, where it does. */
static __always_inline void capacity(struct roost_cpu *c, s32 cpu, u64 now)
{
	const struct rq *rq;
	u32 irq = 0;

	if (bpf_core_field_exists(((struct rq *)0)->avg_irq)) {
		rq = compat_rq(cpu);
		if (rq)
			irq = (u32)rq->avg_irq.util_avg << (ROOST_UTIL_SHIFT - 10);
	}
	policy_capacity_update(c, now, c->flags & ROOST_CPU_RT_HELD, irq);
}

SEC("struct_ops/roost_update_idle")
void BPF_PROG(roost_update_idle, s32 cpu, bool idle)
{
	struct roost_cpu *c = env_cpu(cpu);
	u64 now = env_now();

	if (!c)
		return;
	if (!idle) {
		if (spin_enters(c, cpu))
			return;
		policy_left_idle(c, cpu, now);
		policy_lead_update(c, true);
		return;
	}
	policy_cpu_busy(c, now, false);
	capacity(c, cpu, now);
	policy_went_idle(c, cpu, now);
	/* queued between its last look and its bit: it must not wait */
	if (policy_read(c->nr_queued))
		kick_idle(cpu);
}

/* A higher class takes @cpu: what waits is queued anew elsewhere. */
static __always_inline void cpu_taken(s32 cpu, struct roost_cpu *c, u64 now)
{
	policy_cpu_busy(c, now, false);
	capacity(c, cpu, now);
	__sync_fetch_and_or(&c->flags, ROOST_CPU_RT_HELD);
	policy_sidle_update(c, cpu);
	spin_taken(cpu);
	send_helper(cpu, c);
}

static __always_inline void cpu_given_back(s32 cpu, struct roost_cpu *c, u64 now)
{
	capacity(c, cpu, now);
	__sync_fetch_and_and(&c->flags, ~ROOST_CPU_RT_HELD);
	policy_sidle_update(c, cpu);
}

SEC("struct_ops/roost_cpu_release")
void BPF_PROG(roost_cpu_release, s32 cpu, struct scx_cpu_release_args *args)
{
	struct roost_cpu *c = env_cpu(cpu);

	if (!c)
		return;
	cpu_taken(cpu, c, env_now());
	if (bpf_ksym_exists(scx_bpf_reenqueue_local))
		scx_bpf_reenqueue_local();
}

SEC("struct_ops/roost_cpu_acquire")
void BPF_PROG(roost_cpu_acquire, s32 cpu, struct scx_cpu_acquire_args *args)
{
	struct roost_cpu *c = env_cpu(cpu);

	if (c)
		cpu_given_back(cpu, c, env_now());
}

/*
 * Real-time tasks as they come and go. cpu_release tells only of those that push one of ours aside, not of those that
 * find the CPU idle, and is on its way out (6.19); before that it is still what may queue the local queue anew.
 */
SEC("tp_btf/sched_switch")
int BPF_PROG(roost_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	s32 cpu = (s32)bpf_get_smp_processor_id();
	struct roost_cpu *c = env_cpu(cpu);
	bool held = next->prio < MAX_RT_PRIO;
	const struct rq *rq;

	if (!c)
		return 0;
	if (POLICY_UNLIKELY(held))
		c->rt_pid = (u32)next->pid;
	if (POLICY_LIKELY(held == !!(c->flags & ROOST_CPU_RT_HELD)))
		return 0;
	if (!held) {
		cpu_given_back(cpu, c, env_now());
		return 0;
	}
	cpu_taken(cpu, c, env_now());
	rq = compat_rq(cpu);
	if (rq && rq->scx.local_dsq.nr && bpf_ksym_exists(scx_bpf_reenqueue_local___v2))
		scx_bpf_reenqueue_local___v2();
	return 0;
}

/* Sets or clears the CPU's bit among its LLC's members. */
static __always_inline void set_online(s32 cpu, bool online)
{
	struct roost_cpu *c = env_cpu(cpu);
	struct roost_llc_word *w = c ? env_word(c->word) : 0;
	struct roost_llc *l = c ? env_llc(c->llc) : 0;
	u64 bit = policy_bit(cpu);

	if (!c)
		return;
	if (online)
		__sync_fetch_and_or(&c->flags, ROOST_CPU_ONLINE);
	else
		__sync_fetch_and_and(&c->flags, ~(ROOST_CPU_ONLINE | ROOST_CPU_RT_HELD));
	if (!w || !l)
		return;
	if (online) {
		if (!(policy_word_set(&w->member, bit) & bit))
			__sync_fetch_and_add(&l->weight, 1);
		return;
	}
	policy_word_clear(&w->idle, bit);
	policy_word_clear(&w->core, bit);
	policy_word_clear(&w->grace, bit);
	policy_word_clear(&w->sidle, bit);
	policy_word_clear(&w->spin, bit);
	if (policy_word_clear(&w->member, bit) & bit)
		__sync_fetch_and_add(&l->weight, -1);
}

SEC("struct_ops/roost_cpu_online")
void BPF_PROG(roost_cpu_online, s32 cpu)
{
	set_online(cpu, true);
}

/* What still waits there is taken by others: send one at once. */
static __always_inline void cpu_leaves(s32 cpu)
{
	struct roost_cpu *c = env_cpu(cpu);

	set_online(cpu, false);
	if (c)
		send_helper(cpu, c);
}

SEC("struct_ops/roost_cpu_offline")
void BPF_PROG(roost_cpu_offline, s32 cpu)
{
	cpu_leaves(cpu);
}

/*
 * A CPU on its way out. The kernel asks it for nothing more from the moment it is no longer active, then waits for an
 * RCU grace period, and only after that says cpu_offline: what was queued there in between would wait for ever if the
 * grace period waits for it (the thread that ends it is a task like others).
 */
SEC("tp_btf/cpuhp_enter")
int BPF_PROG(roost_cpuhp_enter, u32 cpu, int target, int idx)
{
	if (idx == (int)ROOST_FLAG(cpuhp_state, CPUHP_AP_ACTIVE) && target < idx)
		cpu_leaves((s32)cpu);
	return 0;
}

/* It may not leave after all. */
SEC("tp_btf/cpuhp_exit")
int BPF_PROG(roost_cpuhp_exit, u32 cpu, int state, int idx, int ret)
{
	const struct rq *rq;

	if (!ret || idx != (int)ROOST_FLAG(cpuhp_state, CPUHP_AP_ACTIVE))
		return 0;
	rq = compat_rq((s32)cpu);
	if (rq && (rq->scx.flags & ROOST_FLAG(scx_rq_flags, SCX_RQ_ONLINE)))
		set_online((s32)cpu, true);
	return 0;
}

#endif
