/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shim.h - the least of a kernel that the extracted wakeup path compiles and runs in: records with the fields it
 * reads, CPU masks of one word, static branches that are variables. No behaviour of the scheduler is written here;
 * where the path asks something of the rest of the kernel, the test's machine state answers.
 *
 * Left out: unequal CPUs, clusters, energy-aware placement, core scheduling, preempted virtual CPUs.
 */
#ifndef PARITY_SHIM_H
#define PARITY_SHIM_H

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define NR 64                       /* CPU masks are one word */
#define HZ 250
#define NSEC_PER_SEC 1000000000L
#define SCHED_CAPACITY_SCALE 1024L
#define WF_TTWU 0x08
#define WF_SYNC 0x10
#define WF_CURRENT_CPU 0x40
#define PF_EXITING 4
#define SD_WAKE_AFFINE 0x20
#define SD_CLUSTER 0x100
#define UCLAMP_MIN 0
#define UCLAMP_MAX 1
#define CPU_NEWLY_IDLE 2

#define unlikely(x) (x)
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, v) ((x) = (v))
#define swap(a, b) do { __typeof__(a) t_ = a; a = b; b = t_; } while (0)
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define do_div(n, base) ((n) /= (u64)(base))
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define schedstat_inc(x) do { } while (0)
#define lockdep_assert_held(x) do { } while (0)
#define lockdep_assert_irqs_disabled() do { } while (0)
#define rcu_read_lock() do { } while (0)
#define rcu_read_unlock() do { } while (0)
#define rcu_dereference(x) (x)
#define rcu_dereference_all(x) (x)
#define static_branch_unlikely(key) (*(key))
#define sched_feat(x) (feat_##x)
#define per_cpu(name, cpu) ((name)[cpu])
#define DECLARE_PER_CPU_SHARED_ALIGNED(type, name) extern type name[NR]
#define __this_cpu_read(name) ((name)[this_cpu_id])
#define smp_processor_id() this_cpu_id
#define nr_cpumask_bits ((unsigned int)NR)

struct cpumask {
	u64 bits;
};

static inline bool cpumask_test_cpu(int cpu, const struct cpumask *m)
{
	return m->bits >> cpu & 1;
}

static inline bool cpumask_and(struct cpumask *d, const struct cpumask *a, const struct cpumask *b)
{
	return (d->bits = a->bits & b->bits) != 0;
}

static inline void cpumask_andnot(struct cpumask *d, const struct cpumask *a, const struct cpumask *b)
{
	d->bits = a->bits & ~b->bits;
}

/* The masks are read anew at each step, as the kernel does: the body may take CPUs out. */
static inline int next_bit(u64 word, int from)
{
	for (; from < NR; from++)
		if (word >> from & 1)
			return from;
	return NR;
}

#define for_each_cpu(c, m) for ((c) = next_bit((m)->bits, 0); (c) < NR; (c) = next_bit((m)->bits, (c) + 1))
#define for_each_cpu_and(c, m, n) \
	for ((c) = next_bit((m)->bits & (n)->bits, 0); (c) < NR; (c) = next_bit((m)->bits & (n)->bits, (c) + 1))
#define for_each_cpu_wrap(c, m, start) \
	for (int s_ = (start), i_ = 0; i_ < NR && (((c) = (s_ + i_) % NR), 1); i_++) \
		if (!((m)->bits >> (c) & 1)) { } else

struct sched_domain_shared {
	int has_idle_cores;
	int nr_idle_scan;
};

struct sched_group {
	int flags;
	struct cpumask span;
};

struct sched_domain {
	struct sched_domain *parent;
	struct sched_domain_shared *shared;
	struct sched_group *groups;
	unsigned int imbalance_pct;
	unsigned int span_weight;
	int flags;
	struct cpumask span;
};

struct sched_avg {
	unsigned long load_avg;
	unsigned int util_est;
};

struct sched_entity {
	struct sched_avg avg;
};

struct sched_statistics {
	u64 nr_wakeups_affine, nr_wakeups_affine_attempts;
};

struct task_struct {
	unsigned int flags;
	struct task_struct *last_wakee;
	unsigned int wakee_flips;
	unsigned long wakee_flip_decay_ts;
	int recent_used_cpu;
	const struct cpumask *cpus_ptr;
	struct sched_entity se;
	unsigned long util;
	bool idle_policy, per_cpu_kthread;
	int pi_lock;
	struct sched_statistics stats;
};

struct cfs_rq {
	unsigned int h_nr_idle, idle_h_nr_running;
	struct sched_avg avg;
};

struct rq {
	int cpu;
	unsigned int nr_running;
	struct task_struct *curr, *idle;
	bool ttwu_pending;
	struct cfs_rq cfs;
	unsigned long cpu_capacity, load;
	void *rd;
	struct sched_domain *sd;
};

struct lb_env {
	struct sched_domain *sd;
	int idle, dst_cpu;
};

static struct rq rqs[NR];
static struct sched_domain *sd_llc[NR], *sd_asym_cpucapacity[NR];
static struct sched_domain_shared *sd_llc_shared[NR], *sd_balance_shared[NR];
static int sd_llc_size[NR], sd_llc_id[NR];
static struct cpumask smt_mask[NR], select_rq_mask_word;
static struct task_struct *current;
static int this_cpu_id;
static unsigned long jiffies = 1000000;
static bool smt_active, sched_cluster_active, in_task_context;
static u64 clock_ns;
static bool feat_SELECT_BIAS_PREV, feat_UTIL_FITS_CAPACITY, feat_SELECT_IDLE_SMT, feat_IDLE_GRACE;
static const bool feat_WA_IDLE = true, feat_WA_WEIGHT = true, feat_WA_BIAS = true, feat_SIS_UTIL = true, feat_UTIL_EST = true;

#define cpu_rq(cpu) (&rqs[cpu])
#define cpu_of(rq) ((rq)->cpu)
#define this_rq() (&rqs[this_cpu_id])
#define this_cpu_cpumask_var_ptr(m) (&m##_word)
#define sched_domain_span(sd) (&(sd)->span)
#define sched_group_span(sg) (&(sg)->span)
#define cpu_smt_mask(cpu) (&smt_mask[cpu])
#define for_each_domain(cpu, s) for ((s) = cpu_rq(cpu)->sd; (s); (s) = (s)->parent)
#define local_clock() clock_ns
#define in_task() in_task_context
#define is_per_cpu_kthread(p) ((p)->per_cpu_kthread)
#define sched_smt_active() smt_active
#define sched_asym_cpucap_active() false
#define sched_cpu_cookie_match(rq, p) true
#define vcpu_is_preempted(cpu) false
#define is_core_idle(cpu) false
#define util_fits_cpu(a, b, c, d) 1
#define uclamp_eff_value(p, id) 0UL
#define select_idle_capacity(p, sd, target) (-1)
#define is_rd_overutilized(rd) true
#define find_energy_efficient_cpu(p, prev) (-1)
#define sched_balance_find_dst_cpu(sd, p, cpu, prev, flag) (abort(), -1)
#define cpus_share_resources(a, b) true
#define sync_entity_load_avg(se) do { } while (0)
#define cfs_h_nr_delayed(rq) 0
#define task_has_idle_policy(p) ((p)->idle_policy)
#define cpu_load(rq) ((rq)->load)
#define task_h_load(p) ((p)->se.avg.load_avg)
#define task_util_est(p) ((p)->util)
#define capacity_of(cpu) shim_capacity(cpu, __func__)

/* Asked where loads are compared and where a task is fitted; the test may change the answer for the first alone. */
static bool compare_at_full_capacity;
static inline unsigned long shim_capacity(int cpu, const char *who)
{
	return compare_at_full_capacity && !strcmp(who, "wake_affine_weight") ? SCHED_CAPACITY_SCALE : cpu_rq(cpu)->cpu_capacity;
}

static inline bool cpus_share_cache(int a, int b)
{
	return a == b || sd_llc_id[a] == sd_llc_id[b];
}

/* kernel/sched/sched.h (6.12: syscalls.c) */
static inline bool available_idle_cpu(int cpu)
{
	struct rq *rq = cpu_rq(cpu);

	return rq->curr == rq->idle && !rq->nr_running && !rq->ttwu_pending;
}

#endif
