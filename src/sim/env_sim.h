/* SPDX-License-Identifier: GPL-2.0-only */
/* The policy's host, simulator edition: what src/policy/env.h asks for, over the run in sim_now_running. */
#ifndef ROOST_SIM_ENV_SIM_H
#define ROOST_SIM_ENV_SIM_H

#include "sim/engine.h"

typedef struct sim_task env_task;

#include "policy/env.h"

#define env_for(i, n) for ((i) = 0; (i) < (n); (i)++)

policy_inline u64 env_now(void)
{
	return sim_now_running->now;
}

policy_inline struct roost_knobs *env_knobs(void)
{
	return &sim_now_running->knobs;
}

policy_inline struct roost_machine *env_machine(void)
{
	return &sim_now_running->pm;
}

policy_inline struct roost_cpu *env_cpu(s32 cpu)
{
	return (u32)cpu < sim_now_running->nr_cpus ? &sim_now_running->pcpu[cpu] : 0;
}

policy_inline struct roost_llc *env_llc(u32 llc)
{
	return llc < sim_now_running->pm.nr_llcs ? &sim_now_running->pllc[llc] : 0;
}

policy_inline struct roost_llc_word *env_word(u32 i)
{
	return i < sim_now_running->pm.nr_words ? &sim_now_running->pword[i] : 0;
}

policy_inline u64 env_allowed_word(env_task *p, u32 cpu_word)
{
	if (POLICY_LIKELY(!p->mask))
		return ~0ULL;
	return cpu_word < ROOST_MAX_WORDS ? sim_now_running->masks[p->mask]->word[cpu_word] : 0;
}

policy_inline bool env_allowed(env_task *p, s32 cpu)
{
	struct roost_cpu *c = env_cpu(cpu);

	return c && (c->flags & ROOST_CPU_ONLINE) && (env_allowed_word(p, (u32)cpu / 64) & policy_bit(cpu));
}

/* One domain: the simulator has no cpuset partitions. */
policy_inline u64 env_domain(s32 cpu)
{
	return 0;
}

#include "policy/count.h"
#include "policy/place.h"
#include "policy/steal.h"
#include "policy/wake.h"

/* before.c */
void sim_search_before_5_12(struct sim_task *t, const struct policy_wake *w, struct roost_choice *ch);

#endif
