/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reproduce.c - `roost reproduce`: published results beside simulated ones; with --sensitivity, how each row moves when
 * a fitted figure is 20 % larger or smaller. A row out of tolerance is shown as such; the exit code is 0 all the same:
 * the command has done what it is for.
 */
#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/print.h"
#include "measure/stats.h"
#include "run/knobs.h"
#include "sim/batch.h"
#include "sim/published.h"

#define RUNS_MAX 32
#define SEEDS_MAX 100

struct plan {
	struct machine *machines[RUNS_MAX];
	struct costs *costs[RUNS_MAX]; /* the machine's, or one figure of them changed */
	struct roost_knobs knobs[RUNS_MAX];
	const struct sim_workload *workloads[RUNS_MAX];
	void *args[RUNS_MAX];
	bool wanted[RUNS_MAX];
	unsigned int nr, seeds;
	char words[RUNS_MAX][200];
};

static int split(char *text, char **out, int max)
{
	char *save = NULL;
	int n = 0;

	for (char *w = strtok_r(text, " ", &save); w && n < max; w = strtok_r(NULL, " ", &save))
		out[n++] = w;
	return n;
}

static int plan_run(struct cli *cli, struct plan *p, unsigned int i)
{
	const struct published_run *r = &published_runs[i];
	char refusal[KNOB_REFUSAL_MAX], knobs[100], *words[24];
	struct topo_error terr;
	struct sim_error err;
	int n;

	if (topology_preset(r->machine, &p->machines[i], &terr))
		return cli_fail(cli, "%s: %s", r->id, terr.text);
	p->costs[i] = &p->machines[i]->costs;
	if (knobs_profile(&p->knobs[i], r->profile, NULL, refusal))
		return cli_fail(cli, "%s: %s", r->id, refusal);
	snprintf(knobs, sizeof(knobs), "%s", r->knobs);
	n = split(knobs, words, 8);
	if (n && knobs_assign(&p->knobs[i], words, (size_t)n, refusal))
		return cli_fail(cli, "%s: %s", r->id, refusal);
	snprintf(p->words[i], sizeof(p->words[i]), "%s", r->workload);
	if (r->loops)
		snprintf(p->words[i] + strlen(p->words[i]), sizeof(p->words[i]) - strlen(p->words[i]), " -l %llu",
			 (unsigned long long)opt_u64(cli, OPT_LOOPS));
	n = split(p->words[i], words, 24);
	p->workloads[i] = sim_workload_find(words[0]);
	if (!p->workloads[i] || p->workloads[i]->parse(n - 1, words + 1, &p->args[i], &err))
		return cli_fail(cli, "%s: %s", r->id, err.text);
	return 0;
}

static int make_plan(struct cli *cli, struct plan *p)
{
	const char *only = opt_string(cli, OPT_ROW);
	bool any = false;
	int ret;

	p->seeds = (unsigned int)opt_u64(cli, OPT_REPRO_SEEDS);
	for (p->nr = 0; published_runs[p->nr].id; p->nr++) {
		ret = plan_run(cli, p, p->nr);
		if (ret) {
			p->nr++;
			return ret;
		}
	}
	for (const struct published_row *r = published_rows; r->feature; r++)
		if (!only || !strcmp(r->feature, only)) {
			p->wanted[published_run_find(r->base)] = p->wanted[published_run_find(r->other)] = true;
			any = true;
		}
	if (!any)
		return cli_refuse(cli, "--row %s: no published result is of that feature (idle-grace, \"util-fits + bias-prev\","
				  " idle-smt, idle-spin, slice-ext)", only);
	return 0;
}

static void free_plan(struct plan *p)
{
	for (unsigned int i = 0; i < p->nr; i++) {
		if (p->args[i])
			p->workloads[i]->free_args(p->args[i]);
		topology_free(p->machines[i]);
	}
}

static void tick(unsigned int done, unsigned int nr, uint64_t events, void *arg)
{
	fprintf(stderr, "\r%u of %u runs done, %.1f million events ", done, nr, (double)events / 1e6);
	fflush(stderr);
}

/* Runs what is wanted (all of it, or what a machine's changed figure concerns); median run by work time a run. */
static int run_plan(struct cli *cli, struct plan *p, const char *machine, struct sim_figures *out)
{
	struct sim_config c[RUNS_MAX * SEEDS_MAX];
	unsigned int of[RUNS_MAX * SEEDS_MAX], n = 0, jobs = (unsigned int)opt_u64(cli, OPT_JOBS);
	struct sim_outcome *o = NULL;
	bool talk = isatty(STDERR_FILENO);
	int ret;

	for (unsigned int s = 0; s < p->seeds; s++)
		for (unsigned int i = 0; i < p->nr; i++) {
			if (!p->wanted[i] || (machine && strcmp(published_runs[i].machine, machine)))
				continue;
			c[n] = (struct sim_config){
				.machine = p->machines[i], .costs = p->costs[i], .workload = p->workloads[i],
				.workload_args = p->args[i], .knobs = p->knobs[i], .pull = SIM_PULL_KERNEL,
				.before_5_12 = published_runs[i].before_5_12,
				.seed = opt_u64(cli, OPT_SEED) + s,
			};
			of[n++] = i;
		}
	ret = sim_batch(c, n, jobs ? jobs : (unsigned int)sysconf(_SC_NPROCESSORS_ONLN), talk ? tick : NULL, NULL, &o);
	if (talk)
		fprintf(stderr, "\r\033[K");
	if (ret)
		return cli_fail(cli, "cannot run %u simulations: %s", n, strerror(-ret));
	for (unsigned int k = 0; k < n && !ret; k++)
		if (o[k].ret && o[k].ret != -EINTR)
			ret = cli_fail(cli, "%s, seed %llu: %s", published_runs[of[k]].id, (unsigned long long)c[k].seed,
				       o[k].err.text);
	for (unsigned int i = 0; i < p->nr && !ret; i++) {
		unsigned int picked = 0;

		/* The run in the middle, whole, so that its figures belong together. */
		for (unsigned int k = 0; k < n; k++) {
			unsigned int below = 0, same = 0;

			if (of[k] != i)
				continue;
			for (unsigned int j = 0; j < n; j++)
				if (of[j] == i) {
					double a = published_figure(&o[j].f, PUB_RATE), b = published_figure(&o[k].f, PUB_RATE);

					below += a < b;
					same += a == b;
				}
			if (below <= (p->seeds - 1) / 2 && below + same > (p->seeds - 1) / 2 && !picked++)
				out[i] = o[k].f;
		}
	}
	sim_batch_free(o, n);
	return ret;
}

static bool shown(struct cli *cli, const struct published_row *r)
{
	const char *only = opt_string(cli, OPT_ROW);

	return !only || !strcmp(only, r->feature);
}

static double row_value(const struct published_row *r, const struct sim_figures *f)
{
	return published_value(r, &f[published_run_find(r->base)], &f[published_run_find(r->other)]);
}

static void tolerance_text(const struct published_row *r, char *buf, size_t size)
{
	if (r->tolerance < 0)
		snprintf(buf, size, "bound");
	else
		snprintf(buf, size, "+-%g", r->tolerance);
}

static int print_rows(struct cli *cli, struct plan *p, const struct sim_figures *f)
{
	unsigned int in = 0, all = 0;
	char tol[16];

	printf("simulated beside published: the relative change counts, percent (idle-spin: percent of host speed)\n\n");
	printf("%-22s %-30s %9s %7s %10s %6s  %-10s %s\n", "feature", "figure", "published", "within", "simulated", "off",
	       "", "absolute: published; simulated");
	for (const struct published_row *r = published_rows; r->feature; r++) {
		const struct sim_figures *a = &f[published_run_find(r->base)], *b = &f[published_run_find(r->other)];
		double v = row_value(r, f);
		bool ok = published_within(r, v);

		if (!shown(cli, r))
			continue;
		all++;
		in += ok;
		tolerance_text(r, tol, sizeof(tol));
		printf("%-22s %-30s %9.0f %7s %10.1f %+6.1f  %-10s %s; %.6g -> %.6g\n", r->feature, r->what, r->published, tol, v,
		       v - r->published, ok ? "ok" : "OUT", r->absolute, published_figure(a, r->figure),
		       published_figure(b, r->figure));
		if (!ok && *r->finding)
			printf("%-22s   %s\n", "", r->finding);
	}
	printf("\n%u of %u rows within tolerance; pull side: the kernel's; %u seed%s from %llu\n", in, all, p->seeds,
	       p->seeds == 1 ? "" : "s", (unsigned long long)opt_u64(cli, OPT_SEED));
	for (unsigned int i = 0; i < p->nr; i++)
		if (p->wanted[i])
			printf("  %-18s %-16s %-9s %-20s %s%s\n", published_runs[i].id, published_runs[i].machine,
			       published_runs[i].profile, published_runs[i].knobs, published_runs[i].workload,
			       published_runs[i].loops ? " -l LOOPS" : published_runs[i].before_5_12 ? " (search before 5.12)" : "");
	printf("loops: %llu; figures and their sources: roost machines MACHINE\n", (unsigned long long)opt_u64(cli, OPT_LOOPS));
	return CLI_DONE;
}

static json_t *rows_json(struct cli *cli, struct plan *p, const struct sim_figures *f)
{
	json_t *o = json_object(), *rows = json_array();

	for (const struct published_row *r = published_rows; r->feature; r++) {
		const struct sim_figures *a = &f[published_run_find(r->base)], *b = &f[published_run_find(r->other)];
		const struct published_run *pa = &published_runs[published_run_find(r->base)];
		double v = row_value(r, f);
		bool ok = published_within(r, v);

		if (!shown(cli, r))
			continue;
		json_array_append_new(rows, json_pack("{s:s,s:s,s:s,s:s,s:f,s:f,s:f,s:f,s:b,s:s,s:f,s:f,s:s}", "feature", r->feature,
						      "figure", r->what, "machine", pa->machine, "workload", pa->workload,
						      "published_pct", r->published, "tolerance_points", r->tolerance,
						      "simulated_pct", v, "off_points", v - r->published, "within", ok,
						      "published_absolute", r->absolute, "simulated_base",
						      published_figure(a, r->figure), "simulated_other",
						      published_figure(b, r->figure), "finding", ok ? "" : r->finding));
	}
	json_object_set_new(o, "simulated", json_true());
	json_object_set_new(o, "seeds", json_integer(p->seeds));
	json_object_set_new(o, "loops", json_integer((json_int_t)opt_u64(cli, OPT_LOOPS)));
	json_object_set_new(o, "rows", rows);
	return o;
}

/* One fitted figure of one machine changed by `permille`; the rows of that machine as they are then. */
static int with_changed(struct cli *cli, struct plan *p, const char *machine, int cost, int permille, struct sim_figures *f)
{
	struct costs *changed = calloc(1, sizeof(*changed));
	int ret;

	if (!changed)
		return cli_fail(cli, "not enough memory");
	for (unsigned int i = 0; i < p->nr; i++)
		if (!strcmp(published_runs[i].machine, machine)) {
			*changed = p->machines[i]->costs;
			break;
		}
	changed->v[cost] = (changed->v[cost] * (1000 + permille) + 500) / 1000;
	for (unsigned int i = 0; i < p->nr; i++)
		if (!strcmp(published_runs[i].machine, machine))
			p->costs[i] = changed;
	ret = run_plan(cli, p, machine, f);
	for (unsigned int i = 0; i < p->nr; i++)
		p->costs[i] = &p->machines[i]->costs;
	free(changed);
	return ret;
}

static int sensitivity(struct cli *cli, struct plan *p, const struct sim_figures *base)
{
	json_t *list = json_array();
	int ret = 0;

	if (!opt_flag(cli, OPT_JSON))
		printf("\nsensitivity: each row's percent when one fitted figure is 20 %% smaller, as it is, 20 %% larger\n%-16s %-16s"
		       " %-22s %-30s %8s %8s %8s\n", "machine", "figure", "feature", "row", "-20 %", "as it is", "+20 %");
	for (unsigned int i = 0; i < p->nr && !ret; i++) {
		const struct machine *m = p->machines[i];
		bool seen = !p->wanted[i];

		for (unsigned int j = 0; j < i; j++)
			seen = seen || (p->wanted[j] && !strcmp(p->machines[j]->name, m->name));
		for (int c = 0; c < COST_NR && !seen && !ret; c++) {
			struct sim_figures less[RUNS_MAX], more[RUNS_MAX];

			if (!cost_is_fitted(&m->costs, c))
				continue;
			ret = with_changed(cli, p, m->name, c, -200, less);
			if (!ret)
				ret = with_changed(cli, p, m->name, c, 200, more);
			for (const struct published_row *r = published_rows; r->feature && !ret; r++) {
				const char *on = published_runs[published_run_find(r->other)].machine;
				bool both = !strcmp(published_runs[published_run_find(r->base)].machine, on);

				if (!shown(cli, r) || strcmp(on, m->name))
					continue;
				if (!both) { /* the host's run is not this machine's: it stays */
					int b = published_run_find(r->base);

					less[b] = more[b] = base[b];
				}
				if (opt_flag(cli, OPT_JSON))
					json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s,s:f,s:f,s:f}", "machine", m->name, "figure",
							      cost_infos[c].key, "feature", r->feature, "row", r->what, "less_pct",
							      row_value(r, less), "as_is_pct", row_value(r, base), "more_pct",
							      row_value(r, more)));
				else
					printf("%-16s %-16s %-22s %-30s %8.1f %8.1f %8.1f\n", m->name, cost_infos[c].key, r->feature,
					       r->what, row_value(r, less), row_value(r, base), row_value(r, more));
				fflush(stdout);
			}
		}
	}
	if (!ret && opt_flag(cli, OPT_JSON))
		return cli_print_json(cli, list);
	json_decref(list);
	return ret;
}

int cmd_reproduce(struct cli *cli)
{
	struct sim_figures *f = calloc(RUNS_MAX, sizeof(*f));
	struct plan *p = calloc(1, sizeof(*p));
	int ret = f && p ? make_plan(cli, p) : cli_fail(cli, "not enough memory");

	if (!ret)
		ret = run_plan(cli, p, NULL, f);
	if (!ret && !opt_flag(cli, OPT_SENSITIVITY))
		ret = opt_flag(cli, OPT_JSON) ? cli_print_json(cli, rows_json(cli, p, f)) : print_rows(cli, p, f);
	if (!ret && opt_flag(cli, OPT_SENSITIVITY))
		ret = sensitivity(cli, p, f);
	if (p)
		free_plan(p);
	free(p);
	free(f);
	return ret;
}
