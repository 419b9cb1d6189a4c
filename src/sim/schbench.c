/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schbench: m message threads with t workers each. A worker queues itself, wakes its message thread and sleeps; woken
 * by it, it notes how long that took, sleeps 100 us, takes its CPU's lock and does n matrix products over a footprint.
 * With -R, requests come at a fixed rate, round robin, to workers with fewer than 128 pending.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/workloads.h"

#define PENDING_MAX 128

struct args {
	uint64_t messengers, workers, duration_ns, products, footprint_kb, rate;
};

struct state {
	uint32_t *queued;    /* by messenger: first worker in its list */
	uint32_t *lock_held; /* by CPU: task or SIM_NONE */
	uint32_t *lock_wait; /* by CPU: first task that waits */
	bool *asleep;        /* by messenger */
	uint32_t next_worker, nr_workers;
	uint64_t work_ns, dropped;
};

enum { W_QUEUE, W_WOKEN, W_SLEPT, W_LOCKED, W_DONE, M_LOOP };
/* worker: w32 [0] messenger, [1] CPU whose lock it holds, [2] pending requests; w64 [0] woken or posted at */

static int sb_parse(int argc, char **argv, void **out, struct sim_error *err)
{
	struct args *a = calloc(1, sizeof(*a));
	int ret = 0;

	if (!a)
		return sim_error(err, -ENOMEM, "not enough memory");
	*a = (struct args){ .messengers = 1, .duration_ns = 1000000000, .products = 5, .footprint_kb = 256 };
	for (int i = 0; i < argc && !ret; i++) {
		const char *o = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(o, "-m"))
			ret = sim_opt_u64("schbench", o, v, 1, 10000, &a->messengers, err), i++;
		else if (!strcmp(o, "-t"))
			ret = sim_opt_u64("schbench", o, v, 1, 100000, &a->workers, err), i++;
		else if (!strcmp(o, "-r"))
			ret = sim_opt_u64("schbench", o, v, 1, 100000, &a->duration_ns, err), a->duration_ns *= 1000000000, i++;
		else if (!strcmp(o, "-d"))
			ret = sim_opt_time("schbench", o, v, 1000000, 1000000000000ull, &a->duration_ns, err), i++;
		else if (!strcmp(o, "-n"))
			ret = sim_opt_u64("schbench", o, v, 0, 10000, &a->products, err), i++;
		else if (!strcmp(o, "-F"))
			ret = sim_opt_u64("schbench", o, v, 1, 1 << 20, &a->footprint_kb, err), i++;
		else if (!strcmp(o, "-R"))
			ret = sim_opt_u64("schbench", o, v, 1, 100000000, &a->rate, err), i++;
		else
			ret = sim_error(err, -EINVAL, "schbench: there is no option \"%.40s\" (-m -t -r -d -n -F -R)", o);
	}
	if (ret)
		free(a);
	else
		*out = a;
	return ret;
}

static uint64_t workers_of(const struct args *a, const struct machine *m)
{
	uint64_t n = a->workers ? a->workers : m->nr_online / a->messengers;

	return n ? n : 1;
}

static uint32_t sb_nr_tasks(const void *args, const struct machine *m)
{
	const struct args *a = args;
	uint64_t n = a->messengers * (workers_of(a, m) + 1);

	return n > SIM_MAX_TASKS ? SIM_MAX_TASKS + 1 : (uint32_t)n;
}

static uint32_t sb_nr_timers(const void *args, const struct machine *m)
{
	return 2;
}

/* One product of two n x n matrices of doubles, three of them in the footprint, at about 1 ns a multiply-add. */
static uint64_t product_ns(uint64_t kb)
{
	uint64_t n = 1;

	while ((n + 1) * (n + 1) * 24 <= kb * 1024)
		n++;
	return n * n * n;
}

static int sb_setup(struct sim *s)
{
	const struct args *a = s->cfg->workload_args;
	uint64_t per = workers_of(a, s->m), bytes = a->footprint_kb << 10;
	struct state *st = calloc(1, sizeof(*st));
	uint32_t parent = s->m->core_cpus[0];

	s->w = st;
	if (!st)
		return sim_error(s->err, -ENOMEM, "not enough memory");
	st->queued = malloc(a->messengers * sizeof(*st->queued));
	st->asleep = calloc(a->messengers, sizeof(*st->asleep));
	st->lock_held = malloc(s->nr_cpus * sizeof(*st->lock_held));
	st->lock_wait = malloc(s->nr_cpus * sizeof(*st->lock_wait));
	if (!st->queued || !st->asleep || !st->lock_held || !st->lock_wait)
		return sim_error(s->err, -ENOMEM, "not enough memory");
	memset(st->queued, 0xff, a->messengers * sizeof(*st->queued));
	memset(st->lock_held, 0xff, s->nr_cpus * sizeof(*st->lock_held));
	memset(st->lock_wait, 0xff, s->nr_cpus * sizeof(*st->lock_wait));
	st->work_ns = a->products * product_ns(a->footprint_kb);
	st->nr_workers = (uint32_t)(a->messengers * per);
	for (uint32_t i = 0; i < a->messengers; i++) {
		struct sim_task *t = sim_task_new(s, 0, (uint32_t)sim_cost(s, COST_FOOTPRINT));

		t->pc = M_LOOP;
		t->w32[0] = i;
		sim_task_start(s, t, parent);
	}
	for (uint32_t i = 0; i < st->nr_workers; i++) {
		struct sim_task *t = sim_task_new(s, 0, bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX);

		t->pc = W_QUEUE;
		t->w32[0] = (uint32_t)(i / per);
		sim_task_start(s, t, parent);
	}
	sim_timer_set(s, 0, s->now + a->duration_ns);
	if (a->rate)
		sim_timer_set(s, 1, s->now + 1000000000 / a->rate);
	return 0;
}

static void unlock_cpu(struct sim *s, struct sim_task *t)
{
	struct state *st = s->w;
	uint32_t cpu = t->w32[1], next = st->lock_wait[cpu];

	st->lock_held[cpu] = next;
	if (next == SIM_NONE)
		return;
	st->lock_wait[cpu] = s->tasks[next].next;
	s->tasks[next].pc = W_LOCKED;
	sim_wake(s, sim_cpu_of(t), &s->tasks[next], 0);
}

static void start_work(struct sim *s, struct sim_task *t, struct sim_op *o)
{
	struct state *st = s->w;

	t->pc = W_DONE;
	o->act = SIM_RUN;
	o->user = true;
	o->ns = sim_jitter(s, st->work_ns) + 1;
}

static void queue_self(struct sim *s, struct sim_task *t, struct sim_op *o)
{
	const struct args *a = s->cfg->workload_args;
	struct state *st = s->w;
	uint32_t m = t->w32[0];

	t->pc = W_WOKEN;
	o->act = SIM_BLOCK;
	t->w64[0] = s->now;
	if (a->rate) { /* requests come from outside */
		if (t->w32[2]) {
			t->w32[2]--;
			o->act = SIM_RUN;
			o->ns = (uint64_t)sim_cost(s, COST_FUTEX_OP);
		}
		return;
	}
	t->next = st->queued[m];
	st->queued[m] = t->id;
	if (st->asleep[m]) {
		st->asleep[m] = false;
		sim_wake(s, sim_cpu_of(t), &s->tasks[m], 0);
	}
}

static void sb_step(struct sim *s, struct sim_task *t, struct sim_op *o)
{
	struct state *st = s->w;
	uint32_t cpu = sim_cpu_of(t), id;

	switch (t->pc) {
	case M_LOOP:
		id = st->queued[t->w32[0]];
		if (id == SIM_NONE) {
			st->asleep[t->w32[0]] = true;
			o->act = SIM_BLOCK;
			return;
		}
		st->queued[t->w32[0]] = s->tasks[id].next;
		s->tasks[id].w64[0] = s->now;
		sim_wake(s, cpu, &s->tasks[id], 0);
		o->ns = (uint64_t)sim_cost(s, COST_FUTEX_OP);
		return;
	case W_QUEUE:
		queue_self(s, t, o);
		return;
	case W_WOKEN:
		t->pc = W_SLEPT;
		o->act = SIM_SLEEP;
		o->ns = 100000;
		return;
	case W_SLEPT:
		if (st->lock_held[cpu] != SIM_NONE) {
			t->w32[1] = cpu;
			t->next = st->lock_wait[cpu];
			st->lock_wait[cpu] = t->id;
			o->act = SIM_BLOCK;
			return;
		}
		st->lock_held[cpu] = t->id;
		t->w32[1] = cpu;
		start_work(s, t, o);
		return;
	case W_LOCKED:
		start_work(s, t, o);
		return;
	default: /* W_DONE */
		unlock_cpu(s, t);
		s->f.ops++;
		sim_latency(s, s->now - t->w64[0]);
		queue_self(s, t, o);
	}
}

static void sb_timer(struct sim *s, uint32_t index)
{
	const struct args *a = s->cfg->workload_args;
	struct state *st = s->w;
	struct sim_task *t;

	if (index == 0) {
		sim_finish(s);
		return;
	}
	sim_timer_set(s, 1, s->now + 1000000000 / a->rate);
	t = &s->tasks[a->messengers + st->next_worker];
	st->next_worker = (st->next_worker + 1) % st->nr_workers;
	if (t->w32[2] >= PENDING_MAX) {
		st->dropped++;
	} else if (t->state == SIM_TASK_BLOCKED && t->pc == W_WOKEN) {
		t->w64[0] = s->now;
		sim_wake(s, t->rt.prev_cpu >= 0 ? (uint32_t)t->rt.prev_cpu : s->m->core_cpus[0], t, SIM_WAKE_IRQ);
	} else {
		t->w32[2]++;
	}
}

static void sb_finish(struct sim *s, struct sim_figures *f)
{
	f->work_ns = s->now - SIM_EPOCH_NS;
}

static void sb_teardown(struct sim *s)
{
	struct state *st = s->w;

	if (st) {
		free(st->queued);
		free(st->asleep);
		free(st->lock_held);
		free(st->lock_wait);
	}
	free(st);
}

static const struct sim_option options[] = {
	{ "-m", "N", "message threads, 1..10000; default 1" },
	{ "-t", "N", "workers of each, 1..100000; default: the CPUs divided by the message threads" },
	{ "-r", "SECONDS", "how long, 1..100000; default 1" },
	{ "-d", "TIME", "the same with a unit, 1ms..1000s" },
	{ "-n", "N", "matrix products a request, 0..10000; default 5" },
	{ "-F", "KB", "what a product touches, 1..1048576; default 256" },
	{ "-R", "N", "requests a second from outside, 1..100000000; default: workers ask for the next themselves" },
	{ NULL, NULL, NULL },
};

const struct sim_workload sim_schbench = {
	.name = "schbench", .options = options,
	.help = "message threads and workers; wakeup and request latency",
	.parse = sb_parse, .free_args = free, .nr_tasks = sb_nr_tasks, .nr_timers = sb_nr_timers, .setup = sb_setup,
	.step = sb_step, .timer = sb_timer, .finish = sb_finish, .teardown = sb_teardown,
};
