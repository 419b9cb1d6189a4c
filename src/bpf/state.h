/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the maps, and the policy's environment in the kernel.
 *
 * The program sizes the maps before it loads them: one entry a possible CPU, LLC, LLC word. Their values
 * are the records of policy/abi.h, mapped into the program's memory, so that reading a counter or setting a
 * knob needs no system call and no reload.
 */
#ifndef ROOST_BPF_STATE_H
#define ROOST_BPF_STATE_H

#include "compat.h"
#include "records.h"

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct roost_task);
} roost_tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} roost_events SEC(".maps");


/* a macro: CO-RE looks records up by the name in the code, and a typedef would be one */
#define env_task struct task_struct

static __always_inline u64 env_now(void)
{
	return compat_now();
}

static __always_inline u64 env_domain(s32 cpu)
{
	const struct rq *rq = compat_rq(cpu);

	return rq ? (u64)rq->rd : 0;
}

/*
 * Affinity of CPUs 64w..64w+63. Most tasks may use every CPU. The others' mask is read by address, since
 * a trusted pointer takes no variable offset.
 */
static __always_inline u64 env_allowed_word(env_task *p, u32 cpu_word)
{
	const struct cpumask *mask;
	u64 word = 0;

	if (!p || p->nr_cpus_allowed >= (s32)env_machine()->nr_possible)
		return ~0ULL;
	mask = p->cpus_ptr;
	if (!mask || cpu_word >= ROOST_MAX_WORDS)
		return 0;
	bpf_probe_read_kernel(&word, sizeof(word), (const char *)mask + cpu_word * 8);
	return word;
}

static __always_inline bool env_allowed(env_task *p, s32 cpu)
{
	struct roost_cpu *c = env_cpu(cpu);

	return c && (c->flags & ROOST_CPU_ONLINE) && (env_allowed_word(p, (u32)cpu / 64) & (1ULL << (cpu & 63)));
}

#define env_for(i, n) bpf_for(i, 0, n)

#include "policy/count.h"
#include "policy/place.h"
#include "policy/steal.h"

static __always_inline struct roost_task *task_of(struct task_struct *p)
{
	return bpf_task_storage_get(&roost_tasks, p, 0, 0);
}

static __always_inline struct roost_stats *stats_here(void)
{
	return ROOST_LOOKUP(roost_stats, bpf_get_smp_processor_id());
}

/* Counters are the CPU's own: callbacks run with preemption off. */
#define COUNT(member)                                       \
	do {                                                \
		struct roost_stats *__s = stats_here();     \
		if (__s)                                    \
			__s->member++;                      \
	} while (0)

#endif
