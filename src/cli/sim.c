/* SPDX-License-Identifier: GPL-2.0-only */
/* sim.c - `roost sim`: the same policy on a modelled machine; one variant, or several side by side. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/print.h"
#include "cli/simtable.h"
#include "run/knobs.h"
#include "run/units.h"
#include "sim/batch.h"

#define VARIANTS_MAX 16

struct setup {
	struct machine *machine;
	struct costs costs;
	const struct sim_workload *workload;
	void *args;
	struct sim_variant variants[VARIANTS_MAX];
	unsigned int nr_variants, nr_seeds;
	FILE *timeline;
};

/*
 * A variant is a profile, or knob assignments joined by '+', with the base's knobs under them ("mainline" unless
 * --profile says otherwise). The pull side is the kernel's for the profiles that are the kernel's, roost's otherwise.
 */
static int parse_variant(struct cli *cli, const char *text, struct sim_variant *v)
{
	char refusal[KNOB_REFUSAL_MAX], *copy, *item, *save = NULL;
	const char *base = opt_string(cli, OPT_SIM_PROFILE), *pull = opt_string(cli, OPT_PULL);
	bool profile = false;
	int ret;

	snprintf(v->name, sizeof(v->name), "%s", text);
	for (size_t i = 0; i < knob_profile_count; i++)
		profile = profile || !strcmp(knob_profiles[i].name, text);
	if (profile)
		base = text;
	ret = knobs_profile(&v->knobs, base, KNOB_PROFILE_DIR, refusal);
	if (ret)
		return cli_refuse(cli, "--%s: %s", profile ? "compare" : "profile", refusal);
	copy = strdup(text);
	if (!copy)
		return cli_fail(cli, "not enough memory");
	for (item = profile ? NULL : strtok_r(copy, "+", &save); item; item = strtok_r(NULL, "+", &save)) {
		ret = knobs_assign(&v->knobs, &item, 1, refusal);
		if (ret) {
			free(copy);
			return cli_refuse(cli, "--compare %s: %s (a variant is a profile, or knobs joined by '+')", text, refusal);
		}
	}
	free(copy);
	v->pull = !strcmp(base, "mainline") || !strcmp(base, "pre-5.13") ? SIM_PULL_KERNEL : SIM_PULL_ROOST;
	if (!profile && !strcmp(pull, "auto"))
		v->pull = SIM_PULL_ROOST;
	if (strcmp(pull, "auto"))
		v->pull = !strcmp(pull, "kernel") ? SIM_PULL_KERNEL : SIM_PULL_ROOST;
	return 0;
}

static int parse_variants(struct cli *cli, struct setup *s)
{
	char refusal[KNOB_REFUSAL_MAX];
	char *const *list, *const *sets;
	size_t nr, nr_sets;
	int ret;

	list = opt_list(cli, OPT_COMPARE, &nr);
	sets = opt_list(cli, OPT_SIM_SET, &nr_sets);
	if (!nr) {
		s->nr_variants = 1;
		ret = parse_variant(cli, opt_string(cli, OPT_SIM_PROFILE), &s->variants[0]);
		if (ret)
			return ret;
		if (nr_sets && knobs_assign(&s->variants[0].knobs, sets, nr_sets, refusal))
			return cli_refuse(cli, "--set: %s", refusal);
		if (nr_sets && !strcmp(opt_string(cli, OPT_PULL), "auto"))
			s->variants[0].pull = SIM_PULL_ROOST;
		return 0;
	}
	if (nr < 2)
		return cli_refuse(cli, "--compare: one variant is nothing to compare; try mainline,warm");
	for (size_t i = 0; i < nr; i++) {
		ret = parse_variant(cli, list[i], &s->variants[i]);
		if (ret)
			return ret;
		if (nr_sets && knobs_assign(&s->variants[i].knobs, sets, nr_sets, refusal))
			return cli_refuse(cli, "--set: %s", refusal);
	}
	s->nr_variants = (unsigned int)nr;
	return 0;
}

/* A workload by name, or a file: what has a '/' or ends in .json. */
static int parse_workload(struct cli *cli, struct setup *s)
{
	size_t n = strlen(cli->args[0]);
	struct sim_error err;
	char *file_args[1];
	bool file = strchr(cli->args[0], '/') || (n > 5 && !strcmp(cli->args[0] + n - 5, ".json"));
	int argc = cli->nr_args - 1;
	char **argv = cli->args + 1;

	s->workload = sim_workload_find(file ? "file" : cli->args[0]);
	if (!s->workload) {
		char names[160] = "";

		for (int i = 0; sim_workloads[i]; i++)
			if (strcmp(sim_workloads[i]->name, "file"))
				snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ", sim_workloads[i]->name);
		return cli_refuse(cli, "there is no workload \"%.40s\"; there are %sand files FILE.json", cli->args[0], names);
	}
	if (file) {
		if (argc)
			return cli_refuse(cli, "%.60s: a workload file takes no options of its own", cli->args[0]);
		file_args[0] = cli->args[0];
		argc = 1;
		argv = file_args;
	}
	if (s->workload->parse(argc, argv, &s->args, &err))
		return cli_refuse(cli, "%s", err.text);
	return 0;
}

static int parse(struct cli *cli, struct setup *s)
{
	const char *costs = opt_string(cli, OPT_COSTS), *timeline = opt_string(cli, OPT_TIMELINE);
	struct topo_error terr;
	int ret;

	if (topology_open(opt_string(cli, OPT_MACHINE), &s->machine, &terr))
		return cli_refuse(cli, "--machine: %s", terr.text);
	s->costs = s->machine->costs;
	if (costs && costs_overlay_file(&s->costs, costs, &terr))
		return cli_refuse(cli, "--costs: %s", terr.text);
	ret = parse_workload(cli, s);
	if (!ret)
		ret = parse_variants(cli, s);
	if (ret)
		return ret;
	s->nr_seeds = (unsigned int)opt_u64(cli, OPT_SEEDS);
	if (timeline && (s->nr_variants > 1 || s->nr_seeds > 1))
		return cli_refuse(cli, "--timeline is of one run: leave out --compare and --seeds");
	return 0;
}

static void configure(struct cli *cli, const struct setup *s, unsigned int i, struct sim_config *c)
{
	/* Variant by variant within a seed: the same seeds for all, and all of a seed close together. */
	const struct sim_variant *v = &s->variants[i % s->nr_variants];

	*c = (struct sim_config){
		.machine = s->machine, .costs = &s->costs, .workload = s->workload, .workload_args = s->args,
		.knobs = v->knobs, .pull = v->pull, .seed = opt_u64(cli, OPT_SEED) + i / s->nr_variants,
		.end_ns = opt_u64(cli, OPT_UNTIL), .timeline = s->timeline,
	};
}

static bool is_refusal(int ret)
{
	return ret == -EINVAL || ret == -E2BIG || ret == -ERANGE;
}

/* A file that is standard output too is written on, not anew: the table would overwrite the trace. */
static FILE *open_output(const char *path)
{
	struct stat named, out;
	int fd;

	if (stat(path, &named) || fstat(STDOUT_FILENO, &out) || !S_ISREG(named.st_mode) || named.st_dev != out.st_dev ||
	    named.st_ino != out.st_ino)
		return fopen(path, "we");
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? NULL : fdopen(fd, "w");
}

/*
 * Opening empties the file. Some workloads are refused only when they meet the machine, and then nothing may have
 * changed: the run is begun once without a timeline.
 */
static int open_timeline(struct cli *cli, struct setup *s)
{
	const char *path = opt_string(cli, OPT_TIMELINE);
	struct sim_figures figures;
	struct sim_config c;
	struct sim_error err;

	if (!path)
		return 0;
	configure(cli, s, 0, &c);
	c.end_ns = 1;
	if (is_refusal(sim_run(&c, &figures, &err)))
		return cli_refuse(cli, "%s", err.text);
	s->timeline = open_output(path);
	return s->timeline ? 0 : cli_refuse(cli, "--timeline: %s: %s", path, strerror(errno));
}

/* The command that repeats one run, for a failure. */
static void print_repeat(struct cli *cli, const struct sim_variant *v, uint64_t seed, FILE *to)
{
	char refusal[KNOB_REFUSAL_MAX], time[UNITS_TEXT_MAX];
	struct roost_knobs base;

	fputs("to repeat: roost sim --machine ", to);
	print_quoted(to, opt_string(cli, OPT_MACHINE));
	if (opt_string(cli, OPT_COSTS)) {
		fputs(" --costs ", to);
		print_quoted(to, opt_string(cli, OPT_COSTS));
	}
	knobs_profile(&base, "mainline", KNOB_PROFILE_DIR, refusal);
	for (size_t i = 0; i < knob_count; i++) {
		char text[KNOB_TEXT_MAX];
		u64 value = knob_get(&v->knobs, &knob_table[i]);

		if (value != knob_get(&base, &knob_table[i]))
			fprintf(to, " --set %s=%s", knob_table[i].key, knob_format(&knob_table[i], value, text));
	}
	fprintf(to, " --pull %s --seed %llu", v->pull == SIM_PULL_KERNEL ? "kernel" : "roost", (unsigned long long)seed);
	if (opt_u64(cli, OPT_UNTIL))
		fprintf(to, " --until %s", units_format_time(opt_u64(cli, OPT_UNTIL), time));
	for (int i = 0; i < cli->nr_args; i++) {
		fputc(' ', to);
		print_quoted(to, cli->args[i]);
	}
}

/* A run went wrong: what, and how to see it again. */
static int failed(struct cli *cli, const struct sim_outcome *o, const struct sim_variant *v, uint64_t seed)
{
	char *command = NULL;
	size_t size;
	FILE *to;

	if (is_refusal(o->ret))
		return cli_refuse(cli, "%s", o->err.text);
	if (o->ret == -EIO)
		return cli_fail(cli, "--timeline %s: %s", opt_string(cli, OPT_TIMELINE), o->err.text);
	cli_say(cli, "variant %s, seed %llu: %s", v->name, (unsigned long long)seed, o->err.text);
	to = open_memstream(&command, &size);
	if (to) {
		print_repeat(cli, v, seed, to);
		/* Not through cli_say(), which cuts off: arguments may be long. */
		if (!fclose(to))
			fprintf(stderr, "%s: %s\n", cli->program, command);
		free(command);
	}
	return CLI_FAILED;
}

static void tick(unsigned int done, unsigned int nr, uint64_t events, void *arg)
{
	fprintf(stderr, "\r%u of %u runs done, %.1f million events ", done, nr, (double)events / 1e6);
	fflush(stderr);
}

static int run(struct cli *cli, struct setup *s, struct sim_outcome **out)
{
	unsigned int nr = s->nr_variants * s->nr_seeds, jobs = (unsigned int)opt_u64(cli, OPT_JOBS);
	bool talk = isatty(STDERR_FILENO) && nr > 1;
	struct sim_config *c = calloc(nr, sizeof(*c));
	int ret;

	if (!c)
		return cli_fail(cli, "not enough memory for %u runs", nr);
	for (unsigned int i = 0; i < nr; i++)
		configure(cli, s, i, &c[i]);
	if (!jobs)
		jobs = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	ret = sim_batch(c, nr, jobs, talk ? tick : NULL, NULL, out);
	if (talk)
		fprintf(stderr, "\r\033[K");
	if (ret) {
		free(c);
		return cli_fail(cli, "cannot run %u simulations: %s", nr, strerror(-ret));
	}
	for (unsigned int i = 0; i < nr && !ret; i++) {
		const struct sim_outcome *o = &(*out)[i];

		if (o->ret && o->ret != -EINTR)
			ret = failed(cli, o, &s->variants[i % s->nr_variants], c[i].seed);
	}
	free(c);
	return ret;
}

void cli_print_workloads(FILE *to)
{
	fputs("\nWorkloads; `roost sim WORKLOAD --help` shows the options of one:\n", to);
	for (int i = 0; sim_workloads[i]; i++)
		fprintf(to, "  %-11s %s\n", sim_workloads[i] == sim_workload_find("file") ? "FILE.json" : sim_workloads[i]->name,
			sim_workloads[i]->help);
	fputs("roost-sim(1) describes workload files and machine files.\n", to);
}

static bool print_workload_help(const struct cli *cli)
{
	const struct sim_workload *w = sim_workload_find(cli->args[0]);
	bool wanted = false;

	for (int i = 1; i < cli->nr_args; i++)
		wanted = wanted || !strcmp(cli->args[i], "--help") || !strcmp(cli->args[i], "-h");
	if (!wanted || !w || !w->options)
		return false;
	printf("Usage: roost sim [OPTION...] %s [OPTION...]\n%s\n\n", w->name, w->help);
	for (const struct sim_option *o = w->options; o->names; o++) {
		int n = printf("  %s%s%s", o->names, o->metavar ? " " : "", o->metavar ? o->metavar : "");

		printf("%*s%s\n", n < 24 ? 24 - n : 1, "", o->help);
	}
	return true;
}

int cmd_sim(struct cli *cli)
{
	struct sim_outcome *out = NULL;
	struct setup s = { 0 };
	int ret;

	if (print_workload_help(cli))
		return CLI_DONE;
	ret = parse(cli, &s);
	if (!ret)
		ret = open_timeline(cli, &s);
	if (!ret)
		ret = run(cli, &s, &out);
	if (!ret) {
		struct sim_table t = {
			.machine = s.machine, .workload = s.workload->name, .args = cli->args, .nr_args = cli->nr_args,
			.variants = s.variants, .nr_variants = s.nr_variants, .nr_seeds = s.nr_seeds, .outcomes = out,
			.seed = opt_u64(cli, OPT_SEED),
		};

		ret = opt_flag(cli, OPT_JSON) ? cli_print_json(cli, sim_table_json(&t)) : sim_table_print(&t, stdout);
	}
	if (s.timeline && fclose(s.timeline) && !ret)
		ret = cli_fail(cli, "--timeline %s: %s", opt_string(cli, OPT_TIMELINE), strerror(errno));
	sim_batch_free(out, s.nr_variants * s.nr_seeds);
	if (s.args)
		s.workload->free_args(s.args);
	topology_free(s.machine);
	return ret;
}
