/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace that Perfetto's viewer (and chrome://tracing) opens: the JSON trace format, one track a CPU, a slice for
 * each stretch a task ran, and for each wakeup a flow arrow from the waker's CPU to the chosen one, named after the
 * rule that chose it. Times are microseconds with three digits after the point, written from integers.
 */
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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
	/* No need to go on, however long the run would be. */
	fputc('}', f);
	if (ferror(f) && s->stop >= 0)
		s->stop = sim_error(s->err, -EIO, "%s", strerror(errno));
}

/* The machine's name and what it is, as a JSON string. The name may be any bytes: where it is no UTF-8, ASCII stays. */
static char *process_name(const char *machine)
{
	char ascii[sizeof(((struct machine *)NULL)->name)];
	json_t *j = json_sprintf("%s, simulated", machine);
	char *text;

	if (!j) {
		snprintf(ascii, sizeof(ascii), "%s", machine);
		for (char *c = ascii; *c; c++)
			if (*c & 0x80)
				*c = '?';
		j = json_sprintf("%s, simulated", ascii);
	}
	text = j ? json_dumps(j, JSON_ENCODE_ANY) : NULL;
	json_decref(j);
	return text;
}

void sim_tl_begin(struct sim *s)
{
	char *name = process_name(s->m->name);

	fprintf(s->cfg->timeline, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	s->tl_first = true;
	event(s, SIM_EPOCH_NS, "\"ph\":\"M\",\"name\":\"process_name\",\"args\":{\"name\":%s}", name ? name : "\"\"");
	free(name);
	for (uint32_t i = 0; i < s->nr_cpus; i++)
		if (s->m->cpus[i].online)
			event(s, SIM_EPOCH_NS, "\"tid\":%u,\"ph\":\"M\",\"name\":\"thread_name\",\"args\":{\"name\":\"CPU %u (LLC %d)\"}",
			      i, i, s->m->cpus[i].llc);
}

void sim_tl_end(struct sim *s)
{
	if ((fputs("\n]}\n", s->cfg->timeline) == EOF || fflush(s->cfg->timeline)) && s->stop >= 0)
		s->stop = sim_error(s->err, -EIO, "%s", strerror(errno));
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
