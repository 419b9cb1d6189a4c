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

/* The first idle core (or, with @any, idle CPU) of one LLC, after @near if that is in it. */
policy_inline bool policy_fork_llc(struct roost_choice *ch, env_task *p, struct roost_llc *l, bool any)
{
	struct roost_llc_word *word;
	struct roost_cpu *c;
	u64 found;
	u32 i, j;
	s32 cpu;

	env_for(i, l->nr_words) {
		word = env_word(l->first_word + i);
		if (!word)
			break;
		found = policy_read(word->idle);
		if (!any)
			found &= policy_read(word->core);
		if (!found)
			continue;
		found &= env_allowed_word(p, word->cpu_word);
		env_for(j, 64) {
			if (!found)
				break;
			cpu = (s32)(word->cpu_word * 64 + policy_lowest(found));
			found &= found - 1;
			c = env_cpu(cpu);
			if (!c || policy_take(c, cpu, true, 0) != POLICY_OK_CLAIMED)
				continue;
			ch->cpu = cpu;
			ch->claimed = 1;
			ch->rule = any ? ROOST_RULE_FORK_IDLE : ROOST_RULE_FORK_CORE;
			return true;
		}
	}
	return false;
}

/* All LLCs at one distance: 0 the parent's own, 1 the others of its node, 2 the rest. */
policy_inline bool policy_fork_ring(struct roost_choice *ch, env_task *p, struct roost_cpu *parent, u32 ring, bool any)
{
	struct roost_llc *l;
	u32 i, index;

	if (ring == 0) {
		l = env_llc(parent->llc);
		return l && policy_fork_llc(ch, p, l, any);
	}
	env_for(i, env_machine()->nr_llcs) {
		/* begin after the parent's, so that forks do not all meet at LLC 0 */
		index = parent->llc + 1 + i;
		if (index >= env_machine()->nr_llcs)
			index -= env_machine()->nr_llcs;
		l = env_llc(index);
		if (!l || index == parent->llc || (ring == 1) != (l->node == parent->node))
			continue;
		if (policy_fork_llc(ch, p, l, any))
			return true;
	}
	return false;
}

/* The LLC with the least load a CPU of those the task may use; the parent's on a tie. */
policy_inline s32 policy_lightest_llc(env_task *p, struct roost_cpu *parent)
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
		if (load > best_load || (load == best_load && i != parent->llc))
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
policy_inline s32 policy_lightest_cpu(env_task *p, struct roost_llc *l)
{
	struct roost_llc_word *word;
	u64 best_load = ~0ULL, load, left;
	struct roost_cpu *c;
	s32 best = -1, cpu;
	u32 i, j;

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
policy_inline void policy_fork(env_task *p, const struct policy_wake *w, struct roost_choice *ch)
{
	struct roost_cpu *parent = env_cpu(w->waker);
	struct roost_llc *l;
	u32 ring, any;
	s32 best;

	ch->cpu = w->prev;
	ch->target = w->waker;
	ch->rule = ROOST_RULE_FORK_LEAST;
	ch->target_rule = 0;
	ch->claimed = 0;
	ch->passed = 0;
	if (!parent)
		return;
	env_for(any, 2) {
		if (!any && !env_machine()->smt)
			continue;
		env_for(ring, 3) {
			if (policy_fork_ring(ch, p, parent, ring, any != 0))
				return;
		}
	}
	best = policy_lightest_llc(p, parent);
	l = best >= 0 ? env_llc((u32)best) : 0;
	best = l ? policy_lightest_cpu(p, l) : -1;
	if (best >= 0)
		ch->cpu = best;
}

/*
 * Computes an LLC's scan depth and load anew, if the last time is more than @interval_ns ago. Called from
 * the tick and, more rarely, from a search; whoever moves the stamp does it. One walk over the LLC's CPUs.
 */
policy_inline void policy_depth_update(struct roost_llc *l, u64 now, u64 interval_ns)
{
	u64 stamp = policy_read(l->depth_stamp_ns), load = 0, util = 0, left, gone;
	struct roost_llc_word *word;
	struct roost_cpu *c;
	u32 i, j, n = 0;

	if (now - stamp < interval_ns || !__sync_bool_compare_and_swap(&l->depth_stamp_ns, stamp, now))
		return;
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
								      policy_read(c->curr_weight) != 0));
			n++;
		}
	}
	policy_write(l->load, load);
	if (n)
		policy_write(l->scan_depth, policy_scan_depth(util / n, l->weight));
}

#endif
