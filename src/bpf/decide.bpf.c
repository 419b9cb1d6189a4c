/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * decide.bpf.c - one policy decision at a time, for measuring: a program of type syscall, run by
 * BPF_PROG_TEST_RUN under the host's own JIT, so that the cost of a decision is known on real silicon even
 * where the kernel has no sched_ext. No task is scheduled by it.
 *
 * A run decides `rounds` times over the machine state in the maps. What a decision claimed is given back
 * before the next, outside of what an empty round also does.
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
	if (!p || p->everywhere)
		return ~0ULL;
	return cpu_word < ROOST_MAX_WORDS ? p->mask[cpu_word] : 0;
}

static __always_inline bool env_allowed(env_task *p, s32 cpu)
{
	struct roost_cpu *c = env_cpu(cpu);

	return c && (c->flags & ROOST_CPU_ONLINE) && (env_allowed_word(p, (u32)cpu / 64) & (1ULL << (cpu & 63)));
}

#define env_for(i, n) bpf_for(i, 0, n)

#include "policy/place.h"
#include "policy/steal.h"

struct decide_args {
	u64 rounds;
	u64 empty;              /* do everything but decide */
	u64 now_ns;
	u64 sink;               /* out: keeps the compiler honest */
};

SEC("syscall")
int decide(struct decide_args *args)
{
	struct decide_task *p = ROOST_LOOKUP(decide_task, 0);
	struct policy_wake w = { .recent = -1, .wakee_weight = ROOST_WEIGHT_NICE0 };
	u64 rounds = args->rounds, empty = args->empty, sink = 0, nr;
	struct roost_choice ch = {};
	struct roost_llc_word *word;
	struct roost_cpu *c;
	u64 i;

	if (!p)
		return -1;
	nr = env_machine()->nr_cpu_ids;
	w.now_ns = args->now_ns;
	bpf_for(i, 0, rounds) {
		/* prev and waker wander over the machine, in one LLC more often than not */
		w.prev = (s32)(i * 7 % nr);
		w.waker = (s32)((i * 7 + (i & 3)) % nr);
		ch.cpu = w.prev;
		ch.claimed = 0;
		if (!empty)
			policy_wakeup(p, &w, &ch);
		sink += (u64)ch.cpu;
		c = env_cpu(ch.cpu);
		word = c ? env_word(c->word) : 0;
		if (word && ch.claimed)
			policy_word_set(&word->idle, policy_bit(ch.cpu));
	}
	args->sink = sink;
	return 0;
}

/* Idle transitions, for the same purpose: a CPU goes idle and leaves again. */
SEC("syscall")
int transition(struct decide_args *args)
{
	u64 rounds = args->rounds, empty = args->empty, sink = 0, nr, i;
	struct roost_cpu *c;

	nr = env_machine()->nr_cpu_ids;
	bpf_for(i, 0, rounds) {
		c = env_cpu((s32)(i * 7 % nr));
		if (!c)
			break;
		if (!empty) {
			policy_went_idle(c, (s32)(i * 7 % nr), args->now_ns);
			policy_left_idle(c, (s32)(i * 7 % nr), args->now_ns);
		}
		sink += c->flags;
	}
	args->sink = sink;
	return 0;
}
