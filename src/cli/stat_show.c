/* SPDX-License-Identifier: GPL-2.0-only */
/* stat_show.c - counters as text and JSON; see stat_show.h. */
#include "cli/stat_show.h"

#include <string.h>

#include "cli/print.h"
#include "run/counters.h"

#define HEADING_EVERY 20

static double percent(u64 part, u64 whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* A duration for people: three digits and a unit. */
static const char *human_ns(u64 ns, char buf[static 24])
{
	static const struct { double ns; const char *name; } units[] = {
		{ 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if ((double)ns >= units[i].ns) {
			snprintf(buf, 24, "%.3g %s", (double)ns / units[i].ns, units[i].name);
			if ((double)ns / units[i].ns >= 1000)
				snprintf(buf, 24, "%.0f %s", (double)ns / units[i].ns, units[i].name);
			return buf;
		}
	}
	snprintf(buf, 24, "%llu ns", ns);
	return buf;
}

static bool is_time(const struct counter *c)
{
	size_t len = strlen(c->name);

	return len > 3 && strcmp(c->name + len - 3, "_ns") == 0;
}

static void print_counters(const struct roost_stats *s, bool all)
{
	char text[24];

	for (size_t i = 0; i < counter_count; i++) {
		const struct counter *c = &counter_table[i];
		u64 v = counter_get(s, c);

		if (!v && !all)
			continue;
		if (is_time(c))
			printf("%-20s %16s  %s\n", c->name, human_ns(v, text), c->help);
		else
			printf("%-20s %16llu  %s\n", c->name, v, c->help);
	}
}

static void print_rules(const struct roost_stats *s, bool all)
{
	u64 total = 0;

	for (size_t r = 0; r < ROOST_RULE_COUNT; r++)
		total += s->rule[r];
	printf("\n%-16s %12s %6s %6s | %6s %6s %6s %6s %6s\n", "RULE", "CHOSE", "SHARE", "IDLE", "same", "core", "llc",
	       "node", "far");
	for (size_t r = 0; r < ROOST_RULE_COUNT; r++) {
		u64 n = s->rule[r];

		if (!n && (!all || r == ROOST_RULE_NONE))
			continue;
		printf("%-16s %12llu %5.1f%% %5.1f%% |", rule_names[r].name, n, percent(n, total),
		       percent(s->rule_idle[r], n));
		for (size_t d = 0; d < ROOST_DIST_COUNT; d++)
			printf(" %5.1f%%", percent(s->rule_distance[r][d], n));
		putchar('\n');
	}
}

static void print_targets(const struct roost_stats *s, bool all)
{
	u64 total = 0;

	for (size_t t = 0; t < ROOST_TARGET_COUNT; t++)
		total += s->target[t];
	if (!total && !all)
		return;
	printf("\n%-16s %12s %6s\n", "TARGET", "CHOSE", "SHARE");
	for (size_t t = 0; t < ROOST_TARGET_COUNT; t++) {
		if (s->target[t] || all)
			printf("%-16s %12llu %5.1f%%\n", target_names[t], s->target[t], percent(s->target[t], total));
	}
}

void stat_print(const struct roost_stats *s, bool all)
{
	print_counters(s, all);
	print_rules(s, all);
	print_targets(s, all);
}

static bool counted_anything(const struct roost_stats *s)
{
	return s->nr_wakeups || s->nr_switches || s->run_ns || s->spin_windows;
}

/* idle-spin, each CPU: its windows, those in which work came, the interrupts that others spared it, and what it cost. */
static void print_spins(const struct roost_stats *of_cpu, size_t nr_cpus, bool all)
{
	bool heading = false;
	char spun[24];

	for (size_t i = 0; i < nr_cpus; i++) {
		struct roost_stats s = { 0 };

		counters_add(&s, &of_cpu[i]);
		if (!all && !s.spin_windows && !s.spin_budget_stops)
			continue;
		if (!heading)
			printf("\n%5s %12s %12s %15s %10s %12s\n", "CPU", "SPIN-WINDOWS", "HITS", "KICKS-AVOIDED", "SPUN",
			       "BUDGET-STOPS");
		heading = true;
		printf("%5zu %12llu %12llu %15llu %10s %12llu\n", i, s.spin_windows, s.spin_hits, s.spin_kicks_avoided,
		       human_ns(s.spin_ns, spun), s.spin_budget_stops);
	}
}

void stat_print_cpus(const struct roost_stats *of_cpu, size_t nr_cpus, bool all)
{
	char run[24], wait[24], worst[24];

	printf("\n%5s %12s %12s %12s %12s %10s %10s %10s %10s\n", "CPU", "WAKEUPS", "SWITCHES", "QUEUED", "DIRECT",
	       "KICKS", "RUN", "WAIT", "WAIT-MAX");
	for (size_t i = 0; i < nr_cpus; i++) {
		struct roost_stats s = { 0 };

		counters_add(&s, &of_cpu[i]);
		if (!all && !counted_anything(&s))
			continue;
		printf("%5zu %12llu %12llu %12llu %12llu %10llu %10s %10s %10s\n", i, s.nr_wakeups, s.nr_switches,
		       s.nr_enqueued, s.nr_dispatched, s.nr_kicks_idle + s.nr_kicks_preempt, human_ns(s.run_ns, run),
		       human_ns(s.wait_ns, wait), human_ns(s.wait_max_ns, worst));
	}
	print_spins(of_cpu, nr_cpus, all);
}

json_t *stat_json(const struct roost_stats *s)
{
	json_t *counters = json_object(), *rules = json_object(), *targets = json_object();

	for (size_t i = 0; i < counter_count; i++)
		json_object_set_new(counters, counter_table[i].name,
				    json_integer((json_int_t)counter_get(s, &counter_table[i])));
	for (size_t r = ROOST_RULE_NONE + 1; r < ROOST_RULE_COUNT; r++) {
		json_t *rule = json_pack("{s:I, s:I}", "chose", (json_int_t)s->rule[r], "idle", (json_int_t)s->rule_idle[r]);

		for (size_t d = 0; d < ROOST_DIST_COUNT; d++)
			json_object_set_new(rule, distance_names[d], json_integer((json_int_t)s->rule_distance[r][d]));
		json_object_set_new(rules, rule_names[r].name, rule);
	}
	for (size_t t = 0; t < ROOST_TARGET_COUNT; t++)
		json_object_set_new(targets, target_names[t], json_integer((json_int_t)s->target[t]));
	return json_pack("{s:o, s:o, s:o}", "counters", counters, "rules", rules, "targets", targets);
}

/* ---- by the interval ---- */

void stat_stream_start(struct stat_stream *st, const struct roost_stats *now, u64 now_ns, unsigned int nr_cpus, bool json)
{
	st->last = *now;
	st->last_ns = now_ns;
	st->nr_lines = 0;
	st->nr_cpus = nr_cpus;
	st->json = json;
}

static u64 stolen(const struct roost_stats *s)
{
	u64 n = 0;

	for (size_t r = ROOST_RULE_STEAL_CORE; r < ROOST_RULE_COUNT; r++)
		n += s->rule[r];
	return n;
}

static void print_rates(const struct stat_stream *st, const struct roost_stats *d, double seconds)
{
	double wakeups = (double)d->nr_wakeups / seconds, busy = (double)d->run_ns / 1e7 / seconds;
	u64 waits = d->nr_enqueued ? d->wait_ns / d->nr_enqueued : 0;
	char wait[24];

	if (st->nr_lines % HEADING_EVERY == 0)
		printf("%10s %8s %8s %8s %10s %6s %9s %9s %8s\n", "wakeups/s", "moved%", "llc%", "far%", "switches/s",
		       "busy%", "wait/task", "kicks/s", "steals/s");
	printf("%10.0f %8.1f %8.1f %8.1f %10.0f %6.1f %9s %9.0f %8.0f\n", wakeups,
	       percent(counters_moved(d, ROOST_DIST_CORE), d->nr_wakeups),
	       percent(counters_moved(d, ROOST_DIST_LLC), d->nr_wakeups),
	       percent(counters_moved(d, ROOST_DIST_NODE), d->nr_wakeups), (double)d->nr_switches / seconds,
	       st->nr_cpus ? busy / st->nr_cpus : 0, human_ns(waits, wait),
	       (double)(d->nr_kicks_idle + d->nr_kicks_preempt) / seconds, (double)stolen(d) / seconds);
	fflush(stdout);
}

int stat_stream_line(const struct cli *cli, struct stat_stream *st, const struct roost_stats *now, u64 now_ns)
{
	struct roost_stats d;
	double seconds = (double)(now_ns - st->last_ns) / 1e9;
	int code = 0;
	json_t *j;

	if (seconds <= 0)
		return 0;
	counters_since(&d, now, &st->last);
	if (st->json) {
		j = stat_json(&d);
		json_object_set_new(j, "interval_s", json_real(seconds));
		code = cli_print_json_line(cli, j);
	} else {
		print_rates(st, &d, seconds);
	}
	st->nr_lines++;
	st->last = *now;
	st->last_ns = now_ns;
	return code ? code : ferror(stdout) ? CLI_FAILED : 0;
}
