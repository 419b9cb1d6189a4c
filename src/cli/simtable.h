/* SPDX-License-Identifier: GPL-2.0-only */
/* simtable.h - what simulated runs gave, as a table or as JSON. Everything in it is marked as simulated. */
#ifndef ROOST_CLI_SIMTABLE_H
#define ROOST_CLI_SIMTABLE_H

#include <jansson.h>
#include <stdio.h>

#include "sim/batch.h"

struct sim_variant {
	char name[120];
	struct roost_knobs knobs;
	enum sim_pull pull;
};

struct sim_table {
	const struct machine *machine;
	const char *workload;
	char *const *args;
	int nr_args;
	const struct sim_variant *variants;
	unsigned int nr_variants, nr_seeds;
	uint64_t seed;
	const struct sim_outcome *outcomes; /* [seed * nr_variants + variant] */
};

int sim_table_print(const struct sim_table *t, FILE *to);
json_t *sim_table_json(const struct sim_table *t);

/* One figure of a run, by row. */
struct sim_row {
	const char *key, *title, *unit;
	double scale; /* from the figure to the unit */
	double (*get)(const struct sim_figures *f);
	unsigned int digits;
	bool optional; /* left out of the table where it is 0 for all */
};
extern const struct sim_row sim_rows[]; /* ends with a NULL key */

#endif
