/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace that Perfetto's viewer (and chrome://tracing) opens: the JSON trace format, one track a CPU, a slice for
 * each stretch a task ran, and for each wakeup a flow arrow from the waker's CPU to the chosen one, named after the
 * rule that chose it. Times are microseconds with three digits after the point, written from integers.
 */
#include <stdarg.h>

#include "sim/engine.h"

/* src/run has the names too, but the simulator does not know that room. */
static const char *const rule_names[] = {
#define RULE(id, name, help) [ROOST_RULE_##id] = name,
#include "policy/rules.def"
#undef RULE
};

static void event(struct sim *s, uint64_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void event(struct sim *s, uint64_t at, const char *fmt, ...)
{
	FILE *f = s->cfg->timeline;
	va_list ap;

	at -= SIM_EPOCH_NS;
	fprintf(f, "%s{\"ts\":%llu.%03u,\"pid\":1,", s->tl_first ? "" : ",\n", (unsigned long long)(at / 1000),
		(unsigned int)(at % 1000));
	s->tl_first = false;
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	fputc('}', f);
}

void sim_tl_begin(struct sim *s)
{
	fprintf(s->cfg->timeline, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	s->tl_first = true;
	event(s, SIM_EPOCH_NS, "\"ph\":\"M\",\"name\":\"process_name\",\"args\":{\"name\":\"%s, simulated\"}", s->m->name);
	for (uint32_t i = 0; i < s->nr_cpus; i++)
		if (s->m->cpus[i].online)
			event(s, SIM_EPOCH_NS, "\"tid\":%u,\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{\"name\":\"CPU %u (LLC %d)\"}",
			      i, i, s->m->cpus[i].llc);
}

void sim_tl_end(struct sim *s)
{
	fprintf(s->cfg->timeline, "\n]}\n");
}

void sim_tl_run(struct sim *s, uint32_t cpu, const struct sim_task *t, uint64_t from, uint64_t to)
{
	event(s, from, "\"tid\":%u,\"ph\":\"X\",\"name\":\"task %u\",\"dur\":%llu.%03u,\"args\":{\"nice\":%d}", cpu, t->id,
	      (unsigned long long)((to - from) / 1000), (unsigned int)((to - from) % 1000), t->nice);
}

void sim_tl_wake(struct sim *s, uint32_t waker, uint32_t cpu, const struct sim_task *t, unsigned int rule)
{
	unsigned long long id = s->f.wakeups;

	event(s, s->now, "\"tid\":%u,\"ph\":\"i\",\"s\":\"t\",\"name\":\"wake task %u: %s\",\"args\":{\"from\":%u,\"to\":%u}", waker,
	      t->id, rule_names[rule], waker, cpu);
	event(s, s->now, "\"tid\":%u,\"ph\":\"s\",\"id\":%llu,\"cat\":\"wakeup\",\"name\":\"%s\"", waker, id, rule_names[rule]);
	event(s, s->now + 1, "\"tid\":%u,\"ph\":\"f\",\"bp\":\"e\",\"id\":%llu,\"cat\":\"wakeup\",\"name\":\"%s\"", cpu, id,
	      rule_names[rule]);
}
