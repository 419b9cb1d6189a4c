/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.c - one subcommand's command line, through glibc's argp built from the option table.
 *
 * argp's own messages take two lines and cannot say what would have been right, so they are switched off
 * (ARGP_NO_ERRS) and diagnose() names the word that argp stopped at. Abbreviated long options, which
 * argp takes, are refused: a script that uses one breaks when an option is added.
 */
#include "cli/cli.h"

#include <argp.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "run/units.h"

const struct cli_option cli_options[CLI_OPTION_COUNT] = {
#define OPT(id_, name_, short_, kind_, min_, max_, def_, metavar_, commands_, help_) \
	[OPT_##id_] = { OPT_##id_, name_, short_, CLI_##kind_, min_, max_, def_, metavar_, commands_, help_ },
#include "cli/options.def"
#undef OPT
};

/* argp takes keys that are printable characters for short options; ours start above them. */
#define KEY_BASE 0x400

struct parse {
	struct cli *cli;
	char *refusal;
	size_t refusal_size;
	int max_positional;         /* room in cli->args */
	bool refused;
};

__attribute__((format(printf, 2, 3)))
static error_t refuse(struct parse *p, const char *fmt, ...)
{
	va_list ap;

	if (!p->refused) {
		va_start(ap, fmt);
		vsnprintf(p->refusal, p->refusal_size, fmt, ap);
		va_end(ap);
		p->refused = true;
	}
	return EINVAL;
}

bool cli_option_applies(const struct cli_option *o, const struct cli_command *c)
{
	const char *w = o->commands;
	size_t len = strlen(c->name);

	while (*w) {
		size_t n = strcspn(w, " ");

		if ((n == 1 && *w == '*') || (n == len && strncmp(w, c->name, n) == 0))
			return true;
		w += n;
		w += strspn(w, " ");
	}
	return false;
}

static const struct cli_option *find_long(const struct cli_command *c, const char *name, size_t len)
{
	for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
		const struct cli_option *o = &cli_options[i];

		if (strlen(o->name) == len && memcmp(o->name, name, len) == 0 && cli_option_applies(o, c))
			return o;
	}
	return NULL;
}

static const struct cli_option *find_short(const struct cli_command *c, int key)
{
	for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
		const struct cli_option *o = &cli_options[i];

		if (o->short_name && o->short_name == key && cli_option_applies(o, c))
			return o;
	}
	return NULL;
}

/* ---- values ---- */

/* What the option takes, for a refusal: "a time such as 50us, from 100us to 1s". */
static void describe_value(const struct cli_option *o, char *buf, size_t size)
{
	char lo[UNITS_TEXT_MAX], hi[UNITS_TEXT_MAX];

	switch (o->kind) {
	case CLI_TIME:
		snprintf(buf, size, "a time with its unit (ns, us, ms, s), from %s to %s",
			 units_format_time(o->min, lo), units_format_time(o->max, hi));
		break;
	case CLI_COUNT:
		snprintf(buf, size, "a whole number from %llu to %llu", o->min, o->max);
		break;
	case CLI_PERCENT:
		snprintf(buf, size, "a percentage from %llu%% to %llu%%", o->min, o->max);
		break;
	case CLI_SIZE:
		snprintf(buf, size, "a size such as 64K or 1M, from %s to %s",
			 units_format_size(o->min, lo), units_format_size(o->max, hi));
		break;
	case CLI_CHOICE:
		snprintf(buf, size, "one of %s", o->metavar);
		break;
	default:
		snprintf(buf, size, "%s", o->metavar);
		break;
	}
}

static error_t refuse_value(struct parse *p, const struct cli_option *o, const char *arg)
{
	char takes[256];

	describe_value(o, takes, sizeof(takes));
	return refuse(p, "--%s=%.80s: takes %s", o->name, arg, takes);
}

static bool is_choice(const char *choices, const char *arg)
{
	size_t len = strlen(arg);

	while (*choices) {
		size_t n = strcspn(choices, "|");

		if (n == len && strncmp(choices, arg, n) == 0)
			return true;
		choices += n;
		choices += strspn(choices, "|");
	}
	return false;
}

static error_t add_item(struct parse *p, const struct cli_option *o, struct cli_value *v, char *item)
{
	char **bigger;

	if (o->max && v->nr >= o->max)
		return refuse(p, "--%s: at most %llu values", o->name, o->max);
	bigger = realloc(v->list, (v->nr + 2) * sizeof(*bigger));
	if (!bigger)
		return refuse(p, "--%s: out of memory", o->name);
	v->list = bigger;
	v->list[v->nr++] = item;
	v->list[v->nr] = NULL;
	return 0;
}

static error_t add_list(struct parse *p, const struct cli_option *o, struct cli_value *v, const char *arg)
{
	struct cli *cli = p->cli;
	char *copy, *item, *rest;

	if (cli->nr_list_memory == sizeof(cli->list_memory) / sizeof(cli->list_memory[0]))
		return refuse(p, "--%s: given too often; separate the values with commas", o->name);
	copy = strdup(arg);
	if (!copy)
		return refuse(p, "--%s: out of memory", o->name);
	cli->list_memory[cli->nr_list_memory++] = copy;
	for (rest = copy; (item = strsep(&rest, ",")) != NULL; ) {
		if (!*item)
			return refuse(p, "--%s=%.80s: an empty item; takes %s", o->name, arg, o->metavar);
		if (add_item(p, o, v, item))
			return EINVAL;
	}
	return 0;
}

static error_t set_value(struct parse *p, const struct cli_option *o, char *arg)
{
	struct cli_value *v = &p->cli->value[o->id];
	int err = 0;

	switch (o->kind) {
	case CLI_FLAG:
		v->given++;
		return 0;
	case CLI_TIME:
		err = units_parse_time(arg, &v->number);
		break;
	case CLI_COUNT:
		err = units_parse_count(arg, &v->number);
		break;
	case CLI_SIZE:
		err = units_parse_size(arg, &v->number);
		break;
	case CLI_PERCENT:
		err = units_parse_percent(arg, &v->real);
		if (err || v->real < (double)o->min || v->real > (double)o->max)
			return refuse_value(p, o, arg);
		break;
	case CLI_CHOICE:
		if (!is_choice(o->metavar, arg))
			return refuse_value(p, o, arg);
		v->string = arg;
		break;
	case CLI_STRING:
		if (o->max && strlen(arg) > o->max)
			return refuse(p, "--%s: longer than %llu characters", o->name, o->max);
		v->string = arg;
		break;
	case CLI_FILE:
	case CLI_DIR:
		if (!*arg)
			return refuse(p, "--%s: an empty path; takes %s", o->name, o->metavar);
		v->string = arg;
		break;
	case CLI_LIST:
		v->given++;
		return add_list(p, o, v, arg);
	case CLI_MULTI:
		v->given++;
		return add_item(p, o, v, arg);
	}
	if (o->kind == CLI_TIME || o->kind == CLI_COUNT || o->kind == CLI_SIZE) {
		if (err || v->number < o->min || v->number > o->max)
			return refuse_value(p, o, arg);
	}
	v->given++;
	return 0;
}

/* Defaults go through the same parser, so that a wrong one in the table cannot hide. */
static error_t set_defaults(struct parse *p)
{
	for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
		const struct cli_option *o = &cli_options[i];

		if (!*o->def || !cli_option_applies(o, p->cli->command))
			continue;
		if (set_value(p, o, (char *)o->def))
			return EINVAL;
		p->cli->value[o->id].given = 0;
	}
	return 0;
}

/* A list that was given replaces the default list. */
static void drop_default_list(struct cli_value *v)
{
	if (v->given == 0) {
		free(v->list);
		v->list = NULL;
		v->nr = 0;
	}
}

/* ---- argp ---- */

static error_t refuse_unknown(struct parse *p, const char *name, size_t len)
{
	const struct cli_command *c = p->cli->command;
	struct units_hint hint;
	char typed[64];
	const char *best;

	snprintf(typed, sizeof(typed), "%.*s", (int)(len < 60 ? len : 60), name);
	units_hint_start(&hint, typed);
	for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
		if (cli_option_applies(&cli_options[i], c))
			units_hint_offer(&hint, cli_options[i].name);
	}
	best = units_hint_best(&hint);
	if (best)
		return refuse(p, "unknown option --%s; did you mean --%s?", typed, best);
	return refuse(p, "unknown option --%s; see --help", typed);
}

/* If this word is what argp stopped at, say what is wrong with it. */
static bool diagnose(struct parse *p, const char *word)
{
	const struct cli_command *c = p->cli->command;
	const struct cli_option *o;
	const char *eq;
	size_t len;

	if (!word || word[0] != '-' || !word[1])
		return false;
	if (word[1] == '-') {
		eq = strchr(word, '=');
		len = eq ? (size_t)(eq - word - 2) : strlen(word) - 2;
		o = find_long(c, word + 2, len);
		if (!o)
			refuse_unknown(p, word + 2, len);
		else if (o->kind == CLI_FLAG && eq)
			refuse(p, "--%s takes no value", o->name);
		else if (o->kind != CLI_FLAG && !eq)
			refuse(p, "--%s needs a value: %s", o->name, o->metavar);
		return p->refused;
	}
	for (const char *s = word + 1; *s; s++) {
		o = find_short(c, *s);
		if (!o) {
			if (isgraph((unsigned char)*s))
				refuse(p, "unknown option -%c; see --help", *s);
			else
				refuse(p, "unknown option -\\x%02x; see --help", (unsigned char)*s);
			return true;
		}
		if (o->kind != CLI_FLAG) {
			if (s[1])
				return false;
			refuse(p, "-%c (--%s) needs a value: %s", *s, o->name, o->metavar);
			return true;
		}
	}
	return false;
}

static void diagnose_any(struct parse *p, const struct argp_state *state)
{
	int next = state->next;

	if (p->refused)
		return;
	if (next >= 1 && next - 1 < state->argc && diagnose(p, state->argv[next - 1]))
		return;
	if (next < state->argc && diagnose(p, state->argv[next]))
		return;
	refuse(p, "the options could not be read; see --help");
}

/* The word of argv[] that this option came in, or NULL when it was a short one. */
static const char *long_word(const struct argp_state *state, const char *arg)
{
	int at = state->next - 1;
	const char *w;

	if (at < 1)
		return NULL;
	w = state->argv[at];
	if (arg == w)   /* "--name" "value" */
		w = at >= 2 ? state->argv[at - 1] : "";
	return strncmp(w, "--", 2) == 0 ? w + 2 : NULL;
}

static error_t take_positional(struct parse *p, char *arg, struct argp_state *state)
{
	struct cli *cli = p->cli;
	const struct cli_command *c = cli->command;

	assert(cli->nr_args < p->max_positional);
	cli->args[cli->nr_args++] = arg;
	if (c->flags & CLI_REST) {
		while (state->next < state->argc) {
			assert(cli->nr_args < p->max_positional);
			cli->args[cli->nr_args++] = state->argv[state->next++];
		}
	}
	return 0;
}

static error_t check_positional(struct parse *p)
{
	const struct cli *cli = p->cli;
	const struct cli_command *c = cli->command;

	if (opt_flag(cli, OPT_HELP))
		return 0;
	if (cli->nr_args < c->min_args)
		return refuse(p, "needs %s; see --help", c->args);
	if (cli->nr_args > c->max_args) {
		if (c->max_args == 0)
			return refuse(p, "takes no arguments, but was given '%.80s'", cli->args[0]);
		return refuse(p, "takes %s, '%.80s' is too much", c->args, cli->args[c->max_args]);
	}
	return 0;
}

static error_t on_key(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;
	const struct cli_option *o;
	const char *word;
	size_t n;

	switch (key) {
	case ARGP_KEY_ARG:
		return take_positional(p, arg, state);
	case ARGP_KEY_END:
		return check_positional(p);
	case ARGP_KEY_ERROR:
		diagnose_any(p, state);
		return 0;
	case ARGP_KEY_INIT:
	case ARGP_KEY_ARGS:
	case ARGP_KEY_NO_ARGS:
	case ARGP_KEY_SUCCESS:
	case ARGP_KEY_FINI:
		return 0;
	}
	o = key >= KEY_BASE ? &cli_options[key - KEY_BASE] : find_short(p->cli->command, key);
	if (!o)
		return ARGP_ERR_UNKNOWN;
	word = long_word(state, arg);
	n = word ? strcspn(word, "=") : 0;
	if (n && n < strlen(o->name) && strncmp(word, o->name, n) == 0)
		return refuse_unknown(p, word, n);
	if (o->kind == CLI_LIST || o->kind == CLI_MULTI)
		drop_default_list(&p->cli->value[o->id]);
	return set_value(p, o, arg);
}

/* What argp is given: rows, and help texts with range and default, which belong to us. */
struct built {
	struct argp argp;
	struct argp_option row[CLI_OPTION_COUNT + 1];
	char help[CLI_OPTION_COUNT][384];
};

static void help_text(const struct cli_option *o, char *buf, size_t size)
{
	char lo[UNITS_TEXT_MAX], hi[UNITS_TEXT_MAX], range[96] = "";
	const char *sep;

	if (o->kind == CLI_TIME)
		snprintf(range, sizeof(range), "%s..%s", units_format_time(o->min, lo),
			 units_format_time(o->max, hi));
	else if (o->kind == CLI_SIZE)
		snprintf(range, sizeof(range), "%s..%s", units_format_size(o->min, lo),
			 units_format_size(o->max, hi));
	else if (o->kind == CLI_COUNT || o->kind == CLI_PERCENT)
		snprintf(range, sizeof(range), "%llu..%llu", o->min, o->max);
	sep = range[0] && *o->def ? "; " : "";
	if (range[0] || *o->def)
		snprintf(buf, size, "%s (%s%s%s%s)", o->help, range, sep, *o->def ? "default " : "", o->def);
	else
		snprintf(buf, size, "%s", o->help);
}

static struct built *build(const struct cli_command *c)
{
	struct built *b = calloc(1, sizeof(*b));
	size_t n = 0;

	if (!b)
		return NULL;
	for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
		const struct cli_option *o = &cli_options[i];

		if (!cli_option_applies(o, c))
			continue;
		help_text(o, b->help[n], sizeof(b->help[n]));
		b->row[n] = (struct argp_option) {
			.name = o->name,
			.key = o->short_name ? o->short_name : KEY_BASE + (int)o->id,
			.arg = o->kind == CLI_FLAG ? NULL : o->metavar,
			.doc = b->help[n],
			.group = o->id == OPT_HELP ? -1 : 0,
		};
		n++;
	}
	b->argp.options = b->row;
	b->argp.parser = on_key;
	b->argp.args_doc = c->args;
	b->argp.doc = c->summary;
	return b;
}

int cli_parse(struct cli *cli, const struct cli_command *command, int argc, char **argv,
	      char *refusal, size_t refusal_size)
{
	struct parse p = { .cli = cli, .refusal = refusal, .refusal_size = refusal_size };
	unsigned int flags = ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP;
	struct built *b = NULL;
	int err = -EINVAL;

	memset(cli, 0, sizeof(*cli));
	refusal[0] = '\0';
	cli->command = command;
	p.max_positional = argc + 1;
	cli->args = calloc((size_t)argc + 2, sizeof(*cli->args));
	b = build(command);
	if (!cli->args || !b) {
		refuse(&p, "out of memory");
		goto out;
	}
	if (command->flags & CLI_REST)
		flags |= ARGP_IN_ORDER;
	if (set_defaults(&p))
		goto out;
	if (argp_parse(&b->argp, argc, argv, flags, NULL, &p) && !p.refused)
		refuse(&p, "the options could not be read; see --help");
	if (!p.refused)
		err = 0;
out:
	free(b);
	if (err)
		cli_free(cli);
	return err;
}

void cli_free(struct cli *cli)
{
	for (size_t i = 0; i < CLI_OPTION_COUNT; i++) {
		free(cli->value[i].list);
		cli->value[i].list = NULL;
	}
	for (size_t i = 0; i < cli->nr_list_memory; i++)
		free(cli->list_memory[i]);
	cli->nr_list_memory = 0;
	free(cli->args);
	cli->args = NULL;
	cli->nr_args = 0;
}

int cli_print_help(const struct cli_command *command, const char *program, FILE *to)
{
	struct built *b = build(command);
	char *name = strdup(program);
	int err = 0;

	if (b && name)
		argp_help(&b->argp, to, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
	else
		err = -ENOMEM;
	free(name);
	free(b);
	return err;
}

/* ---- getters ---- */

unsigned int opt_flag(const struct cli *cli, enum cli_option_id id)
{
	assert(cli_options[id].kind == CLI_FLAG);
	return cli->value[id].given;
}

u64 opt_u64(const struct cli *cli, enum cli_option_id id)
{
	enum cli_kind kind = cli_options[id].kind;

	assert(kind == CLI_TIME || kind == CLI_COUNT || kind == CLI_SIZE);
	return cli->value[id].number;
}

double opt_percent(const struct cli *cli, enum cli_option_id id)
{
	assert(cli_options[id].kind == CLI_PERCENT);
	return cli->value[id].real;
}

const char *opt_string(const struct cli *cli, enum cli_option_id id)
{
	enum cli_kind kind = cli_options[id].kind;

	assert(kind == CLI_STRING || kind == CLI_FILE || kind == CLI_DIR || kind == CLI_CHOICE);
	return cli->value[id].string;
}

char *const *opt_list(const struct cli *cli, enum cli_option_id id, size_t *nr)
{
	static char *const none[] = { NULL };

	assert(cli_options[id].kind == CLI_LIST || cli_options[id].kind == CLI_MULTI);
	*nr = cli->value[id].nr;
	return cli->value[id].list ? cli->value[id].list : none;
}

bool opt_given(const struct cli *cli, enum cli_option_id id)
{
	return cli->value[id].given > 0;
}
