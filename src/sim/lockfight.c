/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lockfight: more threads than CPUs fight for one user-space spin lock. Each: spin until the lock looks free, announce a
 * critical section, compare-and-swap, work inside, count, release, end the section, give the CPU up if asked, spin until
 * the count has moved. Reported: rounds in the given time, total wait.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/workloads.h"

struct args {
	uint64_t threads, duration_ns, inside_ns, cas_ns;
	bool announce;
};

struct state {
	uint64_t count, locked_since;
	uint32_t holder;   /* task, SIM_NONE: free */
	uint32_t last_cpu; /* that had the lock's line last */
	uint64_t wait_ns;
};

enum { FREE_SPIN, CAS, INSIDE, COUNT_SPIN, YIELDED };
/* w64: [0] since when it waits for the lock, [1] the count it saw */

static int lf_parse(int argc, char **argv, void **out, struct sim_error *err)
{
	struct args *a = calloc(1, sizeof(*a));
	int ret = 0;

	if (!a)
		return sim_error(err, -ENOMEM, "not enough memory");
	*a = (struct args){ .duration_ns = 5000000000ull, .inside_ns = 300, .cas_ns = 40, .announce = true };
	for (int i = 0; i < argc && !ret; i++) {
		const char *o = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(o, "--plain"))
			a->announce = false;
		else if (!strcmp(o, "-t"))
			ret = sim_opt_u64("lockfight", o, v, 2, 100000, &a->threads, err), i++;
		else if (!strcmp(o, "-d"))
			ret = sim_opt_time("lockfight", o, v, 1000000, 1000000000000ull, &a->duration_ns, err), i++;
		else if (!strcmp(o, "--inside"))
			ret = sim_opt_time("lockfight", o, v, 1, 1000000000, &a->inside_ns, err), i++;
		else if (!strcmp(o, "--cas"))
			ret = sim_opt_time("lockfight", o, v, 1, 1000000, &a->cas_ns, err), i++;
		else
			ret = sim_error(err, -EINVAL, "lockfight: there is no option \"%.40s\" (-t -d --inside --cas --plain)", o);
	}
	if (ret)
		free(a);
	else
		*out = a;
	return ret;
}

/* By default twice as many threads as CPUs. */
static uint32_t lf_nr_tasks(const void *args, const struct machine *m)
{
	const struct args *a = args;

	return a->threads ? (uint32_t)a->threads : 2 * m->nr_online;
}

static uint32_t lf_nr_timers(const void *args, const struct machine *m)
{
	return 1;
}

static int lf_setup(struct sim *s)
{
	const struct args *a = s->cfg->workload_args;
	struct state *st = calloc(1, sizeof(*st));
	uint32_t parent = s->m->core_cpus[0], n = lf_nr_tasks(a, s->m);

	s->w = st;
	if (!st)
		return sim_error(s->err, -ENOMEM, "not enough memory");
	st->holder = SIM_NONE;
	st->last_cpu = parent;
	for (uint32_t i = 0; i < n; i++) {
		struct sim_task *t = sim_task_new(s, 0, 4096);

		t->pc = YIELDED;
		sim_task_start(s, t, parent);
	}
	sim_timer_set(s, 0, s->now + a->duration_ns);
	return 0;
}

/*
 * Those that run and spin see the change, each when its line arrives: the nearer the sooner, and behind others that
 * ask for the same line.
 */
static void tell_spinners(struct sim *s, unsigned int pc, uint32_t from)
{
	uint64_t queued = 0;

	for (uint32_t i = 0; i < s->nr_cpus; i++) {
		struct sim_task *t = s->cpus[i].curr;

		if (!t || t->pc != pc || !t->op_spin)
			continue;
		queued += s->line_ns[sim_distance(s, from, i)];
		sim_spin_end(s, t, sim_jitter(s, s->line_ns[sim_distance(s, from, i)]) + sim_rand_below(s, queued + 1));
	}
	/* Those that were preempted while spinning look at the lock when they run again. */
}

static void lf_step(struct sim *s, struct sim_task *t, struct sim_op *o)
{
	const struct args *a = s->cfg->workload_args;
	struct state *st = s->w;
	uint32_t cpu = sim_cpu_of(t);

	o->act = SIM_RUN;
	o->user = true;
	switch (t->pc) {
	case YIELDED:
		t->pc = FREE_SPIN;
		t->w64[0] = s->now;
		/* fall through */
	case FREE_SPIN:
		if (st->holder != SIM_NONE) {
			o->spin = true;
			return;
		}
		if (a->announce)
			sim_section_enter(t);
		t->pc = CAS;
		o->ns = a->cas_ns + s->line_ns[sim_distance(s, st->last_cpu, cpu)];
		return;
	case CAS:
		if (st->holder != SIM_NONE) { /* lost it: the section ends here */
			t->pc = FREE_SPIN;
			if (a->announce && sim_section_leave(s, t)) {
				o->act = SIM_YIELD;
				return;
			}
			o->spin = true;
			return;
		}
		st->holder = t->id;
		st->last_cpu = cpu;
		st->wait_ns += s->now - t->w64[0];
		t->pc = INSIDE;
		o->ns = sim_jitter(s, a->inside_ns);
		return;
	case INSIDE:
		st->count++;
		s->f.ops++;
		t->w64[1] = st->count;
		st->holder = SIM_NONE;
		tell_spinners(s, COUNT_SPIN, cpu);
		tell_spinners(s, FREE_SPIN, cpu);
		t->pc = COUNT_SPIN;
		if (a->announce && sim_section_leave(s, t)) {
			o->act = SIM_YIELD;
			return;
		}
		o->spin = true;
		return;
	default: /* COUNT_SPIN */
		if (t->w64[1] == st->count) {
			o->spin = true;
			return;
		}
		t->w64[0] = s->now;
		t->pc = FREE_SPIN;
		lf_step(s, t, o);
	}
}

static void lf_timer(struct sim *s, uint32_t index)
{
	sim_finish(s);
}

static void lf_finish(struct sim *s, struct sim_figures *f)
{
	struct state *st = s->w;

	/* Those still waiting have waited too. */
	for (uint32_t i = 0; i < s->nr_tasks; i++)
		if (s->tasks[i].pc == FREE_SPIN || s->tasks[i].pc == CAS)
			st->wait_ns += s->now - s->tasks[i].w64[0];
	f->work_ns = s->now - SIM_EPOCH_NS;
	f->wait_ns = st->wait_ns;
}

static void lf_teardown(struct sim *s)
{
	free(s->w);
}

static const struct sim_option options[] = {
	{ "-t", "N", "threads, 2..100000; default: twice the CPUs" },
	{ "-d", "TIME", "how long, 1ms..1000s; default 5s" },
	{ "--inside", "TIME", "spent holding the lock, 1ns..1s; default 300ns" },
	{ "--cas", "TIME", "of the compare-and-swap, 1ns..1ms; default 40ns" },
	{ "--plain", NULL, "critical sections are not announced (slice-ext has nothing to extend)" },
	{ NULL, NULL, NULL },
};

const struct sim_workload sim_lockfight = {
	.name = "lockfight", .options = options,
	.help = "more threads than CPUs and one spin lock; rounds and total wait",
	.parse = lf_parse, .free_args = free, .nr_tasks = lf_nr_tasks, .nr_timers = lf_nr_timers, .setup = lf_setup,
	.step = lf_step, .timer = lf_timer, .finish = lf_finish, .teardown = lf_teardown,
};
