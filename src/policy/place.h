/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * place.h - where a new task starts, and the state an LLC search needs kept up: its mean utilisation
 * (which limits the depth of a wakeup's scan) and its load.
 *
 * A new task goes to an idle core, else an idle CPU, else the least loaded allowed CPU; of equals the
 * nearest to the parent: its LLC, its node, anywhere.
 */
#ifndef ROOST_POLICY_PLACE_H
#define ROOST_POLICY_PLACE_H

#include "wake.h"

#define POLICY_DEPTH_INTERVAL_NS 4000000ULL

#define POLICY_FORK_ANY 1u          /* any idle CPU, not only one of an idle core */
#define POLICY_FORK_FAR 2u          /* the LLCs of other nodes */

/* The first idle core, or idle CPU, of one LLC. */
policy_fn bool policy_fork_llc(struct roost_choice *ch policy_nonnull, env_task *p policy_task_arg, u32 llc, u32 how)
{
	struct roost_llc *l = env_llc(llc);
	struct roost_llc_word *word;
	u64 found;
	u32 i, j;
	s32 cpu;

	if (!l)
		return false;
	env_for(i, l->nr_words) {
		word = env_word(l->first_word + i);
		if (!word)
			break;
		found = policy_read(word->idle);
		if (!(how & POLICY_FORK_ANY))
			found &= policy_read(word->core);
		if (!found)
			continue;
		found &= env_allowed_word(p, word->cpu_word);
		env_for(j, 64) {
			if (!found)
				break;
			cpu = (s32)(word->cpu_word * 64 + policy_lowest(found));
			found &= found - 1;
			if (!(how & POLICY_FORK_ANY) && policy_core_state(cpu, POLICY_ANY_TIME) == POLICY_CORE_BUSY)
				continue;
			if (policy_take(cpu, true, 0) != POLICY_OK_CLAIMED)
				continue;
			ch->cpu = cpu;
			ch->claimed = 1;
			ch->rule = how & POLICY_FORK_ANY ? ROOST_RULE_FORK_IDLE : ROOST_RULE_FORK_CORE;
			return true;
		}
	}
	return false;
}

/* All LLCs other than the parent's: of its node first, or, with @far, of the others. */
policy_fn bool policy_fork_ring(struct roost_choice *ch policy_nonnull, env_task *p policy_task_arg, s32 parent_cpu,
				u32 how)
{
	struct roost_cpu *parent = env_cpu(parent_cpu);
	struct roost_llc *l;
	u32 i, index;

	if (!parent)
		return false;
	env_for(i, env_machine()->nr_llcs - 1) {
		/* begin after the parent's, so that forks do not all meet at LLC 0 */
		index = parent->llc + 1 + i;
		if (index >= env_machine()->nr_llcs)
			index -= env_machine()->nr_llcs;
		l = env_llc(index);
		if (!l || !(how & POLICY_FORK_FAR) != (l->node == parent->node))
			continue;
		if (policy_fork_llc(ch, p, index, how))
			return true;
	}
	return false;
}

/* The LLC with the least load a CPU of those the task may use; @near on a tie. */
policy_fn s32 policy_lightest_llc(env_task *p policy_task_arg, u32 near)
{
	struct roost_llc_word *word;
	u64 best_load = ~0ULL, load;
	struct roost_llc *l;
	s32 best = -1;
	bool usable;
	u32 i, j;

	env_for(i, env_machine()->nr_llcs) {
		l = env_llc(i);
		if (!l || !l->weight)
			continue;
		load = policy_read(l->load) * 64 / l->weight;
		if (load > best_load || (load == best_load && i != near))
			continue;
		usable = false;
		env_for(j, l->nr_words) {
			word = env_word(l->first_word + j);
			if (!word)
				break;
			if (policy_read(word->member) & env_allowed_word(p, word->cpu_word)) {
				usable = true;
				break;
			}
		}
		if (usable) {
			best = (s32)i;
			best_load = load;
		}
	}
	return best;
}

/* The least loaded allowed CPU of an LLC; a CPU that a higher class holds comes last. */
policy_fn s32 policy_lightest_cpu(env_task *p policy_task_arg, u32 llc)
{
	struct roost_llc *l = env_llc(llc);
	struct roost_llc_word *word;
	u64 best_load = ~0ULL, load, left;
	struct roost_cpu *c;
	s32 best = -1, cpu;
	u32 i, j;

	if (!l)
		return -1;
	env_for(i, l->nr_words) {
		word = env_word(l->first_word + i);
		if (!word)
			break;
		left = policy_read(word->member) & env_allowed_word(p, word->cpu_word);
		env_for(j, 64) {
			if (!left)
				break;
			cpu = (s32)(word->cpu_word * 64 + policy_lowest(left));
			left &= left - 1;
			c = env_cpu(cpu);
			if (!c)
				continue;
			load = policy_read(c->load);
			if (c->flags & ROOST_CPU_RT_HELD)
				load += 1ULL << 40;
			if (load < best_load) {
				best_load = load;
				best = cpu;
			}
		}
	}
	return best;
}

/*
 * Fork and exec. @w->waker is the parent's CPU, @w->prev an allowed CPU used when nothing else is found.
 */
policy_fn int policy_fork(env_task *p policy_task_arg, const struct policy_wake *w policy_nonnull,
			    struct roost_choice *ch policy_nonnull)
{
	struct roost_cpu *parent = env_cpu(w->waker);
	u32 any;
	s32 best;

	ch->cpu = w->prev;
	ch->target = w->waker;
	ch->rule = ROOST_RULE_FORK_LEAST;
	ch->target_rule = 0;
	ch->claimed = 0;
	ch->passed = 0;
	if (!parent)
		return 0;
	for (any = 0; any <= POLICY_FORK_ANY; any++) {
		if (!any && !env_machine()->smt)
			continue;
		if (policy_fork_llc(ch, p, parent->llc, any) || policy_fork_ring(ch, p, w->waker, any) ||
		    policy_fork_ring(ch, p, w->waker, any | POLICY_FORK_FAR))
			return 0;
	}
	best = policy_lightest_llc(p, parent->llc);
	best = best >= 0 ? policy_lightest_cpu(p, (u32)best) : -1;
	if (best >= 0)
		ch->cpu = best;
	return 0;
}

/* An LLC's scan depth and load anew: one walk over its CPUs. */
policy_fn int policy_depth_recompute(u32 llc, u64 now)
{
	struct roost_llc *l = env_llc(llc);
	u64 load = 0, util = 0, left, gone;
	struct roost_llc_word *word;
	struct roost_cpu *c;
	u32 i, j;

	if (!l)
		return 0;
	env_for(i, l->nr_words) {
		word = env_word(l->first_word + i);
		if (!word)
			break;
		left = policy_read(word->member);
		env_for(j, 64) {
			if (!left)
				break;
			c = env_cpu((s32)(word->cpu_word * 64 + policy_lowest(left)));
			left &= left - 1;
			if (!c)
				continue;
			load += policy_read(c->load);
			/* an idle CPU does not write its average: let it fade here */
			gone = policy_read(c->util_stamp_ns);
			gone = policy_before(gone, now) ? now - gone : 0;
			util += policy_util_scale(policy_util_advance(policy_read(c->util_avg), gone,
								      policy_read(c->util_busy)));
		}
	}
	policy_write(l->load, load);
	/* a divisor that no loop counts: the verifier would follow every value of a count */
	policy_write(l->scan_depth, policy_scan_depth(util / policy_max(1, policy_read(l->weight)), l->weight));
	return 0;
}

/*
 * The same, if the last time is more than @interval_ns ago. Called from the tick and, more rarely, from a
 * search; whoever moves the stamp does it.
 */
policy_inline void policy_depth_update(u32 llc, u64 now, u64 interval_ns)
{
	struct roost_llc *l = env_llc(llc);
	u64 stamp;

	if (!l)
		return;
	stamp = policy_read(l->depth_stamp_ns);
	if (now - stamp >= interval_ns && __sync_bool_compare_and_swap(&l->depth_stamp_ns, stamp, now))
		policy_depth_recompute(llc, now);
}

#endif
