// SPDX-License-Identifier: GPL-2.0-only
#include "sched.h"
#include "stats.h"

void __update_idle_core(struct rq *rq)
{
	int cpu;

	for_each_cpu(cpu, cpu_smt_mask(cpu_of(rq))) {
		if (!available_idle_cpu(cpu))
			return;
	}
}

static int select_idle_smt(struct task_struct *p, struct sched_domain *sd, int target)
{
	int cpu;

	for_each_cpu_and(cpu, cpu_smt_mask(target), p->cpus_ptr) {
		if (cpu != target && (available_idle_cpu(cpu) || sched_idle_cpu(cpu)))
			return cpu;
	}
	return -1;
}

static inline bool asym_fits_cpu(unsigned long util, unsigned long util_min,
				 unsigned long util_max, int cpu)
{
	return true;
}

/*
 * The search for an idle CPU.
 */
static int select_idle_sibling(struct task_struct *p, int prev, int target)
{
	unsigned long task_util, util_min, util_max;
	int i, recent_used_cpu, prev_aff = -1;
	bool has_idle_core = false;
	struct sched_domain *sd;

	/*
	 * A comment that belongs to the next line.
	 */
	lockdep_assert_irqs_disabled();

	if ((available_idle_cpu(target) || sched_idle_cpu(target)) &&
	    asym_fits_cpu(task_util, util_min, util_max, target))
		return target;

	if (prev != target && cpus_share_cache(prev, target) &&
	    (available_idle_cpu(prev) || sched_idle_cpu(prev)) &&
	    asym_fits_cpu(task_util, util_min, util_max, prev)) {

		if (!static_branch_unlikely(&sched_cluster_active) ||
		    cpus_share_resources(prev, target))
			return prev;

		prev_aff = prev;
	}

	recent_used_cpu = p->recent_used_cpu;
	p->recent_used_cpu = prev;
	if (recent_used_cpu != prev &&
	    (available_idle_cpu(recent_used_cpu) || sched_idle_cpu(recent_used_cpu)) &&
	    asym_fits_cpu(task_util, util_min, util_max, recent_used_cpu)) {
		return recent_used_cpu;
	} else {
		recent_used_cpu = -1;
	}

	sd = rcu_dereference(per_cpu(sd_llc, target));
	if (!sd)
		return target;

	if (sched_smt_active()) {
		has_idle_core = test_idle_cores(target);

		if (!has_idle_core && cpus_share_cache(prev, target)) {
			i = select_idle_smt(p, sd, prev);
			if ((unsigned int)i < nr_cpumask_bits)
				return i;
		}
	}

	i = select_idle_cpu(p, sd, has_idle_core, target);
	if ((unsigned int)i < nr_cpumask_bits)
		return i;

	if ((unsigned int)prev_aff < nr_cpumask_bits)
		return prev_aff;
	if ((unsigned int)recent_used_cpu < nr_cpumask_bits)
		return recent_used_cpu;

	return target;
}

static int sched_balance_find_dst_group_cpu(struct sched_group *group, struct task_struct *p, int this_cpu)
{
	int i;

	for_each_cpu_and(i, sched_group_span(group), p->cpus_ptr) {
		if (available_idle_cpu(i))
			return i;
	}
	return this_cpu;
}

static
int can_migrate_task(struct task_struct *p, struct lb_env *env)
{
	lockdep_assert_rq_held(env->src_rq);

	if (!cpumask_test_cpu(env->dst_cpu, p->cpus_ptr))
		return 0;

	/* Record that we found at least one task that could run on dst_cpu */
	env->flags &= ~LBF_ALL_PINNED;

	if (env->flags & LBF_ACTIVE_LB)
		return 1;
	return 0;
}

static struct rq *sched_balance_find_src_rq(struct lb_env *env, struct sched_group *group)
{
	struct rq *rq;
	int i;

	for_each_cpu_and(i, sched_group_span(group), env->cpus) {
		enum fbq_type rt;

		rq = cpu_rq(i);
		rt = fbq_classify_rq(rq);

		if (rt > env->fbq_type)
			continue;
		return rq;
	}
	return NULL;
}
