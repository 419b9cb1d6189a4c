/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * decide.bpf.c - one policy decision at a time, for measuring (bench/decide.c): programs of type syscall, run by
 * BPF_PROG_TEST_RUN under the host's own JIT, so that the cost of a decision is known on real silicon even
 * where the kernel has no sched_ext. No task is scheduled by it.
 *
 * A run decides `rounds` times over the machine state in the maps, and counts each decision's time in a
 * histogram. What a decision claimed is given back before the next.
 */
#include <stdbool.h>
#include <linux/bpf.h>
#include "policy/abi.h"
#include "records.h"

struct bpf_iter_num {
	u64 __opaque[1];
} __attribute__((aligned(8)));

char _license[] SEC("license") = "GPL";

struct decide_task {
	u64 mask[ROOST_MAX_WORDS];
	u32 everywhere;         /* the mask need not be looked at */
	u32 pad;
};
ROOST_ARRAY(decide_task, struct decide_task, 1, BPF_F_MMAPABLE);

#define env_task struct decide_task
#define policy_task_arg /* plain memory, which may be NULL */

static __always_inline u64 env_domain(s32 cpu)
{
	return 0;
}

static __always_inline u64 env_allowed_word(env_task *p, u32 cpu_word)
{
	u64 index = cpu_word;

	if (!p || p->everywhere)
		return ~0ULL;
	/* the bound in the register that is used: the compiler would test another one that it came from */
	asm volatile("" : "+r"(index));
	return index < ROOST_MAX_WORDS ? p->mask[index] : 0;
}

static __always_inline bool env_allowed(env_task *p, s32 cpu)
{
	struct roost_cpu *c = env_cpu(cpu);

	return c && (c->flags & ROOST_CPU_ONLINE) && (env_allowed_word(p, (u32)cpu / 64) & (1ULL << (cpu & 63)));
}

#define env_for(i, n) bpf_for(i, 0, n)

#include "policy/place.h"
#include "policy/steal.h"

#define decide_clock() bpf_ktime_get_ns()
#include "decide_round.h"

struct decide_hist {
	u64 count[DECIDE_BUCKETS];
};
ROOST_ARRAY(decide_hist, struct decide_hist, 1, BPF_F_MMAPABLE);

SEC("syscall")
int decide(struct decide_args *args)
{
	struct decide_task *p = ROOST_LOOKUP(decide_task, 0);
	struct decide_hist *h = ROOST_LOOKUP(decide_hist, 0);
	struct policy_wake w = { .recent = -1, .wakee_load = ROOST_WEIGHT_NICE0 };
	u64 rounds = args->rounds, mode = args->mode, sink = 0, i, took;

	if (!p || !h)
		return -1;
	w.now_ns = args->now_ns;
	bpf_for(i, 0, rounds) {
		took = decide_round(p, &w, i, mode, &sink);
		if (took < DECIDE_BUCKETS)
			h->count[took]++;
	}
	args->sink = sink;
	return 0;
}

/* Idle transitions, for the same purpose: a CPU goes idle and leaves again. */
SEC("syscall")
int transition(struct decide_args *args)
{
	u64 rounds = args->rounds, mode = args->mode, sink = 0, nr, i;
	struct roost_cpu *c;

	nr = env_machine()->nr_cpu_ids;
	bpf_for(i, 0, rounds) {
		c = env_cpu((s32)(i * 7 % nr));
		if (!c)
			break;
		if (mode != DECIDE_EMPTY) {
			policy_went_idle(c, (s32)(i * 7 % nr), args->now_ns);
			policy_left_idle(c, (s32)(i * 7 % nr), args->now_ns);
		}
		sink += c->flags;
	}
	args->sink = sink;
	return 0;
}
