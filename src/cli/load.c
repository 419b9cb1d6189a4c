/* SPDX-License-Identifier: GPL-2.0-only */
/* load.c - `roost load NAME`: runs one of the built-in loads and prints its one line of JSON. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/units.h"
#include "load/load.h"

static void list_loads(void)
{
	for (unsigned i = 0; load_all[i]; i++)
		printf("%-12s %s\n", load_all[i]->name, load_all[i]->what);
	printf("\nroost load NAME --help shows the options of one.\n");
}

static int unknown(struct cli *cli, const char *name)
{
	struct units_hint hint;

	units_hint_start(&hint, name);
	for (unsigned i = 0; load_all[i]; i++)
		units_hint_offer(&hint, load_all[i]->name);
	if (units_hint_best(&hint))
		return cli_refuse(cli, "no load is called '%s'; did you mean '%s'?", name, units_hint_best(&hint));
	return cli_refuse(cli, "no load is called '%s'; 'roost load' lists them", name);
}

static int wants_help(struct cli *cli)
{
	for (int i = 1; i < cli->nr_args; i++)
		if (!strcmp(cli->args[i], "--help") || !strcmp(cli->args[i], "-h"))
			return 1;
	return 0;
}

int cmd_load(struct cli *cli)
{
	char err[300] = "", help[4096];
	const struct load *l;
	json_t *out = NULL;
	void *conf;
	int rc;

	if (!cli->nr_args) {
		list_loads();
		return CLI_DONE;
	}
	l = load_find(cli->args[0]);
	if (!l)
		return unknown(cli, cli->args[0]);
	if (wants_help(cli)) {
		load_help(l, help, sizeof(help));
		printf("Usage: roost load %s [OPTION...]\n%s\n\n%s", l->name, l->what, help);
		return CLI_DONE;
	}
	conf = malloc(l->conf_size);
	if (!conf)
		return cli_fail(cli, "out of memory");
	rc = load_parse(l, cli->nr_args, cli->args, conf, err, sizeof(err));
	if (rc) {
		free(conf);
		return cli_refuse(cli, "%s", err);
	}
	rc = l->run(conf, &out, err, sizeof(err));
	free(conf);
	if (rc)
		return rc == -ENOTSUP ? cli_cannot(cli, "%s", err) : rc == -EINVAL ? cli_refuse(cli, "%s", err) :
		       cli_fail(cli, "%s", err);
	json_dumpf(out, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(out);
	return CLI_DONE;
}
