/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cli.h - how the program talks: subcommands, options, refusals, exit codes.
 *
 * To add a subcommand `frob`:
 *   1. one line in commands.def:  COMMAND(frob, "FILE", 1, 1, 0, "frobs a file")
 *   2. its options in options.def: OPT(DEPTH, "depth", 'd', COUNT, 1, 64, "8", "N", "frob", "how deep")
 *      (or add "frob" to the commands of a row that is there, as for --json)
 *   3. src/cli/frob.c:
 *        int cmd_frob(struct cli *cli)
 *        {
 *                u64 depth = opt_u64(cli, OPT_DEPTH);      // parsed, in range, or the default
 *                const char *file = cli->args[0];          // 1..1 arguments, checked
 *
 *                if (frob(file, depth) == -ENOENT)
 *                        return cli_refuse(cli, "%s: no such file", file);  // one line, exit 2
 *                return CLI_DONE;
 *        }
 * --help, the man page and completion follow from the tables.
 *
 * stdout is data, stderr is talk: cli_refuse, cli_fail, cli_cannot and cli_say write to stderr.
 */
#ifndef ROOST_CLI_CLI_H
#define ROOST_CLI_CLI_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "policy/abi.h"

/* Exit codes of the program (design.md). */
enum cli_exit {
	CLI_DONE = 0,       /* done */
	CLI_FAILED = 1,     /* tried, and it did not work */
	CLI_MISUSED = 2,    /* used wrongly; nothing was changed */
	CLI_CANNOT = 3,     /* this kernel or machine cannot */
	CLI_EJECTED = 4,    /* the kernel ejected the scheduler */
};

enum cli_option_id {
#define OPT(id, name, sh, kind, min, max, def, metavar, commands, help) OPT_##id,
#include "cli/options.def"
#undef OPT
	CLI_OPTION_COUNT
};

enum cli_kind {
	CLI_FLAG, CLI_TIME, CLI_COUNT, CLI_PERCENT, CLI_SIZE, CLI_STRING, CLI_FILE, CLI_DIR, CLI_CHOICE,
	CLI_LIST, CLI_MULTI
};

struct cli_option {
	enum cli_option_id id;
	const char *name;
	char short_name;    /* 0 = none */
	enum cli_kind kind;
	u64 min, max;
	const char *def;    /* "" = none */
	const char *metavar;
	const char *commands;
	const char *help;
};

#define CLI_ANY INT_MAX
#define CLI_REST 1u
#define CLI_HIDDEN 2u

struct cli;

struct cli_command {
	const char *name;
	int (*main)(struct cli *cli);
	const char *args;
	int min_args, max_args;
	unsigned int flags;
	const char *summary;
};

struct cli_value {
	unsigned int given; /* how often it was given; 0 = the default stands */
	u64 number;
	double real;
	const char *string;
	char **list;        /* NULL-terminated when not NULL */
	size_t nr;
};

/* One parsed command line. */
struct cli {
	const struct cli_command *command;
	const char *program;        /* as messages call it: "roost run", "scx_roost" */
	int nr_args;
	char **args;                /* positional arguments, NULL-terminated */
	struct cli_value value[CLI_OPTION_COUNT];
	char *list_memory[64];      /* split copies of LIST values */
	size_t nr_list_memory;
};

/* The tables. */
extern const struct cli_option cli_options[CLI_OPTION_COUNT];
extern const struct cli_command cli_commands[];
extern const size_t cli_nr_commands;
const struct cli_command *cli_find_command(const char *name);
bool cli_option_applies(const struct cli_option *o, const struct cli_command *c);

/* Typed getters. Each asserts that the option's kind is the one asked for. */
unsigned int opt_flag(const struct cli *cli, enum cli_option_id id);    /* how often it was given */
u64 opt_u64(const struct cli *cli, enum cli_option_id id);              /* TIME (ns), COUNT, SIZE (bytes) */
double opt_percent(const struct cli *cli, enum cli_option_id id);
const char *opt_string(const struct cli *cli, enum cli_option_id id);   /* STRING, FILE, DIR, CHOICE; or NULL */
char *const *opt_list(const struct cli *cli, enum cli_option_id id, size_t *nr); /* LIST, MULTI */
bool opt_given(const struct cli *cli, enum cli_option_id id);           /* did the user say it? */

/*
 * Parse argv[1..] for one subcommand. 0, or -EINVAL with one line (no newline) in refusal.
 * argv[] may be reordered; its strings are kept by reference. Undo with cli_free().
 */
int cli_parse(struct cli *cli, const struct cli_command *command, int argc, char **argv,
	      char *refusal, size_t refusal_size);
void cli_free(struct cli *cli);

/* One line to stderr; returns the exit code to return. */
int cli_refuse(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));  /* 2 */
int cli_fail(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));    /* 1 */
int cli_cannot(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));  /* 3 */
void cli_say(const struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* How much of libbpf's own talk reaches stderr: 0 none (the start), 1 warnings, 2 all. */
void cli_libbpf_talk(unsigned int verbosity);

/* Help of one subcommand, to a stream, from the tables. */
int cli_print_help(const struct cli_command *command, const char *program, FILE *to);

/* What follows the options in the help of `roost sim`: the workloads. */
void cli_print_workloads(FILE *to);

/* The whole program: argv as main() got it, the exit code back. */
int cli_main(int argc, char **argv);

#define COMMAND(name, args, min_args, max_args, flags, summary) int cmd_##name(struct cli *cli);
#include "cli/commands.def"
#undef COMMAND

#endif
