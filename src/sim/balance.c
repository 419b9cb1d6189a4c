/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pull side. In roost mode: stealing after steal-delay and the slow balance, as src/policy decides. In kernel
 * mode: what the fair class does instead, reduced to what placement meets:
 *
 * newidle   a CPU about to idle looks for a task, when its idle periods are long enough to pay for the search:
 *           among its siblings any waiting task, in its LLC and then in the machine one that is not cache-hot
 *           (has not run within the migration cost).
 * periodic  at the tick, at the domain's interval (its weight in milliseconds, times 16 on a busy CPU), a CPU
 *           takes a task from the busiest queue of its LLC, more rarely of the machine, if that has two more.
 * nohz      a tick that finds tasks waiting wakes one idle CPU, at most once a tick period, to fetch one.
 */
#include <stdlib.h>

#include "sim/env_sim.h"

/* Takes a waiting task out of `from` for `to`. */
static struct sim_task *detach(struct sim *s, uint32_t from, uint32_t to, struct sim_task *t)
{
	struct roost_cpu *v = &s->pcpu[from], *p = &s->pcpu[to];

	sim_queue_remove(s, from, t);
	policy_unqueued(v, (s32)from, &t->rt);
	policy_count_out(&t->rt, s->now);
	sim_place(s, t, v, p);
	t->rt.cpu = (s32)to;
	policy_count_in(&t->rt, &s->pcpu[to], (s32)to, s->now);
	sim_set_deadline(s, t, p->nr_runnable);
	sim_charge(s, to, sim_lock_rq_update(s, to, from, true) + sim_lock_rq_update(s, to, to, true));
	return t;
}

static struct sim_task *pull_roost(struct sim *s, uint32_t cpu)
{
	struct roost_cpu *p = &s->pcpu[cpu];
	struct sim_task *t;
	u32 rule = 0;
	s32 from;

	from = policy_victim(p, (s32)cpu, s->now, &rule);
	if (from < 0)
		return NULL;
	t = sim_queue_oldest(s, (uint32_t)from, cpu);
	if (!t || !policy_may_steal(&s->pcpu[from], t->rt.wait_start_ns, s->now))
		return NULL;
	s->f.rule[policy_steal_rule(&s->pcpu[from], p)]++;
	s->f.steals++;
	return detach(s, (uint32_t)from, cpu, t);
}

/* Not cache-hot, and allowed on `to`; any task will do when hot_too. */
static struct sim_task *movable(struct sim *s, uint32_t from, uint32_t to, bool hot_too)
{
	struct sim_cpu *c = &s->cpus[from];
	uint64_t hot = (uint64_t)sim_cost(s, COST_MIGRATION_COST);
	struct sim_task *best = NULL;

	for (uint32_t i = 0; i < c->nr_queue && i < 32; i++) {
		struct sim_task *t = &s->tasks[c->queue[i].task];

		if (t->mask && !(s->masks[t->mask]->word[to / 64] >> to % 64 & 1))
			continue;
		if (!hot_too && s->now - t->last_off_ns < hot)
			continue;
		if (!best || t->rt.wait_start_ns < best->rt.wait_start_ns)
			best = t;
	}
	return best;
}

/* The longest queue of an LLC, by its `waiting` words; SIM_NONE if nothing waits. */
static uint32_t busiest_of(struct sim *s, uint32_t llc, uint32_t not_cpu)
{
	const struct roost_llc *l = &s->pllc[llc];
	uint32_t best = SIM_NONE, most = 0;

	for (uint32_t w = l->first_word; w < l->first_word + l->nr_words; w++)
		for (uint64_t left = s->pword[w].waiting; left; left &= left - 1) {
			uint32_t cpu = s->pword[w].cpu_word * 64 + (uint32_t)__builtin_ctzll(left);

			if (cpu != not_cpu && s->pcpu[cpu].nr_runnable > most) {
				most = s->pcpu[cpu].nr_runnable;
				best = cpu;
			}
		}
	return best;
}

static uint32_t busiest_far(struct sim *s, uint32_t cpu)
{
	uint32_t best = SIM_NONE, own = s->pcpu[cpu].llc;

	for (uint32_t i = 1; i < s->pm.nr_llcs; i++) {
		uint32_t v = busiest_of(s, (own + i) % s->pm.nr_llcs, cpu);

		if (v != SIM_NONE && (best == SIM_NONE || s->pcpu[v].nr_runnable > s->pcpu[best].nr_runnable))
			best = v;
	}
	return best;
}

/* A balancing pass reads a few lines of each CPU it looks at, from where that CPU is. */
static uint64_t llc_pass_ns(const struct sim *s, uint32_t cpu)
{
	return s->pllc[s->pcpu[cpu].llc].weight * (uint64_t)sim_cost(s, COST_BALANCE_LINES) * s->line_ns[TOPO_LLC];
}

static uint64_t machine_pass_ns(const struct sim *s, uint32_t cpu)
{
	const struct machine *m = s->m;
	uint64_t node = m->nodes[m->cpus[cpu].node].count;

	return (uint64_t)sim_cost(s, COST_BALANCE_LINES) *
	       (node * s->line_ns[TOPO_NODE] + (s->nr_online - node) * s->line_ns[TOPO_MACHINE]);
}

static struct sim_task *newidle_take(struct sim *s, uint32_t cpu, uint32_t victim, bool hot_too)
{
	struct sim_task *t = victim == SIM_NONE ? NULL : movable(s, victim, cpu, hot_too);

	if (!t)
		return NULL;
	s->f.balance_pulls++;
	return detach(s, victim, cpu, t);
}

static struct sim_task *pull_newidle(struct sim *s, uint32_t cpu)
{
	struct roost_cpu *p = &s->pcpu[cpu];
	struct sim_cpu *c = &s->cpus[cpu];
	uint64_t llc_cost = llc_pass_ns(s, cpu), all_cost = machine_pass_ns(s, cpu);
	struct sim_task *t;

	/* Nobody waits anywhere: the root domain is not overloaded, and nothing is looked at. */
	if (!s->nr_waiting || c->avg_idle_ns < llc_cost || c->avg_idle_ns < (uint64_t)sim_cost(s, COST_NEWIDLE_FLOOR))
		return NULL;
	for (uint32_t i = 0; i < p->nr_siblings; i++) {
		uint32_t sib = p->siblings[i];

		if (sib != cpu && s->cpus[sib].nr_queue && (t = newidle_take(s, cpu, sib, true)))
			return t;
	}
	t = newidle_take(s, cpu, busiest_of(s, p->llc, cpu), false);
	if (!t && c->avg_idle_ns >= llc_cost + all_cost && s->pm.nr_llcs > 1) {
		llc_cost += all_cost;
		t = newidle_take(s, cpu, busiest_far(s, cpu), false);
	}
	/* Until the pass is over the CPU is not idle yet: nobody finds it, and what is queued there waits. */
	sim_charge(s, cpu, llc_cost);
	return t;
}

/* roost: a CPU whose tasks wait too long, or that is far behind this one, asked it to take a task. Itself: one that is overdue. */
struct sim_task *sim_pull_asked(struct sim *s, uint32_t cpu)
{
	struct roost_cpu *p = &s->pcpu[cpu];
	s32 from = p->pull_from;
	struct sim_task *t, *head;

	p->pull_from = -1;
	t = sim_queue_oldest(s, (uint32_t)from, cpu);
	if (!t)
		return NULL;
	if (from == (s32)cpu) {
		head = &s->tasks[s->cpus[cpu].queue[0].task];
		if (policy_overdue(head->rt.wait_start_ns, s->now))
			t = head;
		else if (!policy_overdue(t->rt.wait_start_ns, s->now))
			return NULL;
		s->f.rule[ROOST_RULE_OVERDUE]++;
		sim_queue_remove(s, cpu, t);
		policy_unqueued(p, from, &t->rt);
		policy_forgive(&t->rt, p, s->now);
		sim_set_deadline(s, t, p->nr_runnable);
		return t;
	}
	if (p->nr_runnable) {
		s->f.rule[ROOST_RULE_BALANCE]++;
		s->f.balance_pulls++;
	} else {
		s->f.rule[policy_steal_rule(&s->pcpu[from], p)]++;
		s->f.steals++;
	}
	sim_queue_remove(s, (uint32_t)from, t);
	policy_unqueued(&s->pcpu[from], from, &t->rt);
	policy_count_out(&t->rt, s->now);
	policy_balance_place(&t->rt, &s->pcpu[from], p);
	t->rt.cpu = (s32)cpu;
	policy_count_in(&t->rt, &s->pcpu[cpu], (s32)cpu, s->now);
	sim_set_deadline(s, t, p->nr_runnable);
	sim_charge(s, cpu, sim_lock_rq_update(s, cpu, (uint32_t)from, true) + sim_lock_rq_update(s, cpu, cpu, true));
	return t;
}

struct sim_task *sim_pull(struct sim *s, uint32_t cpu)
{
	return s->cfg->pull == SIM_PULL_ROOST ? pull_roost(s, cpu) : pull_newidle(s, cpu);
}

/* ---- the tick ---- */
/* @to is to take a task that waits on @cpu. */
static void ask(struct sim *s, uint32_t cpu, uint32_t to)
{
	s->pcpu[to].pull_from = (s32)cpu;
	if (!evq_is_set(&s->q, slot_kick(s, to)))
		evq_set(&s->q, slot_kick(s, to), s->now + (to == cpu ? 0 : s->ipi_ns[sim_distance(s, cpu, to)]));
}

static void tick_roost(struct sim *s, uint32_t cpu)
{
	struct roost_cpu *p = &s->pcpu[cpu];
	struct sim_cpu *c = &s->cpus[cpu];
	struct sim_task *t;
	s32 to;

	if (!p->nr_queued)
		return;
	if (policy_has_stealable(p, s->now) && c->nr_queue) {
		/* The queue's own idea of the oldest may be too old: put it right. */
		t = sim_queue_oldest(s, cpu, cpu);
		if (t)
			p->oldest_wait_ns = t->rt.wait_start_ns;
		to = t && policy_has_stealable(p, s->now) ? policy_fetcher(t, (s32)cpu) : -1;
		if (to >= 0) {
			s->pcpu[to].pull_from = (s32)cpu;
			sim_kick_idle(s, cpu, (uint32_t)to, 0);
			return;
		}
	}
	if (s->now < c->next_balance_ns)
		return;
	c->next_balance_ns = s->now + s->knobs.balance_ns;
	if (policy_overdue(p->oldest_wait_ns, s->now)) {
		ask(s, cpu, cpu);
		return;
	}
	to = policy_balance_to((s32)cpu, c->round++);
	if (to < 0 || !s->cpus[to].curr)
		return;
	s->f.kicks++;
	ask(s, cpu, (uint32_t)to);
}

static void pull_to_busy(struct sim *s, uint32_t cpu, uint32_t victim)
{
	struct sim_task *t;
	uint64_t since;

	if (victim == SIM_NONE || s->pcpu[victim].nr_runnable < s->pcpu[cpu].nr_runnable + 2)
		return;
	t = movable(s, victim, cpu, false);
	if (!t)
		return;
	since = t->rt.wait_start_ns;
	detach(s, victim, cpu, t);
	policy_queued(&s->pcpu[cpu], (s32)cpu, &t->rt, s->now);
	t->rt.wait_start_ns = since;
	t->rt.queue_cpu = (s32)cpu;
	if (sim_queue_push(s, cpu, t))
		sim_fail(s, "not enough memory for a queue");
	s->f.balance_pulls++;
}

static uint32_t any_idle(struct sim *s, uint32_t cpu)
{
	for (uint32_t i = 0; i < s->pm.nr_llcs; i++) {
		const struct roost_llc *l = &s->pllc[(s->pcpu[cpu].llc + i) % s->pm.nr_llcs];

		for (uint32_t w = l->first_word; w < l->first_word + l->nr_words; w++)
			if (s->pword[w].idle)
				return s->pword[w].cpu_word * 64 + (uint32_t)__builtin_ctzll(s->pword[w].idle);
	}
	return SIM_NONE;
}

static void tick_kernel(struct sim *s, uint32_t cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];
	uint64_t unit = (uint64_t)sim_cost(s, COST_BALANCE_MIN);
	uint32_t weight = s->pllc[s->pcpu[cpu].llc].weight, idle;

	if (c->nr_queue && s->now - s->last_nohz_ns >= (uint64_t)sim_cost(s, COST_TICK)) {
		idle = any_idle(s, cpu);
		if (idle != SIM_NONE && movable(s, cpu, idle, true)) {
			struct sim_task *t = movable(s, cpu, idle, true);

			s->last_nohz_ns = s->now;
			policy_take((s32)idle, true, 0);
			detach(s, cpu, idle, t);
			s->f.balance_pulls++;
			s->cpus[idle].direct = t->id;
			t->direct = 1;
			sim_kick_idle(s, cpu, idle, machine_pass_ns(s, cpu));
			return;
		}
	}
	if (s->now < c->next_balance_ns)
		return;
	/* An interval of weight milliseconds, 16 times that on a busy CPU (one unit here is a tick). */
	c->next_balance_ns = s->now + unit * (weight > 16 ? weight : 16);
	sim_charge(s, cpu, llc_pass_ns(s, cpu));
	pull_to_busy(s, cpu, busiest_of(s, s->pcpu[cpu].llc, cpu));
	if (s->now < c->next_far_ns || s->pm.nr_llcs < 2)
		return;
	c->next_far_ns = s->now + unit * s->nr_online;
	sim_charge(s, cpu, machine_pass_ns(s, cpu));
	pull_to_busy(s, cpu, busiest_far(s, cpu));
}

void sim_tick_balance(struct sim *s, uint32_t cpu)
{
	if (s->cfg->pull == SIM_PULL_ROOST)
		tick_roost(s, cpu);
	else
		tick_kernel(s, cpu);
}
