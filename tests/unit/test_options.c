/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test_options.c - the option table makes sense for every subcommand, and command lines parse as the table
 * says or are refused in one line.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/cli.h"

static struct cli cli;
static char refusal[512];

/* argv[0], then the words of the line; "\1" stands for an empty word. */
static int parse(const char *command, const char *line)
{
	static char copy[512], *argv[128];
	int argc = 1;
	char *rest;

	argv[0] = (char *)"roost";
	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok_r(copy, " ", &rest); w; w = strtok_r(NULL, " ", &rest))
		argv[argc++] = strcmp(w, "\1") ? w : (char *)"";
	argv[argc] = NULL;
	refusal[0] = '\0';
	return cli_parse(&cli, cli_find_command(command), argc, argv, refusal, sizeof(refusal));
}

static void refused(const char *command, const char *line, const char *says)
{
	if (parse(command, line) != -EINVAL)
		fail_msg("'%s %s' was taken", command, line);
	if (!strstr(refusal, says))
		fail_msg("'%s %s' was refused with: %s", command, line, refusal);
	if (strchr(refusal, '\n') || !*refusal)
		fail_msg("'%s %s': the refusal is not one line", command, line);
}

static void taken(const char *command, const char *line)
{
	if (parse(command, line))
		fail_msg("'%s %s' was refused: %s", command, line, refusal);
}

static void every_row_is_sound(void **state)
{
	for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
		const struct cli_option *o = &cli_options[i];
		size_t users = 0;

		assert_int_equal(o->id, i);
		assert_true(*o->name && *o->help && *o->commands);
		assert_int_equal(o->kind == CLI_FLAG, !*o->metavar);
		if (o->kind == CLI_TIME || o->kind == CLI_COUNT || o->kind == CLI_PERCENT || o->kind == CLI_SIZE) {
			if (o->min >= o->max)
				fail_msg("--%s: an empty range", o->name);
		}
		if (o->kind == CLI_CHOICE)
			assert_non_null(strchr(o->metavar, '|'));
		for (size_t c = 0; c < cli_nr_commands; c++)
			users += cli_option_applies(o, &cli_commands[c]);
		if (!users)
			fail_msg("--%s belongs to no subcommand (%s)", o->name, o->commands);
	}
}

static void no_name_twice_in_a_subcommand(void **state)
{
	for (size_t c = 0; c < cli_nr_commands; c++) {
		for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
			for (size_t j = 0; j < i; j++) {
				const struct cli_option *a = &cli_options[i], *b = &cli_options[j];

				if (!cli_option_applies(a, &cli_commands[c]) || !cli_option_applies(b, &cli_commands[c]))
					continue;
				if (strcmp(a->name, b->name) == 0 || (a->short_name && a->short_name == b->short_name))
					fail_msg("roost %s: --%s and --%s clash", cli_commands[c].name, a->name, b->name);
			}
		}
	}
}

/* Defaults go through the parser: a wrong one would be refused here. */
static void every_default_is_in_range(void **state)
{
	char *argv[] = { (char *)"roost", (char *)"--help", NULL };

	for (size_t c = 0; c < cli_nr_commands; c++) {
		if (cli_parse(&cli, &cli_commands[c], 2, argv, refusal, sizeof(refusal)))
			fail_msg("roost %s: %s", cli_commands[c].name, refusal);
		cli_free(&cli);
		assert_ptr_equal(cli_find_command(cli_commands[c].name), &cli_commands[c]);
	}
}

static void values(void **state)
{
	char *const *list;
	size_t nr;

	taken("run", "--interval 1.5s -vv --set idle-smt --set=idle-grace=1ms -p warm --partial");
	assert_true(opt_u64(&cli, OPT_INTERVAL) == 1500000000);
	assert_int_equal(opt_flag(&cli, OPT_VERBOSE), 2);
	assert_int_equal(opt_flag(&cli, OPT_PARTIAL), 1);
	assert_int_equal(opt_flag(&cli, OPT_JSON), 0);
	assert_string_equal(opt_string(&cli, OPT_PROFILE), "warm");
	list = opt_list(&cli, OPT_SET, &nr);
	assert_int_equal(nr, 2);
	assert_string_equal(list[0], "idle-smt");
	assert_string_equal(list[1], "idle-grace=1ms");
	assert_null(list[2]);
	assert_string_equal(opt_string(&cli, OPT_PROFILE_DIR), "/etc/roost/profiles");
	assert_false(opt_given(&cli, OPT_PROFILE_DIR));
	cli_free(&cli);

	taken("run", "-i10ms -i 20ms");     /* the last one counts */
	assert_true(opt_u64(&cli, OPT_INTERVAL) == 20000000);
	assert_null(opt_string(&cli, OPT_CONFIG));
	opt_list(&cli, OPT_SET, &nr);
	assert_int_equal(nr, 0);
	cli_free(&cli);

	taken("set", "a=1 --profile mainline b=2 -- --c=3");
	assert_int_equal(cli.nr_args, 3);
	assert_string_equal(cli.args[0], "a=1");
	assert_string_equal(cli.args[1], "b=2");
	assert_string_equal(cli.args[2], "--c=3");
	assert_null(cli.args[3]);
	cli_free(&cli);
}

/* The first argument of such a subcommand ends its options, with -- or without. */
static void the_rest_is_left_alone(void **state)
{
	taken("load", "hackbench -g 4 --help --json=3 -- -x");
	assert_int_equal(cli.nr_args, 7);
	assert_string_equal(cli.args[0], "hackbench");
	assert_string_equal(cli.args[3], "--help");
	assert_string_equal(cli.args[5], "--");
	assert_int_equal(opt_flag(&cli, OPT_HELP), 0);
	cli_free(&cli);
	taken("load", "-- --json");
	assert_int_equal(cli.nr_args, 1);
	assert_string_equal(cli.args[0], "--json");
	cli_free(&cli);
	taken("load", "--help hackbench --frob");
	assert_int_equal(opt_flag(&cli, OPT_HELP), 1);
	cli_free(&cli);
}

static void refusals(void **state)
{
	refused("run", "--intervall 1s", "unknown option --intervall; did you mean --interval?");
	refused("run", "--int 1s", "unknown option --int; did you mean --interval?");     /* no abbreviations */
	refused("run", "--int=1s", "unknown option --int; did you mean --interval?");
	refused("run", "--verb", "unknown option --verb; did you mean --verbose?");
	refused("run", "--p", "unknown option --p");       /* an ambiguous one */
	refused("run", "--xyzzy", "unknown option --xyzzy; see --help");
}

static void refusals_of_values(void **state)
{
	refused("run", "--interval 1", "--interval=1: takes a time with its unit");
	refused("run", "--interval 9ms", "from 10ms to 3600s");
	refused("run", "--interval=", "--interval=: takes a time");
	refused("run", "--interval", "--interval needs a value: TIME");
	refused("run", "-i", "-i (--interval) needs a value: TIME");
	refused("run", "-vi", "-i (--interval) needs a value");
	refused("run", "-vz", "unknown option -z");
	refused("run", "-zv", "unknown option -z");
	refused("run", "--partial --interval 1s -vzi", "unknown option -z");
	refused("run", "--json=yes", "--json takes no value");
	refused("run", "--config \1", "--config: an empty path");
	refused("run", "frob", "takes no arguments, but was given 'frob'");
	refused("run", "-v frob --partial", "'frob'");
	refused("stat", "--count 0", "--count=0: takes a whole number from 1");
	refused("stat", "--count -5", "--count=-5: takes a whole number");
	refused("stat", "--count 1e3", "whole number");
	refused("stat", "--count 99999999999999999999999", "whole number");
	refused("explain", "--pid 1,2", "--pid=1,2");
	refused("doctor", "--interval 1s", "unknown option --interval");        /* belongs to others */
}

static void many_values(void **state)
{
	char line[512] = "";

	for (int i = 0; i < 65; i++)
		strcat(line, "-sa ");
	refused("run", line, "--set: at most 64 values");
}

static void help_is_printed(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f;

	for (size_t c = 0; c < cli_nr_commands; c++) {
		f = open_memstream(&text, &size);
		assert_non_null(f);
		assert_int_equal(cli_print_help(&cli_commands[c], "roost x", f), 0);
		fclose(f);
		assert_non_null(strstr(text, "Usage: roost x"));
		assert_non_null(strstr(text, "--help"));
		for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
			char name[64];

			snprintf(name, sizeof(name), "--%s", cli_options[i].name);
			if (cli_option_applies(&cli_options[i], &cli_commands[c]) && !strstr(text, name))
				fail_msg("roost %s --help does not show %s", cli_commands[c].name, name);
		}
		free(text);
		text = NULL;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_sound),
		cmocka_unit_test(no_name_twice_in_a_subcommand),
		cmocka_unit_test(every_default_is_in_range),
		cmocka_unit_test(values),
		cmocka_unit_test(the_rest_is_left_alone),
		cmocka_unit_test(refusals),
		cmocka_unit_test(refusals_of_values),
		cmocka_unit_test(many_values),
		cmocka_unit_test(help_is_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
