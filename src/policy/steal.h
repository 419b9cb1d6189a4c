/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * steal.h - the pull side: when a CPU may take a task that waits elsewhere, whom it asks first, and the
 * slow balance that shares out what placement alone cannot (N+1 tasks on N CPUs).
 */
#ifndef ROOST_POLICY_STEAL_H
#define ROOST_POLICY_STEAL_H

#include "idle.h"
#include "fair.h"

/*
 * A waiting task may be taken once it has waited longer than steal-delay. Where it cannot run at all
 * (its CPU is offline or held by a higher class) it need not wait.
 */
policy_inline bool policy_may_steal(struct roost_cpu *from, u64 wait_start_ns, u64 now)
{
	if (!wait_start_ns)
		return false;
	if (!(policy_read(from->flags) & ROOST_CPU_ONLINE) || (policy_read(from->flags) & ROOST_CPU_RT_HELD))
		return true;
	return policy_before(wait_start_ns + policy_read(env_knobs()->steal_delay_ns), now);
}

/* Some task may have waited long enough on @cpu for another CPU to take it. */
policy_inline bool policy_has_stealable(struct roost_cpu *c, u64 now)
{
	return policy_read(c->nr_queued) && policy_may_steal(c, policy_read(c->oldest_wait_ns), now);
}

/* A task begins to wait on @cpu. */
policy_inline void policy_queued(struct roost_cpu *c, s32 cpu, struct roost_task *t, u64 now)
{
	struct roost_llc_word *w = env_word(c->word);

	t->wait_start_ns = now;
	t->flags |= ROOST_TASK_QUEUED;
	if (!policy_read(c->oldest_wait_ns))
		policy_write(c->oldest_wait_ns, now);
	__sync_fetch_and_add(&c->nr_queued, 1);
	if (w && !(policy_read(w->waiting) & policy_bit(cpu)))
		policy_word_set(&w->waiting, policy_bit(cpu));
}

/* It waits no longer. The bit is set again if a task was queued while it was being cleared. */
policy_inline void policy_unqueued(struct roost_cpu *c, s32 cpu, struct roost_task *t)
{
	struct roost_llc_word *w = env_word(c->word);

	t->flags &= ~ROOST_TASK_QUEUED;
	if (__sync_fetch_and_add(&c->nr_queued, -1) != 1)
		return;
	policy_write(c->oldest_wait_ns, 0);
	if (!w)
		return;
	policy_word_clear(&w->waiting, policy_bit(cpu));
	if (policy_read(c->nr_queued))
		policy_word_set(&w->waiting, policy_bit(cpu));
}

/* On @c tasks wait that nobody there will run: a higher class holds it, or it is offline. */
policy_inline bool policy_is_stranded(struct roost_cpu *c)
{
	return policy_read(c->nr_queued) &&
	       (policy_read(c->flags) & (ROOST_CPU_ONLINE | ROOST_CPU_RT_HELD)) != ROOST_CPU_ONLINE;
}

/*
 * A CPU of one LLC, other than @cpu, that a task may be taken from, or, with @stranded, on which tasks are stranded;
 * -1 if there is none.
 */
policy_fn s32 policy_victim_llc(u32 llc, s32 cpu, u64 now, bool stranded)
{
	struct roost_llc *l = env_llc(llc);
	struct roost_llc_word *word;
	struct roost_cpu *c;
	u64 found;
	u32 i, j;
	s32 other;

	if (!l)
		return -1;
	env_for(i, l->nr_words) {
		word = env_word(l->first_word + i);
		if (!word)
			break;
		found = policy_read(word->waiting);
		if (POLICY_LIKELY(!found))
			continue;
		env_for(j, 64) {
			if (!found)
				break;
			other = (s32)(word->cpu_word * 64 + policy_lowest(found));
			found &= found - 1;
			c = env_cpu(other);
			if (c && other != cpu && (stranded ? policy_is_stranded(c) : policy_has_stealable(c, now)))
				return other;
		}
	}
	return -1;
}

/* A sibling that a task may be taken from; -1 if there is none. */
policy_fn s32 policy_victim_core(s32 cpu, u64 now)
{
	struct roost_cpu *c = env_cpu(cpu), *s;
	u32 i;

	if (!c)
		return -1;
	for (i = 0; i < ROOST_MAX_SIBLINGS; i++) {
		if (i >= c->nr_siblings)
			break;
		if (c->siblings[i] == (u16)cpu)
			continue;
		s = env_cpu(c->siblings[i]);
		if (s && policy_has_stealable(s, now))
			return c->siblings[i];
	}
	return -1;
}

/* An LLC beyond the own one: @same_node tells which ring. */
policy_fn s32 policy_victim_ring(s32 cpu, bool same_node, u64 now)
{
	struct roost_cpu *c = env_cpu(cpu);
	struct roost_llc *l;
	s32 victim;
	u32 i, index;

	if (!c)
		return -1;
	env_for(i, env_machine()->nr_llcs) {
		index = c->llc + 1 + i;
		if (index >= env_machine()->nr_llcs)
			index -= env_machine()->nr_llcs;
		if (index == c->llc)
			continue;
		l = env_llc(index);
		if (!l || (l->node == c->node) != same_node)
			continue;
		victim = policy_victim_llc(index, cpu, now, false);
		if (victim >= 0)
			return victim;
	}
	return -1;
}

/*
 * Whom an idle CPU takes from; -1 = nobody. Beyond its LLC it looks once a steal-delay: who waits there
 * is also told of by the tick of the CPU it waits on.
 */
policy_inline s32 policy_victim(struct roost_cpu *c, s32 cpu, u64 now, u32 *rule)
{
	u64 delay = policy_read(env_knobs()->steal_delay_ns);
	s32 victim = -1;

	if (c->nr_siblings > 1) {
		*rule = ROOST_RULE_STEAL_CORE;
		victim = policy_victim_core(cpu, now);
	}
	if (victim < 0) {
		*rule = ROOST_RULE_STEAL_LLC;
		victim = policy_victim_llc(c->llc, cpu, now, false);
	}
	if (victim >= 0 || env_machine()->nr_llcs <= 1 || now - c->far_steal_ns < delay)
		return victim;
	c->far_steal_ns = now;
	*rule = ROOST_RULE_STEAL_NODE;
	victim = policy_victim_ring(cpu, true, now);
	if (victim < 0) {
		*rule = ROOST_RULE_STEAL_FAR;
		victim = policy_victim_ring(cpu, false, now);
	}
	return victim;
}

/*
 * Whom a busy CPU helps: such a CPU has no tick of its own to call for help with. Own LLC, and one other in turn
 * (@round counts the calls).
 */
policy_fn s32 policy_stranded(s32 cpu, u32 round)
{
	struct roost_cpu *c = env_cpu(cpu);
	u32 nr = env_machine()->nr_llcs, index;
	s32 found;

	if (!c)
		return -1;
	found = policy_victim_llc(c->llc, cpu, 0, true);
	if (found >= 0 || nr <= 1)
		return found;
	index = c->llc + 1 + round % (nr - 1);
	if (index >= nr)
		index -= nr;
	return policy_victim_llc(index, cpu, 0, true);
}

/* The rule for a task taken from @from by @to. */
policy_inline u32 policy_steal_rule(const struct roost_cpu *from, const struct roost_cpu *to)
{
	if (from->core == to->core)
		return ROOST_RULE_STEAL_CORE;
	if (policy_shares(from, to))
		return ROOST_RULE_STEAL_LLC;
	return from->node == to->node ? ROOST_RULE_STEAL_NODE : ROOST_RULE_STEAL_FAR;
}

policy_inline u32 policy_distance(s32 a, s32 b)
{
	const struct roost_cpu *x = env_cpu(a), *y = env_cpu(b);

	if (a == b || !x || !y)
		return ROOST_DIST_SAME;
	if (x->core == y->core)
		return ROOST_DIST_CORE;
	if (policy_shares(x, y))
		return ROOST_DIST_LLC;
	return x->node == y->node ? ROOST_DIST_NODE : ROOST_DIST_FAR;
}

/* An idle CPU of one LLC that @p may use (0: any task), claimed; -1 if none is idle. */
policy_fn s32 policy_fetcher_llc(env_task *p policy_task_arg, u32 llc)
{
	struct roost_llc *l = env_llc(llc);
	struct roost_llc_word *word;
	u64 found;
	s32 cpu;
	u32 j;

	if (!l)
		return -1;
	env_for(j, l->nr_words) {
		word = env_word(l->first_word + j);
		if (!word)
			break;
		found = policy_read(word->idle);
		if (found)
			found &= env_allowed_word(p, word->cpu_word);
		if (!found)
			continue;
		cpu = (s32)(word->cpu_word * 64 + policy_lowest(found));
		if (policy_take(cpu, true, 0) == POLICY_OK_CLAIMED)
			return cpu;
	}
	return -1;
}

/*
 * The nearest idle CPU that @p may use, claimed, to fetch @p from @from_cpu where it has waited too long;
 * -1 if none is idle.
 */
policy_fn s32 policy_fetcher(env_task *p policy_task_arg, s32 from_cpu)
{
	struct roost_cpu *from = env_cpu(from_cpu);
	u32 i, ring, index;
	struct roost_llc *l;
	s32 cpu;

	if (!from)
		return -1;
	cpu = policy_fetcher_llc(p, from->llc);
	if (cpu >= 0)
		return cpu;
	env_for(ring, 2) {
		env_for(i, env_machine()->nr_llcs) {
			index = from->llc + 1 + i;
			if (index >= env_machine()->nr_llcs)
				index -= env_machine()->nr_llcs;
			l = env_llc(index);
			if (!l || index == from->llc || (ring == 0) != (l->node == from->node))
				continue;
			cpu = policy_fetcher_llc(p, index);
			if (cpu >= 0)
				return cpu;
		}
	}
	return -1;
}

/*
 * Slow balance. Each CPU's vtime + vtime_lead is comparable to the others': a CPU with more to do than
 * others falls behind. It may not fall further behind the furthest than POLICY_BALANCE_SPREAD intervals, so
 * that what happened long ago (pinned tasks, very light ones) does not weigh for ever.
 */
#define POLICY_BALANCE_SPREAD 4

policy_inline u64 policy_global_vtime(struct roost_cpu *c)
{
	return policy_read(c->vtime) + (u64)policy_read(c->vtime_lead);
}

/* At the tick, and when a CPU that was idle begins to run: keeps the CPU's lead and the furthest up. */
policy_inline void policy_lead_update(struct roost_cpu *c, bool was_idle)
{
	struct roost_machine *m = env_machine();
	u64 furthest = policy_read(m->vtime), mine = policy_global_vtime(c), least;

	least = was_idle ? furthest : furthest - POLICY_BALANCE_SPREAD * policy_read(env_knobs()->balance_ns);
	if (policy_before(mine, least))
		policy_write(c->vtime_lead, policy_read(c->vtime_lead) + (s64)(least - mine));
	else if (policy_before(furthest + 1000000, mine))
		__sync_bool_compare_and_swap(&m->vtime, furthest, mine);
}

/*
 * Should a CPU with @from's state hand a waiting task to @to? It must have more to do, and be more than an
 * interval behind. @best is the furthest candidate seen so far, and is moved.
 */
policy_inline bool policy_balance_better(struct roost_cpu *from, struct roost_cpu *to, u64 *best)
{
	u64 there = policy_global_vtime(to);

	if (!(policy_read(to->flags) & ROOST_CPU_ONLINE) || (policy_read(to->flags) & ROOST_CPU_RT_HELD) ||
	    policy_read(to->pull_from) >= 0 || policy_read(to->nr_runnable) >= policy_read(from->nr_runnable) ||
	    !policy_before(*best, there))
		return false;
	*best = there;
	return true;
}

/* The CPU of one LLC that is furthest ahead of @from_cpu, -1 if none is far enough. */
policy_fn s32 policy_balance_llc(u32 llc, s32 from_cpu, u64 *best policy_nonnull)
{
	struct roost_cpu *from = env_cpu(from_cpu), *c;
	struct roost_llc *l = env_llc(llc);
	struct roost_llc_word *word;
	s32 cpu, found = -1;
	u32 i, j;
	u64 left;

	if (!from || !l)
		return -1;
	env_for(i, l->nr_words) {
		word = env_word(l->first_word + i);
		if (!word)
			break;
		left = policy_read(word->member);
		env_for(j, 64) {
			if (!left)
				break;
			cpu = (s32)(word->cpu_word * 64 + policy_lowest(left));
			left &= left - 1;
			c = env_cpu(cpu);
			if (c && c != from && policy_balance_better(from, c, best))
				found = cpu;
		}
	}
	return found;
}

/*
 * Whom a CPU whose tasks wait hands one to; -1 = nobody. Looks at its own LLC and one other, in turn
 * (@round counts the calls).
 */
policy_fn s32 policy_balance_to(s32 from_cpu, u32 round)
{
	struct roost_cpu *from = env_cpu(from_cpu);
	u32 nr = env_machine()->nr_llcs, index;
	s32 to, other;
	u64 best;

	if (!from)
		return -1;
	best = policy_global_vtime(from) + policy_read(env_knobs()->balance_ns);
	index = from->llc + 1;
	to = policy_balance_llc(from->llc, from_cpu, &best);
	if (nr <= 1)
		return to;
	index += round % (nr - 1);
	if (index >= nr)
		index -= nr;
	other = policy_balance_llc(index, from_cpu, &best);
	return other >= 0 ? other : to;
}

/* The vruntime in @to's frame of a task moved by slow balance: it keeps what it is owed, within bounds. */
policy_inline void policy_balance_place(struct roost_task *t, struct roost_cpu *from, struct roost_cpu *to)
{
	s64 most = (s64)(2 * policy_read(env_knobs()->balance_ns));
	s64 owed = (s64)(policy_global_vtime(to) - (t->vruntime + (u64)policy_read(from->vtime_lead)));

	if (owed > most)
		owed = most;
	if (owed < -most)
		owed = -most;
	t->vruntime = policy_read(to->vtime) - (u64)owed;
}

#endif
