/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - the kernel's types, with just the fields used, relocated at load (CO-RE): no vmlinux.h.
 *
 * A field's declared kind must be the kernel's (an enum is an enum). Enumerators are relocated with
 * ROOST_ENUM, as their values differ between versions.
 */
#ifndef ROOST_BPF_KERNEL_H
#define ROOST_BPF_KERNEL_H

#include <stdbool.h>
/* newer headers have it, older ones do not: below it is defined for all */
#define bpf_iter_num uapi_bpf_iter_num
#include <linux/bpf.h>
#undef bpf_iter_num
#include "policy/abi.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct cpumask {
	unsigned long bits[128];
};

struct sched_ext_entity {
	u64 slice;
	u32 flags;
};

struct task_struct {
	int pid;
	int tgid;
	int prio;
	int static_prio;
	unsigned int policy;
	unsigned int flags;
	int nr_cpus_allowed;
	unsigned short migration_disabled;
	const struct cpumask *cpus_ptr;
	struct sched_ext_entity scx;
	char comm[16];
};

struct root_domain;

struct sched_avg {
	unsigned long util_avg;
};

struct scx_dispatch_q {
	u32 nr;
};

struct scx_rq {
	struct scx_dispatch_q local_dsq;
	u32 flags;
};

struct rq {
	unsigned int nr_running;
	struct root_domain *rd;
	struct sched_avg avg_irq;
	struct scx_rq scx;
};

enum scx_exit_kind { SCX_EXIT_NONE = 0 };

struct scx_exit_info {
	enum scx_exit_kind kind;
	s64 exit_code;
	const char *reason;
	char *msg;
};

struct scx_init_task_args;
struct scx_exit_task_args;
struct scx_cpu_acquire_args;
struct scx_cpu_release_args;

/* Matched by name: the order is free, members that a kernel lacks must be NULL. */
struct sched_ext_ops {
	s32 (*select_cpu)(struct task_struct *p, s32 prev_cpu, u64 wake_flags);
	void (*enqueue)(struct task_struct *p, u64 enq_flags);
	void (*dispatch)(s32 cpu, struct task_struct *prev);
	void (*tick)(struct task_struct *p);
	void (*runnable)(struct task_struct *p, u64 enq_flags);
	void (*running)(struct task_struct *p);
	void (*stopping)(struct task_struct *p, bool runnable);
	void (*quiescent)(struct task_struct *p, u64 deq_flags);
	bool (*yield)(struct task_struct *from, struct task_struct *to);
	void (*set_weight)(struct task_struct *p, u32 weight);
	void (*update_idle)(s32 cpu, bool idle);
	void (*cpu_acquire)(s32 cpu, struct scx_cpu_acquire_args *args);
	void (*cpu_release)(s32 cpu, struct scx_cpu_release_args *args);
	s32 (*init_task)(struct task_struct *p, struct scx_init_task_args *args);
	void (*exit_task)(struct task_struct *p, struct scx_exit_task_args *args);
	void (*enable)(struct task_struct *p);
	void (*cpu_online)(s32 cpu);
	void (*cpu_offline)(s32 cpu);
	s32 (*init)(void);
	void (*exit)(struct scx_exit_info *ei);
	u64 flags;
	u32 timeout_ms;
	u64 hotplug_seq;
	char name[128];
};

#pragma clang attribute pop

/* Iterators live on the program's own stack: not relocated. */
struct bpf_iter_scx_dsq {
	u64 __opaque[6];
} __attribute__((aligned(8)));

struct bpf_iter_num {
	u64 __opaque[1];
} __attribute__((aligned(8)));

/*
 * Flags whose numbers differ between kernels: only the names count here, the values are relocated. Read
 * them through ROOST_FLAG, never directly.
 */
enum scx_enq_flags {
	SCX_ENQ_WAKEUP = 1,
	SCX_ENQ_HEAD = 2,
	SCX_ENQ_PREEMPT = 3,
	SCX_ENQ_REENQ = 4,
};

enum scx_wake_flags {
	SCX_WAKE_FORK = 1,
	SCX_WAKE_SYNC = 2,
};

enum scx_kick_flags {
	SCX_KICK_IDLE = 1,
	SCX_KICK_PREEMPT = 2,
};

enum scx_rq_flags {
	SCX_RQ_ONLINE = 1,
};

enum cpuhp_state {
	CPUHP_AP_ACTIVE = 1,
};

#define ROOST_FLAG(type, name) ((u64)bpf_core_enum_value(enum type, name))

#define ROOST_DSQ_LOCAL (1ULL << 63 | 2) /* SCX_DSQ_LOCAL: the same in every version */
#define ROOST_DSQ_LOCAL_ON (3ULL << 62)  /* SCX_DSQ_LOCAL_ON, to which the CPU is added: likewise */

#define ROOST_SCX_QUEUED 1u /* SCX_TASK_QUEUED: the same in every version */

#define SCHED_BATCH 3
#define SCHED_IDLE 5
#define PF_KTHREAD 0x00200000u
#define MAX_RT_PRIO 100

#endif
