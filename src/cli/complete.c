/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * complete.c - `roost __complete SHELL`, which the build calls: a completion script for bash, zsh or fish,
 * made from the tables. The scripts are static; completing starts no roost.
 */
#include "cli/cli.h"

#include <string.h>

#include "run/knobs.h"

static void dashed(const char *name)
{
	for (; *name; name++)
		putchar(*name == '_' ? '-' : *name);
}

/* Inside single quotes of a shell. */
static void quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	}
	putchar('\'');
}

static void words_of_choice(const char *choices)
{
	for (; *choices; choices++)
		putchar(*choices == '|' ? ' ' : *choices);
}

static bool listed(const struct cli_command *c)
{
	return !(c->flags & CLI_HIDDEN);
}

static bool takes_knobs(const struct cli_command *c)
{
	return strcmp(c->name, "set") == 0 || strcmp(c->name, "get") == 0;
}

static void knob_words(bool with_equals)
{
	for (size_t i = 0; i < knob_count; i++)
		printf("%s%s%s", i ? " " : "", knob_table[i].key, with_equals ? "=" : "");
}

static void profile_words(void)
{
	for (size_t i = 0; i < knob_profile_count; i++)
		printf("%s%s", i ? " " : "", knob_profiles[i].name);
}

/* ---- bash ---- */

/* What follows an option, as the body of a case; false when nothing is known of it. */
static bool bash_value(const struct cli_option *o)
{
	if (o->id == OPT_PROFILE) {
		fputs("words=\"", stdout);
		profile_words();
		fputs("\"", stdout);
	} else if (o->id == OPT_SET) {
		fputs("words=\"", stdout);
		knob_words(true);
		fputs("\"; compopt -o nospace", stdout);
	} else if (o->kind == CLI_CHOICE) {
		fputs("words=\"", stdout);
		words_of_choice(o->metavar);
		fputs("\"", stdout);
	} else if (o->kind == CLI_FILE) {
		fputs("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return", stdout);
	} else if (o->kind == CLI_DIR) {
		fputs("compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); return", stdout);
	} else {
		return false;
	}
	return true;
}

static void bash_command(const struct cli_command *c)
{
	fputs("\t", stdout);
	dashed(c->name);
	fputs(")\n\t\tcase $prev in\n", stdout);
	for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
		const struct cli_option *o = &cli_options[i];

		if (!cli_option_applies(o, c) || o->kind == CLI_FLAG)
			continue;
		printf("\t\t--%s", o->name);
		if (o->short_name)
			printf("|-%c", o->short_name);
		fputs(") ", stdout);
		if (!bash_value(o))
			fputs("return", stdout);
		fputs(" ;;\n", stdout);
	}
	fputs("\t\t*) words=\"", stdout);
	if (takes_knobs(c)) {
		knob_words(strcmp(c->name, "set") == 0);
		putchar(' ');
	}
	for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
		const struct cli_option *o = &cli_options[i];

		if (cli_option_applies(o, c))
			printf("--%s%s ", o->name, o->kind == CLI_FLAG ? "" : "=");
	}
	fputs("\" ;;\n\t\tesac ;;\n", stdout);
}

static void bash(void)
{
	fputs("# bash completion for roost; made from roost's tables by `roost __complete bash`\n"
	      "_roost() {\n\tlocal cur prev command words\n"
	      "\tcur=${COMP_WORDS[COMP_CWORD]}\n\tprev=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\t# \"--name=val\" comes as three words\n"
	      "\tif [[ $cur == '=' ]]; then cur=; "
	      "elif [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
	      "\tif [[ ${COMP_WORDS[0]##*/} == scx_roost ]]; then command=run; else command=${COMP_WORDS[1]}; fi\n"
	      "\tif [[ $COMP_CWORD -eq 1 && ${COMP_WORDS[0]##*/} != scx_roost ]]; then\n"
	      "\t\tmapfile -t COMPREPLY < <(compgen -W \"", stdout);
	for (size_t i = 0; i < cli_nr_commands; i++) {
		if (listed(&cli_commands[i])) {
			dashed(cli_commands[i].name);
			putchar(' ');
		}
	}
	fputs("--help --version\" -- \"$cur\")\n\t\treturn\n\tfi\n\tcase $command in\n", stdout);
	for (size_t i = 0; i < cli_nr_commands; i++) {
		if (listed(&cli_commands[i]))
			bash_command(&cli_commands[i]);
	}
	fputs("\tesac\n\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	      "\t[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n\treturn 0\n}\n"
	      "complete -F _roost roost scx_roost\n", stdout);
}

/* ---- zsh ---- */

/* Inside a [...] of _arguments, itself in single quotes. */
static void zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void zsh_option(const struct cli_option *o)
{
	const char *repeat = o->kind == CLI_MULTI || o->kind == CLI_FLAG || o->kind == CLI_LIST ? "*" : "";

	printf("\t\t\t'%s--%s%s[", repeat, o->name, o->kind == CLI_FLAG ? "" : "=");
	zsh_text(o->help);
	putchar(']');
	if (o->kind != CLI_FLAG) {
		putchar(':');
		zsh_text(o->kind == CLI_CHOICE ? o->name : o->metavar);
		putchar(':');
		if (o->id == OPT_PROFILE) {
			putchar('(');
			profile_words();
			putchar(')');
		} else if (o->id == OPT_SET) {
			putchar('(');
			knob_words(true);
			putchar(')');
		} else if (o->kind == CLI_CHOICE) {
			putchar('(');
			words_of_choice(o->metavar);
			putchar(')');
		} else if (o->kind == CLI_FILE) {
			fputs("_files", stdout);
		} else if (o->kind == CLI_DIR) {
			fputs("_files -/", stdout);
		}
	}
	fputs("' \\\n", stdout);
}

static void zsh(void)
{
	fputs("#compdef roost scx_roost\n# made from roost's tables by `roost __complete zsh`\n_roost() {\n"
	      "\tlocal -a commands\n\tcommands=(\n", stdout);
	for (size_t i = 0; i < cli_nr_commands; i++) {
		if (!listed(&cli_commands[i]))
			continue;
		fputs("\t\t'", stdout);
		dashed(cli_commands[i].name);
		putchar(':');
		zsh_text(cli_commands[i].summary);
		fputs("'\n", stdout);
	}
	fputs("\t)\n\tif [[ ${words[1]:t} == scx_roost ]]; then\n\t\twords=(roost run \"${(@)words[2,-1]}\")\n"
	      "\t\t(( CURRENT++ ))\n\tfi\n"
	      "\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n"
	      "\tlocal command=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $command in\n", stdout);
	for (size_t i = 0; i < cli_nr_commands; i++) {
		const struct cli_command *c = &cli_commands[i];

		if (!listed(c))
			continue;
		fputs("\t\t", stdout);
		dashed(c->name);
		fputs(")\n\t\t\t_arguments \\\n", stdout);
		for (size_t j = 0; j < CLI_OPTION_COUNT; j++) {
			if (cli_option_applies(&cli_options[j], c))
				zsh_option(&cli_options[j]);
		}
		if (takes_knobs(c)) {
			fputs("\t\t\t'*:knob:(", stdout);
			knob_words(strcmp(c->name, "set") == 0);
			fputs(")' ;;\n", stdout);
		} else {
			fputs("\t\t\t'*:argument:_files' ;;\n", stdout);
		}
	}
	fputs("\tesac\n}\n_roost \"$@\"\n", stdout);
}

/* ---- fish ---- */

static void fish_option(const struct cli_command *c, const struct cli_option *o)
{
	fputs("complete -c roost -n '__fish_seen_subcommand_from ", stdout);
	dashed(c->name);
	printf("' -l %s", o->name);
	if (o->short_name)
		printf(" -s %c", o->short_name);
	if (o->kind == CLI_FILE || o->kind == CLI_DIR) {
		fputs(" -r -F", stdout);
	} else if (o->kind != CLI_FLAG) {
		fputs(" -x", stdout);
		if (o->id == OPT_PROFILE || o->id == OPT_SET || o->kind == CLI_CHOICE) {
			fputs(" -a '", stdout);
			if (o->id == OPT_PROFILE)
				profile_words();
			else if (o->id == OPT_SET)
				knob_words(true);
			else
				words_of_choice(o->metavar);
			putchar('\'');
		}
	}
	fputs(" -d ", stdout);
	quoted(o->help);
	putchar('\n');
}

static void fish(void)
{
	fputs("# fish completion for roost; made from roost's tables by `roost __complete fish`\ncomplete -c roost -f\n", stdout);
	for (size_t i = 0; i < cli_nr_commands; i++) {
		const struct cli_command *c = &cli_commands[i];

		if (!listed(c))
			continue;
		fputs("complete -c roost -n __fish_use_subcommand -a ", stdout);
		dashed(c->name);
		fputs(" -d ", stdout);
		quoted(c->summary);
		putchar('\n');
		if (takes_knobs(c)) {
			printf("complete -c roost -n '__fish_seen_subcommand_from %s' -a '", c->name);
			knob_words(strcmp(c->name, "set") == 0);
			fputs("'\n", stdout);
		}
		for (size_t j = 0; j < CLI_OPTION_COUNT; j++) {
			if (cli_option_applies(&cli_options[j], c))
				fish_option(c, &cli_options[j]);
		}
	}
}

int cmd___complete(struct cli *cli)
{
	static const struct { const char *shell; void (*print)(void); } shells[] = {
		{ "bash", bash }, { "zsh", zsh }, { "fish", fish },
	};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(cli->args[0], shells[i].shell) == 0) {
			shells[i].print();
			return CLI_DONE;
		}
	}
	return cli_refuse(cli, "no completion for '%s'; there is bash, zsh and fish", cli->args[0]);
}
