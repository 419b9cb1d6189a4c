/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wake.h - where a woken task goes: the target, then the search (semantics.md section 0, with
 * idle-smt, idle-grace, util-fits and bias-prev plugged in where sections 1 to 4 say).
 *
 * The numbered steps are those of semantics.md. Every choice names its rule; each step that was passed
 * over leaves its reason, so that `roost explain` can say why.
 */
#ifndef ROOST_POLICY_WAKE_H
#define ROOST_POLICY_WAKE_H

#include "idle.h"
#include "util.h"

/* struct policy_wake.flags */
#define POLICY_WAKE_SYNC 1u         /* the waker is about to sleep */
#define POLICY_WAKE_KTHREAD 2u      /* the waker is a per-CPU kernel thread, in task context */
#define POLICY_WAKE_IDLE_CLASS 4u   /* the wakee is SCHED_IDLE */

/* What the host knows of one wakeup. */
struct policy_wake {
	s32 prev;                   /* CPU the wakee last ran on */
	s32 waker;                  /* CPU the wakeup runs on */
	s32 recent;                 /* CPU the wakee ran on before prev, or -1 */
	u32 flags;
	u32 task_util;              /* U: policy_util_of(wakee) */
	u32 waker_flips;
	u32 wakee_flips;
	u32 wakee_load;             /* policy_task_load(wakee) */
	u32 curr_load;              /* the same of the task running on the waker, if it is this scheduler's; else 0 */
	u64 now_ns;
};

/* Why a step did not choose, four bits a step, in roost_choice.passed. */
enum policy_passed {
	POLICY_PASS_NONE = 0,       /* not reached */
	POLICY_PASS_OFF,            /* the feature is off, or there is no SMT */
	POLICY_PASS_SAME,           /* the CPU was looked at already, or there is none */
	POLICY_PASS_FAR,            /* another LLC */
	POLICY_PASS_BUSY,           /* not ok */
	POLICY_PASS_NOT_ALLOWED,
	POLICY_PASS_CORE,           /* an idle core is about: it comes first */
	POLICY_PASS_DEPTH,          /* the scan's depth was used up, or is zero */
	POLICY_PASS_RULE,           /* the rule's own condition does not hold */
};
enum policy_step {
	POLICY_STEP_BIAS = 0,
	POLICY_STEP_TARGET,
	POLICY_STEP_PREV,
	POLICY_STEP_KTHREAD,
	POLICY_STEP_RECENT,
	POLICY_STEP_SMT,
	POLICY_STEP_CORE,
	POLICY_STEP_SCAN,
	POLICY_STEP_COUNT
};

struct roost_choice {
	s32 cpu;
	u16 rule;                   /* enum roost_rule */
	u8 target_rule;             /* enum roost_target_rule */
	u8 claimed;                 /* the CPU was truly idle and its idle bit is ours */
	s32 target;
	u32 passed;                 /* four bits a step: why it did not choose */
};

#define POLICY_PASS(ch, step, why) ((ch)->passed |= (u32)(why) << (4 * (step)))

/* The imbalance percentage of the domain that spans waker and prev, halved, as mainline has it since 5.10. */
#define POLICY_FAVOUR_CORE (10 / 2)
#define POLICY_FAVOUR_LLC (17 / 2)
#define POLICY_FAVOUR_FAR (17 / 2)

/* A wide wakeup: the waker wakes so many different tasks that pulling them to it would pile them up. */
policy_inline bool policy_wide(u32 waker_flips, u32 wakee_flips, u32 llc_weight)
{
	u32 fewer = waker_flips < wakee_flips ? waker_flips : wakee_flips;
	u32 more = waker_flips < wakee_flips ? wakee_flips : waker_flips;

	return fewer >= llc_weight && more >= (u64)fewer * llc_weight;
}

/* The waker woke @wakee_pid: counts switches between wakees, halved once a second. */
policy_inline void policy_record_wakee(struct roost_task *waker, u32 wakee_pid, u64 now)
{
	if (now - waker->flips_stamp_ns > 1000000000ULL) {
		waker->wakee_flips >>= 1;
		waker->flips_stamp_ns = now;
	}
	if (waker->last_wakee != wakee_pid) {
		waker->last_wakee = wakee_pid;
		waker->wakee_flips++;
	}
}

/*
 * The lighter of waker and prev by load; @c is the waker's CPU, @v is prev. By average load, as the fair class: how many happen to
 * be queued at the moment would send tasks to and fro. What the wakee left behind in prev's average does not count.
 */
policy_inline bool policy_waker_lighter(const struct policy_wake *w, struct roost_cpu *c, struct roost_cpu *v)
{
	u64 here = policy_load_avg(c, w->now_ns), there = policy_load_avg(v, w->now_ns);
	bool sync = w->flags & POLICY_WAKE_SYNC;
	u32 favour = POLICY_FAVOUR_FAR;

	if (policy_shares(c, v))
		favour = c->core == v->core ? POLICY_FAVOUR_CORE : POLICY_FAVOUR_LLC;
	if (sync) {
		if (w->curr_load > here)
			return true;
		here -= w->curr_load;
	}
	here = (here + w->wakee_load) * 100 * v->capacity_max;
	there = (there > w->wakee_load ? there - w->wakee_load : 0) * (100 + favour) * c->capacity_max;
	if (sync)
		there++;
	return here < there;
}

/* "Target", rules 1 and 2. */
policy_inline s32 policy_target(env_task *p, const struct policy_wake *w, u8 *rule)
{
	struct roost_cpu *c = env_cpu(w->waker), *v = env_cpu(w->prev);
	struct roost_llc *l = c ? env_llc(c->llc) : 0;

	*rule = ROOST_TARGET_WIDE;
	if (!c || !v || !l || w->waker == w->prev || policy_wide(w->waker_flips, w->wakee_flips, l->weight) ||
	    env_domain(w->waker) != env_domain(w->prev) || !env_allowed(p, w->waker)) {
		if (c && w->waker == w->prev)
			*rule = ROOST_TARGET_PREV_IDLE;
		return w->prev;
	}
	if (policy_shares(c, v) && policy_idle(c, w->waker, w->now_ns)) {
		if (policy_idle(v, w->prev, w->now_ns)) {
			*rule = ROOST_TARGET_PREV_IDLE;
			return w->prev;
		}
		*rule = ROOST_TARGET_WAKER_IDLE;
		return w->waker;
	}
	if ((w->flags & POLICY_WAKE_SYNC) && policy_read(c->nr_runnable) == 1) {
		*rule = ROOST_TARGET_SYNC;
		return w->waker;
	}
	if (policy_idle(v, w->prev, w->now_ns)) {
		*rule = ROOST_TARGET_PREV_IDLE;
		return w->prev;
	}
	if (policy_waker_lighter(w, c, v)) {
		*rule = ROOST_TARGET_LIGHTER_WAKER;
		return w->waker;
	}
	*rule = ROOST_TARGET_LIGHTER_PREV;
	return w->prev;
}

/* Takes @cpu for the wakee, by @rule, if it is ok; else returns false and leaves @ch as it is. */
policy_inline bool policy_choose(struct roost_choice *ch, const struct policy_wake *w, s32 cpu, u32 rule)
{
	int taken = policy_take(cpu, w->flags & POLICY_WAKE_IDLE_CLASS, w->now_ns);

	if (taken == POLICY_NOT_OK)
		return false;
	ch->cpu = cpu;
	ch->rule = (u16)rule;
	ch->claimed = taken == POLICY_OK_CLAIMED;
	return true;
}

/*
 * One CPU tried for steps 1, 2 and 4: ok, or, with util-fits, the task fits. @rule is the rule of "ok";
 * the rule of "fits" follows it in rules.def.
 */
policy_inline bool policy_try(struct roost_choice *ch, const struct policy_wake *w, struct roost_cpu *c, s32 cpu,
			      u32 rule, u32 step)
{
	if (policy_choose(ch, w, cpu, rule))
		return true;
	if (POLICY_LIKELY(!policy_read(env_knobs()->util_fits)) || !policy_fits(c, w->task_util)) {
		POLICY_PASS(ch, step, POLICY_PASS_BUSY);
		return false;
	}
	ch->cpu = cpu;
	ch->rule = (u16)(rule + 1);
	return true;
}

/* Step 5: the first ok, allowed sibling of prev, other than prev. */
policy_fn bool policy_smt_sibling(struct roost_choice *ch policy_nonnull, env_task *p policy_task_arg,
				    const struct policy_wake *w policy_nonnull)
{
	struct roost_cpu *v = env_cpu(w->prev), *s;
	s32 cpu;
	u32 i;

	if (!v)
		return false;
	for (i = 0; i < ROOST_MAX_SIBLINGS; i++) {
		if (i >= v->nr_siblings)
			break;
		cpu = v->siblings[i];
		s = env_cpu(cpu);
		if (cpu == w->prev || !s || !policy_shares(s, v) || !env_allowed(p, cpu) ||
		    env_domain(cpu) != env_domain(w->prev))
			continue;
		if (policy_choose(ch, w, cpu, ROOST_RULE_IDLE_SMT))
			return true;
	}
	return false;
}

/*
 * A walk over the words of an LLC in the order of CPU numbers, starting after @after and ending with it.
 * The word that holds @after comes twice: first its bits above, at the end its bits up to @after.
 */
policy_inline u64 policy_walk_mask(u32 step, u32 nr_words, s32 after, u32 cpu_word)
{
	u64 upto = policy_bit(after) | (policy_bit(after) - 1);

	if (cpu_word != (u32)after / 64)
		return ~0ULL;
	if (step == 0)
		return ~upto;
	return step >= nr_words ? upto : 0;
}

policy_inline u32 policy_walk_word(const struct roost_llc *l, u32 first, u32 step)
{
	u32 i = first - l->first_word + step;

	if (i >= l->nr_words)
		i -= l->nr_words;
	return l->first_word + i;
}

/*
 * Step 6 with the hint: the first allowed CPU whose whole core counts as idle. Candidates that are found
 * false are cleared on the way.
 */
policy_fn bool policy_scan_core(struct roost_choice *ch policy_nonnull, env_task *p policy_task_arg,
				  const struct policy_wake *w policy_nonnull)
{
	s32 target = ch->target, cpu;
	struct roost_cpu *t = env_cpu(target);
	struct roost_llc *l = t ? env_llc(t->llc) : 0;
	struct roost_llc_word *word;
	u32 i, j, state;
	u64 found;

	if (!l)
		return false;
	env_for(i, l->nr_words + 1) {
		word = env_word(policy_walk_word(l, t->word, i));
		if (!word)
			break;
		found = policy_read(word->core) & policy_read(word->member) &
			policy_walk_mask(i, l->nr_words, target, word->cpu_word);
		if (!found)
			continue;
		found &= env_allowed_word(p, word->cpu_word);
		env_for(j, 64) {
			if (!found)
				break;
			cpu = (s32)(word->cpu_word * 64 + policy_lowest(found));
			found &= found - 1;
			if (env_domain(cpu) != env_domain(target))
				continue;
			state = policy_core_state(cpu, w->now_ns);
			if (state != POLICY_CORE_IDLE) {
				if (state == POLICY_CORE_BUSY)
					policy_word_clear(&word->core, policy_bit(cpu));
				continue;
			}
			if (policy_choose(ch, w, cpu, ROOST_RULE_SCAN_CORE))
				return true;
		}
	}
	return false;
}

/* Step 6 without it: the first ok CPU among the first @depth allowed ones. */
policy_fn bool policy_scan_cpu(struct roost_choice *ch policy_nonnull, env_task *p policy_task_arg,
				 const struct policy_wake *w policy_nonnull, u64 depth)
{
	s32 target = ch->target, cpu;
	struct roost_cpu *t = env_cpu(target), *c;
	struct roost_llc *l = t ? env_llc(t->llc) : 0;
	bool grace = policy_read(env_knobs()->idle_grace_ns) != 0;
	bool idle_class = w->flags & POLICY_WAKE_IDLE_CLASS;
	/* seen: 64 bits wide, as the verifier forgets the value of such between rounds and so sees the end */
	u64 found, range, mask, below, spin, seen = 0;
	struct roost_llc_word *word;
	u32 i, j;

	if (!l)
		return false;
	env_for(i, l->nr_words + 1) {
		word = env_word(policy_walk_word(l, t->word, i));
		if (!word || seen >= depth)
			break;
		mask = policy_walk_mask(i, l->nr_words, target, word->cpu_word);
		range = policy_read(word->member) & mask;
		found = policy_read(word->idle);
		if (!idle_class)
			found |= policy_read(word->sidle);
		if (POLICY_UNLIKELY(grace))
			found |= policy_read(word->grace);
		/* a CPU that busy-waits rather than one to be woken */
		spin = policy_read(word->spin) & range;
		if (POLICY_UNLIKELY(spin)) {
			spin &= env_allowed_word(p, word->cpu_word);
			if (spin)
				found = spin;
		}
		found &= range;
		if (!found && depth >= l->weight)
			continue;
		mask = env_allowed_word(p, word->cpu_word);
		range &= mask;
		found &= mask;
		env_for(j, 64) {
			if (!found)
				break;
			below = (found & -found) - 1;
			cpu = (s32)(word->cpu_word * 64 + policy_popcount(below));
			found &= found - 1;
			if (depth < l->weight && seen + policy_popcount(range & below) >= depth)
				return false;
			c = env_cpu(cpu);
			if (!c || env_domain(cpu) != env_domain(target))
				continue;
			if (policy_choose(ch, w, cpu, ROOST_RULE_SCAN_CPU))
				return true;
			if (grace && !policy_grace_runs(c, w->now_ns))
				policy_word_clear(&word->grace, policy_bit(cpu));
		}
		seen += policy_popcount(range);
	}
	return false;
}

/* Steps 5 and 6. The hint is read once. */
policy_inline bool policy_search_llc(struct roost_choice *ch, env_task *p, const struct policy_wake *w,
				     struct roost_cpu *t, struct roost_cpu *v)
{
	struct roost_llc *l = env_llc(t->llc);
	bool core;

	if (!l)
		return false;
	core = env_machine()->smt && policy_read(l->has_idle_core);
	if (core) {
		POLICY_PASS(ch, POLICY_STEP_SMT, POLICY_PASS_CORE);
		if (policy_scan_core(ch, p, w))
			return true;
		POLICY_PASS(ch, POLICY_STEP_CORE, POLICY_PASS_BUSY);
		policy_write(l->has_idle_core, 0);
		/* the kernel's search for a core keeps the first ok CPU it passes: no depth limit here */
		return policy_scan_cpu(ch, p, w, policy_read(l->weight));
	}
	POLICY_PASS(ch, POLICY_STEP_CORE, POLICY_PASS_RULE);
	if (!policy_read(env_knobs()->idle_smt) || !env_machine()->smt) {
		POLICY_PASS(ch, POLICY_STEP_SMT, POLICY_PASS_OFF);
	} else if (!v || !policy_shares(v, t)) {
		POLICY_PASS(ch, POLICY_STEP_SMT, POLICY_PASS_FAR);
	} else {
		if (policy_smt_sibling(ch, p, w))
			return true;
		POLICY_PASS(ch, POLICY_STEP_SMT, POLICY_PASS_BUSY);
	}
	return policy_scan_cpu(ch, p, w, policy_read(l->scan_depth));
}

/* Step 4. */
policy_inline bool policy_try_recent(struct roost_choice *ch, env_task *p, const struct policy_wake *w,
				     struct roost_cpu *t, s32 target)
{
	struct roost_cpu *r;

	if (w->recent < 0 || w->recent == w->prev || w->recent == target) {
		POLICY_PASS(ch, POLICY_STEP_RECENT, POLICY_PASS_SAME);
		return false;
	}
	r = env_cpu(w->recent);
	if (!r || !policy_shares(r, t)) {
		POLICY_PASS(ch, POLICY_STEP_RECENT, POLICY_PASS_FAR);
		return false;
	}
	if (!env_allowed(p, w->recent) || env_domain(w->recent) != env_domain(w->prev)) {
		POLICY_PASS(ch, POLICY_STEP_RECENT, POLICY_PASS_NOT_ALLOWED);
		return false;
	}
	return policy_try(ch, w, r, w->recent, ROOST_RULE_RECENT_IDLE, POLICY_STEP_RECENT);
}

/*
 * Chooses the CPU for a woken task. @w->prev and @w->waker are possible CPUs, prev is allowed (a host
 * whose wakee may not go back passes the nearest allowed CPU as prev). Nothing outside allowed is chosen.
 * Returns 0.
 */
policy_fn int policy_wakeup(env_task *p policy_task_arg, const struct policy_wake *w policy_nonnull,
			      struct roost_choice *ch policy_nonnull)
{
	bool bias = policy_read(env_knobs()->bias_prev) != 0, near;
	struct roost_cpu *t, *v = env_cpu(w->prev);
	s32 target;

	ch->passed = 0;
	ch->claimed = 0;
	ch->target_rule = 0;
	target = policy_target(p, w, &ch->target_rule);
	ch->target = target;
	ch->cpu = target;
	ch->rule = ROOST_RULE_TARGET_LAST;
	t = env_cpu(target);
	if (!t || !v)
		return 0;
	near = policy_shares(v, t);

	if (POLICY_UNLIKELY(bias) && near) {    /* bias-prev (a) */
		if (policy_try(ch, w, v, w->prev, ROOST_RULE_BIAS_PREV_IDLE, POLICY_STEP_BIAS))
			return 0;
	} else {
		POLICY_PASS(ch, POLICY_STEP_BIAS, bias ? POLICY_PASS_FAR : POLICY_PASS_OFF);
	}
	if (policy_try(ch, w, t, target, ROOST_RULE_TARGET_IDLE, POLICY_STEP_TARGET))
		return 0;
	if (w->prev == target || bias) {        /* bias-prev (b): tried already, or too far to favour */
		POLICY_PASS(ch, POLICY_STEP_PREV, w->prev == target ? POLICY_PASS_SAME : POLICY_PASS_OFF);
	} else if (!near) {
		POLICY_PASS(ch, POLICY_STEP_PREV, POLICY_PASS_FAR);
	} else if (policy_try(ch, w, v, w->prev, ROOST_RULE_PREV_IDLE, POLICY_STEP_PREV)) {
		return 0;
	}
	if ((w->flags & POLICY_WAKE_KTHREAD) && w->prev == w->waker && policy_read(v->nr_runnable) <= 1) {
		ch->cpu = w->prev;
		ch->rule = ROOST_RULE_PER_CPU_KTHREAD;
		return 0;
	}
	POLICY_PASS(ch, POLICY_STEP_KTHREAD, POLICY_PASS_RULE);
	if (policy_try_recent(ch, p, w, t, target))
		return 0;
	if (policy_search_llc(ch, p, w, t, v))
		return 0;
	POLICY_PASS(ch, POLICY_STEP_SCAN, POLICY_PASS_BUSY);
	if (POLICY_UNLIKELY(bias) && near) {    /* bias-prev (c) */
		ch->cpu = w->prev;
		ch->rule = ROOST_RULE_BIAS_PREV_LAST;
	}
	return 0;
}

#endif
