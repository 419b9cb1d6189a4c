/* SPDX-License-Identifier: GPL-2.0-only */
/* features.c - `roost features`: every knob, from the one table. */
#include "cli/cli.h"

#include "run/knobs.h"

int cmd_features(struct cli *cli)
{
	char def[KNOB_TEXT_MAX], range[2 * KNOB_TEXT_MAX];

	for (size_t i = 0; i < knob_count; i++) {
		const struct knob *k = &knob_table[i];

		printf("%-22s %-19s %-8s %-22s %s\n", k->key, k->alias, knob_format(k, k->def, def),
		       knob_range(k, range), k->help);
	}
	return CLI_DONE;
}
