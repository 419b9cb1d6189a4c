/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Workload files: JSON in the shape rt-app uses.
 *
 *   { "global": { "duration": SECONDS (-1: until all tasks are done) },
 *     "tasks": { "NAME": { "instance": N, "loop": N (-1: for ever), "nice": N, "policy": "SCHED_OTHER|BATCH|IDLE",
 *                          "cpus": [0, 1], "footprint": BYTES, "delay": T (before its first loop), "phases": { "P": { "loop": N, EVENTS } } or EVENTS } } }
 *
 * Events, in the order they stand, times in microseconds; a key may carry a number to be unique ("run1"):
 *   "run": T   "runtime": T   "sleep": T   "timer": { "ref": NAME, "period": T }   "suspend": NAME   "resume": NAME
 *   "lock": M   "unlock": M   "wait": { "ref": C, "mutex": M }   "signal": C   "broad": C   "barrier": B   "yield": ""
 *
 * "suspend" without a name that is another task's waits for a "resume" of its own task's name. A mutex, condition or
 * barrier comes to be by being named; a barrier waits for all tasks whose program holds it.
 *
 * Here is the running; file_parse.c is the reading.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/file.h"
#include "sim/workloads.h"

struct resource {
	uint32_t owner;               /* mutex: who holds it, SIM_NONE */
	uint32_t first, last;         /* who waits, in order of arrival */
	uint32_t waiting;             /* barrier: how many have come */
	uint32_t tokens;              /* suspend: resumes that came first */
};

struct state {
	struct resource *res;
	struct sim_mask **masks;
};

/* w32: [0] task of the file, [1] next event, [2] loops of the phase done, [3] loops done, [4] phase, [5] mutex to take
 * again after a wait; w64: [0] timer: next period, [1] when the loop began */
enum { PC_NEXT, PC_MUTEX, PC_DELAY };

static uint32_t f_nr_tasks(const void *args, const struct machine *m)
{
	const struct sim_file *f = args;

	return f->nr_instances;
}

static uint32_t f_nr_timers(const void *args, const struct machine *m)
{
	return 1;
}

static int set_mask(struct sim *s, const struct sim_file_task *ft, struct sim_task *t)
{
	const struct sim_file *f = s->cfg->workload_args;
	struct sim_mask *m;
	int ret;

	if (!ft->nr_cpus)
		return 0;
	for (uint32_t i = 0; i < ft->nr_cpus; i++)
		if (ft->cpus[i] >= s->nr_cpus || !s->m->cpus[ft->cpus[i]].online)
			return sim_error(s->err, -EINVAL, "%s: %s: cpus: machine %s has no CPU %u online; it has %u", f->where,
					 ft->name, s->m->name, ft->cpus[i], s->nr_online);
	m = calloc(1, sizeof(*m));
	if (!m)
		return sim_error(s->err, -ENOMEM, "not enough memory");
	for (uint32_t i = 0; i < ft->nr_cpus; i++)
		m->word[ft->cpus[i] / 64] |= UINT64_C(1) << ft->cpus[i] % 64;
	ret = sim_mask_add(s, m, &t->mask);
	free(m);
	return ret;
}

static int f_setup(struct sim *s)
{
	const struct sim_file *f = s->cfg->workload_args;
	uint32_t parent = s->m->core_cpus[0];
	struct state *st = calloc(1, sizeof(*st));
	int ret;

	s->w = st;
	if (!st || !(st->res = calloc(f->nr_resources + 1, sizeof(*st->res))))
		return sim_error(s->err, -ENOMEM, "not enough memory");
	for (uint32_t i = 0; i < f->nr_resources; i++)
		st->res[i].owner = st->res[i].first = st->res[i].last = SIM_NONE;
	for (uint32_t i = 0; i < f->nr_tasks; i++)
		for (uint32_t k = 0; k < f->tasks[i].instances; k++) {
			const struct sim_file_task *ft = &f->tasks[i];
			struct sim_task *t = sim_task_new(s, ft->nice, ft->footprint);

			t->w32[0] = i;
			if (ft->idle_class) {
				t->rt.flags |= ROOST_TASK_IDLE_CLASS;
				t->rt.weight = ROOST_WEIGHT_IDLE;
			}
			if (ft->batch)
				t->rt.flags |= ROOST_TASK_BATCH;
			ret = set_mask(s, ft, t);
			if (ret)
				return ret;
			t->w64[0] = t->w64[1] = s->now + ft->delay_ns;
			if (ft->delay_ns)
				t->pc = PC_DELAY;
			sim_task_start(s, t, parent);
		}
	if (f->duration_ns)
		sim_timer_set(s, 0, s->now + f->duration_ns);
	return 0;
}

static void enlist(struct sim *s, struct resource *r, struct sim_task *t)
{
	t->next = SIM_NONE;
	if (r->first == SIM_NONE)
		r->first = t->id;
	else
		s->tasks[r->last].next = t->id;
	r->last = t->id;
}

static struct sim_task *delist(struct sim *s, struct resource *r)
{
	struct sim_task *t;

	if (r->first == SIM_NONE)
		return NULL;
	t = &s->tasks[r->first];
	r->first = t->next;
	return t;
}

/* false: it waits */
static bool take_mutex(struct sim *s, struct sim_task *t, uint32_t id)
{
	struct state *st = s->w;
	struct resource *r = &st->res[id];

	if (r->owner == SIM_NONE || r->owner == t->id) {
		r->owner = t->id;
		return true;
	}
	enlist(s, r, t);
	return false;
}

static void release_mutex(struct sim *s, struct sim_task *t, uint32_t id)
{
	struct state *st = s->w;
	struct resource *r = &st->res[id];
	struct sim_task *next;

	if (r->owner != t->id)
		return;
	next = delist(s, r);
	r->owner = next ? next->id : SIM_NONE;
	if (next)
		sim_wake(s, sim_cpu_of(t), next, 0);
}

/* One waiter of a condition goes on to its mutex. */
static void signal_one(struct sim *s, struct sim_task *by, struct sim_task *t)
{
	t->pc = PC_MUTEX;
	if (t->w32[5] == SIM_NONE || take_mutex(s, t, t->w32[5]))
		sim_wake(s, sim_cpu_of(by), t, 0);
}

static void timer_event(struct sim *s, struct sim_task *t, const struct sim_file_event *e, struct sim_op *o)
{
	t->w64[0] += e->ns;
	if (t->w64[0] <= s->now) { /* late: the periods it missed are over */
		t->w64[0] = s->now;
		o->ns = (uint64_t)sim_cost(s, COST_SYSCALL);
		return;
	}
	o->act = SIM_SLEEP;
	o->ns = t->w64[0] - s->now;
}

static void barrier_event(struct sim *s, struct sim_task *t, const struct sim_file_event *e, struct sim_op *o)
{
	const struct sim_file *f = s->cfg->workload_args;
	struct state *st = s->w;
	struct resource *r = &st->res[e->ref];
	struct sim_task *other;

	if (++r->waiting < f->barrier_size[e->ref]) {
		enlist(s, r, t);
		o->act = SIM_BLOCK;
		return;
	}
	r->waiting = 0;
	while ((other = delist(s, r)))
		sim_wake(s, sim_cpu_of(t), other, 0);
}

/* A step of the program. o->act stays SIM_RUN with the cost of a call unless the event says otherwise. */
static void do_event(struct sim *s, struct sim_task *t, const struct sim_file_event *e, struct sim_op *o)
{
	struct state *st = s->w;
	struct resource *r = e->ref != SIM_NONE ? &st->res[e->ref] : NULL;
	struct sim_task *other;

	o->ns = (uint64_t)sim_cost(s, COST_FUTEX_OP);
	switch (e->kind) {
	case SIM_FILE_RUN:
		o->user = true;
		o->ns = e->ns;
		break;
	case SIM_FILE_SLEEP:
		o->act = SIM_SLEEP;
		o->ns = e->ns;
		break;
	case SIM_FILE_TIMER:
		timer_event(s, t, e, o);
		break;
	case SIM_FILE_SUSPEND:
		if (r->tokens) {
			r->tokens--;
			break;
		}
		enlist(s, r, t);
		o->act = SIM_BLOCK;
		break;
	case SIM_FILE_RESUME:
		other = delist(s, r);
		if (other)
			sim_wake(s, sim_cpu_of(t), other, 0);
		else if (r->tokens < UINT32_MAX)
			r->tokens++;
		break;
	case SIM_FILE_LOCK:
		if (!take_mutex(s, t, e->ref))
			o->act = SIM_BLOCK;
		break;
	case SIM_FILE_UNLOCK:
		release_mutex(s, t, e->ref);
		break;
	case SIM_FILE_WAIT:
		t->w32[5] = e->mutex;
		if (e->mutex != SIM_NONE)
			release_mutex(s, t, e->mutex);
		enlist(s, r, t);
		o->act = SIM_BLOCK;
		break;
	case SIM_FILE_SIGNAL:
		other = delist(s, r);
		if (other)
			signal_one(s, t, other);
		break;
	case SIM_FILE_BROADCAST:
		while ((other = delist(s, r)))
			signal_one(s, t, other);
		break;
	case SIM_FILE_BARRIER:
		barrier_event(s, t, e, o);
		break;
	case SIM_FILE_YIELD:
		o->act = SIM_YIELD;
		break;
	}
}

static void f_step(struct sim *s, struct sim_task *t, struct sim_op *o)
{
	const struct sim_file *f = s->cfg->workload_args;
	const struct sim_file_task *ft = &f->tasks[t->w32[0]];
	const struct sim_file_phase *p = &ft->phases[t->w32[4]];

	if (t->pc == PC_DELAY) {
		t->pc = PC_NEXT;
		if (t->w64[1] > s->now) { /* a start may take longer than that */
			o->act = SIM_SLEEP;
			o->ns = t->w64[1] - s->now;
			return;
		}
	}
	t->pc = PC_NEXT;
	if (t->w32[1] == p->nr_events) { /* the phase's end */
		t->w32[1] = 0;
		if (p->loops && ++t->w32[2] >= p->loops) {
			t->w32[2] = 0;
			t->w32[4]++;
		}
		if (t->w32[4] == ft->nr_phases) { /* the task's loop */
			t->w32[4] = 0;
			s->f.ops++;
			sim_latency(s, s->now - t->w64[1]);
			t->w64[1] = s->now;
			if (ft->loops && ++t->w32[3] >= ft->loops) {
				o->act = SIM_EXIT;
				return;
			}
		}
		p = &ft->phases[t->w32[4]];
	}
	do_event(s, t, &p->events[t->w32[1]++], o);
}

static void f_timer(struct sim *s, uint32_t index)
{
	sim_finish(s);
}

static void f_finish(struct sim *s, struct sim_figures *out)
{
	out->work_ns = s->now - SIM_EPOCH_NS;
}

static void f_teardown(struct sim *s)
{
	struct state *st = s->w;

	if (st)
		free(st->res);
	free(st);
}

const struct sim_workload sim_file = {
	.name = "file", .help = "a workload file in the shape rt-app uses",
	.parse = sim_file_parse, .free_args = sim_file_free, .nr_tasks = f_nr_tasks, .nr_timers = f_nr_timers,
	.setup = f_setup, .step = f_step, .timer = f_timer, .finish = f_finish, .teardown = f_teardown,
};
