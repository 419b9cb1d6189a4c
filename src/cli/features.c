/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * features.c - `roost features`: every feature and every other knob, from the one table; with the values
 * of the running roost where one runs and may be looked at.
 */
#include "cli/cli.h"

#include <jansson.h>
#include <string.h>

#include "cli/print.h"
#include "run/knobs.h"
#include "run/run.h"

static const char *const unit_names[] = {
	[KNOB_TIME] = "time", [KNOB_BOOL] = "on/off", [KNOB_COUNT] = "count", [KNOB_PERCENT] = "percent",
	[KNOB_BACKEND] = "name",
};

/* A feature is switched by a knob with a kernel name; the others of its origin belong to it. */
static bool is_feature(const struct knob *knob)
{
	return *knob->origin && *knob->alias;
}

static const char *state_of(const struct knob *knob, u64 value)
{
	return is_feature(knob) ? (knob_is_on(knob, value) ? "on" : "off") : "";
}

static json_t *knob_json(const struct knob *knob, const struct roost_knobs *live)
{
	char def[KNOB_TEXT_MAX], value[KNOB_TEXT_MAX], min[KNOB_TEXT_MAX], max[KNOB_TEXT_MAX];
	u64 v = live ? knob_get(live, knob) : knob->def;
	json_t *j = json_pack("{s:s, s:b, s:s, s:s, s:s, s:s, s:s, s:s}", "name", knob->key, "feature", is_feature(knob),
			      "kernel_name", knob->alias, "unit", unit_names[knob->kind], "default",
			      knob_format(knob, knob->def, def), "value", knob_format(knob, v, value), "help", knob->help,
			      "origin", knob->origin);

	if (is_feature(knob))
		json_object_set_new(j, "state", json_string(state_of(knob, v)));
	json_object_set_new(j, "min", json_string(knob_format(knob, knob->min, min)));
	json_object_set_new(j, "max", json_string(knob_format(knob, knob->max, max)));
	return j;
}

static int print_json(const struct cli *cli, const struct roost_knobs *live)
{
	json_t *list = json_array(), *profiles = json_array();

	for (size_t i = 0; i < knob_count; i++)
		json_array_append_new(list, knob_json(&knob_table[i], live));
	for (size_t i = 0; i < knob_profile_count; i++)
		json_array_append_new(profiles, json_pack("{s:s, s:s, s:s}", "name", knob_profiles[i].name, "knobs",
							  knob_profiles[i].knobs, "help", knob_profiles[i].help));
	return cli_print_json(cli, json_pack("{s:b, s:o, s:o}", "running", live != NULL, "knobs", list, "profiles", profiles));
}

static void print_knob(const struct knob *knob, const struct roost_knobs *live, int width)
{
	char value[KNOB_TEXT_MAX], def[KNOB_TEXT_MAX], range[2 * KNOB_TEXT_MAX];
	u64 v = live ? knob_get(live, knob) : knob->def;

	printf("%-22s %-19s %-6s %-9s %-9s %-8s %s\n    ", knob->key, *knob->alias ? knob->alias : "-", state_of(knob, v),
	       live ? knob_format(knob, v, value) : "", knob_format(knob, knob->def, def), unit_names[knob->kind],
	       knob_range(knob, range));
	cli_wrap(stdout, knob->help, 4, 4, width);
	if (is_feature(knob)) {
		printf("    from: ");
		cli_wrap(stdout, knob->origin, 10, 10, width);
	}
}

static void print_table(const struct roost_knobs *live)
{
	static const char *const titles[] = { "Features, with the knobs that belong to each", "The base scheduler" };
	int width = cli_width(stdout);

	for (int base = 0; base < 2; base++) {
		printf("%s%s\n\n%-22s %-19s %-6s %-9s %-9s %-8s %s\n", base ? "\n" : "", titles[base], "NAME", "KERNEL NAME",
		       "STATE", live ? "VALUE" : "", "DEFAULT", "UNIT", "RANGE");
		for (size_t i = 0; i < knob_count; i++) {
			if (base == !*knob_table[i].origin)
				print_knob(&knob_table[i], live, width);
		}
	}
	printf("\nProfiles (roost run --profile NAME)\n\n");
	for (size_t i = 0; i < knob_profile_count; i++) {
		printf("%-12s ", knob_profiles[i].name);
		cli_wrap(stdout, knob_profiles[i].help, 13, 13, width);
		printf("%13s", "");
		cli_wrap(stdout, knob_profiles[i].knobs, 13, 13, width);
	}
	printf("\n%s\n", live ? "STATE and VALUE are those of the running roost." :
	       "roost is not running (or may not be looked at): STATE is that of the default.");
}

int cmd_features(struct cli *cli)
{
	struct roost_view *view = NULL;
	const struct roost_knobs *live = NULL;
	int code = CLI_DONE;

	if (!roost_find(&view, false))
		live = view->knobs;
	if (opt_flag(cli, OPT_JSON))
		code = print_json(cli, live);
	else
		print_table(live);
	if (live)
		roost_close(view);
	return code;
}
