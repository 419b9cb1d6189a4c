/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of simulated runs: medians over the seeds, the ratio to the first variant and its 95 % interval. */
#include "cli/simtable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/print.h"
#include "measure/stats.h"
#include "run/counters.h"
#include "run/knobs.h"

#define FIGURE(name, expr) static double name(const struct sim_figures *f) { return (double)(expr); }
FIGURE(f_time, f->work_ns)
FIGURE(f_rate, f->work_ns ? (double)f->ops * 1e9 / (double)f->work_ns : 0)
FIGURE(f_p50, f->latency_ns[0])
FIGURE(f_p95, f->latency_ns[2])
FIGURE(f_p99, f->latency_ns[3])
FIGURE(f_p999, f->latency_p999_ns)
FIGURE(f_wake50, f->wake_latency_ns[0])
FIGURE(f_wake99, f->wake_latency_ns[1])
FIGURE(f_cpu, f->user_ns + f->sys_ns)
FIGURE(f_user, f->user_ns)
FIGURE(f_sys, f->sys_ns)
FIGURE(f_use, (double)(f->user_ns + f->sys_ns) * 100 / (double)(f->user_ns + f->sys_ns + f->idle_ns + 1))
FIGURE(f_spin, f->spin_ns)
FIGURE(f_sum, f->load_sum_ns)
FIGURE(f_switches, f->switches)
FIGURE(f_wakeups, f->wakeups)
FIGURE(f_preempt, f->preemptions)
FIGURE(f_migr, f->migrations)
FIGURE(f_core, f->migrations_by[TOPO_SMT])
FIGURE(f_llc, f->migrations_by[TOPO_LLC])
FIGURE(f_node, f->migrations_by[TOPO_NODE] + f->migrations_by[TOPO_SOCKET])
FIGURE(f_far, f->migrations_by[TOPO_MACHINE])
FIGURE(f_delay, f->run_delay_ns)
FIGURE(f_delay_max, f->run_delay_max_ns)
FIGURE(f_l2, f->l2_miss_bytes / 64)
FIGURE(f_mem, f->sim_ns ? (double)f->memory_bytes * 1e9 / (double)f->sim_ns : 0)
FIGURE(f_kicks, f->kicks)
FIGURE(f_avoided, f->kicks_avoided)
FIGURE(f_pulled, f->steals + f->balance_pulls)
FIGURE(f_wait, f->wait_ns)
FIGURE(f_grants, f->ext_grants)

const struct sim_row sim_rows[] = {
	{ "time_s", "time", "s", 1e-9, f_time, 4, false },
	{ "rate", "messages, requests or rounds", "/s", 1, f_rate, 0, true },
	{ "latency_p50_us", "latency p50", "us", 1e-3, f_p50, 1, true },
	{ "latency_p95_us", "latency p95", "us", 1e-3, f_p95, 1, true },
	{ "latency_p99_us", "latency p99", "us", 1e-3, f_p99, 1, true },
	{ "latency_p999_us", "latency p99.9", "us", 1e-3, f_p999, 1, true },
	{ "wakeup_p50_us", "wakeup latency p50", "us", 1e-3, f_wake50, 1, true },
	{ "wakeup_p99_us", "wakeup latency p99", "us", 1e-3, f_wake99, 1, true },
	{ "lock_wait_s", "total wait for the lock", "s", 1e-9, f_wait, 3, true },
	{ "cpu_s", "CPU time", "s", 1e-9, f_cpu, 3, false },
	{ "cpu_user_s", "  user", "s", 1e-9, f_user, 3, false },
	{ "cpu_system_s", "  system", "s", 1e-9, f_sys, 3, false },
	{ "cpu_use_pct", "CPU use", "%", 1, f_use, 1, false },
	{ "spin_s", "  busy-waiting while idle", "s", 1e-9, f_spin, 3, true },
	{ "load_sum_s", "  on the group's load sum", "s", 1e-9, f_sum, 3, true },
	{ "switches", "context switches", "", 1, f_switches, 0, false },
	{ "wakeups", "wakeups", "", 1, f_wakeups, 0, false },
	{ "preemptions", "preemptions", "", 1, f_preempt, 0, false },
	{ "migrations", "migrations", "", 1, f_migr, 0, false },
	{ "migrations_core", "  within the core", "", 1, f_core, 0, true },
	{ "migrations_llc", "  within the LLC", "", 1, f_llc, 0, true },
	{ "migrations_node", "  to another LLC", "", 1, f_node, 0, true },
	{ "migrations_far", "  to another socket", "", 1, f_far, 0, true },
	{ "run_delay_s", "run delay", "s", 1e-9, f_delay, 3, false },
	{ "run_delay_max_us", "run delay, longest", "us", 1e-3, f_delay_max, 1, false },
	{ "l2_misses", "L2 misses after a move", "", 1, f_l2, 0, true },
	{ "memory_mb_s", "refill from afar", "MB/s", 1e-6, f_mem, 1, true },
	{ "kicks", "interrupts to wake a CPU", "", 1, f_kicks, 0, true },
	{ "kicks_avoided", "interrupts avoided", "", 1, f_avoided, 0, true },
	{ "pulled", "tasks pulled", "", 1, f_pulled, 0, true },
	{ "extensions", "slice extensions", "", 1, f_grants, 0, true },
	{ NULL, NULL, NULL, 0, NULL, 0, false },
};

static double value(const struct sim_table *t, const struct sim_row *r, unsigned int variant, unsigned int seed)
{
	return r->get(&t->outcomes[seed * t->nr_variants + variant].f) * r->scale;
}

static void column(const struct sim_table *t, const struct sim_row *r, unsigned int variant, double *v)
{
	for (unsigned int i = 0; i < t->nr_seeds; i++)
		v[i] = value(t, r, variant, i);
}

static double median(const struct sim_table *t, const struct sim_row *r, unsigned int variant)
{
	double v[STAT_ROUNDS_MAX];

	column(t, r, variant, v);
	return stat_median(v, t->nr_seeds);
}

static int ratio(const struct sim_table *t, const struct sim_row *r, unsigned int variant, struct stat_ratio *out)
{
	double a[STAT_ROUNDS_MAX], b[STAT_ROUNDS_MAX];

	column(t, r, 0, a);
	column(t, r, variant, b);
	return stat_ratio(a, b, t->nr_seeds, out);
}

/* Neither variant's figure depends on the seed: the ratio is the model's own, and there is no spread to judge it by. */
static bool seeds_alike(const struct sim_table *t, const struct sim_row *r, unsigned int variant)
{
	for (unsigned int i = 1; i < t->nr_seeds; i++)
		if (value(t, r, 0, i) != value(t, r, 0, 0) || value(t, r, variant, i) != value(t, r, variant, 0))
			return false;
	return true;
}

static bool all_zero(const struct sim_table *t, const struct sim_row *r)
{
	for (unsigned int v = 0; v < t->nr_variants; v++)
		if (median(t, r, v) != 0)
			return false;
	return true;
}

static void print_ratio(const struct sim_table *t, const struct sim_row *r, unsigned int v, FILE *to)
{
	double base = median(t, r, 0), here = median(t, r, v);
	struct stat_ratio s;
	char text[64] = "";

	if (base > 0 && here > 0 && !ratio(t, r, v, &s)) {
		if (seeds_alike(t, r, v))
			snprintf(text, sizeof(text), "x%.3f with every seed", s.ratio);
		else if (s.call == STAT_NO_DIFFERENCE)
			snprintf(text, sizeof(text), "x%.3f no difference shown", s.ratio);
		else
			snprintf(text, sizeof(text), "x%.3f [%.3f, %.3f]", s.ratio, s.lo, s.hi);
	} else if (base > 0 && t->nr_seeds < 2) {
		snprintf(text, sizeof(text), "x%.3f", here / base);
	}
	fprintf(to, "  %-26s", text);
}

static void print_rules(const struct sim_table *t, FILE *to)
{
	fprintf(to, "\nchosen by rule, median over the seeds\n");
	for (unsigned int k = 1; k < ROOST_RULE_COUNT; k++) {
		bool any = false;

		for (unsigned int i = 0; i < t->nr_variants * t->nr_seeds; i++)
			any = any || t->outcomes[i].f.rule[k];
		if (!any)
			continue;
		fprintf(to, "%-30s", rule_names[k].name);
		for (unsigned int v = 0; v < t->nr_variants; v++) {
			double x[STAT_ROUNDS_MAX];

			for (unsigned int i = 0; i < t->nr_seeds; i++)
				x[i] = (double)t->outcomes[i * t->nr_variants + v].f.rule[k];
			fprintf(to, " %16.0f", stat_median(x, t->nr_seeds));
			if (v)
				fprintf(to, "  %-26s", "");
		}
		fputc('\n', to);
	}
}

int sim_table_print(const struct sim_table *t, FILE *to)
{
	unsigned int nr = t->nr_variants * t->nr_seeds, cut = 0;

	for (unsigned int i = 0; i < nr; i++)
		cut += t->outcomes[i].f.cut != 0;
	fprintf(to, "simulated: %s on %s, %u CPUs; %u seed%s from %llu", t->workload, t->machine->name, t->machine->nr_online,
		t->nr_seeds, t->nr_seeds == 1 ? "" : "s", (unsigned long long)t->seed);
	fprintf(to, t->nr_variants > 1 ? "; medians, ratio to the first variant with its 95 %% interval\n" : "; medians\n");
	if (cut)
		fprintf(to, "cut off by --until, %u of %u run%s: the figures are of a part of the workload\n", cut, nr, nr == 1 ? "" : "s");
	fprintf(to, "%-30s", "");
	for (unsigned int v = 0; v < t->nr_variants; v++) {
		fprintf(to, " %16.16s", t->variants[v].name);
		if (v)
			fprintf(to, "  %-26s", "");
	}
	fprintf(to, "\n%-30s", "pull side");
	for (unsigned int v = 0; v < t->nr_variants; v++) {
		fprintf(to, " %16s", t->variants[v].pull == SIM_PULL_KERNEL ? "kernel" : "roost");
		if (v)
			fprintf(to, "  %-26s", "");
	}
	fputc('\n', to);
	for (const struct sim_row *r = sim_rows; r->key; r++) {
		char title[40];

		if (r->optional && all_zero(t, r))
			continue;
		snprintf(title, sizeof(title), "%s%s%s", r->title, *r->unit ? ", " : "", r->unit);
		fprintf(to, "%-30s", title);
		for (unsigned int v = 0; v < t->nr_variants; v++) {
			fprintf(to, " %16.*f", (int)r->digits, median(t, r, v));
			if (v)
				print_ratio(t, r, v, to);
		}
		fputc('\n', to);
	}
	print_rules(t, to);
	return ferror(to) || fflush(to) ? 1 : 0;
}

static json_t *knobs_json(const struct roost_knobs *k)
{
	json_t *o = json_object();

	for (size_t i = 0; i < knob_count; i++) {
		char text[KNOB_TEXT_MAX];

		json_object_set_new(o, knob_table[i].key,
				    json_string(knob_format(&knob_table[i], knob_get(k, &knob_table[i]), text)));
	}
	return o;
}

static json_t *figures_json(const struct sim_figures *f)
{
	json_t *o = json_object(), *rules = json_object(), *targets = json_object();

	for (const struct sim_row *r = sim_rows; r->key; r++)
		json_object_set_new(o, r->key, json_real(r->get(f) * r->scale));
	json_object_set_new(o, "operations", json_integer((json_int_t)f->ops));
	json_object_set_new(o, "events", json_integer((json_int_t)f->events));
	json_object_set_new(o, "cut_off", json_boolean(f->cut));
	json_object_set_new(o, "simulated_ns", json_integer((json_int_t)f->sim_ns));
	for (unsigned int k = 1; k < ROOST_RULE_COUNT; k++)
		if (f->rule[k])
			json_object_set_new(rules, rule_names[k].name, json_integer((json_int_t)f->rule[k]));
	json_object_set_new(o, "rules", rules);
	for (unsigned int k = 0; k < ROOST_TARGET_COUNT; k++)
		if (f->target[k])
			json_object_set_new(targets, target_names[k], json_integer((json_int_t)f->target[k]));
	json_object_set_new(o, "targets", targets);
	return o;
}

json_t *sim_table_json(const struct sim_table *t)
{
	json_t *o = json_object(), *variants = json_array(), *args = json_array();

	json_object_set_new(o, "simulated", json_true());
	json_object_set_new(o, "machine", print_json_string(t->machine->name));
	json_object_set_new(o, "cpus", json_integer(t->machine->nr_online));
	for (int i = 0; i < t->nr_args; i++)
		json_array_append_new(args, print_json_string(t->args[i]));
	json_object_set_new(o, "workload", args);
	json_object_set_new(o, "seed", json_integer((json_int_t)t->seed));
	for (unsigned int v = 0; v < t->nr_variants; v++) {
		json_t *one = json_object(), *runs = json_array(), *medians = json_object(), *ratios = json_object();

		for (unsigned int i = 0; i < t->nr_seeds; i++)
			json_array_append_new(runs, figures_json(&t->outcomes[i * t->nr_variants + v].f));
		for (const struct sim_row *r = sim_rows; r->key; r++) {
			struct stat_ratio s;

			json_object_set_new(medians, r->key, json_real(median(t, r, v)));
			if (!v || ratio(t, r, v, &s))
				continue;
			if (seeds_alike(t, r, v))
				json_object_set_new(ratios, r->key,
						    json_pack("{s:f,s:n,s:n,s:b,s:b}", "ratio", s.ratio, "low", "high",
							      "difference_shown", 0, "every_seed_alike", 1));
			else
				json_object_set_new(ratios, r->key,
						    json_pack("{s:f,s:f,s:f,s:b}", "ratio", s.ratio, "low", s.lo, "high", s.hi,
							      "difference_shown", s.call != STAT_NO_DIFFERENCE));
		}
		json_object_set_new(one, "name", print_json_string(t->variants[v].name));
		json_object_set_new(one, "pull", json_string(t->variants[v].pull == SIM_PULL_KERNEL ? "kernel" : "roost"));
		json_object_set_new(one, "knobs", knobs_json(&t->variants[v].knobs));
		json_object_set_new(one, "median", medians);
		if (v)
			json_object_set_new(one, "ratio", ratios);
		else
			json_decref(ratios);
		json_object_set_new(one, "runs", runs);
		json_array_append_new(variants, one);
	}
	json_object_set_new(o, "variants", variants);
	return o;
}
