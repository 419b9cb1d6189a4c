/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads workload files (file.c). What can never finish is found here where it can be seen without running: a suspend
 * that nobody resumes, a wait that nobody signals, tasks that wait for each other in a circle before any of them wakes
 * another, a mutex locked twice.
 */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/file.h"

#define FILE_MAX (16 << 20)
#define EVENTS_MAX 1000000
#define RESOURCES_MAX 65536

enum class { C_MUTEX, C_CONDITION, C_BARRIER, C_SUSPEND };

struct reader {
	const char *where, *text;
	struct sim_error *err;
	struct sim_file *f;
	json_t *index; /* of the resources, by class and name */
	uint32_t nr_events, cap_resources;
	const char *task;
};

/* The line a quoted name first stands on, for refusals: jansson tells lines for syntax errors only. */
static int line_of(const struct reader *r, const char *key)
{
	char quoted[80];
	const char *at;
	int line = 1;

	snprintf(quoted, sizeof(quoted), "\"%.60s\"", key);
	at = r->task && snprintf(quoted, sizeof(quoted), "\"%.60s\"", r->task) > 0 ? strstr(r->text, quoted) : r->text;
	if (!at)
		at = r->text;
	snprintf(quoted, sizeof(quoted), "\"%.60s\"", key);
	at = strstr(at, quoted) ? strstr(at, quoted) : at;
	for (const char *c = r->text; c < at; c++)
		line += *c == '\n';
	return line;
}

#define REFUSE(r, key, fmt, ...) \
	sim_error((r)->err, -EINVAL, "%s:%d: %.40s%s" fmt, (r)->where, line_of(r, key), (r)->task ? (r)->task : "", \
		  (r)->task ? ": " : "", ##__VA_ARGS__)

static int number(struct reader *r, const char *key, const json_t *v, int64_t min, int64_t max, int64_t *out)
{
	if (!json_is_integer(v) || json_integer_value(v) < min || json_integer_value(v) > max)
		return REFUSE(r, key, "\"%.40s\" must be a whole number from %lld to %lld", key, (long long)min, (long long)max);
	*out = json_integer_value(v);
	return 0;
}

static int resource(struct reader *r, const char *key, const char *name, enum class class, uint32_t *out)
{
	char named[sizeof(*r->f->resource_names) + 1];
	struct sim_file *f = r->f;
	json_t *known;

	if (!name || !*name || strlen(name) >= sizeof(*f->resource_names))
		return REFUSE(r, key, "\"%.40s\" must name something, in at most %zu bytes", key, sizeof(*f->resource_names) - 1);
	snprintf(named, sizeof(named), "%c%s", '0' + (int)class, name);
	known = json_object_get(r->index, named);
	if (known) {
		*out = (uint32_t)json_integer_value(known);
		return 0;
	}
	if (f->nr_resources == r->cap_resources) {
		uint32_t cap = r->cap_resources ? 2 * r->cap_resources : 64;
		void *names;

		if (cap > RESOURCES_MAX)
			return REFUSE(r, key, "more than %d locks, conditions, barriers and suspends", RESOURCES_MAX);
		names = realloc(f->resource_names, cap * sizeof(*f->resource_names));
		if (!names)
			return sim_error(r->err, -ENOMEM, "%s: not enough memory", r->where);
		f->resource_names = names;
		r->cap_resources = cap;
	}
	if (json_object_set_new(r->index, named, json_integer(f->nr_resources)))
		return sim_error(r->err, -ENOMEM, "%s: not enough memory", r->where);
	*out = f->nr_resources++;
	strcpy(f->resource_names[*out], name);
	return 0;
}

static const struct {
	const char *key;
	enum sim_file_kind kind;
} kinds[] = {
	{ "runtime", SIM_FILE_RUN }, { "run", SIM_FILE_RUN }, { "sleep", SIM_FILE_SLEEP }, { "timer", SIM_FILE_TIMER },
	{ "suspend", SIM_FILE_SUSPEND }, { "resume", SIM_FILE_RESUME }, { "lock", SIM_FILE_LOCK },
	{ "unlock", SIM_FILE_UNLOCK }, { "wait", SIM_FILE_WAIT }, { "signal", SIM_FILE_SIGNAL },
	{ "broad", SIM_FILE_BROADCAST }, { "barrier", SIM_FILE_BARRIER }, { "yield", SIM_FILE_YIELD },
};

/* "run", "run1", "run12" ... */
static int kind_of(const char *key)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t n = strlen(kinds[i].key);
		const char *c = key + n;

		if (strncmp(key, kinds[i].key, n))
			continue;
		while (isdigit((unsigned char)*c))
			c++;
		if (!*c)
			return (int)kinds[i].kind;
	}
	return -1;
}

static int read_event(struct reader *r, const char *key, json_t *v, int kind, struct sim_file_event *e)
{
	const char *name = json_string_value(v), *mutex = NULL;
	int64_t us = 0;
	int ret = 0;

	*e = (struct sim_file_event){ .kind = (enum sim_file_kind)kind, .ref = SIM_NONE, .mutex = SIM_NONE };
	switch (e->kind) {
	case SIM_FILE_RUN:
	case SIM_FILE_SLEEP:
		ret = number(r, key, v, 0, INT64_C(1000000000000), &us);
		e->ns = (uint64_t)us * 1000;
		return ret;
	case SIM_FILE_TIMER:
		if (!json_is_object(v) || !json_object_get(v, "period"))
			return REFUSE(r, key, "\"%.40s\" must be { \"ref\": NAME, \"period\": MICROSECONDS }", key);
		ret = number(r, "period", json_object_get(v, "period"), 1, INT64_C(1000000000000), &us);
		e->ns = (uint64_t)us * 1000;
		return ret;
	case SIM_FILE_SUSPEND:
		return resource(r, key, name && *name ? name : r->task, C_SUSPEND, &e->ref);
	case SIM_FILE_RESUME:
		return resource(r, key, name, C_SUSPEND, &e->ref);
	case SIM_FILE_LOCK:
	case SIM_FILE_UNLOCK:
		return resource(r, key, name, C_MUTEX, &e->ref);
	case SIM_FILE_WAIT:
		if (json_is_object(v)) {
			name = json_string_value(json_object_get(v, "ref"));
			mutex = json_string_value(json_object_get(v, "mutex"));
		}
		ret = resource(r, key, name, C_CONDITION, &e->ref);
		if (!ret && mutex)
			ret = resource(r, key, mutex, C_MUTEX, &e->mutex);
		return ret;
	case SIM_FILE_SIGNAL:
	case SIM_FILE_BROADCAST:
		return resource(r, key, name, C_CONDITION, &e->ref);
	case SIM_FILE_BARRIER:
		return resource(r, key, name, C_BARRIER, &e->ref);
	case SIM_FILE_YIELD:
		return 0;
	}
	return 0;
}

static bool among(const char *const *known, const char *key)
{
	while (*known && strcmp(*known, key))
		known++;
	return *known;
}

static bool takes_time(const struct sim_file_phase *p)
{
	for (uint32_t i = 0; i < p->nr_events; i++)
		if (p->events[i].kind != SIM_FILE_RUN || p->events[i].ns)
			return true;
	return false;
}

/* Everything in `o` that is an event, in order. Other keys must be among `known`. */
static int read_events(struct reader *r, json_t *o, const char *const *known, struct sim_file_phase *p)
{
	const char *key;
	json_t *v;
	int ret;

	p->events = calloc(json_object_size(o) + 1, sizeof(*p->events));
	if (!p->events)
		return sim_error(r->err, -ENOMEM, "%s: not enough memory", r->where);
	json_object_foreach(o, key, v) {
		int kind = kind_of(key);

		if (kind < 0) {
			if (!among(known, key))
				return REFUSE(r, key, "there is no event or setting \"%.40s\"", key);
			continue;
		}
		if (++r->nr_events > EVENTS_MAX)
			return REFUSE(r, key, "more than %d events", EVENTS_MAX);
		ret = read_event(r, key, v, kind, &p->events[p->nr_events]);
		if (ret)
			return ret;
		p->nr_events++;
	}
	if (!p->nr_events)
		return REFUSE(r, r->task, "a phase without events");
	if (!p->loops && !takes_time(p))
		return REFUSE(r, r->task, "a phase that loops for ever and takes no time");
	return 0;
}

static int read_loops(struct reader *r, json_t *o, uint32_t deflt, uint32_t *out)
{
	json_t *v = json_object_get(o, "loop");
	int64_t n = deflt ? (int64_t)deflt : -1;
	int ret = v ? number(r, "loop", v, -1, INT32_MAX, &n) : 0;

	if (!ret && n == 0)
		ret = REFUSE(r, "loop", "\"loop\" must be -1 (for ever) or at least 1");
	*out = n < 0 ? 0 : (uint32_t)n;
	return ret;
}

static int read_cpus(struct reader *r, json_t *v, struct sim_file_task *t)
{
	size_t i;
	json_t *cpu;

	if (!json_is_array(v) || !json_array_size(v) || json_array_size(v) > TOPO_MAX_CPUS)
		return REFUSE(r, "cpus", "\"cpus\" must be a list of CPU numbers");
	t->cpus = calloc(json_array_size(v), sizeof(*t->cpus));
	if (!t->cpus)
		return sim_error(r->err, -ENOMEM, "%s: not enough memory", r->where);
	json_array_foreach(v, i, cpu) {
		int64_t n;
		int ret = number(r, "cpus", cpu, 0, TOPO_MAX_CPUS - 1, &n);

		if (ret)
			return ret;
		t->cpus[t->nr_cpus++] = (uint16_t)n;
	}
	return 0;
}

static int read_settings(struct reader *r, json_t *o, struct sim_file_task *t)
{
	const char *policy = json_string_value(json_object_get(o, "policy"));
	int64_t v;
	json_t *j;
	int ret = 0;

	t->instances = 1;
	t->footprint = 32768;
	if ((j = json_object_get(o, "instance"))) {
		ret = number(r, "instance", j, 0, SIM_MAX_TASKS, &v);
		if (!ret)
			t->instances = (uint32_t)v;
	}
	if (!ret && ((j = json_object_get(o, "nice")) || (j = json_object_get(o, "priority")))) {
		ret = number(r, json_object_get(o, "nice") ? "nice" : "priority", j, -20, 19, &v);
		if (!ret)
			t->nice = (int)v;
	}
	if (!ret && (j = json_object_get(o, "footprint"))) {
		ret = number(r, "footprint", j, 0, 1 << 30, &v);
		if (!ret)
			t->footprint = (uint32_t)v;
	}
	if (!ret && (j = json_object_get(o, "delay"))) {
		ret = number(r, "delay", j, 0, INT64_C(1000000000000), &v);
		if (!ret)
			t->delay_ns = (uint64_t)v * 1000;
	}
	if (!ret && (j = json_object_get(o, "cpus")))
		ret = read_cpus(r, j, t);
	if (ret)
		return ret;
	if (policy && !strcmp(policy, "SCHED_BATCH"))
		t->batch = true;
	else if (policy && !strcmp(policy, "SCHED_IDLE"))
		t->idle_class = true;
	else if (json_object_get(o, "policy") && (!policy || strcmp(policy, "SCHED_OTHER")))
		return REFUSE(r, "policy", "\"policy\" must be SCHED_OTHER, SCHED_BATCH or SCHED_IDLE: this scheduler is for those");
	return read_loops(r, o, 0, &t->loops);
}

static int read_task(struct reader *r, const char *name, json_t *o, struct sim_file_task *t)
{
	static const char *const known[] = { "instance", "loop", "nice", "priority", "policy", "cpus", "footprint", "phases",
					     "delay", NULL };
	static const char *const known_phase[] = { "loop", NULL };
	json_t *phases, *p;
	bool passes = false;
	const char *key;
	int ret;

	r->task = name;
	if (strlen(name) >= sizeof(t->name))
		return REFUSE(r, name, "a name of more than %zu bytes", sizeof(t->name) - 1);
	strcpy(t->name, name);
	if (!json_is_object(o))
		return REFUSE(r, name, "must be an object");
	ret = read_settings(r, o, t);
	if (ret)
		return ret;
	phases = json_object_get(o, "phases");
	if (phases && (!json_is_object(phases) || !json_object_size(phases)))
		return REFUSE(r, "phases", "\"phases\" must be an object that holds phases");
	t->phases = calloc(phases ? json_object_size(phases) : 1, sizeof(*t->phases));
	if (!t->phases)
		return sim_error(r->err, -ENOMEM, "%s: not enough memory", r->where);
	if (!phases) {
		t->nr_phases = 1;
		t->phases[0].loops = 1;
		ret = read_events(r, o, known, &t->phases[0]);
		if (ret)
			return ret;
	}
	json_object_foreach(phases ? o : NULL, key, p)
		if (!among(known, key))
			return REFUSE(r, key, "\"%.40s\" beside \"phases\": there must be only settings; put events into a phase", key);
	json_object_foreach(phases, key, p) {
		struct sim_file_phase *ph = &t->phases[t->nr_phases++];

		if (!json_is_object(p))
			return REFUSE(r, key, "phase \"%.40s\" must be an object", key);
		ret = read_loops(r, p, 1, &ph->loops);
		if (!ret)
			ret = read_events(r, p, known_phase, ph);
		if (ret)
			return ret;
	}
	for (uint32_t i = 0; i < t->nr_phases; i++)
		passes = passes || takes_time(&t->phases[i]);
	if (!t->loops && !passes)
		return REFUSE(r, name, "loops for ever and takes no time");
	return 0;
}

/*
 * Who waits for what is only done by one who waits himself? Lets every task go on from its first event for as long as
 * somebody can ever have done what it waits for, once or often, one loop of each phase. It takes much to be possible
 * (any order, as many resumes as may be), so whoever gets stuck never gets on, whatever the others do.
 */
struct reach {
	uint32_t *phase, *event;      /* by task: where it stands */
	uint32_t *first, *next;       /* by resource, by task: who stands at it */
	uint32_t *todo, nr_todo;      /* tasks that can go on */
	bool *done;                   /* by resource: somebody gets as far as resuming or signalling it */
};

static void go_on(const struct sim_file *f, struct reach *w, uint32_t t)
{
	const struct sim_file_task *ft = &f->tasks[t];

	while (w->phase[t] < ft->nr_phases) {
		const struct sim_file_phase *p = &ft->phases[w->phase[t]];
		const struct sim_file_event *e = &p->events[w->event[t]];

		if ((e->kind == SIM_FILE_SUSPEND || e->kind == SIM_FILE_WAIT) && !w->done[e->ref]) {
			w->next[t] = w->first[e->ref];
			w->first[e->ref] = t;
			return;
		}
		if (e->kind == SIM_FILE_RESUME || e->kind == SIM_FILE_SIGNAL || e->kind == SIM_FILE_BROADCAST) {
			w->done[e->ref] = true;
			for (uint32_t i = w->first[e->ref]; i != SIM_NONE; i = w->next[i])
				w->todo[w->nr_todo++] = i;
			w->first[e->ref] = SIM_NONE;
		}
		if (++w->event[t] == p->nr_events) {
			w->event[t] = 0;
			w->phase[t] = p->loops ? w->phase[t] + 1 : ft->nr_phases;
		}
	}
}

static int find_cycle(struct reader *r)
{
	struct sim_file *f = r->f;
	uint32_t *by_task = calloc(f->nr_tasks, 4 * sizeof(*by_task)), ref = SIM_NONE;
	struct reach w = {
		.phase = by_task, .event = by_task + f->nr_tasks, .next = by_task + 2 * f->nr_tasks,
		.todo = by_task + 3 * f->nr_tasks, .first = malloc((f->nr_resources + 1) * sizeof(*w.first)),
		.done = calloc(f->nr_resources + 1, sizeof(*w.done)),
	};
	char names[200] = "";
	int ret = 0;

	if (!by_task || !w.first || !w.done) {
		ret = sim_error(r->err, -ENOMEM, "%s: not enough memory", r->where);
		goto out;
	}
	for (uint32_t i = 0; i < f->nr_resources; i++)
		w.first[i] = SIM_NONE;
	for (uint32_t t = f->nr_tasks; t; t--)
		if (f->tasks[t - 1].instances)
			w.todo[w.nr_todo++] = t - 1;
	while (w.nr_todo)
		go_on(f, &w, w.todo[--w.nr_todo]);
	for (uint32_t t = 0; t < f->nr_tasks; t++) {
		const struct sim_file_task *ft = &f->tasks[t];

		if (!ft->instances || w.phase[t] == ft->nr_phases)
			continue;
		if (ref == SIM_NONE)
			ref = ft->phases[w.phase[t]].events[w.event[t]].ref;
		if (strlen(names) < 80)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s (waits for \"%s\")",
				 *names ? ", " : "", ft->name,
				 f->resource_names[ft->phases[w.phase[t]].events[w.event[t]].ref]);
		else if (names[strlen(names) - 1] == ')')
			strcat(names, ", ...");
	}
	if (*names)
		ret = REFUSE(r, f->resource_names[ref], "this can never finish, as nobody gets as far as waking who waits: %s", names);
out:
	free(by_task);
	free(w.first);
	free(w.done);
	return ret;
}

/* The mutexes that a task holds after this event; holder is by resource. */
static int hold(struct reader *r, const struct sim_file_event *e, uint32_t *holder, uint32_t task)
{
	uint32_t ref = e->kind == SIM_FILE_WAIT ? e->mutex : e->ref;
	const char *name;

	if ((e->kind != SIM_FILE_LOCK && e->kind != SIM_FILE_UNLOCK && e->kind != SIM_FILE_WAIT) || ref == SIM_NONE)
		return 0;
	name = r->f->resource_names[ref];
	if (e->kind == SIM_FILE_LOCK && holder[ref] == task)
		return REFUSE(r, name, "locks \"%s\" while it holds it: it would wait for itself", name);
	if (e->kind == SIM_FILE_UNLOCK && holder[ref] != task)
		return REFUSE(r, name, "unlocks \"%s\", which it does not hold then", name);
	if (e->kind == SIM_FILE_WAIT && holder[ref] != task)
		return REFUSE(r, name, "waits with the mutex \"%s\", which it does not hold then: it must lock it before", name);
	holder[ref] = e->kind == SIM_FILE_UNLOCK ? SIM_NONE : task;
	return 0;
}

/* What is held after a loop depends on the loop alone, so that two of each show all there is. */
static int check_mutexes(struct reader *r, uint32_t *holder)
{
	int ret = 0;

	for (uint32_t t = 0; t < r->f->nr_tasks && !ret; t++) {
		const struct sim_file_task *ft = &r->f->tasks[t];

		r->task = ft->name;
		for (uint32_t loop = 0; loop < (ft->loops == 1 ? 1 : 2); loop++)
			for (uint32_t p = 0; p < ft->nr_phases; p++)
				for (uint32_t i = 0; i < (ft->phases[p].loops == 1 ? 1 : 2); i++)
					for (uint32_t e = 0; e < ft->phases[p].nr_events && !ret; e++)
						ret = hold(r, &ft->phases[p].events[e], holder, t);
	}
	if (!ret)
		r->task = NULL;
	return ret;
}

/* By resource: the kinds of events it is used with, as bits; and how many tasks a barrier waits for. */
static void note_uses(struct sim_file *f, uint16_t *uses, uint32_t *last)
{
	for (uint32_t t = 0; t < f->nr_tasks; t++)
		for (uint32_t p = 0; p < f->tasks[t].nr_phases; p++)
			for (uint32_t e = 0; e < f->tasks[t].phases[p].nr_events; e++) {
				const struct sim_file_event *ev = &f->tasks[t].phases[p].events[e];

				if (ev->ref == SIM_NONE)
					continue;
				uses[ev->ref] |= (uint16_t)(1 << ev->kind);
				if (ev->kind == SIM_FILE_BARRIER && last[ev->ref] != t)
					f->barrier_size[ev->ref] += f->tasks[t].instances;
				last[ev->ref] = t;
			}
}

static int check_uses(struct reader *r, uint16_t *uses)
{
	struct sim_file *f = r->f;

	for (uint32_t i = 0; i < f->nr_resources; i++) {
		const char *name = f->resource_names[i];

		if (uses[i] & 1 << SIM_FILE_SUSPEND && !(uses[i] & 1 << SIM_FILE_RESUME))
			return REFUSE(r, name, "nobody resumes \"%s\", which a task waits for: this can never finish", name);
		if (uses[i] & 1 << SIM_FILE_WAIT && !(uses[i] & (1 << SIM_FILE_SIGNAL | 1 << SIM_FILE_BROADCAST)))
			return REFUSE(r, name, "nobody signals \"%s\", which a task waits for: this can never finish", name);
	}
	return 0;
}

static int check(struct reader *r)
{
	struct sim_file *f = r->f;
	uint32_t *last = NULL;
	uint16_t *uses = NULL;
	uint64_t instances = 0;
	int ret;

	for (uint32_t t = 0; t < f->nr_tasks; t++)
		instances += f->tasks[t].instances;
	r->task = NULL;
	if (!instances || instances > SIM_MAX_TASKS)
		return REFUSE(r, "tasks", "%llu tasks in all; there must be 1 to %d", (unsigned long long)instances, SIM_MAX_TASKS);
	f->nr_instances = (uint32_t)instances;
	f->barrier_size = calloc(f->nr_resources + 1, sizeof(*f->barrier_size));
	uses = calloc(f->nr_resources + 1, sizeof(*uses));
	last = malloc((f->nr_resources + 1) * sizeof(*last));
	if (!f->barrier_size || !uses || !last) {
		ret = sim_error(r->err, -ENOMEM, "%s: not enough memory", r->where);
		goto out;
	}
	memset(last, 0xff, (f->nr_resources + 1) * sizeof(*last));
	note_uses(f, uses, last);
	ret = check_uses(r, uses);
	memset(last, 0xff, (f->nr_resources + 1) * sizeof(*last));
	if (!ret)
		ret = check_mutexes(r, last);
	if (!ret)
		ret = find_cycle(r);
out:
	free(uses);
	free(last);
	return ret;
}

static int read_global(struct reader *r, json_t *root)
{
	/* All that rt-app has; but for the duration it is about how rt-app runs and reports, and means nothing here. */
	static const char *const known[] = { "duration", "calibration", "default_policy", "pi_enabled", "lock_pages", "logdir",
					     "log_basename", "log_size", "ftrace", "gnuplot", "io_device", "mem_buffer_size",
					     "cumulative_slack", NULL };
	json_t *g = json_object_get(root, "global"), *d = json_object_get(g, "duration"), *item;
	const char *policy = "SCHED_OTHER", *key;
	bool endless = false;
	int64_t v = -1;
	int ret;

	if (g && !json_is_object(g))
		return REFUSE(r, "global", "\"global\" must be an object");
	json_object_foreach(g, key, item)
		if (!among(known, key))
			return REFUSE(r, key, "\"global\" has no setting \"%.40s\"; what counts here is \"duration\"", key);
	if (json_object_get(g, "default_policy"))
		policy = json_string_value(json_object_get(g, "default_policy"));
	if (!policy || strcmp(policy, "SCHED_OTHER"))
		return REFUSE(r, "default_policy", "\"default_policy\" must be SCHED_OTHER; the tasks have a \"policy\" each");
	if (d) {
		ret = number(r, "duration", d, -1, 1000000, &v);
		if (ret)
			return ret;
	}
	for (uint32_t t = 0; t < r->f->nr_tasks; t++) {
		endless = endless || (!r->f->tasks[t].loops && r->f->tasks[t].instances);
		for (uint32_t p = 0; p < r->f->tasks[t].nr_phases; p++)
			endless = endless || !r->f->tasks[t].phases[p].loops;
	}
	if (v <= 0 && endless)
		return REFUSE(r, "duration", "a task loops for ever and there is no \"duration\" (in \"global\", seconds)");
	r->f->duration_ns = v > 0 ? (uint64_t)v * 1000000000 : 0;
	return 0;
}

int sim_file_parse_text(const char *text, size_t len, const char *where, struct sim_file **out, struct sim_error *err)
{
	/* "resources" name what rt-app must make beforehand; here it comes to be by being used. */
	static const char *const known[] = { "tasks", "global", "resources", NULL };
	struct reader r = { .where = where, .text = text, .err = err };
	json_t *root, *tasks, *o;
	json_error_t jerr;
	const char *name;
	int ret;

	*out = NULL;
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &jerr);
	if (!root)
		return sim_error(err, -EINVAL, "%s:%d: %s", where, jerr.line, jerr.text);
	r.f = calloc(1, sizeof(*r.f));
	r.index = json_object();
	if (!r.f || !r.index) {
		ret = sim_error(err, -ENOMEM, "%s: not enough memory", where);
		goto out;
	}
	r.f->where = where;
	json_object_foreach(root, name, o)
		if (!among(known, name)) {
			ret = REFUSE(&r, name, "there are \"tasks\", \"global\" and \"resources\", no \"%.40s\"", name);
			goto out;
		}
	tasks = json_object_get(root, "tasks");
	if (!json_is_object(tasks) || !json_object_size(tasks)) {
		ret = REFUSE(&r, "tasks", "there must be \"tasks\": an object that holds at least one task");
		goto out;
	}
	r.f->tasks = calloc(json_object_size(tasks), sizeof(*r.f->tasks));
	if (!r.f->tasks) {
		ret = sim_error(err, -ENOMEM, "%s: not enough memory", where);
		goto out;
	}
	json_object_foreach(tasks, name, o) {
		ret = read_task(&r, name, o, &r.f->tasks[r.f->nr_tasks++]);
		if (ret)
			goto out;
	}
	r.task = NULL;
	ret = check(&r);
	if (!ret)
		ret = read_global(&r, root);
	if (!ret) {
		*out = r.f;
		r.f = NULL;
	}
out:
	sim_file_free(r.f);
	json_decref(r.index);
	json_decref(root);
	return ret;
}

int sim_file_parse(int argc, char **argv, void **out, struct sim_error *err)
{
	char *text = malloc(FILE_MAX + 2);
	struct sim_file *f = NULL;
	FILE *in = NULL;
	size_t n;
	int ret;

	if (argc != 1 || !text) {
		free(text);
		return sim_error(err, -EINVAL, "file: one workload file is needed");
	}
	in = fopen(argv[0], "re");
	if (!in) {
		ret = sim_error(err, -EINVAL, "%.200s: %s", argv[0], strerror(errno));
		goto out;
	}
	errno = 0;
	n = fread(text, 1, FILE_MAX + 1, in);
	if (ferror(in)) {
		ret = sim_error(err, -EINVAL, "%.200s: %s", argv[0], strerror(errno ? errno : EIO));
		goto out;
	}
	if (n > FILE_MAX) {
		ret = sim_error(err, -EINVAL, "%.200s: not a file of at most %d bytes", argv[0], FILE_MAX);
		goto out;
	}
	text[n] = '\0';
	ret = sim_file_parse_text(text, n, argv[0], &f, err);
	*out = f;
out:
	if (in)
		fclose(in);
	free(text);
	return ret;
}

void sim_file_free(void *file)
{
	struct sim_file *f = file;

	if (!f)
		return;
	for (uint32_t t = 0; t < f->nr_tasks; t++) {
		for (uint32_t p = 0; p < f->tasks[t].nr_phases; p++)
			free(f->tasks[t].phases[p].events);
		free(f->tasks[t].phases);
		free(f->tasks[t].cpus);
	}
	free(f->tasks);
	free(f->barrier_size);
	free(f->resource_names);
	free(f);
}
