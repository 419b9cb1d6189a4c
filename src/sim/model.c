/* SPDX-License-Identifier: GPL-2.0-only */
/* What things cost: lines, locks, caches, idle states. The figures come from the machine; docs/model.md. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"

enum topo_distance sim_distance(const struct sim *s, uint32_t a, uint32_t b)
{
	return topology_distance(s->m, a, b);
}

static int setup_cpus(struct sim *s)
{
	const struct machine *m = s->m;

	for (uint32_t i = 0; i < s->nr_cpus; i++) {
		const struct machine_cpu *mc = &m->cpus[i];
		struct roost_cpu *p = &s->pcpu[i];
		struct sim_cpu *c = &s->cpus[i];

		c->direct = SIM_NONE;
		c->lock_owner = i;
		c->last_ns = s->now;
		c->avg_idle_ns = 2 * (uint64_t)sim_cost(s, COST_MIGRATION_COST);
		p->pull_from = -1;
		if (!mc->online)
			continue;
		s->nr_online++;
		p->flags = ROOST_CPU_ONLINE;
		p->llc = (uint32_t)mc->llc;
		p->node = (uint32_t)mc->node;
		p->core = m->core_cpus[m->cores[mc->core].first];
		p->capacity = p->capacity_max = mc->capacity;
		p->util_stamp_ns = s->now;
		c->speed_alone = 1000u * mc->capacity / TOPO_CAPACITY_FULL;
		c->speed_shared = (uint32_t)sim_cost(s, COST_SMT_SPEED) * mc->capacity / TOPO_CAPACITY_FULL;
		if (!c->speed_alone || !c->speed_shared)
			c->speed_alone = c->speed_shared = 1;
		if (m->cores[mc->core].count > ROOST_MAX_SIBLINGS)
			return sim_error(s->err, -ERANGE, "machine %s: a core with %u threads; the limit is %d", m->name,
					 m->cores[mc->core].count, ROOST_MAX_SIBLINGS);
		p->nr_siblings = m->cores[mc->core].count;
		for (uint32_t j = 0; j < p->nr_siblings; j++)
			p->siblings[j] = (u16)m->core_cpus[m->cores[mc->core].first + j];
	}
	return 0;
}

static void setup_llcs(struct sim *s)
{
	const struct machine *m = s->m;
	uint32_t word = 0;

	for (uint32_t l = 0; l < m->nr_llcs; l++) {
		struct roost_llc *p = &s->pllc[l];
		uint32_t last = UINT32_MAX;

		p->id = l;
		p->node = (uint32_t)m->llcs[l].parent;
		p->first_word = word;
		p->weight = p->scan_depth = m->llcs[l].count;
		p->depth_stamp_ns = s->now;
		for (uint32_t j = 0; j < m->llcs[l].count; j++) {
			uint32_t cpu = m->llc_cpus[m->llcs[l].first + j];
			struct roost_llc_word *w;

			if (cpu / 64 != last) {
				last = cpu / 64;
				s->pword[word].cpu_word = last;
				word++;
			}
			w = &s->pword[word - 1];
			w->member |= UINT64_C(1) << cpu % 64;
			s->pcpu[cpu].word = word - 1;
			if (s->pcpu[cpu].nr_siblings > 1)
				p->smt = 1;
		}
		p->nr_words = word - p->first_word;
	}
	s->pm.nr_words = word;
}

int sim_model_setup(struct sim *s)
{
	int ret;

	s->nr_cpus = s->m->nr_cpu_ids;
	s->nr_words = (s->nr_cpus + 63) / 64;
	s->pcpu = calloc(s->nr_cpus, sizeof(*s->pcpu));
	s->cpus = calloc(s->nr_cpus, sizeof(*s->cpus));
	s->pllc = calloc(s->m->nr_llcs, sizeof(*s->pllc));
	s->pword = calloc(s->m->nr_online + s->m->nr_llcs, sizeof(*s->pword));
	s->ext = calloc(s->nr_cpus, sizeof(*s->ext));
	s->core_fill = calloc(s->m->nr_cores, sizeof(*s->core_fill));
	s->llc_fill = calloc(s->m->nr_llcs, sizeof(*s->llc_fill));
	s->loadavg_llc = calloc(s->m->nr_llcs, sizeof(*s->loadavg_llc));
	if (!s->pcpu || !s->cpus || !s->pllc || !s->pword || !s->ext || !s->core_fill || !s->llc_fill || !s->loadavg_llc)
		return sim_error(s->err, -ENOMEM, "not enough memory for %u CPUs", s->nr_cpus);
	s->pm = (struct roost_machine){
		.abi_version = ROOST_ABI_VERSION, .nr_cpu_ids = s->nr_cpus, .nr_llcs = s->m->nr_llcs,
		.nr_nodes = s->m->nr_nodes, .smt = s->m->smt_max > 1, .nr_possible = s->m->nr_possible,
	};
	ret = setup_cpus(s);
	if (ret)
		return ret;
	setup_llcs(s);
	s->line_ns[TOPO_SELF] = 0;
	s->line_ns[TOPO_SMT] = (uint32_t)sim_cost(s, COST_LINE_SMT);
	s->line_ns[TOPO_LLC] = (uint32_t)sim_cost(s, COST_LINE_LLC);
	s->line_ns[TOPO_NODE] = s->line_ns[TOPO_SOCKET] = (uint32_t)sim_cost(s, COST_LINE_FAR);
	s->line_ns[TOPO_MACHINE] = (uint32_t)sim_cost(s, COST_LINE_SOCKET);
	s->ipi_ns[TOPO_SELF] = 0;
	s->ipi_ns[TOPO_SMT] = s->ipi_ns[TOPO_LLC] = (uint32_t)sim_cost(s, COST_IPI_LLC);
	s->ipi_ns[TOPO_NODE] = s->ipi_ns[TOPO_SOCKET] = (uint32_t)sim_cost(s, COST_IPI_FAR);
	s->ipi_ns[TOPO_MACHINE] = (uint32_t)sim_cost(s, COST_IPI_SOCKET);
	return 0;
}

/* A lock or a line taken at `at` by `cpu`: it waits until the line is free, and moves it from its last owner. */
static uint64_t share_at(struct sim *s, struct sim_shared *l, uint32_t cpu, uint64_t line_ns, uint64_t hold_ns, uint64_t at)
{
	uint64_t wait = l->free_ns > at ? l->free_ns - at : 0;
	uint64_t cost = wait + line_ns;

	s->f.lock_wait_ns += wait;
	l->free_ns = at + cost + hold_ns;
	l->owner = cpu;
	return cost + hold_ns;
}

uint64_t sim_share(struct sim *s, struct sim_shared *l, uint32_t cpu, uint64_t lines, uint64_t hold_ns)
{
	return share_at(s, l, cpu, lines * s->line_ns[sim_distance(s, l->owner, cpu)], hold_ns, s->now);
}

/*
 * The group's load sum: one line for the whole machine. A queue reads it whenever a task is enqueued or dequeued, for
 * the group's share, and adds to it when its own load has changed: a task came from another CPU, one of its own was
 * taken in by another, or a millisecond of the running average has gone by. A write takes the line from all that have
 * read it, so the farthest of them sets the price, and writes follow one another; reads do not hold each other up.
 */
#define LOADAVG_DECAY_NS 1024000

static uint64_t loadavg_read(struct sim *s, uint32_t by, uint64_t at)
{
	enum topo_distance d = sim_distance(s, s->loadavg.owner, by);
	struct sim_cpu *c = &s->cpus[by];
	uint32_t llc = s->pcpu[by].llc;
	uint64_t wait;

	if (c->loadavg_seen == s->loadavg_writes)
		return 0;
	c->loadavg_seen = s->loadavg_writes;
	if (d > s->loadavg_reach)
		s->loadavg_reach = d;
	if (s->loadavg_llc[llc] == s->loadavg_writes)
		return s->line_ns[TOPO_LLC];
	s->loadavg_llc[llc] = s->loadavg_writes;
	wait = s->loadavg.free_ns > at ? s->loadavg.free_ns - at : 0;
	s->f.lock_wait_ns += wait;
	return wait + s->line_ns[d];
}

static uint64_t loadavg_write(struct sim *s, uint32_t by, uint32_t cpu, uint64_t at)
{
	enum topo_distance d = sim_distance(s, s->loadavg.owner, by);
	struct sim_cpu *c = &s->cpus[cpu];
	uint64_t period = (uint64_t)sim_cost(s, COST_LOADAVG_NS);

	if (period && s->now - c->loadavg_ns < period)
		return 0;
	c->loadavg_ns = s->now;
	c->loadavg_removed = 0;
	s->cpus[by].loadavg_seen = s->loadavg_llc[s->pcpu[by].llc] = ++s->loadavg_writes;
	if (s->loadavg_reach > d)
		d = s->loadavg_reach;
	s->loadavg_reach = TOPO_SELF;
	return share_at(s, &s->loadavg, by, s->line_ns[d], (uint64_t)sim_cost(s, COST_LOADAVG), at);
}

static uint64_t loadavg(struct sim *s, uint32_t by, uint32_t cpu, bool changed, uint64_t at)
{
	struct sim_cpu *c = &s->cpus[cpu];
	uint64_t ns = 0;

	if (s->cfg->pull != SIM_PULL_KERNEL)
		return 0;
	if (changed || c->loadavg_removed || s->now - c->loadavg_ns >= LOADAVG_DECAY_NS)
		ns = loadavg_write(s, by, cpu, at);
	ns += loadavg_read(s, by, at + ns);
	s->f.load_sum_ns += ns;
	return ns;
}

uint64_t sim_loadavg_tick(struct sim *s, uint32_t cpu)
{
	return loadavg(s, cpu, cpu, false, s->now);
}

static uint64_t lock_rq(struct sim *s, uint32_t by, uint32_t cpu, bool update, bool changed)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct sim_shared l = { c->lock_free_ns, c->lock_owner };
	uint64_t hold = (uint64_t)sim_cost(s, COST_RQ_HOLD), cost;

	cost = share_at(s, &l, by, s->line_ns[sim_distance(s, l.owner, by)], hold, s->now);
	/* the sum is brought up to date under the lock, by whoever holds it: who waits for the lock waits for that too */
	if (update) {
		hold = loadavg(s, by, cpu, changed, s->now + cost);
		l.free_ns += hold;
		cost += hold;
	}
	c->lock_free_ns = l.free_ns;
	c->lock_owner = l.owner;
	return cost;
}

uint64_t sim_lock_rq(struct sim *s, uint32_t by, uint32_t cpu)
{
	return lock_rq(s, by, cpu, false, false);
}

uint64_t sim_lock_rq_update(struct sim *s, uint32_t by, uint32_t cpu, bool changed)
{
	return lock_rq(s, by, cpu, true, changed);
}

/*
 * Caches. Each core and each LLC counts the bytes brought into it since the start. A task notes the counts when
 * it stops; what was brought in by others since then has pushed out that much of what the task left there. The
 * first touch after a switch refills the rest: from the LLC if it is still there, else from afar.
 */
static uint64_t left_in(uint64_t bytes, uint64_t size, uint64_t fill_now, uint64_t fill_then)
{
	uint64_t kept = bytes < size ? bytes : size, room = size - kept, pushed = fill_now - fill_then;

	if (pushed <= room)
		return kept;
	pushed -= room;
	return pushed < kept ? kept - pushed : 0;
}

uint64_t sim_cache_refill(struct sim *s, struct sim_task *t, uint32_t cpu)
{
	const struct machine_cpu *mc = &s->m->cpus[cpu];
	uint64_t l2 = (uint64_t)sim_cost(s, COST_L2), l3 = (uint64_t)sim_cost(s, COST_L3);
	uint64_t want = t->footprint < l2 ? t->footprint : l2, in_l2 = 0, in_l3 = 0, miss, ns, rest;
	enum cost_id from;

	if (!want)
		return 0;
	if (t->l2_core == mc->core)
		in_l2 = left_in(want, l2, s->core_fill[mc->core], t->l2_mark);
	miss = want - in_l2;
	if (!miss)
		return 0;
	if (t->l3_llc == mc->llc)
		in_l3 = left_in(miss, l3, s->llc_fill[mc->llc], t->l3_mark);
	s->core_fill[mc->core] += miss;
	s->f.l2_miss_bytes += miss;
	rest = miss - (in_l3 < miss ? in_l3 : miss);
	ns = (miss - rest) * 1000 / (uint64_t)sim_cost(s, COST_BW_L3);
	if (rest) {
		from = t->l3_llc >= 0 && s->m->llcs[t->l3_llc].parent != mc->node ? COST_BW_REMOTE : COST_BW_CROSS;
		ns += rest * 1000 / (uint64_t)sim_cost(s, from);
		s->llc_fill[mc->llc] += rest;
		s->f.memory_bytes += rest;
	}
	t->l2_core = mc->core;
	t->l3_llc = mc->llc;
	s->f.refill_ns += ns;
	return ns;
}

void sim_cache_left(struct sim *s, struct sim_task *t, uint32_t cpu)
{
	const struct machine_cpu *mc = &s->m->cpus[cpu];

	t->l2_core = mc->core;
	t->l2_mark = s->core_fill[mc->core];
	t->l3_llc = mc->llc;
	t->l3_mark = s->llc_fill[mc->llc];
}

/* ---- idle states, with a governor like menu's: the typical length of the last eight idle periods ---- */
void sim_idle_record(struct sim_cpu *c, uint64_t idle_ns)
{
	c->idle_hist[c->idle_at] = idle_ns < UINT32_MAX ? (uint32_t)idle_ns : UINT32_MAX;
	c->idle_at = (c->idle_at + 1) % 8;
}

/* Mean of the eight without the ones far above it, as menu's get_typical_interval does in spirit. */
static uint64_t typical_idle(const struct sim_cpu *c)
{
	uint64_t limit = UINT64_MAX, mean = 0;

	for (int round = 0; round < 3; round++) {
		uint64_t sum = 0, n = 0;

		for (int i = 0; i < 8; i++)
			if (c->idle_hist[i] <= limit) {
				sum += c->idle_hist[i];
				n++;
			}
		if (!n)
			break;
		mean = sum / n;
		if (n <= 5)
			break;
		limit = 2 * mean;
	}
	return mean;
}

void sim_idle_predict(struct sim *s, struct sim_cpu *c)
{
	static const enum cost_id residency[] = { COST_IDLE1_RES, COST_IDLE2_RES, COST_IDLE3_RES };
	static const enum cost_id exit_ns[] = { COST_IDLE1_EXIT, COST_IDLE2_EXIT, COST_IDLE3_EXIT };
	uint64_t expect = typical_idle(c);

	c->idle_state = 1;
	for (int i = 1; i < 3; i++)
		if (sim_cost(s, exit_ns[i]) && expect >= (uint64_t)sim_cost(s, residency[i]))
			c->idle_state = (uint8_t)(i + 1);
	c->spinning = s->knobs.idle_spin_ns != 0;
	c->spin_until_ns = s->now + s->knobs.idle_spin_ns;
	if (!c->spinning && sim_cost(s, COST_GUEST_POLL)) {
		c->spinning = 1;
		c->spin_until_ns = s->now + (uint64_t)sim_cost(s, COST_GUEST_POLL);
	}
}

uint64_t sim_idle_exit_ns(struct sim *s, uint32_t from, uint32_t cpu, uint64_t *charge)
{
	static const enum cost_id exit_ns[] = { COST_IDLE1_EXIT, COST_IDLE1_EXIT, COST_IDLE2_EXIT, COST_IDLE3_EXIT };
	struct sim_cpu *c = &s->cpus[cpu];
	enum topo_distance d = sim_distance(s, from, cpu);
	uint64_t ns, halted;

	*charge = 0;
	if (c->spinning && s->now < c->spin_until_ns) {
		s->f.kicks_avoided += from != cpu;
		return from == cpu ? 0 : (uint64_t)sim_cost(s, COST_POLL_WAKE) + s->line_ns[d];
	}
	ns = (uint64_t)sim_cost(s, exit_ns[c->idle_state]);
	if (from == cpu || (sim_cost(s, COST_IDLE_MWAIT) && c->idle_state == 1)) {
		/* The CPU's own timer, or a store that the monitored line sees. */
		ns += from == cpu ? 0 : (uint64_t)sim_cost(s, COST_POLL_WAKE) + s->line_ns[d];
		s->f.kicks_avoided += from != cpu;
	} else {
		*charge = (uint64_t)sim_cost(s, COST_IPI_SEND) + (uint64_t)sim_cost(s, COST_GUEST_IPI_EXIT);
		ns += s->ipi_ns[d];
		s->f.kicks++;
	}
	if (sim_cost(s, COST_GUEST)) {
		/* It halted when its window was over; leaving to the host cannot be broken off. */
		halted = (c->spinning ? c->spin_until_ns : c->idle_since_ns) + (uint64_t)sim_cost(s, COST_GUEST_HALT);
		if (halted > s->now)
			ns += halted - s->now;
		ns += (uint64_t)sim_cost(s, COST_GUEST_WAKE);
	}
	s->f.idle_exit_ns += ns;
	return ns;
}
