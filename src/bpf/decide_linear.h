/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * decide_linear.h - the yardstick of the decision benchmark: the same wakeup path with the kernel's search, which looks at
 * one CPU after the other, reads each one's own record, and asks the siblings of each for the search of an idle core. Compiled
 * beside the policy, with the policy's environment. Base features only; the LLC's CPU numbers are one range.
 */
#ifndef ROOST_BPF_DECIDE_LINEAR_H
#define ROOST_BPF_DECIDE_LINEAR_H

#include "policy/wake.h"

#define LINEAR_NONE 0u
#define LINEAR_OK 1u                /* idle, or running SCHED_IDLE tasks only */
#define LINEAR_IDLE 2u

/* What available_idle_cpu() and sched_idle_cpu() read of a runqueue. */
policy_inline u32 linear_state(const struct roost_cpu *c)
{
	u32 nr = policy_read(c->nr_runnable);

	if (!nr && !(policy_read(c->flags) & ROOST_CPU_RT_HELD))
		return LINEAR_IDLE;
	return nr == policy_read(c->nr_idle_class) ? LINEAR_OK : LINEAR_NONE;
}

policy_inline bool linear_core_idle(const struct roost_cpu *c)
{
	const struct roost_cpu *s;
	u32 i;

	for (i = 0; i < ROOST_MAX_SIBLINGS; i++) {
		if (i >= c->nr_siblings)
			break;
		s = env_cpu(c->siblings[i]);
		if (!s || linear_state(s) != LINEAR_IDLE)
			return false;
	}
	return true;
}

/* The scan of target's LLC: an idle core, else the first ok CPU passed; or the first ok CPU, @depth deep. */
policy_fn s32 linear_scan(env_task *p policy_task_arg, s32 target, bool core, u64 depth)
{
	struct roost_cpu *t = env_cpu(target), *c;
	struct roost_llc *l = t ? env_llc(t->llc) : 0;
	struct roost_llc_word *word = l ? env_word(l->first_word) : 0;
	u32 first, i, at, known = ~0u;
	u64 mask = 0, looked = 0;
	s32 fallback = -1;

	if (!word || !word->member)
		return -1;
	first = word->cpu_word * 64 + policy_lowest(word->member);
	env_for(i, l->weight) {
		at = (u32)target + 1 + i;
		if (at >= first + l->weight)
			at -= l->weight;
		if (at / 64 != known) {
			known = at / 64;
			mask = env_allowed_word(p, known);
		}
		if (!(mask >> (at & 63) & 1))
			continue;
		if (!core && looked++ >= depth)
			break;
		c = env_cpu((s32)at);
		if (!c)
			break;
		if (linear_state(c) == LINEAR_NONE)
			continue;
		if (!core || linear_core_idle(c))
			return (s32)at;
		if (fallback < 0)
			fallback = (s32)at;
	}
	if (core)
		policy_write(l->has_idle_core, 0);
	return fallback;
}

policy_inline bool linear_take(struct roost_choice *ch, s32 cpu)
{
	const struct roost_cpu *c = env_cpu(cpu);

	if (!c || linear_state(c) == LINEAR_NONE)
		return false;
	ch->cpu = cpu;
	return true;
}

/* As policy_wakeup(), all features off. Nothing is claimed: the kernel claims nothing. */
policy_fn int linear_wakeup(env_task *p policy_task_arg, const struct policy_wake *w policy_nonnull,
			    struct roost_choice *ch policy_nonnull)
{
	struct roost_cpu *t, *v = env_cpu(w->prev);
	s32 target = policy_target(p, w, &ch->target_rule), cpu;
	struct roost_llc *l;
	bool core;

	ch->target = target;
	ch->cpu = target;
	t = env_cpu(target);
	l = t ? env_llc(t->llc) : 0;
	if (!l || !v)
		return 0;
	if (linear_take(ch, target))
		return 0;
	if (w->prev != target && policy_shares(v, t) && linear_take(ch, w->prev))
		return 0;
	core = env_machine()->smt && policy_read(l->has_idle_core);
	cpu = linear_scan(p, target, core, policy_read(l->scan_depth));
	if (cpu >= 0)
		ch->cpu = cpu;
	return 0;
}

#endif
