/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * env.h - what a host (the BPF object, the simulator, a test) defines before it includes the policy,
 * and the few helpers that every host shares.
 *
 * A host defines, as static inline functions or macros:
 *
 *   struct roost_knobs *env_knobs(void)      never NULL
 *   struct roost_machine *env_machine(void)  never NULL
 *   struct roost_cpu *env_cpu(s32 cpu)       NULL for a number that is no possible CPU
 *   struct roost_llc *env_llc(u32 llc)       NULL likewise
 *   struct roost_llc_word *env_word(u32 i)   NULL likewise
 *   bool env_allowed(env_task *p, s32 cpu)   affinity and online; the domain is compared by the policy
 *   u64 env_allowed_word(env_task *p, u32 cpu_word)   affinity alone, for CPUs 64w..64w+63
 *   u64 env_domain(s32 cpu)                  the scheduling domain of a CPU (a cpuset partition makes a new one)
 *   env_for(i, n)                            a loop header: u32 i from 0 to n - 1; n may be a variable
 *
 * Time comes in as an argument. And the type env_task: the host's own task, which the policy only hands back.
 *
 * Policy functions are called with preemption off on the deciding CPU; several CPUs decide at once. All
 * they share are the records of abi.h; bitmap words are changed with the atomic helpers below only.
 */
#ifndef ROOST_POLICY_ENV_H
#define ROOST_POLICY_ENV_H

#include "abi.h"

#define policy_inline static inline __attribute__((always_inline, unused))

/*
 * A step of the policy. For the verifier it is a function of its own, proved once and not again for each way
 * in, which keeps the whole well below its limits; elsewhere it is inlined. Arguments are numbers and pointers
 * to records, five at most: the number of a CPU, not its record, is handed on.
 */
#ifdef __BPF__
#define policy_fn __attribute__((noinline, weak))
#define policy_nonnull __attribute__((btf_decl_tag("arg:nonnull")))
#ifndef policy_task_arg /* how the verifier is to see an env_task; a host may have a record of its own */
#define policy_task_arg __attribute__((btf_decl_tag("arg:trusted"), btf_decl_tag("arg:nullable")))
#endif
#else
#define policy_fn static inline __attribute__((unused))
#define policy_nonnull
#define policy_task_arg
#endif

#define POLICY_LIKELY(x) __builtin_expect(!!(x), 1)
#define POLICY_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Sets bits; returns what the word held before. */
policy_inline u64 policy_word_set(u64 *word, u64 bits)
{
	return __sync_fetch_and_or(word, bits);
}

/* Clears bits; returns what the word held before. */
policy_inline u64 policy_word_clear(u64 *word, u64 bits)
{
	return __sync_fetch_and_and(word, ~bits);
}

/* A read that the compiler neither repeats nor leaves out. */
#define policy_read(x) (*(const volatile __typeof__(x) *)&(x))
#define policy_write(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

policy_inline u64 policy_bit(s32 cpu)
{
	return 1ULL << (cpu & 63);
}

/* x & 31, in a way that the verifier sees and the compiler cannot fold into something it does not. */
policy_inline u64 policy_index32(u64 x)
{
#ifdef __BPF__
	__asm__ volatile("%0 &= 31" : "+r"(x));
	return x;
#else
	return x & 31;
#endif
}

/* Number of bits set. No instruction for it in BPF. */
policy_inline u32 policy_popcount(u64 x)
{
#ifdef __BPF__
	x -= (x >> 1) & 0x5555555555555555ULL;
	x = (x & 0x3333333333333333ULL) + ((x >> 2) & 0x3333333333333333ULL);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (u32)((x * 0x0101010101010101ULL) >> 56);
#else
	return (u32)__builtin_popcountll(x);
#endif
}

/* Index of the lowest bit set; x is not 0. */
policy_inline u32 policy_lowest(u64 x)
{
#ifdef __BPF__
	return policy_popcount((x & -x) - 1);
#else
	return (u32)__builtin_ctzll(x);
#endif
}

policy_inline u64 policy_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

policy_inline u64 policy_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* Virtual and real times wrap: a comes before b. */
policy_inline bool policy_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

#endif
