/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz_options.c - command lines: the first byte picks the subcommand, the rest is words separated by newlines.
 * What is taken is in range; what is refused is refused in words.
 */
#include <string.h>

#include "cli/cli.h"
#include "fuzz.h"

#define WORDS_MAX 80

static void in_range(const struct cli *cli)
{
	for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
		const struct cli_option *o = &cli_options[i];
		const struct cli_value *v = &cli->value[i];

		if (!v->given)
			continue;
		MUST(cli_option_applies(o, cli->command));
		if (o->kind == CLI_TIME || o->kind == CLI_COUNT || o->kind == CLI_SIZE)
			MUST(v->number >= o->min && v->number <= o->max);
		if (o->kind == CLI_PERCENT)
			MUST(v->real >= (double)o->min && v->real <= (double)o->max);
		if (o->kind == CLI_LIST || o->kind == CLI_MULTI)
			MUST(v->nr > 0 && v->list[v->nr] == NULL && (!o->max || v->nr <= o->max));
	}
	if (!cli->value[OPT_HELP].given)
		MUST(cli->nr_args >= cli->command->min_args && cli->nr_args <= cli->command->max_args);
	MUST(cli->args[cli->nr_args] == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, *rest, *argv[WORDS_MAX + 2] = { (char *)"roost" }, refusal[512];
	const struct cli_command *command;
	struct cli cli;
	int argc = 1;

	if (!size)
		return 0;
	command = &cli_commands[data[0] % cli_nr_commands];
	text = malloc(size);
	MUST(text);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	rest = text;
	while (argc <= WORDS_MAX && (argv[argc] = strsep(&rest, "\n")) != NULL)
		argc++;
	argv[argc] = NULL;
	if (cli_parse(&cli, command, argc, argv, refusal, sizeof(refusal))) {
		MUST(*refusal);
	} else {
		in_range(&cli);
		cli_free(&cli);
	}
	free(text);
	return 0;
}
