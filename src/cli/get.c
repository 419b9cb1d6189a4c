/* SPDX-License-Identifier: GPL-2.0-only */
/* get.c - `roost get`: knobs of the running roost, as key=value lines that `set` and --config take. */
#include "cli/running.h"

#include <jansson.h>
#include <string.h>

#include "cli/print.h"
#include "run/units.h"
#include "run/knobs.h"

static int refuse_name(const struct cli *cli, const char *name)
{
	struct units_hint hint;

	units_hint_start(&hint, name);
	for (size_t i = 0; i < knob_count; i++) {
		units_hint_offer(&hint, knob_table[i].key);
		units_hint_offer(&hint, knob_table[i].alias);
	}
	if (units_hint_best(&hint))
		return cli_refuse(cli, "unknown knob '%.60s'; did you mean '%s'?", name, units_hint_best(&hint));
	return cli_refuse(cli, "unknown knob '%.60s'; 'roost features' lists them", name);
}

static bool wanted(const struct cli *cli, const struct knob *knob)
{
	for (int i = 0; i < cli->nr_args; i++) {
		if (knob_find(cli->args[i]) == knob)
			return true;
	}
	return cli->nr_args == 0;
}

static json_t *knob_json(const struct knob *knob, u64 value)
{
	char text[KNOB_TEXT_MAX];

	return json_pack("{s:s, s:I}", "value", knob_format(knob, value, text), knob->field, (json_int_t)value);
}

int cmd_get(struct cli *cli)
{
	json_t *all = opt_flag(cli, OPT_JSON) ? json_object() : NULL;
	struct roost_view *view;
	char text[KNOB_TEXT_MAX];
	int code;

	for (int i = 0; i < cli->nr_args; i++) {
		if (!knob_find(cli->args[i])) {
			json_decref(all);
			return refuse_name(cli, cli->args[i]);
		}
	}
	code = running_open(cli, &view, false);
	if (code) {
		json_decref(all);
		return code;
	}
	for (size_t i = 0; i < knob_count; i++) {
		const struct knob *knob = &knob_table[i];
		u64 value = knob_get(view->knobs, knob);

		if (!wanted(cli, knob))
			continue;
		if (all)
			json_object_set_new(all, knob->key, knob_json(knob, value));
		else
			printf("%s=%s\n", knob->key, knob_format(knob, value, text));
	}
	if (all)
		code = cli_print_json(cli, all);
	roost_close(view);
	return code;
}
