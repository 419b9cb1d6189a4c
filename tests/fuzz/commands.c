/* SPDX-License-Identifier: GPL-2.0-only */
/* commands.c - the table of subcommands for the fuzz targets, without the subcommands: parsing runs none. */
#include "cli/cli.h"

const struct cli_command cli_commands[] = {
#define COMMAND(name, args, min_args, max_args, flags, summary) \
	{ #name, NULL, args, min_args, max_args, flags, summary },
#include "cli/commands.def"
#undef COMMAND
};
const size_t cli_nr_commands = sizeof(cli_commands) / sizeof(cli_commands[0]);
