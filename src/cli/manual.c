/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * manual.c - `roost __man PAGE [FILE]`, which the build calls: a manual page from the tables, with the prose
 * of FILE (roff) after the options. PAGE is "roost", a subcommand, or "knobs".
 */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "load/load.h"
#include "run/units.h"
#include "run/counters.h"
#include "run/knobs.h"
#include "sim/sim.h"

/* Text as roff: no line may start a request, a hyphen stays the character that is typed, a backslash one. */
static void roff(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", stdout);
		else if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
	}
}

static void upper(const char *text)
{
	for (; *text; text++)
		putchar(*text == '_' ? '-' : toupper((unsigned char)*text));
}

static void dashed(const char *name)
{
	for (; *name; name++)
		fputs(*name == '_' || *name == '-' ? "\\-" : (char[]){ *name, 0 }, stdout);
}

static void title(const char *name, int section)
{
	fputs(".\\\" Made from roost's tables by `roost __man`; edit those, or the prose under man/.\n.TH ", stdout);
	upper(name);
	printf(" %d \"\" \"roost " ROOST_VERSION "\" \"roost\"\n", section);
}

static void range_of(const struct cli_option *o)
{
	char lo[UNITS_TEXT_MAX], hi[UNITS_TEXT_MAX];

	switch (o->kind) {
	case CLI_TIME:
		printf(" From %s to %s.", units_format_time(o->min, lo), units_format_time(o->max, hi));
		break;
	case CLI_SIZE:
		printf(" From %s to %s.", units_format_size(o->min, lo), units_format_size(o->max, hi));
		break;
	case CLI_COUNT:
		printf(" From %llu to %llu.", o->min, o->max);
		break;
	case CLI_PERCENT:
		printf(" From %llu%% to %llu%%.", o->min, o->max);
		break;
	case CLI_LIST:
		fputs(" Separated by commas.", stdout);
		break;
	case CLI_MULTI:
		fputs(" May be given more than once.", stdout);
		break;
	default:
		break;
	}
	if (*o->def) {
		fputs(" Default: ", stdout);
		roff(o->def);
		putchar('.');
	}
}

static void option(const struct cli_option *o)
{
	fputs(".TP\n", stdout);
	if (o->short_name)
		printf("\\fB\\-%c\\fR, ", o->short_name);
	fputs("\\fB\\-\\-", stdout);
	dashed(o->name);
	fputs("\\fR", stdout);
	if (o->kind != CLI_FLAG) {
		fputs("=\\fI", stdout);
		roff(o->metavar);
		fputs("\\fR", stdout);
	}
	putchar('\n');
	if (*o->help) {
		putchar(toupper((unsigned char)*o->help));
		roff(o->help + 1);
		putchar('.');
	}
	range_of(o);
	putchar('\n');
}

static int prose(const struct cli *cli, const char *path)
{
	char line[1024];
	FILE *f;

	if (!path)
		return 0;
	f = fopen(path, "re");
	if (!f)
		return cli_fail(cli, "%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		/* the files carry the licence as a comment; pages need it not */
		if (strncmp(line, ".\\\" SPDX", 8) != 0)
			fputs(line, stdout);
	}
	fclose(f);
	return 0;
}

static void exit_status(void)
{
	static const char *const means[] = {
		[CLI_DONE] = "done", [CLI_FAILED] = "tried, and it did not work", [CLI_MISUSED] = "used wrongly; nothing was changed",
		[CLI_CANNOT] = "this kernel or machine cannot",
		[CLI_EJECTED] = "the kernel ejected the scheduler; its reason was printed",
	};

	fputs(".SH EXIT STATUS\n", stdout);
	for (int i = 0; i <= CLI_EJECTED; i++) {
		printf(".TP\n.B %d\n", i);
		roff(means[i]);
		putchar('\n');
	}
}

static void see_also(const char *but)
{
	fputs(".SH SEE ALSO\n", stdout);
	if (but)
		fputs(".BR roost (1),\n", stdout);
	for (size_t i = 0; i < cli_nr_commands; i++) {
		const struct cli_command *c = &cli_commands[i];

		if (c->flags & CLI_HIDDEN || (but && strcmp(c->name, but) == 0))
			continue;
		fputs(".BR roost\\-", stdout);
		dashed(c->name);
		fputs(" (1),\n", stdout);
	}
	fputs(".BR roost\\-knobs (7)\n", stdout);
}

static void synopsis(const struct cli_command *c)
{
	fputs(".SH SYNOPSIS\n.B roost ", stdout);
	dashed(c->name);
	fputs("\n.RI [ OPTION ]...", stdout);
	if (*c->args) {
		fputs("\n.I ", stdout);
		roff(c->args);
	}
	putchar('\n');
	if (strcmp(c->name, "run") == 0)
		fputs(".br\n.B scx_roost\n.RI [ OPTION ]...\n", stdout);
}

/* The loads' own options are in tables of their own. */
static void loads(void)
{
	char typed[64], help[256];

	fputs(".SH LOADS\n", stdout);
	for (unsigned int i = 0; load_all[i]; i++) {
		printf(".SS %s\n", load_all[i]->name);
		putchar(toupper((unsigned char)*load_all[i]->what));
		roff(load_all[i]->what + 1);
		fputs(".\n", stdout);
		for (const struct load_opt *o = load_all[i]->opts; o->name; o++) {
			load_opt_text(o, typed, sizeof(typed), help, sizeof(help));
			fputs(".TP\n.B ", stdout);
			roff(typed + strspn(typed, " "));
			fputs("\n", stdout);
			roff(help);
			fputs(".\n", stdout);
		}
	}
}

static void workloads(void)
{
	fputs(".SH WORKLOADS\nTheir options stand after their names. A TIME has its unit: ns, us, ms or s.\n", stdout);
	for (int i = 0; sim_workloads[i]; i++) {
		if (!sim_workloads[i]->options)
			continue;
		printf(".SS %s\n", sim_workloads[i]->name);
		putchar(toupper((unsigned char)*sim_workloads[i]->help));
		roff(sim_workloads[i]->help + 1);
		fputs(".\n", stdout);
		for (const struct sim_option *o = sim_workloads[i]->options; o->names; o++) {
			fputs(".TP\n\\fB", stdout);
			roff(o->names);
			fputs("\\fR", stdout);
			if (o->metavar)
				printf(" \\fI%s\\fR", o->metavar);
			putchar('\n');
			roff(o->help);
			putchar('\n');
		}
	}
}

static int command_page(const struct cli *cli, const struct cli_command *c, const char *file)
{
	char name[64];
	int code;

	snprintf(name, sizeof(name), "roost-%s", c->name);
	title(name, 1);
	fputs(".SH NAME\nroost\\-", stdout);
	dashed(c->name);
	fputs(" \\- ", stdout);
	roff(c->summary);
	putchar('\n');
	synopsis(c);
	code = prose(cli, file);
	if (code)
		return code;
	fputs(".SH OPTIONS\n", stdout);
	for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
		if (cli_options[i].id != OPT_HELP && cli_option_applies(&cli_options[i], c))
			option(&cli_options[i]);
	}
	option(&cli_options[OPT_HELP]);
	if (strcmp(c->name, "load") == 0)
		loads();
	if (c->main == cmd_sim)
		workloads();
	exit_status();
	see_also(c->name);
	return CLI_DONE;
}

static int main_page(const struct cli *cli, const char *file)
{
	int code;

	title("roost", 1);
	fputs(".SH NAME\nroost \\- a CPU scheduler that keeps tasks on warm CPUs\n.SH SYNOPSIS\n.B roost\n.I COMMAND\n"
	      ".RI [ OPTION ]...\n.RI [ ARGUMENT ]...\n.br\n.B roost \\-\\-help\n.br\n.B roost \\-\\-version\n", stdout);
	code = prose(cli, file);
	if (code)
		return code;
	fputs(".SH COMMANDS\nEach has a page of its own, and\n.BR \\-\\-help .\n", stdout);
	for (size_t i = 0; i < cli_nr_commands; i++) {
		if (cli_commands[i].flags & CLI_HIDDEN)
			continue;
		fputs(".TP\n.BR roost\\-", stdout);
		dashed(cli_commands[i].name);
		fputs(" (1)\n", stdout);
		roff(cli_commands[i].summary);
		putchar('\n');
	}
	exit_status();
	see_also(NULL);
	return CLI_DONE;
}

static void knob_entry(const struct knob *k)
{
	char def[KNOB_TEXT_MAX], range[2 * KNOB_TEXT_MAX];

	fputs(".TP\n\\fB", stdout);
	roff(k->key);
	fputs("\\fR=\\fI", stdout);
	roff(knob_range(k, range));
	fputs("\\fR (default ", stdout);
	roff(knob_format(k, k->def, def));
	fputs(")\n", stdout);
	roff(k->help);
	fputs(".\n", stdout);
	if (*k->alias) {
		fputs("The kernel's name: ", stdout);
		roff(k->alias);
		fputs(".\n", stdout);
	}
	if (*k->origin) {
		fputs("From: ", stdout);
		roff(k->origin);
		fputs(".\n", stdout);
	}
}

static int knobs_page(const struct cli *cli, const char *file)
{
	int code;

	title("roost-knobs", 7);
	fputs(".SH NAME\nroost\\-knobs \\- knobs, profiles and rules of the roost scheduler\n", stdout);
	code = prose(cli, file);
	if (code)
		return code;
	fputs(".SH FEATURES\n", stdout);
	for (size_t i = 0; i < knob_count; i++) {
		if (*knob_table[i].origin)
			knob_entry(&knob_table[i]);
	}
	fputs(".SH BASE SCHEDULER\n", stdout);
	for (size_t i = 0; i < knob_count; i++) {
		if (!*knob_table[i].origin)
			knob_entry(&knob_table[i]);
	}
	fputs(".SH PROFILES\n", stdout);
	for (size_t i = 0; i < knob_profile_count; i++) {
		fputs(".TP\n.B ", stdout);
		roff(knob_profiles[i].name);
		putchar('\n');
		roff(knob_profiles[i].help);
		fputs(":\n", stdout);
		roff(knob_profiles[i].knobs);
		putchar('\n');
	}
	fputs(".SH RULES\nEach decision names the rule that made it; they are what\n.BR roost\\-stat (1)\ncounts and\n"
	      ".BR roost\\-explain (1)\nshows.\n", stdout);
	for (size_t i = ROOST_RULE_NONE + 1; i < ROOST_RULE_COUNT; i++) {
		fputs(".TP\n.B ", stdout);
		roff(rule_names[i].name);
		putchar('\n');
		roff(rule_names[i].help);
		putchar('\n');
	}
	see_also("");
	return CLI_DONE;
}

int cmd___man(struct cli *cli)
{
	const char *page = cli->args[0], *file = cli->nr_args > 1 ? cli->args[1] : NULL;
	const struct cli_command *c;

	if (strcmp(page, "roost") == 0)
		return main_page(cli, file);
	if (strcmp(page, "knobs") == 0)
		return knobs_page(cli, file);
	if (strcmp(page, "--list") == 0 || strcmp(page, "list") == 0) {
		for (size_t i = 0; i < cli_nr_commands; i++) {
			if (!(cli_commands[i].flags & CLI_HIDDEN))
				puts(cli_commands[i].name);
		}
		return CLI_DONE;
	}
	c = cli_find_command(page);
	if (!c)
		return cli_refuse(cli, "no page is called '%s'", page);
	return command_page(cli, c, file);
}
