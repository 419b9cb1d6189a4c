/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hackbench: G groups of F senders and F receivers; each receiver owns a pipe (or socket pair) that all senders of
 * its group write to in turn, L messages to each. The clock runs from the start signal to the last exit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/workloads.h"

struct args {
	uint64_t groups, pairs, loops, bytes;
	bool threads, pipe;
};

/*
 * A 64 KB pipe: 16 pages. A message joins the last page if there is room, else it begins one; a page is free again when it is
 * read empty. The kernel calls a pipe full when all pages are in use, whether or not the last has room. Up to 6.14 each read
 * from a full pipe wakes a writer, page freed or not, and one that finds it full still sleeps again. A socket buffer is taken
 * as pages of one message each: 212992 bytes of 768.
 */
#define PIPE_PAGES 16
#define PAGE 4096
#define SOCKET_MESSAGES 278

struct pipe {
	struct sim_shared lock; /* the mutex or socket lock, and the lines under it */
	uint32_t head, tail;    /* pages begun, pages read empty */
	uint32_t first_read;    /* messages read of the page at tail */
	uint32_t reader;        /* task */
	uint32_t writers_first, writers_last; /* those that wait for room, in order of arrival */
	bool reader_waits;
	uint16_t in_page[PIPE_PAGES]; /* messages written to each; a socket has one in each */
};

struct state {
	struct pipe *pipes;
	uint32_t pages, per_page;
	uint64_t copy_ns, op_ns;
};

enum { SENDER, RECEIVER };
enum { PC_START, PC_OP, PC_DONE };
/* w32: [0] group, [1] index in group (of the pipe for a receiver), [2] next pipe, [3] it had to wait; w64: [0] messages left */

static int hb_parse(int argc, char **argv, void **out, struct sim_error *err)
{
	struct args *a = calloc(1, sizeof(*a));
	int ret = 0;

	if (!a)
		return sim_error(err, -ENOMEM, "not enough memory");
	*a = (struct args){ .groups = 10, .pairs = 20, .loops = 100, .bytes = 100 };
	for (int i = 0; i < argc && !ret; i++) {
		const char *o = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(o, "--threads") || !strcmp(o, "-T"))
			a->threads = true;
		else if (!strcmp(o, "--process") || !strcmp(o, "-P"))
			a->threads = false;
		else if (!strcmp(o, "--pipe") || !strcmp(o, "-p"))
			a->pipe = true;
		else if (!strcmp(o, "-g") || !strcmp(o, "--groups"))
			ret = sim_opt_u64("hackbench", o, v, 1, 25000, &a->groups, err), i++;
		else if (!strcmp(o, "-f") || !strcmp(o, "--fds"))
			ret = sim_opt_u64("hackbench", o, v, 1, 1000, &a->pairs, err), i++;
		else if (!strcmp(o, "-l") || !strcmp(o, "--loops"))
			ret = sim_opt_u64("hackbench", o, v, 1, 100000000, &a->loops, err), i++;
		else if (!strcmp(o, "-s") || !strcmp(o, "--datasize"))
			ret = sim_opt_u64("hackbench", o, v, 1, PAGE, &a->bytes, err), i++;
		else
			ret = sim_error(err, -EINVAL, "hackbench: there is no option \"%.40s\" (-g -f -l -s --threads --process"
					" --pipe)", o);
	}
	if (!ret && 2 * a->groups * a->pairs > SIM_MAX_TASKS)
		ret = sim_error(err, -E2BIG, "hackbench: %llu tasks; the limit is %d",
				(unsigned long long)(2 * a->groups * a->pairs), SIM_MAX_TASKS);
	if (ret)
		free(a);
	else
		*out = a;
	return ret;
}

static uint32_t hb_nr_tasks(const void *args, const struct machine *m)
{
	const struct args *a = args;

	return (uint32_t)(2 * a->groups * a->pairs);
}

static int hb_setup(struct sim *s)
{
	const struct args *a = s->cfg->workload_args;
	uint32_t footprint = (uint32_t)sim_cost(s, COST_FOOTPRINT), parent = 0;
	struct state *st = calloc(1, sizeof(*st));

	s->w = st;
	if (!st || !(st->pipes = calloc(a->groups * a->pairs, sizeof(*st->pipes))))
		return sim_error(s->err, -ENOMEM, "not enough memory");
	st->pages = a->pipe ? PIPE_PAGES : SOCKET_MESSAGES;
	st->per_page = a->pipe ? (uint32_t)(PAGE / a->bytes) : 1;
	st->op_ns = (uint64_t)sim_cost(s, a->pipe ? COST_PIPE_OP : COST_SOCKET_OP);
	st->copy_ns = a->bytes * (uint64_t)sim_cost(s, COST_PIPE_KB) / 1024;
	while (!s->m->cpus[parent].online)
		parent++;
	for (uint32_t g = 0; g < a->groups; g++)
		for (uint32_t i = 0; i < 2 * a->pairs; i++) {
			struct sim_task *t = sim_task_new(s, 0, footprint);
			bool sender = i >= a->pairs;

			t->kind = sender ? SENDER : RECEIVER;
			t->w32[0] = g;
			t->w32[1] = i % (uint32_t)a->pairs;
			t->w64[0] = a->pairs * a->loops;
			if (!sender)
				st->pipes[g * a->pairs + i] = (struct pipe){ .reader = t->id, .writers_first = SIM_NONE,
									     .writers_last = SIM_NONE };
			sim_task_start(s, t, parent);
		}
	return 0;
}

static void wait_for_room(struct sim *s, struct pipe *p, struct sim_task *t)
{
	t->next = SIM_NONE;
	if (p->writers_first == SIM_NONE)
		p->writers_first = t->id;
	else
		s->tasks[p->writers_last].next = t->id;
	p->writers_last = t->id;
}

static bool is_empty(const struct pipe *p)
{
	return p->head == p->tail;
}

static bool is_full(const struct state *st, const struct pipe *p)
{
	return p->head - p->tail >= st->pages;
}

/* One message in; false: no room. A writer that had to wait comes back for a page of its own. */
static bool put_message(const struct state *st, struct pipe *p, bool waited)
{
	uint16_t *last = &p->in_page[(p->head - 1) % PIPE_PAGES];

	if (!waited && !is_empty(p) && st->per_page > 1 && *last < st->per_page) {
		++*last;
		return true;
	}
	if (is_full(st, p))
		return false;
	p->in_page[p->head++ % PIPE_PAGES] = 1;
	return true;
}

static void take_message(const struct state *st, struct pipe *p)
{
	if (st->per_page > 1 && ++p->first_read < p->in_page[p->tail % PIPE_PAGES])
		return;
	p->tail++;
	p->first_read = 0;
}

/* Wakes the writer that waits longest, one at a time, as the kernel's pipes do. */
static void wake_writer(struct sim *s, struct pipe *p, uint32_t cpu)
{
	uint32_t id = p->writers_first;

	if (id == SIM_NONE)
		return;
	p->writers_first = s->tasks[id].next;
	sim_wake(s, cpu, &s->tasks[id], SIM_WAKE_SYNC);
}

static void op(struct sim *s, struct sim_op *o, struct pipe *p, uint32_t cpu)
{
	struct state *st = s->w;
	uint64_t work = sim_jitter(s, st->op_ns + st->copy_ns);

	o->act = SIM_RUN;
	o->ns = work + sim_share(s, &p->lock, cpu, (uint64_t)sim_cost(s, COST_DATA_LINES), work / 2) - work / 2;
}

static void send(struct sim *s, struct sim_task *t, struct sim_op *o)
{
	const struct args *a = s->cfg->workload_args;
	struct state *st = s->w;
	uint32_t cpu = sim_cpu_of(t);
	struct pipe *p = &st->pipes[t->w32[0] * a->pairs + t->w32[2]];
	bool was_empty;

	if (t->pc == PC_OP) { /* the write has happened */
		was_empty = is_empty(p);
		if (!put_message(st, p, t->w32[3])) {
			wait_for_room(s, p, t);
			t->w32[3] = 1;
			o->act = SIM_BLOCK;
			return;
		}
		if (was_empty && p->reader_waits) {
			p->reader_waits = false;
			sim_wake(s, cpu, &s->tasks[p->reader], SIM_WAKE_SYNC);
		}
		/* One that had to wait passes the room that is left on to the next. */
		if (t->w32[3] && !is_full(st, p))
			wake_writer(s, p, cpu);
		t->w32[3] = 0;
		if (++t->w32[2] == a->pairs)
			t->w32[2] = 0;
		if (--t->w64[0] == 0) {
			o->act = SIM_EXIT;
			return;
		}
		p = &st->pipes[t->w32[0] * a->pairs + t->w32[2]];
	}
	t->pc = PC_OP;
	op(s, o, p, cpu);
}

static void receive(struct sim *s, struct sim_task *t, struct sim_op *o)
{
	const struct args *a = s->cfg->workload_args;
	struct state *st = s->w;
	uint32_t cpu = sim_cpu_of(t);
	struct pipe *p = &st->pipes[t->w32[0] * a->pairs + t->w32[1]];
	bool was_full;

	if (t->pc == PC_OP) {
		if (is_empty(p)) {
			p->reader_waits = true;
			o->act = SIM_BLOCK;
			return;
		}
		was_full = is_full(st, p);
		take_message(st, p);
		s->f.ops++;
		if (was_full)
			wake_writer(s, p, cpu);
		if (--t->w64[0] == 0) {
			o->act = SIM_EXIT;
			return;
		}
	}
	t->pc = PC_OP;
	op(s, o, p, cpu);
}

static void hb_step(struct sim *s, struct sim_task *t, struct sim_op *o)
{
	if (t->kind == SENDER)
		send(s, t, o);
	else
		receive(s, t, o);
}

static void hb_finish(struct sim *s, struct sim_figures *f)
{
	f->work_ns = s->now - SIM_EPOCH_NS;
}

static void hb_teardown(struct sim *s)
{
	struct state *st = s->w;

	if (st)
		free(st->pipes);
	free(st);
}

static const struct sim_option options[] = {
	{ "-g, --groups", "N", "groups of tasks, 1..25000; default 10" },
	{ "-f, --fds", "N", "senders of a group, and as many receivers, 1..1000; default 20" },
	{ "-l, --loops", "N", "messages from each sender to each receiver, 1..100000000; default 100" },
	{ "-s, --datasize", "BYTES", "of a message, 1..4096; default 100" },
	{ "-p, --pipe", NULL, "over pipes; default: socket pairs" },
	{ "-T, --threads", NULL, "taken for hackbench's sake: makes no difference here" },
	{ "-P, --process", NULL, "likewise" },
	{ NULL, NULL, NULL },
};

const struct sim_workload sim_hackbench = {
	.name = "hackbench", .options = options,
	.help = "groups of senders and receivers; time for all messages",
	.parse = hb_parse, .free_args = free, .nr_tasks = hb_nr_tasks, .setup = hb_setup, .step = hb_step,
	.finish = hb_finish, .teardown = hb_teardown,
};
