/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * idle.h - which CPUs count as idle, and how one is claimed.
 *
 * idle(c)   the CPU's bit in its LLC word's `idle` is set (it runs its idle task, nothing is queued, no
 *           wakeup is pending: whoever sends work clears the bit first), or, with idle-grace, it left
 *           idle less than that ago (semantics.md section 2).
 * sidle(c)  it runs or queues SCHED_IDLE tasks only.
 * ok(c)     idle(c), or sidle(c) for a wakee that is not SCHED_IDLE itself.
 *
 * The words `core` and `grace` hold candidates: a set bit is proved before it is believed, and cleared by
 * whoever finds it false for good (a bound on the queue may hold no more in a moment). Bits get set where the state begins (a CPU goes idle, a CPU leaves idle), so a
 * clear bit needs no proof. That keeps a search at a few word operations, at one proof for each state
 * change at most.
 */
#ifndef ROOST_POLICY_IDLE_H
#define ROOST_POLICY_IDLE_H

#include "env.h"

enum policy_taken {
	POLICY_NOT_OK = 0,
	POLICY_OK_BUSY,             /* ok by grace or sidle: the task is queued there */
	POLICY_OK_CLAIMED,          /* truly idle, and now ours */
};

/* Same LLC. Whether they are in one scheduling domain is env_domain's to say. */
policy_inline bool policy_shares(const struct roost_cpu *a, const struct roost_cpu *b)
{
	return a->llc == b->llc;
}

/*
 * The CPU left idle less than idle-grace ago. The stamp may be a little ahead of @now: it was taken after this
 * decision began.
 */
policy_inline bool policy_grace_runs(struct roost_cpu *c, u64 now)
{
	u64 grace = policy_read(env_knobs()->idle_grace_ns), left = policy_read(c->idle_exit_ns);

	return POLICY_UNLIKELY(grace) && left && policy_before(now, left + grace);
}

/* No bound, or fewer than that are runnable there. */
policy_inline bool policy_grace_room(struct roost_cpu *c)
{
	u64 most = policy_read(env_knobs()->idle_grace_max_queued);

	return !most || policy_read(c->nr_runnable) < most;
}

/* Grace alone: it left idle not long ago, and not too much is queued there by now. */
policy_inline bool policy_in_grace(struct roost_cpu *c, u64 now)
{
	return policy_grace_runs(c, now) && policy_grace_room(c);
}

policy_inline bool policy_truly_idle(struct roost_cpu *c, s32 cpu)
{
	struct roost_llc_word *w = env_word(c->word);

	return w && (policy_read(w->idle) & policy_bit(cpu));
}

/* Busy-waiting before it idles (idle-spin), and nothing sent there yet: as good as idle, and awake. */
policy_inline bool policy_spins(struct roost_cpu *c, s32 cpu)
{
	struct roost_llc_word *w = env_word(c->word);

	return w && POLICY_UNLIKELY(policy_read(w->spin) & policy_bit(cpu));
}

policy_inline bool policy_idle(struct roost_cpu *c, s32 cpu, u64 now)
{
	return policy_truly_idle(c, cpu) || policy_spins(c, cpu) || policy_in_grace(c, now);
}

policy_inline void policy_core_bits(struct roost_llc_word *w, u64 bits, bool idle)
{
	u64 change = idle ? bits & ~policy_read(w->core) : bits & policy_read(w->core);

	if (!change)
		return;
	if (idle)
		policy_word_set(&w->core, change);
	else
		policy_word_clear(&w->core, change);
}

/*
 * Sets or clears the idle-core candidate bits of every online thread of the core of @cpu: in one operation for
 * those in the CPU's own word, which are all of them unless siblings are numbered far apart.
 */
policy_fn int policy_core_mark(s32 cpu, bool idle)
{
	struct roost_cpu *c = env_cpu(cpu), *s;
	struct roost_llc_word *w;
	u64 here = 0;
	u32 i;

	if (!c)
		return 0;
	for (i = 0; i < ROOST_MAX_SIBLINGS; i++) {
		if (i >= c->nr_siblings)
			break;
		s = env_cpu(c->siblings[i]);
		if (!s || !(s->flags & ROOST_CPU_ONLINE))
			continue;
		if (s->word == c->word) {
			here |= policy_bit(c->siblings[i]);
			continue;
		}
		w = env_word(s->word);
		if (w)
			policy_core_bits(w, policy_bit(c->siblings[i]), idle);
	}
	w = env_word(c->word);
	if (w)
		policy_core_bits(w, here, idle);
	return 0;
}

/* The core of @cpu loses its idle-core bits. Costs one test on a machine without SMT. */
policy_inline void policy_core_busy(s32 cpu)
{
	if (env_machine()->smt)
		policy_core_mark(cpu, false);
}

/*
 * Takes @cpu if it is ok for the wakee. A truly idle CPU is claimed: of two wakers one gets it. Losing
 * that race is not ok, as the CPU has a wakeup pending then (grace and sidle are looked at afterwards).
 * Returns enum policy_taken.
 */
policy_fn int policy_take(s32 cpu, bool wakee_idle_class, u64 now)
{
	struct roost_cpu *c = env_cpu(cpu);
	struct roost_llc_word *w = c ? env_word(c->word) : 0;
	u64 bit = policy_bit(cpu);

	if (!w)
		return POLICY_NOT_OK;
	/* its core's candidate bits go when it leaves idle, off the waker's path; until then a proof finds them false */
	if ((policy_read(w->idle) & bit) && (policy_word_clear(&w->idle, bit) & bit))
		return POLICY_OK_CLAIMED;
	if (!wakee_idle_class && (policy_read(w->sidle) & bit))
		return POLICY_OK_BUSY;
	if (POLICY_UNLIKELY(policy_read(w->spin) & bit))
		return POLICY_OK_BUSY;  /* queueing there ends the wait: no claim, no interrupt */
	return policy_in_grace(c, now) ? POLICY_OK_BUSY : POLICY_NOT_OK;
}

enum policy_core {
	POLICY_CORE_BUSY = 0,
	POLICY_CORE_FULL,           /* only idle-grace-max-queued stands against it: may count as idle again */
	POLICY_CORE_IDLE,
};

#define POLICY_ANY_TIME 0ULL        /* for policy_core_state: a grace that ever began is taken to run */

/* Does every thread of the core of @cpu count as idle? Threads that are offline do. Returns enum policy_core. */
policy_fn u32 policy_core_state(s32 cpu, u64 now)
{
	struct roost_cpu *c = env_cpu(cpu), *s;
	u32 i, state = POLICY_CORE_IDLE;

	if (!c)
		return POLICY_CORE_BUSY;
	for (i = 0; i < ROOST_MAX_SIBLINGS; i++) {
		if (i >= c->nr_siblings)
			break;
		s = env_cpu(c->siblings[i]);
		if (!s)
			return POLICY_CORE_BUSY;
		if (!(s->flags & ROOST_CPU_ONLINE) || policy_truly_idle(s, c->siblings[i]))
			continue;
		if (!policy_grace_runs(s, now))
			return POLICY_CORE_BUSY;
		if (!policy_grace_room(s))
			state = POLICY_CORE_FULL;
	}
	return state;
}

/* If the whole core of @cpu counts as idle now, it is a candidate and its LLC's hint says so. */
policy_inline void policy_core_maybe_idle(struct roost_cpu *c, s32 cpu, u64 now)
{
	struct roost_llc *l;

	if (!env_machine()->smt || policy_core_state(cpu, now) != POLICY_CORE_IDLE)
		return;
	policy_core_mark(cpu, true);
	l = env_llc(c->llc);
	if (l && !policy_read(l->has_idle_core))
		policy_write(l->has_idle_core, 1);
}

/*
 * A CPU went idle: publish it. The caller looks at the CPU's queue again afterwards: what was queued
 * before the bit was seen must not wait.
 */
policy_inline void policy_went_idle(struct roost_cpu *c, s32 cpu, u64 now)
{
	struct roost_llc_word *w = env_word(c->word);
	u64 bit = policy_bit(cpu);

	if (!w || !(c->flags & ROOST_CPU_ONLINE))
		return;
	if (policy_read(w->sidle) & bit)
		policy_word_clear(&w->sidle, bit);
	policy_word_set(&w->idle, bit);
	policy_core_maybe_idle(c, cpu, now);
}

/*
 * A CPU stops idling, for whatever reason. Its grace begins here: one time stamp, taken even while the
 * knob is 0, so that switching it on needs no history. Within the grace its core may count as idle.
 */
policy_inline void policy_left_idle(struct roost_cpu *c, s32 cpu, u64 now)
{
	struct roost_llc_word *w = env_word(c->word);
	u64 bit = policy_bit(cpu);

	policy_write(c->idle_exit_ns, now);
	if (!w)
		return;
	if (policy_read(w->idle) & bit)
		policy_word_clear(&w->idle, bit);
	if (POLICY_LIKELY(!policy_read(env_knobs()->idle_grace_ns))) {
		policy_core_busy(cpu);
	} else {
		policy_word_set(&w->grace, bit);
		policy_core_maybe_idle(c, cpu, now);
	}
}

/* After nr_runnable or nr_idle_class changed: keep the sidle bit true. Free where no SCHED_IDLE task is. */
policy_inline void policy_sidle_update(struct roost_cpu *c, s32 cpu)
{
	struct roost_llc_word *w;
	u32 few = policy_read(c->nr_idle_class);
	u64 bit = policy_bit(cpu);

	w = env_word(c->word);
	if (!w)
		return;
	if (POLICY_LIKELY(!few)) {
		if (POLICY_UNLIKELY(policy_read(w->sidle) & bit))
			policy_word_clear(&w->sidle, bit);
	} else if (few == policy_read(c->nr_runnable) && !(c->flags & ROOST_CPU_RT_HELD)) {
		policy_word_set(&w->sidle, bit);
	} else if (policy_read(w->sidle) & bit) {
		policy_word_clear(&w->sidle, bit);
	}
}

#endif
