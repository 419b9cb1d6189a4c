/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Idle grace: for wakeups, a CPU counts as idle for a while after it left
 * idle, so that tasks which come and go stay on CPUs whose caches they warmed
 * instead of spreading over every CPU that happens to be idle this instant.
 *
 * A time stamp, not a timer: nothing has to be cancelled, and a CPU that is
 * never looked at costs one store each time it leaves idle. With the feature
 * IDLE_GRACE off there is no cost but a patched-out branch.
 */
#ifndef _KERNEL_SCHED_IDLE_GRACE_H
#define _KERNEL_SCHED_IDLE_GRACE_H

#define IDLE_GRACE_NS_MAX	NSEC_PER_SEC
#define IDLE_GRACE_QUEUED_MAX	65535

extern u64 sysctl_sched_idle_grace_ns;
extern unsigned int sysctl_sched_idle_grace_max_queued;

DECLARE_PER_CPU_SHARED_ALIGNED(u64, idle_exit_ns);

/* @cpu, the current one, stops idling. */
static inline void idle_grace_stamp(int cpu)
{
	if (sched_feat(IDLE_GRACE))
		WRITE_ONCE(per_cpu(idle_exit_ns, cpu), local_clock());
}

static inline bool cpu_in_idle_grace(int cpu)
{
	u64 grace_ns;
	unsigned int max_queued;

	if (!sched_feat(IDLE_GRACE))
		return false;

	/* Signed: the stamp is another CPU's clock, and may be ahead of ours. */
	grace_ns = READ_ONCE(sysctl_sched_idle_grace_ns);
	if (!grace_ns ||
	    (s64)(local_clock() - READ_ONCE(per_cpu(idle_exit_ns, cpu))) >= (s64)grace_ns)
		return false;

	/* With this many there, waiting costs more than a cold cache. */
	max_queued = READ_ONCE(sysctl_sched_idle_grace_max_queued);
	return !max_queued || READ_ONCE(cpu_rq(cpu)->nr_running) < max_queued;
}

/* Idle for enqueuing work, or as good as that. */
static inline bool cpu_counts_as_idle(int cpu)
{
	return available_idle_cpu(cpu) ||
	       (cpu_in_idle_grace(cpu) && !vcpu_is_preempted(cpu));
}

#endif /* _KERNEL_SCHED_IDLE_GRACE_H */
