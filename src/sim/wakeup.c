/* SPDX-License-Identifier: GPL-2.0-only */
/* Wakeups and forks: the policy chooses, the model says what it costs and when the task can run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/env_sim.h"

/* An idle CPU, claimed or not, is told that there is work. `cost`: how long the sender still takes to get there. */
void sim_kick_idle(struct sim *s, uint32_t from, uint32_t cpu, uint64_t cost)
{
	struct sim_cpu *c = &s->cpus[cpu];
	uint64_t charge, at;

	if (c->waking)
		return;
	c->waking = 1;
	sim_idle_record(c, s->now - c->idle_from_ns); /* the governor does not count the way out */
	at = s->now + cost + sim_idle_exit_ns(s, from, cpu, &charge);
	if (at < c->busy_until_ns)
		at = c->busy_until_ns;
	sim_charge(s, from, charge);
	evq_set(&s->q, slot_kick(s, cpu), at);
}

/* The kernel's fair class up to 6.5, before deadlines. */
static bool by_latency(const struct sim *s)
{
	return s->cfg->pull == SIM_PULL_KERNEL && sim_cost(s, COST_LATENCY);
}

/* The order of the queue. Up to 6.5: by virtual time alone. Since 6.6: by deadline, one base slice for all. */
void sim_set_deadline(struct sim *s, struct sim_task *t, uint32_t nr_runnable)
{
	policy_set_deadline(&t->rt, nr_runnable);
	if (s->cfg->pull == SIM_PULL_ROOST || t->rt.flags & ROOST_TASK_YIELDED)
		return;
	if (by_latency(s)) {
		t->rt.deadline = t->rt.vruntime;
		return;
	}
	t->rt.slice_ns = (uint64_t)sim_cost(s, COST_SLICE);
	t->rt.deadline = t->rt.vruntime + policy_virtual(t->rt.slice_ns, t->rt.weight);
}

/*
 * Does a woken task preempt? roost: by deadline, and not before the running task has had the least slice. The kernel up to
 * 6.5: by its wakeup granularity, the lead in virtual time that a wakee must have over the running task. Since 6.6: by
 * deadline, but not before the running task has had the slice it was picked for (RUN_TO_PARITY).
 */
bool sim_preempts(struct sim *s, uint32_t cpu, const struct sim_task *t)
{
	struct roost_cpu *p = &s->pcpu[cpu];
	int64_t lead;

	if (s->cfg->pull == SIM_PULL_ROOST || p->curr_idle_class || !p->curr_weight ||
	    (t->rt.flags & (ROOST_TASK_IDLE_CLASS | ROOST_TASK_BATCH))) {
		if (!policy_preempts(p, &t->rt, policy_curr_deadline(p)))
			return false;
		p->preempt_due = s->cfg->pull == SIM_PULL_ROOST && policy_protected(p, s->cpus[cpu].on_since_ns, s->now);
		return !p->preempt_due;
	}
	if (!by_latency(s))
		return policy_preempts(p, &t->rt, p->curr_deadline) && !policy_before(policy_curr_vruntime(p, s->now), p->curr_deadline);
	lead = (int64_t)(policy_curr_vruntime(p, s->now) - t->rt.vruntime);
	return lead > (int64_t)policy_virtual((u64)sim_cost(s, COST_WAKEUP_GRAN), t->rt.weight);
}

/*
 * The vruntime of a task in its new queue's frame. roost, and the kernel since 6.6: lag kept, within a slice. Before: a
 * sleeper starts at most its credit (half the latency) before the queue; who is behind stays behind.
 */
void sim_place(struct sim *s, struct sim_task *t, struct roost_cpu *from, struct roost_cpu *to)
{
	int64_t lag, credit;

	if (!by_latency(s) || !from) {
		policy_place(&t->rt, from, to, s->now);
		return;
	}
	lag = (int64_t)(policy_vtime(from, s->now) - t->rt.vruntime);
	credit = (int64_t)policy_virtual((u64)sim_cost(s, COST_SLEEPER_CREDIT), t->rt.weight);
	t->rt.vruntime = policy_vtime(to, s->now) - (u64)(lag > credit ? credit : lag);
}

/*
 * Does the target enqueue the task itself, in the interrupt it is sent? The kernel leaves it to it across LLCs, and since
 * 6.0 where the target idles too. Otherwise the waker takes the target's lock, as roost always does.
 */
static bool queued_wakeup(const struct sim *s, uint32_t by, uint32_t cpu)
{
	if (by == cpu || s->cfg->pull == SIM_PULL_ROOST)
		return false;
	return s->m->cpus[by].llc != s->m->cpus[cpu].llc || (s->cpus[cpu].idle && sim_cost(s, COST_WAKELIST_IDLE));
}

/* Makes t runnable on cpu. by: who does it; cost: what it has spent already; delay: when it began to, from now. */
static void enqueue(struct sim *s, struct sim_task *t, uint32_t cpu, uint32_t by, uint64_t cost, uint64_t delay,
		    bool claimed)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct roost_cpu *p = &s->pcpu[cpu];
	struct roost_cpu *from = t->rt.cpu >= 0 ? &s->pcpu[t->rt.cpu] : NULL;
	bool queued = queued_wakeup(s, by, cpu), moved = t->rt.prev_cpu != (s32)cpu;
	uint64_t there = 0;

	/* A task that comes from elsewhere takes its load along: it stays to be taken off there. */
	if (moved && t->rt.prev_cpu >= 0)
		s->cpus[t->rt.prev_cpu].loadavg_removed = 1;
	if (queued) {
		cost += s->line_ns[sim_distance(s, by, cpu)];
		there = sim_lock_rq_update(s, cpu, cpu, moved);
	} else {
		cost += sim_lock_rq_update(s, by, cpu, moved);
	}
	sim_place(s, t, from, p);
	t->rt.cpu = (s32)cpu;
	policy_count_in(&t->rt, &s->pcpu[cpu], (s32)cpu, s->now);
	sim_set_deadline(s, t, p->nr_runnable);
	t->rt.flags &= ~ROOST_TASK_YIELDED;
	t->state = SIM_TASK_QUEUED;
	t->woken_ns = s->now;
	sim_charge(s, by, cost);
	if (claimed && c->direct == SIM_NONE && !c->curr) {
		c->direct = t->id;
		t->direct = 1;
		t->rt.wait_start_ns = s->now;
		sim_kick_idle(s, by, cpu, cost + delay + there);
		return;
	}
	policy_queued(p, (s32)cpu, &t->rt, s->now);
	t->rt.queue_cpu = (s32)cpu;
	if (sim_queue_push(s, cpu, t)) {
		sim_fail(s, "not enough memory for a queue");
		return;
	}
	if (!c->curr) {
		sim_kick_idle(s, by, cpu, cost + delay + there);
		return;
	}
	if (queued) { /* the interrupt comes, preemption or not */
		sim_charge(s, by, (uint64_t)(sim_cost(s, COST_IPI_SEND) + sim_cost(s, COST_GUEST_IPI_EXIT)));
		sim_charge(s, cpu, (uint64_t)sim_cost(s, COST_IRQ) + there);
		s->f.kicks++;
	}
	if (!sim_preempts(s, cpu, t))
		return;
	if (cpu == by) {
		c->need_resched = 1;
		return;
	}
	if (!queued) {
		sim_charge(s, by, (uint64_t)(sim_cost(s, COST_IPI_SEND) + sim_cost(s, COST_GUEST_IPI_EXIT)));
		s->f.kicks++;
	}
	if (!evq_is_set(&s->q, slot_kick(s, cpu)))
		evq_set(&s->q, slot_kick(s, cpu), s->now + cost + delay + there + s->ipi_ns[sim_distance(s, by, cpu)]);
}

/* How many CPUs a walk over the LLC in the order of numbers, from after `from`, looks at before it is at `to`. */
static uint32_t walked(const struct sim *s, uint32_t from, uint32_t to)
{
	const struct machine_group *g = &s->m->llcs[s->m->cpus[from].llc];
	const uint32_t *cpus = &s->m->llc_cpus[g->first];
	uint32_t a = 0, b = 0;

	for (uint32_t i = 0; i < g->count; i++) {
		if (cpus[i] == from)
			a = i;
		if (cpus[i] == to)
			b = i;
	}
	return b > a ? b - a : b + g->count - a;
}

/*
 * Time the search took. The kernel walks CPUs and reads a line of each; roost reads a word or two of its LLC. Steps
 * before the scan look at prev and the recent CPU.
 */
static uint64_t search_cost(struct sim *s, const struct policy_wake *w, const struct roost_choice *ch, uint32_t depth,
			    bool core_hint)
{
	uint32_t weight = s->m->llcs[s->m->cpus[ch->target].llc].count, looked = 0;
	uint64_t ns = 0;

	if (w->prev != w->waker)
		ns += s->line_ns[sim_distance(s, (uint32_t)w->waker, (uint32_t)w->prev)];
	switch (ch->rule) {
	case ROOST_RULE_SCAN_CORE:
		looked = walked(s, (uint32_t)ch->target, (uint32_t)ch->cpu);
		break;
	case ROOST_RULE_SCAN_CPU:
		looked = core_hint ? weight : walked(s, (uint32_t)ch->target, (uint32_t)ch->cpu);
		break;
	case ROOST_RULE_IDLE_SMT:
		looked = 1;
		break;
	case ROOST_RULE_BIAS_PREV_LAST:
	case ROOST_RULE_TARGET_LAST:
		looked = core_hint ? weight : depth < weight ? depth : weight;
		break;
	default:
		return ns;
	}
	if (s->cfg->pull == SIM_PULL_ROOST)
		looked = looked ? s->pllc[s->m->cpus[ch->target].llc].nr_words : 0;
	return ns + looked * (uint64_t)sim_cost(s, COST_SCAN_CPU);
}

/*
 * SIS_PROP, 4.14 to 5.18: a search without an idle core in view may take as long as a 512th of the waker's average idle
 * period times the size of the LLC, at what searching has cost it; but at least four CPUs. The policy reads the depth from
 * the LLC, where since 5.19 the utilisation puts it.
 */
#define SCAN_FUZZ 512
#define SCAN_LEAST 4

static void depth_by_idle_time(struct sim *s, uint32_t waker, uint32_t prev)
{
	const struct sim_cpu *c = &s->cpus[waker];
	uint32_t llcs[2] = { s->pcpu[waker].llc, s->pcpu[prev].llc };

	for (int i = 0; i < 2; i++) {
		struct roost_llc *l = &s->pllc[llcs[i]];
		uint64_t cost = c->scan_cost_ns + 1, may = l->weight * (c->avg_idle_ns / SCAN_FUZZ), nr = SCAN_LEAST;

		if (may > SCAN_LEAST * cost)
			nr = may / cost;
		l->scan_depth = (uint32_t)(nr < l->weight ? nr : l->weight);
	}
}

static bool allowed(const struct sim *s, const struct sim_task *t, uint32_t cpu)
{
	return s->m->cpus[cpu].online && (!t->mask || (s->masks[t->mask]->word[cpu / 64] >> cpu % 64 & 1));
}

/* prev if it is allowed, else the nearest allowed CPU. */
static uint32_t usable_prev(struct sim *s, struct sim_task *t, uint32_t near)
{
	uint32_t best = SIM_NONE;

	if (allowed(s, t, near))
		return near;
	for (uint32_t i = 0; i < s->nr_cpus; i++)
		if (allowed(s, t, i) && (best == SIM_NONE || sim_distance(s, near, i) < sim_distance(s, near, best)))
			best = i;
	return best;
}

static uint32_t mask_weight(struct sim *s, const struct sim_task *t)
{
	return t->mask ? s->mask_weight[t->mask] : s->nr_online;
}

void sim_wake(struct sim *s, uint32_t waker, struct sim_task *t, unsigned int flags)
{
	struct sim_task *curr = s->cpus[waker].curr;
	struct roost_choice ch = { 0 };
	struct policy_wake w;
	uint32_t prev, depth;
	uint64_t cost = (uint64_t)sim_cost(s, COST_WAKE), delay = 0, search;
	bool hint, by_idle_time;

	if (t->state != SIM_TASK_BLOCKED)
		return;
	evq_clear(&s->q, slot_task(s, t->id));
	s->f.wakeups++;
	policy_task_averages(&t->rt, s->now, false);
	prev = usable_prev(s, t, (uint32_t)t->rt.prev_cpu);
	w = (struct policy_wake){
		.prev = (s32)prev, .waker = (s32)waker, .recent = t->rt.recent_cpu,
		.flags = (flags & SIM_WAKE_SYNC ? POLICY_WAKE_SYNC : 0) |
			 (t->rt.flags & ROOST_TASK_IDLE_CLASS ? POLICY_WAKE_IDLE_CLASS : 0),
		.task_util = policy_util_of(&t->rt.util),
		.waker_flips = curr ? curr->rt.wakee_flips : 0, .wakee_flips = t->rt.wakee_flips,
		.wakee_load = policy_task_load(&t->rt), .curr_load = curr ? policy_task_load(&curr->rt) : 0, .now_ns = s->now,
	};
	if (curr)
		policy_record_wakee(&curr->rt, t->rt.pid, s->now);
	by_idle_time = s->cfg->pull == SIM_PULL_KERNEL && sim_cost(s, COST_SCAN_PROP);
	if (by_idle_time)
		depth_by_idle_time(s, waker, prev);
	if (mask_weight(s, t) == 1) {
		ch.cpu = (s32)prev;
		ch.rule = ROOST_RULE_PINNED;
		ch.claimed = policy_take((s32)prev, true, s->now) == POLICY_OK_CLAIMED;
	} else {
		hint = s->pm.smt && s->pllc[s->m->cpus[prev].llc].has_idle_core;
		if (s->cfg->before_5_12)
			sim_search_before_5_12(t, &w, &ch);
		else
			policy_wakeup(t, &w, &ch);
		s->f.target[ch.target_rule]++;
		depth = s->pllc[s->m->cpus[ch.target].llc].scan_depth;
		w.prev = (s32)prev;
		search = search_cost(s, &w, &ch, depth, hint);
		cost += search;
		if (by_idle_time && !hint)
			s->cpus[waker].scan_cost_ns += (uint64_t)((int64_t)(search - s->cpus[waker].scan_cost_ns) / 8);
	}
	s->f.search_ns += cost - (uint64_t)sim_cost(s, COST_WAKE);
	s->f.rule[ch.rule]++;
	if (s->cfg->timeline)
		sim_tl_wake(s, waker, (uint32_t)ch.cpu, t, ch.rule);
	cost += (uint64_t)sim_cost(s, COST_WAKE_LINES) * s->line_ns[sim_distance(s, waker, prev)];
	/* An idle CPU that takes an interrupt wakes up for it first, and then may have others of them to handle. */
	if ((flags & SIM_WAKE_IRQ) && s->cpus[waker].idle && s->cpus[waker].busy_until_ns > s->now && ch.cpu != (s32)waker)
		delay = s->cpus[waker].busy_until_ns - s->now;
	enqueue(s, t, (uint32_t)ch.cpu, waker, cost, delay, ch.claimed);
	/* who was interrupted is in the middle of something, and switched on the interrupt's way out */
	if ((flags & SIM_WAKE_IRQ) && s->cpus[waker].curr && s->cpus[waker].need_resched &&
	    !evq_is_set(&s->q, slot_kick(s, waker)))
		evq_set(&s->q, slot_kick(s, waker), s->now + cost);
}

void sim_task_start(struct sim *s, struct sim_task *t, uint32_t parent)
{
	uint32_t prev = usable_prev(s, t, parent);
	struct roost_choice ch = { 0 };
	struct policy_wake w = { .prev = (s32)prev, .waker = (s32)parent, .recent = -1,
				 .wakee_load = t->rt.weight };

	policy_fork(t, &w, &ch);
	s->f.rule[ch.rule]++;
	enqueue(s, t, (uint32_t)ch.cpu, parent, (uint64_t)sim_cost(s, COST_WAKE), 0, ch.claimed);
}
