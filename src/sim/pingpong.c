/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pingpong: a client and a server on different CPUs, one small message each way at a time; the time for N round trips.
 * With --work the server computes before it answers, a time drawn anew each round: what makes its client idle.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/workloads.h"

enum how { PIPE, SOCKET, FUTEX };

struct args {
	uint64_t rounds, work_ns;
	enum how how;
	bool free_cpus, fixed;
};

struct state {
	struct sim_task *t[2];
	struct sim_shared line[2]; /* towards client, towards server */
	bool full[2], waits[2];
	uint64_t left, sent_ns, op_ns;
};

enum { WRITE, READ, WORK };

static int pp_parse(int argc, char **argv, void **out, struct sim_error *err)
{
	struct args *a = calloc(1, sizeof(*a));
	int ret = 0;

	if (!a)
		return sim_error(err, -ENOMEM, "not enough memory");
	*a = (struct args){ .rounds = 10000, .how = PIPE };
	for (int i = 0; i < argc && !ret; i++) {
		const char *o = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(o, "--pipe"))
			a->how = PIPE;
		else if (!strcmp(o, "--socket"))
			a->how = SOCKET;
		else if (!strcmp(o, "--futex"))
			a->how = FUTEX;
		else if (!strcmp(o, "--free"))
			a->free_cpus = true;
		else if (!strcmp(o, "--fixed"))
			a->fixed = true;
		else if (!strcmp(o, "-n"))
			ret = sim_opt_u64("pingpong", o, v, 1, 1000000000, &a->rounds, err), i++;
		else if (!strcmp(o, "--work"))
			ret = sim_opt_time("pingpong", o, v, 0, 1000000000, &a->work_ns, err), i++;
		else
			ret = sim_error(err, -EINVAL, "pingpong: there is no option \"%.40s\" (-n --pipe --socket --futex --work"
					" --fixed --free)", o);
	}
	if (ret)
		free(a);
	else
		*out = a;
	return ret;
}

static uint32_t pp_nr_tasks(const void *args, const struct machine *m)
{
	return 2;
}

static int pin(struct sim *s, struct sim_task *t, uint32_t cpu)
{
	struct sim_mask *m = calloc(1, sizeof(*m));
	int ret;

	if (!m)
		return sim_error(s->err, -ENOMEM, "not enough memory");
	m->word[cpu / 64] = UINT64_C(1) << cpu % 64;
	ret = sim_mask_add(s, m, &t->mask);
	free(m);
	return ret;
}

static int pp_setup(struct sim *s)
{
	const struct args *a = s->cfg->workload_args;
	static const enum cost_id cost[] = { [PIPE] = COST_PIPE_OP, [SOCKET] = COST_SOCKET_OP, [FUTEX] = COST_FUTEX_OP };
	uint32_t first = s->m->core_cpus[s->m->cores[0].first], second = first;
	struct state *st = calloc(1, sizeof(*st));
	int ret;

	s->w = st;
	if (!st)
		return sim_error(s->err, -ENOMEM, "not enough memory");
	if (s->m->nr_cores > 1)
		second = s->m->core_cpus[s->m->cores[1].first];
	st->left = a->rounds;
	st->op_ns = (uint64_t)sim_cost(s, cost[a->how]);
	for (uint32_t i = 0; i < 2; i++) {
		st->t[i] = sim_task_new(s, 0, (uint32_t)sim_cost(s, COST_FOOTPRINT));
		st->t[i]->kind = (uint8_t)i;
		st->t[i]->pc = READ;
		if (!a->free_cpus) {
			ret = pin(s, st->t[i], i ? second : first);
			if (ret)
				return ret;
		}
	}
	sim_task_start(s, st->t[1], second);
	sim_task_start(s, st->t[0], first);
	st->full[0] = true; /* the first answer is there: the client begins */
	return 0;
}

static void io(struct sim *s, struct sim_task *t, struct sim_op *o, unsigned int pc)
{
	struct state *st = s->w;
	struct sim_shared *l = &st->line[(t->kind == 0) == (pc == WRITE)];
	uint64_t work = sim_jitter(s, st->op_ns);

	t->pc = pc;
	o->ns = work + sim_share(s, l, sim_cpu_of(t), (uint64_t)sim_cost(s, COST_DATA_LINES), 0);
}

static void pp_step(struct sim *s, struct sim_task *t, struct sim_op *o)
{
	const struct args *a = s->cfg->workload_args;
	struct state *st = s->w;
	unsigned int me = t->kind, other = !me;

	o->act = SIM_RUN;
	switch (t->pc) {
	case READ:
		if (!st->full[me]) {
			st->waits[me] = true;
			o->act = SIM_BLOCK;
			return;
		}
		st->full[me] = false;
		if (me == 0 && st->sent_ns) {
			s->f.ops++;
			sim_latency(s, s->now - st->sent_ns);
			if (--st->left == 0) {
				sim_finish(s);
				return;
			}
		}
		if (me == 1 && a->work_ns) {
			t->pc = WORK;
			o->user = true;
			o->ns = a->fixed ? a->work_ns : sim_rand_exp(s, a->work_ns);
			return;
		}
		/* fall through */
	case WORK:
		if (me == 0)
			st->sent_ns = s->now;
		io(s, t, o, WRITE);
		return;
	default: /* the message is written */
		st->full[other] = true;
		if (st->waits[other]) {
			st->waits[other] = false;
			sim_wake(s, sim_cpu_of(t), st->t[other], a->how == FUTEX ? 0 : SIM_WAKE_SYNC);
		}
		io(s, t, o, READ);
	}
}

static void pp_finish(struct sim *s, struct sim_figures *f)
{
	f->work_ns = s->now - SIM_EPOCH_NS;
}

static void pp_teardown(struct sim *s)
{
	free(s->w);
}

static const struct sim_option options[] = {
	{ "-n", "N", "round trips, 1..1000000000; default 10000" },
	{ "--pipe", NULL, "over pipes, the default" },
	{ "--socket", NULL, "over a socket pair" },
	{ "--futex", NULL, "over a word of shared memory" },
	{ "--work", "TIME", "what the server computes before it answers, 0s..1s, on average; default 0s" },
	{ "--fixed", NULL, "each time as long, not drawn anew" },
	{ "--free", NULL, "on any CPU; default: each pinned to a core of its own" },
	{ NULL, NULL, NULL },
};

const struct sim_workload sim_pingpong = {
	.name = "pingpong", .options = options,
	.help = "one message each way between two CPUs; time for the round trips",
	.parse = pp_parse, .free_args = free, .nr_tasks = pp_nr_tasks, .setup = pp_setup, .step = pp_step,
	.finish = pp_finish, .teardown = pp_teardown,
};
