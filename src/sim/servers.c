/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memcache: server threads blocked in epoll, about 100 connections each; requests arrive from outside at a given rate and
 * interrupt a CPU picked by their connection. A request is wake, read, look-up, write; its latency runs from the
 * interrupt to the written answer.
 *
 * web: workers each with one request at a time, a new one as soon as it is done (a balancer that keeps the queues
 * filled); a request computes 1 to 20 ms in stages with short waits between them. Reported: requests a second.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/workloads.h"

struct args {
	uint64_t threads, conns, rate, duration_ns, lookup_ns, footprint_kb, stages, wait_ns;
	bool pareto, web;
};

struct ring { /* arrival times of a thread's pending requests; no more than it has connections */
	uint64_t *at;
	uint32_t first, nr;
};

struct state {
	struct ring *rings;
	uint64_t *memory;
	uint64_t gap_ns, gap_scale_e4, refused, warm_until_ns;
};

/* The shape of the published arrival law, a generalised Pareto; its mean is scale / (1 - shape). */
#define PARETO_SHAPE_E6 154971

static int sv_parse(int argc, char **argv, void **out, struct sim_error *err, bool web)
{
	const char *name = web ? "web" : "memcache";
	struct args *a = calloc(1, sizeof(*a));
	int ret = 0;

	if (!a)
		return sim_error(err, -ENOMEM, "not enough memory");
	*a = (struct args){ .conns = 100, .duration_ns = 1000000000, .lookup_ns = 2000, .web = web, .stages = 5,
			    .footprint_kb = web ? 1024 : 64, .wait_ns = 300000 };
	for (int i = 0; i < argc && !ret; i++) {
		const char *o = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(o, "-t"))
			ret = sim_opt_u64(name, o, v, 1, 500000, &a->threads, err), i++;
		else if (!strcmp(o, "-d"))
			ret = sim_opt_time(name, o, v, 1000000, 1000000000000ull, &a->duration_ns, err), i++;
		else if (!strcmp(o, "--footprint"))
			ret = sim_opt_u64(name, o, v, 0, 1 << 20, &a->footprint_kb, err), i++;
		else if (!web && !strcmp(o, "-c"))
			ret = sim_opt_u64(name, o, v, 1, 10000, &a->conns, err), i++;
		else if (!web && !strcmp(o, "--rate"))
			ret = sim_opt_u64(name, o, v, 1, 100000000, &a->rate, err), i++;
		else if (!web && !strcmp(o, "--lookup"))
			ret = sim_opt_time(name, o, v, 1, 1000000000, &a->lookup_ns, err), i++;
		else if (!web && !strcmp(o, "--pareto"))
			a->pareto = true;
		else if (web && !strcmp(o, "--stages"))
			ret = sim_opt_u64(name, o, v, 1, 1000, &a->stages, err), i++;
		else if (web && !strcmp(o, "--wait"))
			ret = sim_opt_time(name, o, v, 0, 1000000000, &a->wait_ns, err), i++;
		else
			ret = sim_error(err, -EINVAL, "%s: there is no option \"%.40s\" (%s)", name, o,
					web ? "-t -d --stages --wait --footprint" :
					"-t -c -d --rate --lookup --pareto --footprint");
	}
	if (ret)
		free(a);
	else
		*out = a;
	return ret;
}

static int mc_parse(int argc, char **argv, void **out, struct sim_error *err)
{
	return sv_parse(argc, argv, out, err, false);
}

static int web_parse(int argc, char **argv, void **out, struct sim_error *err)
{
	return sv_parse(argc, argv, out, err, true);
}

/* memcache: a thread a CPU; web: two workers a CPU. */
static uint32_t sv_nr_tasks(const void *args, const struct machine *m)
{
	const struct args *a = args;

	return a->threads ? (uint32_t)a->threads : a->web ? 2 * m->nr_online : m->nr_online;
}

static uint32_t sv_nr_timers(const void *args, const struct machine *m)
{
	return 2;
}

static uint64_t next_gap(struct sim *s)
{
	const struct args *a = s->cfg->workload_args;
	struct state *st = s->w;

	return a->pareto ? sim_rand_pareto(s, st->gap_scale_e4, PARETO_SHAPE_E6) : sim_rand_exp(s, st->gap_ns);
}

static int sv_setup(struct sim *s)
{
	const struct args *a = s->cfg->workload_args;
	uint32_t n = sv_nr_tasks(a, s->m), parent = s->m->core_cpus[0];
	struct state *st = calloc(1, sizeof(*st));
	uint64_t rate = a->rate ? a->rate : 20000ull * s->nr_online;

	s->w = st;
	if (!st)
		return sim_error(s->err, -ENOMEM, "not enough memory");
	st->gap_ns = 1000000000 / rate;
	/* the published law, scaled to the wanted mean: mean * (1 - shape); in ns / 10^4 */
	st->gap_scale_e4 = 10000000000000ull / rate * (1000000 - PARETO_SHAPE_E6) / 1000000;
	if (!a->web) {
		st->rings = calloc(n, sizeof(*st->rings));
		st->memory = calloc((size_t)n * a->conns, sizeof(*st->memory));
		if (!st->rings || !st->memory)
			return sim_error(s->err, -ENOMEM, "not enough memory for %u threads", n);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct sim_task *t = sim_task_new(s, 0, (uint32_t)(a->footprint_kb << 10));

		if (st->rings)
			st->rings[i].at = st->memory + (size_t)i * a->conns;
		sim_task_start(s, t, parent);
	}
	st->warm_until_ns = s->now + a->duration_ns / 10;
	sim_timer_set(s, 0, s->now + a->duration_ns);
	if (!a->web)
		sim_timer_set(s, 1, s->now + 1000000 + next_gap(s));
	return 0;
}

enum { MC_IDLE, MC_READ, MC_LOOKUP, MC_WRITE };

static void mc_step(struct sim *s, struct sim_task *t, struct sim_op *o)
{
	const struct args *a = s->cfg->workload_args;
	struct state *st = s->w;
	struct ring *r = &st->rings[t->id];

	if (t->pc == MC_WRITE) {
		s->f.ops++;
		if (s->now > st->warm_until_ns)
			sim_latency(s, s->now - r->at[r->first]);
		r->first = (uint32_t)((r->first + 1) % a->conns);
		r->nr--;
		t->pc = MC_IDLE;
	}
	switch (t->pc) {
	case MC_IDLE:
		if (!r->nr) {
			o->act = SIM_BLOCK;
			return;
		}
		t->pc = MC_READ;
		o->ns = sim_jitter(s, (uint64_t)sim_cost(s, COST_SOCKET_OP));
		return;
	case MC_READ:
		t->pc = MC_LOOKUP;
		o->user = true;
		o->ns = sim_jitter(s, a->lookup_ns);
		return;
	default: /* MC_LOOKUP */
		t->pc = MC_WRITE;
		o->ns = sim_jitter(s, 2 * (uint64_t)sim_cost(s, COST_SOCKET_OP));
	}
}

static void mc_timer(struct sim *s, uint32_t index)
{
	const struct args *a = s->cfg->workload_args;
	struct state *st = s->w;
	uint32_t thread, irq;
	uint64_t conn;
	struct ring *r;

	if (index == 0) {
		sim_finish(s);
		return;
	}
	sim_timer_set(s, 1, s->now + next_gap(s));
	conn = sim_rand_below(s, (uint64_t)s->nr_tasks * a->conns);
	thread = (uint32_t)(conn / a->conns);
	/* A connection's interrupts go to one CPU: a hash of it. */
	irq = s->m->core_cpus[(conn * UINT64_C(0x9e3779b97f4a7c15) >> 32) * s->nr_online >> 32];
	r = &st->rings[thread];
	sim_interrupt(s, irq);
	if (r->nr == a->conns) {
		st->refused++;
		return;
	}
	r->at[(r->first + r->nr++) % a->conns] = s->now;
	sim_wake(s, irq, &s->tasks[thread], SIM_WAKE_IRQ);
}

enum { WEB_NEW, WEB_STAGE, WEB_WAIT };
/* w32 [0] stages left; w64 [0] started, [1] compute a stage */

static void web_step(struct sim *s, struct sim_task *t, struct sim_op *o)
{
	const struct args *a = s->cfg->workload_args;
	struct state *st = s->w;

	if (t->pc == WEB_STAGE) {
		if (t->w32[0]) {
			t->pc = WEB_WAIT;
			o->act = SIM_SLEEP;
			o->ns = sim_rand_exp(s, a->wait_ns);
			return;
		}
		if (s->now > st->warm_until_ns) {
			s->f.ops++;
			sim_latency(s, s->now - t->w64[0]);
		}
		t->pc = WEB_NEW;
	}
	if (t->pc == WEB_NEW) {
		t->w64[0] = s->now;
		t->w32[0] = (uint32_t)a->stages;
		t->w64[1] = (1000000 + sim_rand_below(s, 19000001)) / a->stages;
	}
	t->w32[0]--;
	t->pc = WEB_STAGE;
	o->user = true;
	o->ns = t->w64[1];
}

static void web_timer(struct sim *s, uint32_t index)
{
	sim_finish(s);
}

static void sv_finish(struct sim *s, struct sim_figures *f)
{
	f->work_ns = s->now - SIM_EPOCH_NS;
}

static void sv_teardown(struct sim *s)
{
	struct state *st = s->w;

	if (st) {
		free(st->rings);
		free(st->memory);
	}
	free(st);
}

static const struct sim_option memcache_options[] = {
	{ "-t", "N", "threads, 1..500000; default: one a CPU" },
	{ "-c", "N", "connections of each, 1..10000; default 100" },
	{ "-d", "TIME", "how long, 1ms..1000s; default 1s" },
	{ "--rate", "N", "requests a second, 1..100000000; default: 20000 a CPU" },
	{ "--lookup", "TIME", "computed for a request, 1ns..1s; default 2us" },
	{ "--pareto", NULL, "times between requests as published (generalised Pareto); default: exponential" },
	{ "--footprint", "KB", "what a thread touches, 0..1048576; default 64" },
	{ NULL, NULL, NULL },
};

const struct sim_workload sim_memcache = {
	.name = "memcache", .options = memcache_options,
	.help = "server threads in epoll at a fixed rate; latency, CPU time, migrations",
	.parse = mc_parse, .free_args = free, .nr_tasks = sv_nr_tasks, .nr_timers = sv_nr_timers, .setup = sv_setup,
	.step = mc_step, .timer = mc_timer, .finish = sv_finish, .teardown = sv_teardown,
};

static const struct sim_option web_options[] = {
	{ "-t", "N", "workers, 1..500000; default: two a CPU" },
	{ "-d", "TIME", "how long, 1ms..1000s; default 1s" },
	{ "--stages", "N", "stages of a request, 1..1000; default 5" },
	{ "--wait", "TIME", "between two stages, 0s..1s, on average; default 300us" },
	{ "--footprint", "KB", "what a worker touches, 0..1048576; default 1024" },
	{ NULL, NULL, NULL },
};

const struct sim_workload sim_web = {
	.name = "web", .options = web_options,
	.help = "requests of 1 to 20 ms in stages, always enough of them; requests served",
	.parse = web_parse, .free_args = free, .nr_tasks = sv_nr_tasks, .nr_timers = sv_nr_timers, .setup = sv_setup,
	.step = web_step, .timer = web_timer, .finish = sv_finish, .teardown = sv_teardown,
};
