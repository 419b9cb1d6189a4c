/* SPDX-License-Identifier: GPL-2.0-only */
/* A CPU's queue: a binary heap by virtual deadline; of equals the task with the lower number first. */
#include <errno.h>
#include <stdlib.h>

#include "sim/engine.h"

static bool before(const struct sim_qent *a, const struct sim_qent *b)
{
	int64_t d = (int64_t)(a->deadline - b->deadline);

	return d ? d < 0 : a->task < b->task;
}

static void put(struct sim *s, struct sim_cpu *c, uint32_t i, struct sim_qent e)
{
	c->queue[i] = e;
	s->tasks[e.task].qpos = i;
}

static void up(struct sim *s, struct sim_cpu *c, uint32_t i, struct sim_qent e)
{
	while (i && before(&e, &c->queue[(i - 1) / 2])) {
		put(s, c, i, c->queue[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	put(s, c, i, e);
}

static void down(struct sim *s, struct sim_cpu *c, uint32_t i, struct sim_qent e)
{
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= c->nr_queue)
			break;
		if (child + 1 < c->nr_queue && before(&c->queue[child + 1], &c->queue[child]))
			child++;
		if (!before(&c->queue[child], &e))
			break;
		put(s, c, i, c->queue[child]);
		i = child;
	}
	put(s, c, i, e);
}

int sim_queue_push(struct sim *s, uint32_t cpu, struct sim_task *t)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct sim_qent *grown;

	if (c->nr_queue == c->cap_queue) {
		uint32_t cap = c->cap_queue ? 2 * c->cap_queue : 16;

		grown = realloc(c->queue, cap * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		c->queue = grown;
		c->cap_queue = cap;
	}
	s->nr_waiting++;
	up(s, c, c->nr_queue++, (struct sim_qent){ t->rt.deadline, t->id });
	return 0;
}

void sim_queue_remove(struct sim *s, uint32_t cpu, struct sim_task *t)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct sim_qent last = c->queue[--c->nr_queue];
	uint32_t i = t->qpos;

	s->nr_waiting--;
	t->qpos = SIM_NONE;
	if (i == c->nr_queue)
		return;
	if (i && before(&last, &c->queue[(i - 1) / 2]))
		up(s, c, i, last);
	else
		down(s, c, i, last);
}

/* Of those that may run on for_cpu, the one that has waited longest. */
struct sim_task *sim_queue_oldest(struct sim *s, uint32_t cpu, uint32_t for_cpu)
{
	struct sim_cpu *c = &s->cpus[cpu];
	struct sim_task *best = NULL;

	for (uint32_t i = 0; i < c->nr_queue; i++) {
		struct sim_task *t = &s->tasks[c->queue[i].task];

		if (t->mask && !(s->masks[t->mask]->word[for_cpu / 64] >> for_cpu % 64 & 1))
			continue;
		if (!best || t->rt.wait_start_ns < best->rt.wait_start_ns ||
		    (t->rt.wait_start_ns == best->rt.wait_start_ns && t->id < best->id))
			best = t;
	}
	return best;
}
