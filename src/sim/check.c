/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checkers, always on. What they watch:
 *   no task is lost or in two places; none runs outside its mask or on an offline CPU (each time one is put on);
 *   the policy's counters agree with the queues; no idle CPU is left idle while a task it may run waits longer
 *   than steal-delay and a tick (roost mode, whose promise that is); a queued task's virtual time stays within
 *   bounds of its queue's, which is what weights come down to (roost mode); every CPU's times add up to the time that passed.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/env_sim.h"

void sim_dump(struct sim *s, char *buf, size_t size)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->nr_cpus && n + 120 < size; i++) {
		const struct sim_cpu *c = &s->cpus[i];

		if (!s->m->cpus[i].online || (c->idle && !c->nr_queue))
			continue;
		n += (size_t)snprintf(buf + n, size - n, " cpu%u:%s%s run=%d queued=%u", i, c->idle ? "idle" : "busy",
				      c->waking ? "+waking" : "", c->curr ? (int)c->curr->id : -1, c->nr_queue);
	}
}

void sim_check_run(struct sim *s, const struct sim_task *t, uint32_t cpu)
{
	if (t->state != SIM_TASK_QUEUED)
		sim_fail(s, "task %u is put on CPU %u in state %d", t->id, cpu, t->state);
	else if (!s->m->cpus[cpu].online || (t->mask && !(s->masks[t->mask]->word[cpu / 64] >> cpu % 64 & 1)))
		sim_fail(s, "task %u is put on CPU %u, where it may not run", t->id, cpu);
	else if (s->cpus[cpu].curr)
		sim_fail(s, "task %u is put on CPU %u, where task %u runs", t->id, cpu, s->cpus[cpu].curr->id);
	else if (t->rt.count_cpu != (s32)cpu)
		sim_fail(s, "task %u is put on CPU %u and counted on %d", t->id, cpu, t->rt.count_cpu);
}

static void check_cpu(struct sim *s, uint32_t i)
{
	const struct sim_cpu *c = &s->cpus[i];
	const struct roost_cpu *p = &s->pcpu[i];
	uint32_t here = c->nr_queue + (c->curr != NULL) + (c->direct != SIM_NONE);
	uint64_t passed = c->last_ns - SIM_EPOCH_NS;
	uint64_t bound, delay = s->knobs.steal_delay_ns + 2 * (uint64_t)sim_cost(s, COST_TICK);

	if (p->nr_runnable != here)
		sim_fail(s, "CPU %u counts %u runnable tasks and has %u", i, p->nr_runnable, here);
	if (p->nr_queued != c->nr_queue)
		sim_fail(s, "CPU %u counts %u queued tasks and has %u", i, p->nr_queued, c->nr_queue);
	if (c->idle == (c->curr != NULL))
		sim_fail(s, "CPU %u is %s and runs %s", i, c->idle ? "idle" : "busy", c->curr ? "a task" : "nothing");
	if (c->idle && here && !c->waking)
		sim_fail(s, "CPU %u is idle, was not kicked, and %u tasks are queued there", i, here);
	if (c->user_ns + c->sys_ns + c->idle_ns != passed)
		sim_fail(s, "CPU %u: user %llu + system %llu + idle %llu ns are not the %llu ns that passed", i,
			 (unsigned long long)c->user_ns, (unsigned long long)c->sys_ns, (unsigned long long)c->idle_ns,
			 (unsigned long long)passed);
	for (uint32_t j = 0; j < c->nr_queue; j++) {
		const struct sim_task *t = &s->tasks[c->queue[j].task];
		int64_t ahead = (int64_t)(t->rt.vruntime - p->vtime);

		if (t->state != SIM_TASK_QUEUED || t->qpos != j || t->rt.count_cpu != (s32)i)
			sim_fail(s, "task %u in the queue of CPU %u: state %d, place %u, counted on %d", t->id, i, t->state,
				 t->qpos, t->rt.count_cpu);
		/* One slice of lag, what a task runs past it until a tick sees it, and the slice it is then owed. */
		bound = 3 * (s->knobs.slice_ns + 2 * (uint64_t)sim_cost(s, COST_TICK));
		if (s->cfg->pull == SIM_PULL_ROOST && ahead > (int64_t)(bound * ROOST_WEIGHT_NICE0 / t->rt.weight))
			sim_fail(s, "task %u (weight %u) on CPU %u is %lld ns of virtual time ahead of its queue", t->id,
				 t->rt.weight, i, (long long)ahead);
		/* A tick fetches one task, so the last of a long queue waits a tick for each before it. */
		if (s->cfg->pull != SIM_PULL_ROOST ||
		    s->now - t->rt.wait_start_ns <= delay + c->nr_queue * (uint64_t)sim_cost(s, COST_TICK))
			continue;
		for (uint32_t k = 0; k < s->nr_cpus; k++)
			if (s->cpus[k].idle && !s->cpus[k].waking && s->now - s->cpus[k].idle_since_ns > delay &&
			    s->m->cpus[k].online && (!t->mask || (s->masks[t->mask]->word[k / 64] >> k % 64 & 1)))
				sim_fail(s, "task %u has waited %llu ns on CPU %u while CPU %u idles", t->id,
					 (unsigned long long)(s->now - t->rt.wait_start_ns), i, k);
	}
}

void sim_check(struct sim *s)
{
	uint32_t runnable = 0, seen = 0;

	for (uint32_t i = 0; i < s->nr_cpus; i++)
		if (s->m->cpus[i].online) {
			check_cpu(s, i);
			seen += s->cpus[i].nr_queue + (s->cpus[i].curr != NULL) + (s->cpus[i].direct != SIM_NONE);
		}
	for (uint32_t i = 0; i < s->nr_tasks; i++)
		runnable += s->tasks[i].state == SIM_TASK_QUEUED || s->tasks[i].state == SIM_TASK_RUNNING;
	if (runnable != seen)
		sim_fail(s, "%u tasks can run and %u are on CPUs: one is lost or in two places", runnable, seen);
	if (s->cfg->progress)
		*s->cfg->progress = s->events;
}
