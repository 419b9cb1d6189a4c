/* SPDX-License-Identifier: GPL-2.0-only */
/* One family of samples after the other, each announced once; openmetrics.h. */
#include "measure/openmetrics.h"

#include <stdlib.h>
#include <string.h>

#include "policy/waithist.h"
#include "run/counters.h"
#include "run/knobs.h"

/* A counter is announced without "_total" in OpenMetrics and with it in the older format. */
static void announce(FILE *out, int om, const char *name, const char *type, const char *unit, const char *help)
{
	const char *suffix = !om && !strcmp(type, "counter") ? "_total" : "";

	fprintf(out, "# HELP %s%s ", name, suffix);
	for (; *help; help++)
		if (*help == '\\' || *help == '\n' || (om && *help == '"'))
			fprintf(out, "\\%c", *help == '\n' ? 'n' : *help);
		else
			fputc(*help, out);
	fprintf(out, "\n# TYPE %s%s %s\n", name, suffix, type);
	if (om && unit)
		fprintf(out, "# UNIT %s %s\n", name, unit);
}

static void label_value(FILE *out, const char *v)
{
	fputc('"', out);
	for (; *v; v++)
		if (*v == '\\' || *v == '"' || *v == '\n')
			fprintf(out, "\\%c", *v == '\n' ? 'n' : *v);
		else
			fputc(*v, out);
	fputc('"', out);
}

static void build_info(FILE *out, const struct openmetrics_source *s, int om)
{
	announce(out, om, "roost_up", "gauge", NULL, "Whether roost is this machine's scheduler now.");
	fprintf(out, "roost_up %d\n", s->machine != NULL);
	announce(out, om, om ? "roost_build" : "roost_build_info", om ? "info" : "gauge", NULL, "Version of roost and of the kernel.");
	fputs("roost_build_info{version=", out);
	label_value(out, s->version);
	fputs(",kernel=", out);
	label_value(out, s->kernel);
	fputs("} 1\n", out);
}

/* nr_kicks_idle -> roost_kicks_idle; wait_ns -> roost_wait_seconds. */
static void counter_name(const char *field, char *name, size_t len, int *is_time)
{
	size_t n;

	if (!strncmp(field, "nr_", 3))
		field += 3;
	snprintf(name, len, "roost_%s", field);
	n = strlen(name);
	*is_time = n > 3 && !strcmp(name + n - 3, "_ns");
	if (*is_time)
		snprintf(name + n - 3, len - (n - 3), "_seconds");
}

static void plain_counters(FILE *out, const struct roost_stats *sum, int om)
{
	for (size_t i = 0; i < counter_count; i++) {
		const struct counter *c = &counter_table[i];
		u64 v = counter_get(sum, c);
		int is_time, is_max = strstr(c->name, "_max_") != NULL;
		char name[80];

		counter_name(c->name, name, sizeof(name), &is_time);
		announce(out, om, name, is_max ? "gauge" : "counter", is_time ? "seconds" : NULL, c->help);
		if (is_time)
			fprintf(out, "%s%s %llu.%09llu\n", name, is_max ? "" : "_total", v / 1000000000, v % 1000000000);
		else
			fprintf(out, "%s%s %llu\n", name, is_max ? "" : "_total", v);
	}
}

/* A histogram, cumulative as the format wants it; only bounds up to the longest wait seen. */
static void waits(FILE *out, const struct roost_stats *sum, int om)
{
	u64 seen = 0, total = 0;

	for (u32 i = 0; i < ROOST_WAIT_BUCKETS; i++)
		total += sum->wait_hist[i];
	announce(out, om, "roost_wait_length_seconds", "histogram", "seconds", "Single waits for a CPU, by their length.");
	for (u32 i = 0; i + 1 < ROOST_WAIT_BUCKETS; i++) {
		double bound = (double)waithist_low_ns(i + 1) / 1e9;

		seen += sum->wait_hist[i];
		/* two buckets below 1 us are one: nothing lies between them */
		if (i + 2 < ROOST_WAIT_BUCKETS && waithist_low_ns(i + 2) <= waithist_low_ns(i + 1))
			continue;
		fprintf(out, "roost_wait_length_seconds_bucket{le=\"%.12g\"} %llu\n", bound, seen);
	}
	fprintf(out, "roost_wait_length_seconds_bucket{le=\"+Inf\"} %llu\nroost_wait_length_seconds_count %llu\n"
		"roost_wait_length_seconds_sum %llu.%09llu\n", total, total, sum->wait_ns / 1000000000, sum->wait_ns % 1000000000);
}

static void by_rule(FILE *out, const struct roost_stats *sum, int om)
{
	u64 distance[ROOST_DIST_COUNT] = { 0 };

	announce(out, om, "roost_decisions", "counter", NULL, "Choices of a CPU, by the rule that made them.");
	for (unsigned r = 1; r < ROOST_RULE_COUNT; r++)
		fprintf(out, "roost_decisions_total{rule=\"%s\"} %llu\n", rule_names[r].name, sum->rule[r]);
	announce(out, om, "roost_decisions_idle", "counter", NULL, "Of these, the chosen CPU was truly idle.");
	for (unsigned r = 1; r < ROOST_RULE_COUNT; r++)
		fprintf(out, "roost_decisions_idle_total{rule=\"%s\"} %llu\n", rule_names[r].name, sum->rule_idle[r]);
	for (unsigned r = 1; r < ROOST_RULE_COUNT; r++)
		for (unsigned d = 0; d < ROOST_DIST_COUNT; d++)
			distance[d] += sum->rule_distance[r][d];
	announce(out, om, "roost_moves", "counter", NULL, "Choices, by how far the task moved from its previous CPU.");
	for (unsigned d = 0; d < ROOST_DIST_COUNT; d++)
		fprintf(out, "roost_moves_total{distance=\"%s\"} %llu\n", distance_names[d], distance[d]);
	announce(out, om, "roost_targets", "counter", NULL, "Where the search for a CPU began, and why.");
	for (unsigned t = 0; t < ROOST_TARGET_COUNT; t++)
		fprintf(out, "roost_targets_total{why=\"%s\"} %llu\n", target_names[t], sum->target[t]);
}

static void cpus(FILE *out, const struct openmetrics_source *s, int om)
{
	unsigned online = 0, runnable = 0;

	for (u32 i = 0; i < s->machine->nr_cpu_ids; i++)
		if (s->cpus[i].flags & ROOST_CPU_ONLINE) {
			online++;
			runnable += s->cpus[i].nr_runnable;
		}
	announce(out, om, "roost_cpus_online", "gauge", NULL, "CPUs that roost schedules.");
	fprintf(out, "roost_cpus_online %u\n", online);
	announce(out, om, "roost_tasks_runnable", "gauge", NULL, "Tasks that run or wait for a CPU now.");
	fprintf(out, "roost_tasks_runnable %u\n", runnable);
	announce(out, om, "roost_llc_cpus", "gauge", NULL, "Online CPUs of a last-level cache.");
	for (u32 i = 0; i < s->machine->nr_llcs; i++)
		fprintf(out, "roost_llc_cpus{llc=\"%u\"} %u\n", i, s->llcs[i].weight);
	announce(out, om, "roost_llc_cpus_idle", "gauge", NULL, "Of these, idle now.");
	for (u32 i = 0; i < s->machine->nr_llcs; i++) {
		unsigned idle = 0;

		for (u32 w = 0; w < s->llcs[i].nr_words; w++)
			idle += (unsigned)__builtin_popcountll(s->words[s->llcs[i].first_word + w].idle);
		fprintf(out, "roost_llc_cpus_idle{llc=\"%u\"} %u\n", i, idle);
	}
}

static void knobs(FILE *out, const struct roost_knobs *k, int om)
{
	announce(out, om, "roost_knob", "gauge", NULL, "The knobs; times in seconds, switches 0 or 1, percentages 0 to 100.");
	for (size_t i = 0; i < knob_count; i++) {
		u64 v = knob_get(k, &knob_table[i]);

		fprintf(out, "roost_knob{knob=\"%s\"} ", knob_table[i].key);
		if (knob_table[i].kind == KNOB_TIME)
			fprintf(out, "%llu.%09llu\n", v / 1000000000, v % 1000000000);
		else
			fprintf(out, "%llu\n", v);
	}
}

void openmetrics_write(FILE *out, const struct openmetrics_source *s, int om)
{
	build_info(out, s, om);
	if (s->machine) {
		struct roost_stats sum;

		counters_sum(&sum, s->stats, s->machine->nr_cpu_ids);
		plain_counters(out, &sum, om);
		waits(out, &sum, om);
		by_rule(out, &sum, om);
		cpus(out, s, om);
		knobs(out, s->knobs, om);
	}
	if (om)
		fputs("# EOF\n", out);
}
