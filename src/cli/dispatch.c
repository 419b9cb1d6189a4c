/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dispatch.c - from main()'s argv to one subcommand: `roost COMMAND ...`, `scx_roost ...` (which is
 * `roost run ...`), the help of the whole program, and the one-line messages.
 */
#include "cli/cli.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/print.h"
#include "run/units.h"

const struct cli_command cli_commands[] = {
#define COMMAND(name, args, min_args, max_args, flags, summary) \
	{ #name, cmd_##name, args, min_args, max_args, flags, summary },
#include "cli/commands.def"
#undef COMMAND
};
const size_t cli_nr_commands = sizeof(cli_commands) / sizeof(cli_commands[0]);

/* "serve_metrics" in the table is "serve-metrics" to the user; either is taken. */
static bool same_name(const char *table, const char *typed)
{
	for (; *table && *typed; table++, typed++) {
		if (*table != *typed && !(*table == '_' && *typed == '-'))
			return false;
	}
	return *table == *typed;
}

const struct cli_command *cli_find_command(const char *name)
{
	for (size_t i = 0; i < cli_nr_commands; i++) {
		if (same_name(cli_commands[i].name, name))
			return &cli_commands[i];
	}
	return NULL;
}

static void shown_name(const char *table, char *buf, size_t size)
{
	snprintf(buf, size, "%s", table);
	for (char *c = buf; *c; c++) {
		if (*c == '_' && c != buf && c[-1] != '_')
			*c = '-';
	}
}

static void vsay(const struct cli *cli, const char *fmt, va_list ap)
{
	char line[1400], shown[2000];

	/* one write, so that lines of several threads do not mix; one line, whatever was typed */
	vsnprintf(line, sizeof(line), fmt, ap);
	print_shown(shown, sizeof(shown), line);
	fflush(stdout);
	fprintf(stderr, "%s: %s\n", cli && cli->program ? cli->program : "roost", shown);
}

#define SAY_AND_RETURN(code)            \
	do {                            \
		va_list ap;             \
		va_start(ap, fmt);      \
		vsay(cli, fmt, ap);     \
		va_end(ap);             \
		return code;            \
	} while (0)

int cli_refuse(const struct cli *cli, const char *fmt, ...)
{
	SAY_AND_RETURN(CLI_MISUSED);
}

int cli_fail(const struct cli *cli, const char *fmt, ...)
{
	SAY_AND_RETURN(CLI_FAILED);
}

int cli_cannot(const struct cli *cli, const char *fmt, ...)
{
	SAY_AND_RETURN(CLI_CANNOT);
}

void cli_say(const struct cli *cli, const char *fmt, ...)
{
	SAY_AND_RETURN();
}

/* libbpf's talk goes to stderr, one level down: -v its warnings, -vv all, the verifier's words included. */
static enum libbpf_print_level libbpf_most = LIBBPF_WARN;
static bool libbpf_silent = true;

static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return libbpf_silent || level > libbpf_most ? 0 : vfprintf(stderr, fmt, ap);
}

void cli_libbpf_talk(unsigned int verbosity)
{
	libbpf_silent = verbosity == 0;
	libbpf_most = verbosity > 1 ? LIBBPF_DEBUG : LIBBPF_WARN;
	libbpf_set_print(print_libbpf);
}

static void print_overview(FILE *to)
{
	char name[32];

	fputs("Usage: roost COMMAND [OPTION...] [ARGUMENT...]\n"
	      "A CPU scheduler that keeps tasks on warm CPUs, for the kernel you run (sched_ext).\n\n", to);
	for (size_t i = 0; i < cli_nr_commands; i++) {
		if (cli_commands[i].flags & CLI_HIDDEN)
			continue;
		shown_name(cli_commands[i].name, name, sizeof(name));
		fprintf(to, "  %-14s %s\n", name, cli_commands[i].summary);
	}
	fputs("\n  roost COMMAND --help   the options of one command\n"
	      "  roost --version        which roost this is\n\n"
	      "Exit codes: 0 done, 1 failed, 2 used wrongly, 3 this kernel cannot, 4 ejected by the kernel.\n", to);
}

static int unknown_command(const char *typed)
{
	struct units_hint hint;
	char name[32], best[32] = "";

	units_hint_start(&hint, typed);
	for (size_t i = 0; i < cli_nr_commands; i++) {
		if (!(cli_commands[i].flags & CLI_HIDDEN))
			units_hint_offer(&hint, cli_commands[i].name);
	}
	if (units_hint_best(&hint))
		shown_name(units_hint_best(&hint), best, sizeof(best));
	shown_name(typed, name, sizeof(name));
	if (*best)
		return cli_refuse(NULL, "unknown command '%s'; did you mean '%s'?", name, best);
	return cli_refuse(NULL, "unknown command '%s'; 'roost --help' lists them", name);
}

/* Output that could not be written (disk full, closed pipe) is a failure, whatever the command thinks. */
static int flush_stdout(const struct cli *cli, int code)
{
	int bad = ferror(stdout);

	errno = 0;
	if (fflush(stdout) || bad) {
		if (errno == EPIPE)
			return code ? code : CLI_FAILED;
		cli_say(cli, "could not write the output: %s", errno ? strerror(errno) : "write error");
		return code ? code : CLI_FAILED;
	}
	return code;
}

static int print_help(const struct cli_command *c, const char *program)
{
	if (cli_print_help(c, program, stdout))
		return CLI_FAILED;
	if (c->main == cmd_sim)
		cli_print_workloads(stdout);
	return CLI_DONE;
}

static int run_command(const struct cli_command *c, const char *program, int argc, char **argv)
{
	char refusal[512];
	struct cli cli;
	int code;

	if (cli_parse(&cli, c, argc, argv, refusal, sizeof(refusal))) {
		cli.program = program;
		return cli_refuse(&cli, "%s", refusal);
	}
	cli.program = program;
	if (opt_flag(&cli, OPT_HELP))
		code = print_help(c, program);
	else
		code = c->main(&cli);
	code = flush_stdout(&cli, code);
	cli_free(&cli);
	return code;
}

static int print_version(const char *name)
{
	printf("%s " ROOST_VERSION "\n", name);
	return flush_stdout(NULL, CLI_DONE);
}

int cli_main(int argc, char **argv)
{
	const struct cli_command *c;
	const char *base = argc > 0 ? strrchr(argv[0], '/') : NULL;
	char program[64], name[32];

	cli_libbpf_talk(0);
	base = base ? base + 1 : argc > 0 ? argv[0] : "roost";
	if (strcmp(base, "scx_roost") == 0) {
		if (argc == 2 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")))
			return print_version("scx_roost");
		c = cli_find_command("run");
		return c ? run_command(c, "scx_roost", argc, argv) : CLI_FAILED;
	}
	if (argc < 2) {
		print_overview(stderr);
		return CLI_MISUSED;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") || !strcmp(argv[1], "version"))
		return print_version("roost");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		if (argc == 2) {
			print_overview(stdout);
			return flush_stdout(NULL, CLI_DONE);
		}
		c = cli_find_command(argv[2]);
		if (!c)
			return unknown_command(argv[2]);
		shown_name(c->name, name, sizeof(name));
		snprintf(program, sizeof(program), "roost %s", name);
		return flush_stdout(NULL, print_help(c, program));
	}
	if (argv[1][0] == '-')
		return cli_refuse(NULL, "unknown option '%.80s' before the command; 'roost --help' says what there is",
				  argv[1]);
	c = cli_find_command(argv[1]);
	if (!c)
		return unknown_command(argv[1]);
	shown_name(c->name, name, sizeof(name));
	snprintf(program, sizeof(program), "roost %s", name);
	return run_command(c, program, argc - 1, argv + 1);
}
