/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event loop: what a CPU does when its task's op ends, when it is kicked, at its tick.
 *
 * Events: OP (the op of the running task is done), KICK (a wakeup or a preemption reaches a CPU), TICK (busy CPUs
 * only), EXT (a slice extension ends), TIMER (the workload's), TASK (a sleep ends).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/env_sim.h"

struct sim *sim_now_running;

int sim_fail(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	if (s->stop < 0)
		return s->stop;
	va_start(ap, fmt);
	vsnprintf(s->err->text, sizeof(s->err->text), fmt, ap);
	va_end(ap);
	return s->stop = -EPROTO;
}

/* ---- the CPU's progress ---- */
static uint32_t cpu_speed(const struct sim *s, uint32_t cpu)
{
	const struct roost_cpu *p = &s->pcpu[cpu];

	for (uint32_t i = 0; i < p->nr_siblings; i++)
		if (p->siblings[i] != cpu && s->cpus[p->siblings[i]].curr)
			return s->cpus[cpu].speed_shared;
	return s->cpus[cpu].speed_alone;
}

/* Brings the work done and the times up to now. */
static void progress(struct sim *s, uint32_t cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct sim_task *t = c->curr;
	uint64_t elapsed = s->now - c->last_ns, done, sys;

	c->last_ns = s->now;
	if (!t) {
		c->idle_ns += elapsed;
		return;
	}
	if (!elapsed)
		return;
	t->run_ns += elapsed;
	if (t->op_user) {
		sys = elapsed < c->sys_first_ns ? elapsed : c->sys_first_ns;
		c->sys_first_ns -= sys;
		c->sys_ns += sys;
		c->user_ns += elapsed - sys;
	} else {
		c->sys_ns += elapsed;
	}
	if (t->op_spin)
		return;
	done = elapsed * c->speed / 1000;
	t->work_left = t->work_left > done ? t->work_left - done : 0;
}

/* Sets the OP event from what is left to do; call after progress(). */
static void arm(struct sim *s, uint32_t cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];

	c->speed = cpu_speed(s, cpu);
	if (c->curr->op_spin)
		evq_clear(&s->q, slot_op(s, cpu));
	else
		evq_set(&s->q, slot_op(s, cpu), s->now + (c->curr->work_left * 1000 + c->speed - 1) / c->speed);
}

/* The siblings of a CPU that became busy or idle run slower or faster from now on. */
static void siblings_changed(struct sim *s, uint32_t cpu)
{
	const struct roost_cpu *p = &s->pcpu[cpu];

	for (uint32_t i = 0; i < p->nr_siblings; i++) {
		uint32_t sib = p->siblings[i];

		if (sib == cpu || !s->cpus[sib].curr || cpu_speed(s, sib) == s->cpus[sib].speed)
			continue;
		progress(s, sib);
		arm(s, sib);
	}
}

/* On an idle CPU it happens at once, beside its idling; on a busy one its task pays when its op is over. */
void sim_charge(struct sim *s, uint32_t cpu, uint64_t ns)
{
	struct sim_cpu *c = &s->cpus[cpu];

	if (!c->idle) {
		c->charge_ns += ns;
		return;
	}
	c->busy_until_ns = (c->busy_until_ns > s->now ? c->busy_until_ns : s->now) + ns;
	c->idle_work_ns += ns;
}

void sim_interrupt(struct sim *s, uint32_t cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];
	uint64_t charge;

	if (c->idle && !c->waking) {
		uint64_t ns = sim_idle_exit_ns(s, cpu, cpu, &charge);

		sim_idle_record(c, s->now - c->idle_from_ns);
		c->idle_from_ns = s->now;
		sim_idle_predict(s, c);
		if (c->busy_until_ns < s->now + ns)
			c->busy_until_ns = s->now + ns;
	}
	sim_charge(s, cpu, (uint64_t)sim_cost(s, COST_IRQ));
}

/* ---- from one task to the next ---- */
static void stop_grant(struct sim *s, uint32_t cpu, struct sim_task *t)
{
	switch (roost_ext_at_stop(&s->knobs, &t->rt, &s->ext[cpu], t->in_section, s->now)) {
	case ROOST_EXT_END_EXPIRED:
		s->f.ext_expired++;
		break;
	case ROOST_EXT_END_GIVEN_BACK:
		s->f.ext_yields++;
		break;
	default:
		break;
	}
	if (t->granted == ROOST_EXT_GRANTED)
		t->granted = ROOST_EXT_SPENT;
	evq_clear(&s->q, slot_ext(s, cpu));
}

/* The running task gives the CPU up, still runnable or not. */
static struct sim_task *take_off(struct sim *s, uint32_t cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct sim_task *t = c->curr;

	progress(s, cpu);
	policy_charge(&t->rt, s->now);
	policy_task_averages(&t->rt, s->now, true);
	if (t->rt.ext_end_ns)
		stop_grant(s, cpu, t);
	t->rt.run_start_ns = 0;
	t->last_off_ns = s->now;
	policy_end(&s->pcpu[cpu]);
	sim_cache_left(s, t, cpu);
	c->curr = NULL;
	if (s->cfg->timeline)
		sim_tl_run(s, cpu, t, c->on_since_ns, s->now);
	evq_clear(&s->q, slot_op(s, cpu));
	return t;
}

static void put_back(struct sim *s, uint32_t cpu, bool yielded)
{
	struct sim_task *t = take_off(s, cpu);
	struct roost_cpu *p = &s->pcpu[cpu];

	if (yielded)
		t->rt.flags |= ROOST_TASK_YIELDED;
	/* A deadline that is over is followed by the next; one that is not stays. */
	if (yielded || !policy_before(t->rt.vruntime, t->rt.deadline))
		sim_set_deadline(s, t, p->nr_runnable);
	t->rt.flags &= ~ROOST_TASK_YIELDED;
	t->state = SIM_TASK_QUEUED;
	policy_queued(p, (s32)cpu, &t->rt, s->now);
	t->rt.queue_cpu = (s32)cpu;
	if (sim_queue_push(s, cpu, t))
		sim_fail(s, "not enough memory for a queue");
}

static void go_idle(struct sim *s, uint32_t cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];

	policy_cpu_busy(&s->pcpu[cpu], s->now, false);
	c->idle = 1;
	c->waking = 0;
	c->idle_since_ns = c->idle_from_ns = s->now;
	c->busy_until_ns = s->now + c->charge_ns + (uint64_t)(sim_cost(s, COST_BLOCK) + sim_cost(s, COST_SWITCH_IDLE));
	c->charge_ns = 0;
	sim_idle_predict(s, c);
	policy_went_idle(&s->pcpu[cpu], (s32)cpu, s->now);
	evq_clear(&s->q, slot_tick(s, cpu));
	siblings_changed(s, cpu);
}

static void leave_idle(struct sim *s, uint32_t cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];
	uint64_t idle = s->now - c->idle_since_ns, period = (uint64_t)sim_cost(s, COST_TICK), phase;
	uint64_t cap = 2 * (uint64_t)sim_cost(s, COST_MIGRATION_COST);

	progress(s, cpu);
	policy_cpu_busy(&s->pcpu[cpu], s->now, true);
	c->idle = 0;
	c->waking = 0;
	c->avg_idle_ns += (uint64_t)((int64_t)((idle < cap ? idle : cap) - c->avg_idle_ns) / 8);
	if (c->spinning)
		c->spin_ns += s->now < c->spin_until_ns ? idle : s->knobs.idle_spin_ns < idle ? s->knobs.idle_spin_ns : idle;
	policy_left_idle(&s->pcpu[cpu], (s32)cpu, s->now);
	/* Ticks keep their phase, spread over the CPUs. */
	phase = period * cpu / s->nr_cpus;
	evq_set(&s->q, slot_tick(s, cpu), (s->now - phase) / period * period + period + phase);
}

static struct sim_task *pick(struct sim *s, uint32_t cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct sim_task *t;

	if (c->direct != SIM_NONE) {
		t = &s->tasks[c->direct];
		c->direct = SIM_NONE;
		t->direct = 0;
		return t;
	}
	if (!c->nr_queue)
		return NULL;
	t = &s->tasks[c->queue[0].task];
	sim_queue_remove(s, cpu, t);
	policy_unqueued(&s->pcpu[cpu], (s32)cpu, &t->rt);
	return t;
}

static void note_migration(struct sim *s, uint32_t cpu, struct sim_task *t)
{
	enum topo_distance d;

	if (t->rt.prev_cpu == (s32)cpu)
		return;
	if (t->rt.prev_cpu >= 0) {
		d = sim_distance(s, (uint32_t)t->rt.prev_cpu, cpu);
		t->nr_migrations++;
		s->f.migrations++;
		s->f.migrations_by[d]++;
	}
	t->rt.recent_cpu = t->rt.prev_cpu;
	t->rt.prev_cpu = (s32)cpu;
}

/* t runs on cpu from now on; it first pays for the switch. */
static void put_on(struct sim *s, uint32_t cpu, struct sim_task *t, bool from_idle)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct roost_cpu *p = &s->pcpu[cpu];
	uint64_t wait, cost;

	sim_check_run(s, t, cpu);
	wait = s->now - t->rt.wait_start_ns;
	policy_task_averages(&t->rt, s->now, false);
	t->rt.wait_start_ns = 0;
	t->wait_ns += wait;
	s->f.run_delay_ns += wait;
	if (wait > s->f.run_delay_max_ns)
		s->f.run_delay_max_ns = wait;
	if (t->woken_ns) {
		hist_add(s->wake_latency, s->now - t->woken_ns);
		t->woken_ns = 0;
	}
	note_migration(s, cpu, t);
	policy_begin(p, &t->rt, s->now);
	if (from_idle && s->cfg->pull == SIM_PULL_ROOST)
		policy_lead_update(p, true);
	t->state = SIM_TASK_RUNNING;
	s->f.switches++;
	cost = (uint64_t)(from_idle ? sim_cost(s, COST_SWITCH_IDLE) : sim_cost(s, COST_SWITCH));
	cost += sim_cache_refill(s, t, cpu) + sim_lock_rq(s, cpu, cpu) + c->charge_ns;
	c->charge_ns = 0;
	c->sys_first_ns += cost;
	if (!t->op_spin)
		t->work_left += cost;
	c->curr = t;
	c->need_resched = 0;
	c->on_since_ns = s->now;
	c->last_ns = s->now;
	arm(s, cpu);
	if (from_idle)
		siblings_changed(s, cpu);
}

/* Nothing runs here: find what does next. was_idle: the CPU comes out of its idle state. */
static void schedule(struct sim *s, uint32_t cpu, bool was_idle)
{
	struct sim_task *t = NULL;

	if (s->pcpu[cpu].pull_from >= 0 && s->cpus[cpu].direct == SIM_NONE)
		t = sim_pull_asked(s, cpu);
	if (!t)
		t = pick(s, cpu);
	if (!t && !s->stop)
		t = sim_pull(s, cpu);
	if (t)
		put_on(s, cpu, t, was_idle);
	else
		go_idle(s, cpu);
}

/*
 * A preemption is due. A section may get its extension first. A system call is not interrupted (the kernels of the
 * published results were not preemptible inside one): it happens on its way out.
 */
static void preempt(struct sim *s, uint32_t cpu, bool leaving)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct sim_task *t = c->curr;

	if (!leaving && !t->op_user && !t->op_spin && s->pcpu[cpu].pull_from < 0) {
		c->need_resched = 1;
		return;
	}
	c->need_resched = 0;
	if (!c->nr_queue && c->direct == SIM_NONE && s->pcpu[cpu].pull_from < 0)
		return;
	if (t->in_section || t->rt.ext_end_ns) {
		switch (roost_ext_at_preempt(&s->knobs, &t->rt, &s->ext[cpu], t->in_section, t->granted, s->now)) {
		case ROOST_EXT_GRANT:
			t->granted = ROOST_EXT_GRANTED;
			s->f.ext_grants++;
			evq_set(&s->q, slot_ext(s, cpu), t->rt.ext_end_ns);
			return;
		case ROOST_EXT_HOLD:
			return;
		default:
			break;
		}
	}
	s->f.preemptions++;
	put_back(s, cpu, false);
	schedule(s, cpu, false);
}

bool sim_section_leave(struct sim *s, struct sim_task *t)
{
	bool yield = t->granted == ROOST_EXT_GRANTED;

	t->in_section = 0;
	t->granted = 0;
	return yield;
}

static void block(struct sim *s, uint32_t cpu, uint8_t state)
{
	struct sim_task *t = take_off(s, cpu);

	t->state = state;
	t->work_left = 0;
	t->op_spin = 0;
	policy_util_hold(&t->rt.util);
	policy_count_out(&t->rt, s->now);
	sim_charge(s, cpu, sim_lock_rq_update(s, cpu, cpu, false));
	if (state == SIM_TASK_EXITED && --s->nr_alive == 0 && !s->stop)
		s->stop = 1;
}

/* The op of the running task is done: what next? */
static void next_op(struct sim *s, uint32_t cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct sim_task *t = c->curr;
	struct sim_op op = { .act = SIM_RUN };

	s->cfg->workload->step(s, t, &op);
	if (s->stop)
		return;
	switch (op.act) {
	case SIM_RUN:
		t->op_user = op.user;
		t->op_spin = op.spin;
		t->work_left = (op.spin ? 0 : op.ns) + c->charge_ns;
		c->sys_first_ns += c->charge_ns;
		c->charge_ns = 0;
		if (!t->work_left) /* nothing is free: time must go on, whatever the figures are */
			t->work_left = 1;
		arm(s, cpu);
		if (c->need_resched)
			preempt(s, cpu, true);
		return;
	case SIM_YIELD:
		if (!c->nr_queue) {
			t->work_left = (uint64_t)sim_cost(s, COST_SYSCALL) + c->charge_ns + 1;
			t->op_user = t->op_spin = 0;
			c->charge_ns = 0;
			if (t->rt.ext_end_ns)
				stop_grant(s, cpu, t);
			arm(s, cpu);
			return;
		}
		t->work_left = 0;
		t->op_spin = 0;
		put_back(s, cpu, true);
		break;
	case SIM_SLEEP:
		evq_set(&s->q, slot_task(s, t->id), s->now + op.ns);
		block(s, cpu, SIM_TASK_BLOCKED);
		break;
	case SIM_BLOCK:
		block(s, cpu, SIM_TASK_BLOCKED);
		break;
	case SIM_EXIT:
		block(s, cpu, SIM_TASK_EXITED);
		break;
	}
	if (s->stop >= 0)
		schedule(s, cpu, false);
}

void sim_spin_end(struct sim *s, struct sim_task *t, uint64_t ns)
{
	uint32_t cpu = (uint32_t)t->rt.cpu;

	if (!t->op_spin)
		return;
	if (t->state == SIM_TASK_RUNNING) {
		progress(s, cpu);
		t->op_spin = 0;
		t->work_left = ns;
		arm(s, cpu);
	} else {
		t->op_spin = 0;
		t->work_left = ns;
	}
}

/* ---- events ---- */
void sim_kicked(struct sim *s, uint32_t cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];

	if (c->idle) {
		leave_idle(s, cpu);
		schedule(s, cpu, true);
	} else if (c->curr && s->pcpu[cpu].pull_from >= 0) {
		progress(s, cpu);
		preempt(s, cpu, false);
	} else if (c->curr && c->nr_queue && sim_preempts(s, cpu, &s->tasks[c->queue[0].task])) {
		progress(s, cpu);
		preempt(s, cpu, false);
	}
}

/*
 * At a tick: has the running task had its time? roost, and the kernel since 6.6: its deadline is over. Before: it ran for its
 * part of the latency, or leads the first of the queue by that much; less than a slice is never taken away here.
 */
static bool slice_over(struct sim *s, uint32_t cpu)
{
	uint64_t latency = (uint64_t)sim_cost(s, COST_LATENCY), least = (uint64_t)sim_cost(s, COST_SLICE), ran, part;
	struct sim_cpu *c = &s->cpus[cpu];
	struct sim_task *t = c->curr;

	if (s->cfg->pull != SIM_PULL_KERNEL || !latency)
		return !policy_before(t->rt.vruntime, t->rt.deadline);
	part = latency / (s->pcpu[cpu].nr_runnable ? s->pcpu[cpu].nr_runnable : 1);
	if (part < least)
		part = least;
	ran = s->now - c->on_since_ns;
	if (ran > part)
		return true;
	return ran >= least && c->nr_queue &&
	       (int64_t)(t->rt.vruntime - s->tasks[c->queue[0].task].rt.vruntime) > (int64_t)part;
}

static void tick(struct sim *s, uint32_t cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct roost_cpu *p = &s->pcpu[cpu];
	struct sim_task *t = c->curr;
	uint64_t cost = (uint64_t)sim_cost(s, COST_TICK_COST) + sim_loadavg_tick(s, cpu);
	uint32_t waits = p->preempt_due;
	bool due = waits && !policy_protected(p, c->on_since_ns, s->now);

	evq_set(&s->q, slot_tick(s, cpu), s->now + (uint64_t)sim_cost(s, COST_TICK));
	if (!t)
		return;
	progress(s, cpu);
	policy_charge(&t->rt, s->now);
	policy_begin(p, &t->rt, s->now);
	p->preempt_due = waits; /* the same task goes on */
	policy_task_averages(&t->rt, s->now, true);
	policy_cpu_averages(p, s->now);
	policy_depth_update(p->llc, s->now, POLICY_DEPTH_INTERVAL_NS);
	if (s->cfg->pull == SIM_PULL_ROOST)
		policy_lead_update(p, false);
	sim_tick_balance(s, cpu);
	if (t->op_spin) {
		c->sys_first_ns += cost;
	} else {
		t->work_left += cost;
		c->sys_first_ns += cost;
		arm(s, cpu);
	}
	if (!due && !slice_over(s, cpu))
		return;
	if (c->nr_queue || c->direct != SIM_NONE)
		preempt(s, cpu, false);
	else
		sim_set_deadline(s, t, p->nr_runnable);
}

static void dispatch_event(struct sim *s, uint32_t slot)
{
	uint32_t n = s->nr_cpus, cpu = slot % n;

	if (slot < n) {
		progress(s, cpu);
		s->cpus[cpu].curr->work_left = 0;
		next_op(s, cpu);
	} else if (slot < 2 * n) {
		sim_kicked(s, cpu);
	} else if (slot < 3 * n) {
		tick(s, cpu);
	} else if (slot < 4 * n) {
		if (s->cpus[cpu].curr && roost_ext_at_timer(&s->ext[cpu], s->now)) {
			progress(s, cpu);
			preempt(s, cpu, false);
		}
	} else if (slot < 4 * n + s->nr_timers) {
		s->cfg->workload->timer(s, slot - 4 * n);
	} else {
		struct sim_task *t = &s->tasks[slot - 4 * n - s->nr_timers];

		sim_interrupt(s, (uint32_t)t->rt.prev_cpu);
		sim_wake(s, (uint32_t)t->rt.prev_cpu, t, SIM_WAKE_IRQ);
	}
}

void sim_timer_set(struct sim *s, uint32_t index, uint64_t at)
{
	evq_set(&s->q, slot_timer(s, index), at < s->now ? s->now : at);
}

void sim_latency(struct sim *s, uint64_t ns)
{
	hist_add(s->latency, ns);
}

void sim_finish(struct sim *s)
{
	if (!s->stop)
		s->stop = 1;
}

struct sim_task *sim_task_new(struct sim *s, int nice, uint32_t footprint)
{
	struct sim_task *t;

	if (s->nr_tasks == s->cap_tasks)
		return NULL;
	t = &s->tasks[s->nr_tasks];
	*t = (struct sim_task){
		.id = s->nr_tasks, .nice = (int8_t)nice, .footprint = footprint, .l2_core = -1, .l3_llc = -1,
		.qpos = SIM_NONE, .next = SIM_NONE, .state = SIM_TASK_BLOCKED,
		.rt = { .weight = policy_weight(nice, false), .cpu = -1, .count_cpu = -1, .queue_cpu = -1,
			.prev_cpu = -1, .recent_cpu = -1, .pid = s->nr_tasks + 1,
			.util = { .stamp_ns = s->now, .avg = ROOST_UTIL_NEW }, .runnable_avg = ROOST_UTIL_ONE },
	};
	s->nr_tasks++;
	s->nr_alive++;
	return t;
}

int sim_mask_add(struct sim *s, const struct sim_mask *m, uint16_t *index)
{
	uint32_t weight = 0;

	for (uint32_t i = 0; i < s->nr_masks; i++)
		if (i && !memcmp(s->masks[i], m, sizeof(*m))) {
			*index = (uint16_t)i;
			return 0;
		}
	for (uint32_t i = 0; i < s->nr_cpus; i++)
		weight += s->m->cpus[i].online && (m->word[i / 64] >> i % 64 & 1);
	if (!weight)
		return sim_error(s->err, -EINVAL, "cpus: none of them is online on machine %s", s->m->name);
	if (s->nr_masks == SIM_MASKS_MAX)
		return sim_error(s->err, -E2BIG, "cpus: more than %d different sets", SIM_MASKS_MAX - 1);
	s->masks[s->nr_masks] = malloc(sizeof(*m));
	if (!s->masks[s->nr_masks])
		return sim_error(s->err, -ENOMEM, "not enough memory");
	memcpy(s->masks[s->nr_masks], m, sizeof(*m));
	s->mask_weight[s->nr_masks] = weight;
	*index = (uint16_t)s->nr_masks++;
	return 0;
}

static uint64_t wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void loop(struct sim *s)
{
	uint64_t end = s->cfg->end_ns ? SIM_EPOCH_NS + s->cfg->end_ns : SIM_FOREVER;

	while (!s->stop && s->q.nr) {
		struct evq_entry e = s->q.heap[0];
		uint32_t slot;

		if (e.time > end) {
			s->now = end;
			s->f.cut = 1;
			s->stop = 1;
			break;
		}
		if (e.time < s->now) {
			sim_fail(s, "time went backwards");
			break;
		}
		s->now = e.time;
		slot = evq_fire(&s->q);
		dispatch_event(s, slot);
		evq_fired(&s->q, slot);
		if (++s->events >= s->next_check && s->stop >= 0) {
			sim_check(s);
			s->next_check = s->events + (s->cfg->check_every ? s->cfg->check_every : 100000);
		}
	}
	if (!s->stop)
		sim_fail(s, "nothing can happen any more, and %u of %u tasks still wait: the workload waits for itself",
			 s->nr_alive, s->nr_tasks);
}

static void totals(struct sim *s)
{
	struct sim_figures *f = &s->f;
	uint64_t work;

	for (uint32_t i = 0; i < s->nr_cpus; i++) {
		if (!s->m->cpus[i].online)
			continue;
		progress(s, i);
		f->user_ns += s->cpus[i].user_ns;
		f->sys_ns += s->cpus[i].sys_ns;
		/* what interrupts did on a CPU that idled; at most all of it */
		work = s->cpus[i].idle_work_ns < s->cpus[i].idle_ns ? s->cpus[i].idle_work_ns : s->cpus[i].idle_ns;
		f->sys_ns += work;
		f->idle_ns += s->cpus[i].idle_ns - work;
		f->spin_ns += s->cpus[i].spin_ns;
	}
	f->sim_ns = s->now - SIM_EPOCH_NS;
	f->events = s->events;
	f->nr_tasks = s->nr_tasks;
	f->latency_count = s->latency->count;
	f->latency_ns[0] = hist_quantile(s->latency, 0.5);
	f->latency_ns[1] = hist_quantile(s->latency, 0.9);
	f->latency_ns[2] = hist_quantile(s->latency, 0.95);
	f->latency_ns[3] = hist_quantile(s->latency, 0.99);
	f->latency_p999_ns = hist_quantile(s->latency, 0.999);
	f->latency_max_ns = s->latency->max;
	f->wake_latency_ns[0] = hist_quantile(s->wake_latency, 0.5);
	f->wake_latency_ns[1] = hist_quantile(s->wake_latency, 0.99);
	f->wake_latency_ns[2] = hist_quantile(s->wake_latency, 0.999);
}

static void free_run(struct sim *s)
{
	for (uint32_t i = 1; i < s->nr_masks; i++)
		free(s->masks[i]);
	for (uint32_t i = 0; s->cpus && i < s->nr_cpus; i++)
		free(s->cpus[i].queue);
	free(s->masks);
	free(s->mask_weight);
	free(s->pcpu);
	free(s->cpus);
	free(s->pllc);
	free(s->pword);
	free(s->ext);
	free(s->core_fill);
	free(s->llc_fill);
	free(s->loadavg_llc);
	free(s->tasks);
	free(s->latency);
	free(s->wake_latency);
	evq_free(&s->q);
}

static int allocate(struct sim *s)
{
	const struct sim_config *cfg = s->cfg;

	s->cap_tasks = cfg->workload->nr_tasks(cfg->workload_args, cfg->machine);
	if (s->cap_tasks > SIM_MAX_TASKS)
		return sim_error(s->err, -E2BIG, "%s: %u tasks; the limit is %d", cfg->workload->name, s->cap_tasks,
				 SIM_MAX_TASKS);
	s->nr_timers = cfg->workload->nr_timers ? cfg->workload->nr_timers(cfg->workload_args, cfg->machine) : 0;
	s->tasks = calloc(s->cap_tasks, sizeof(*s->tasks));
	s->masks = calloc(SIM_MASKS_MAX, sizeof(*s->masks));
	s->mask_weight = calloc(SIM_MASKS_MAX, sizeof(*s->mask_weight));
	s->latency = malloc(sizeof(*s->latency));
	s->wake_latency = malloc(sizeof(*s->wake_latency));
	s->nr_masks = 1;
	if (!s->tasks || !s->masks || !s->mask_weight || !s->latency || !s->wake_latency ||
	    evq_init(&s->q, 4 * cfg->machine->nr_cpu_ids + s->nr_timers + s->cap_tasks))
		return sim_error(s->err, -ENOMEM, "not enough memory for %u tasks", s->cap_tasks);
	hist_init(s->latency);
	hist_init(s->wake_latency);
	s->f.memory_bytes_used = (uint64_t)s->cap_tasks * (sizeof(*s->tasks) + 20) +
				 cfg->machine->nr_cpu_ids * (sizeof(*s->cpus) + sizeof(*s->pcpu) + 160) +
				 2 * sizeof(struct hist);
	return sim_model_setup(s);
}

int sim_run(const struct sim_config *cfg, struct sim_figures *out, struct sim_error *err)
{
	struct sim *s = calloc(1, sizeof(*s));
	uint64_t started = wall_ns();
	int ret;

	err->text[0] = '\0';
	if (!s)
		return sim_error(err, -ENOMEM, "not enough memory");
	s->cfg = cfg;
	s->m = cfg->machine;
	s->cost = cfg->costs->v;
	s->knobs = cfg->knobs;
	s->now = SIM_EPOCH_NS;
	s->rng = cfg->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	s->err = err;
	sim_now_running = s;
	ret = allocate(s);
	if (ret)
		goto out;
	for (uint32_t i = 0; i < s->nr_cpus; i++)
		if (s->m->cpus[i].online)
			go_idle(s, i);
	if (cfg->timeline)
		sim_tl_begin(s);
	ret = cfg->workload->setup(s);
	if (ret)
		goto teardown;
	loop(s);
	if (s->stop >= 0)
		sim_check(s);
	if (cfg->timeline)
		sim_tl_end(s);
	ret = s->stop < 0 ? s->stop : 0;
	totals(s);
	if (cfg->workload->finish)
		cfg->workload->finish(s, &s->f);
	s->f.wall_ns = wall_ns() - started;
	*out = s->f;
teardown:
	if (cfg->workload->teardown)
		cfg->workload->teardown(s);
out:
	free_run(s);
	free(s);
	sim_now_running = NULL;
	return ret;
}
