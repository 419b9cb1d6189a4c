/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * compare.c - `roost compare -- CMD ARGS`: does it help this load? Runs the command under each variant, interleaved,
 * and says what differs and how sure that is.
 */
#include "cli/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/compare_facts.h"
#include "cli/print.h"
#include "run/doctor.h"
#include "run/kernel_state.h"

#define PATTERNS_MAX 16
#define ROUNDS_DEFAULT 10
#define ROUNDS_UNTIL 100

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	stop = 1;
}

struct compare {
	struct cli *cli;
	struct compare_variant variant[STUDY_VARIANTS_MAX];
	unsigned n_variants;
	struct pattern pattern[PATTERNS_MAX];
	unsigned n_patterns;
	struct study study;
	struct compare_host host;
	struct plan plan;
};

static int read_patterns(struct compare *c)
{
	char err[300];
	char *const *list;
	size_t nr;

	list = opt_list(c->cli, OPT_METRIC, &nr);
	for (size_t i = 0; i < nr && i < PATTERNS_MAX; i++) {
		struct pattern *p = &c->pattern[c->n_patterns];
		int index;

		if (pattern_compile(p, list[i], err, sizeof(err)))
			return cli_refuse(c->cli, "%s", err);
		index = study_add_metric(&c->study, p->name, p->better);
		if (!c->n_patterns++) {
			c->host.first_pattern_metric = (unsigned)index;
			c->study.primary = (unsigned)index;
		}
	}
	return CLI_DONE;
}

static int read_variants(struct compare *c)
{
	char refusal[KNOB_REFUSAL_MAX + 200], text[300];

	if (compare_parse_variants(opt_string(c->cli, OPT_VARIANTS), c->variant, &c->n_variants, refusal, sizeof(refusal)))
		return cli_refuse(c->cli, "%s", refusal);
	for (unsigned i = 0; i < c->n_variants; i++) {
		compare_knobs_text(&c->variant[i].knobs, text, sizeof(text));
		study_add_variant(&c->study, c->variant[i].name, c->variant[i].kernel ? "" : text);
	}
	return CLI_DONE;
}

static void read_plan(struct compare *c)
{
	struct cli *cli = c->cli;

	c->plan.until = opt_percent(cli, OPT_TIGHT) / 100;
	c->plan.rounds = (unsigned)opt_u64(cli, OPT_RUNS);
	if (!opt_given(cli, OPT_RUNS))
		c->plan.rounds = opt_given(cli, OPT_TIGHT) ? ROUNDS_UNTIL : ROUNDS_DEFAULT;
	c->plan.warmup = (unsigned)opt_u64(cli, OPT_WARMUP);
	c->plan.seed = opt_u64(cli, OPT_ORDER_SEED);
	if (!opt_given(cli, OPT_ORDER_SEED) && getrandom(&c->plan.seed, sizeof(c->plan.seed), 0) > 0)
		c->plan.seed %= 1000000;
	c->plan.stop = &stop;
}

/* With another scheduler loaded the variant "kernel" would be a lie. */
static int refuse_others(struct compare *c)
{
	struct roost_kernel_state st;

	roost_kernel_state("", &st);
	if (st.supported && !strcmp(st.state, "enabled"))
		return cli_fail(c->cli, "the scheduler '%s' is loaded; end it first ('roost run' or its service), compare loads "
				"roost by itself", st.ops);
	return CLI_DONE;
}

/* Not after hours of the kernel's own runs. */
static int refuse_unloadable(struct compare *c)
{
	const struct doctor_check *check, *blocked;
	struct doctor_report *r;
	struct doctor_env env;
	bool needed = false;
	int code = CLI_DONE;

	for (unsigned i = 0; i < c->n_variants; i++)
		needed = needed || !c->variant[i].kernel;
	if (!needed)
		return CLI_DONE;
	r = malloc(sizeof(*r));
	if (!r)
		return cli_fail(c->cli, "out of memory");
	doctor_env_init(&env, "/");
	doctor_run(&env, r);
	check = doctor_first(r, DOCTOR_MISSING);
	blocked = doctor_find(r, "privilege");
	if (check)
		code = cli_cannot(c->cli, "%s%s%s", check->found, *check->todo ? "; " : "", check->todo);
	else if (blocked && blocked->state == DOCTOR_BLOCKED)
		code = cli_fail(c->cli, "%s; %s", blocked->found, blocked->todo);
	free(r);
	return code;
}

static int prepare_host(struct compare *c)
{
	static const unsigned metric_of[METER_VALUES] = {
		[METER_USER_S] = M_MACHINE_USER, [METER_SYSTEM_S] = M_MACHINE_SYSTEM, [METER_SWITCHES] = M_MACHINE_SWITCHES,
		[METER_MIGRATIONS] = M_MACHINE_MIGRATIONS, [METER_RUN_DELAY_S] = M_MACHINE_RUN_DELAY,
		[METER_IDLE_WAKEUPS] = M_MACHINE_IDLE, [METER_MEMORY_BYTES] = M_MACHINE_MEMORY,
		[METER_ENERGY_J] = M_MACHINE_ENERGY,
	};
	struct compare_host *h = &c->host;

	h->meter = meter_open("");
	if (!h->meter)
		return cli_fail(c->cli, "out of memory");
	for (unsigned i = 0; i < METER_VALUES; i++)
		if (meter_why_not(h->meter, i))
			snprintf(c->study.metric[metric_of[i]].why_not, sizeof(c->study.metric[0].why_not), "%s",
				 meter_why_not(h->meter, i));
	h->variants = c->variant;
	h->argv = c->cli->args;
	h->limit_ns = opt_u64(c->cli, OPT_RUN_LIMIT);
	h->patterns = c->pattern;
	h->n_patterns = c->n_patterns;
	h->stop = &stop;
	h->progress = isatty(2) && !opt_flag(c->cli, OPT_SHOW_OUTPUT);
	h->keep_output = opt_flag(c->cli, OPT_SHOW_OUTPUT);
	h->study = &c->study;
	h->rounds = c->plan.rounds;
	h->warmup = c->plan.warmup;
	return CLI_DONE;
}

/* What a run of this kind never gave is not counted on this machine. */
static void explain_missing(struct study *s)
{
	static const struct { unsigned metric; const char *why; } t[] = {
		{ M_RUN_DELAY, "the kernel's taskstats are not to be had (root, and CONFIG_TASKSTATS)" },
		{ M_MIGRATIONS, "perf events are not allowed here (root, or kernel.perf_event_paranoid)" },
		{ M_L2, "no such hardware counter (a virtual machine, most likely)" },
	};

	if (!study_metric_seen(s, M_TIME))
		return; /* no run counted: that says nothing about the machine */
	for (unsigned i = M_FIXED; i < s->n_metrics; i++)
		if (!study_metric_seen(s, i))
			snprintf(s->metric[i].why_not, sizeof(s->metric[0].why_not), "no run printed it");
	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		if (!study_metric_seen(s, t[i].metric))
			snprintf(s->metric[t[i].metric].why_not, sizeof(s->metric[0].why_not), "%s", t[i].why);
}

static int print_result(struct compare *c)
{
	if (opt_flag(c->cli, OPT_JSON))
		return cli_print_json(c->cli, compare_json(&c->study));
	if (opt_flag(c->cli, OPT_CSV))
		study_csv(&c->study, stdout);
	else
		study_table(&c->study, stdout, isatty(1));
	return CLI_DONE;
}

/* A pattern that matched nothing, or no number: whoever reads only the exit code must not take it for measured. */
static int say_unprinted(const struct compare *c)
{
	int code = CLI_DONE;

	for (unsigned i = M_FIXED; i < c->study.n_metrics; i++)
		if (c->study.metric[i].why_not[0])
			code = cli_fail(c->cli, "--metric %s: %s; its pattern must match a line of the output, with a number in its group",
					c->study.metric[i].name, c->study.metric[i].why_not);
	return code;
}

static int exit_code(const struct compare *c)
{
	unsigned ok = 0;

	for (unsigned k = 0; k < c->n_variants; k++) {
		if (study_count(&c->study, k, RUN_EJECTED))
			return CLI_EJECTED;
		ok += study_count(&c->study, k, RUN_OK) > 0;
	}
	if (c->host.cannot == CLI_CANNOT)
		return CLI_CANNOT;
	if (say_unprinted(c))
		return CLI_FAILED;
	return ok == c->n_variants && !c->study.partial ? CLI_DONE : CLI_FAILED;
}

static int execute(struct compare *c)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct plan_host ops;
	int rc, code;

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	compare_host_ops(&c->host, &ops);
	rc = plan_execute(&c->plan, &ops, &c->study);
	if (c->host.run_errno)
		return cli_refuse(c->cli, "cannot run '%s': %s", c->host.argv[0], strerror(c->host.run_errno));
	if (rc && rc != -ECANCELED)
		return cli_fail(c->cli, "%s", strerror(-rc));
	explain_missing(&c->study);
	code = print_result(c);
	rc = opt_given(c->cli, OPT_REPORT) ? compare_report_write(c->cli, &c->study, opt_string(c->cli, OPT_REPORT)) : CLI_DONE;
	if (code || rc)
		return code ? code : rc;
	return exit_code(c);
}

int cmd_compare(struct cli *cli)
{
	struct compare *c = calloc(1, sizeof(*c));
	int code;

	if (!c)
		return cli_fail(cli, "out of memory");
	c->cli = cli;
	study_init(&c->study);
	code = opt_flag(cli, OPT_JSON) && opt_flag(cli, OPT_CSV) ? cli_refuse(cli, "--json and --csv: give one of them") : 0;
	if (!code)
		code = read_patterns(c);
	if (!code)
		code = read_variants(c);
	if (!code && opt_given(cli, OPT_REPORT))
		code = compare_report_check(cli, opt_string(cli, OPT_REPORT));
	if (!code)
		code = refuse_others(c);
	if (!code)
		code = refuse_unloadable(c);
	if (!code) {
		read_plan(c);
		compare_facts(&c->study, cli, c->plan.seed);
		code = prepare_host(c);
	}
	if (!code)
		code = execute(c);
	for (unsigned i = 0; i < c->n_patterns; i++)
		pattern_free(&c->pattern[i]);
	meter_close(c->host.meter);
	study_free(&c->study);
	free(c);
	return code;
}
