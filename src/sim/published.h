/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Published results and the simulated runs they are held against. What is compared is the relative change, within the
 * tolerance; absolute figures stand beside it. The cost figures are the machine's: a row cannot change one.
 */
#ifndef ROOST_SIM_PUBLISHED_H
#define ROOST_SIM_PUBLISHED_H

#include "sim/sim.h"

/* A run that rows share. */
struct published_run {
	const char *id, *machine, *profile, *knobs; /* knobs: assignments separated by blanks, over the profile */
	const char *workload;                       /* with its options, separated by blanks */
	bool loops;                                 /* hackbench: -l is added, from --loops */
	bool before_5_12;                           /* the kernel before the changes that idle-smt is about */
};
extern const struct published_run published_runs[]; /* ends with a NULL id */

enum published_figure { PUB_TIME, PUB_RATE, PUB_MIGRATIONS, PUB_CPU_USE, PUB_CPU_TIME, PUB_P95, PUB_P99, PUB_LOCK_WAIT };

struct published_row {
	const char *feature, *what;
	const char *base, *other; /* ids of runs */
	enum published_figure figure;
	bool speed;               /* the figure is base/other in percent (a time as a speed), else the change other/base - 1 */
	double published;         /* percent */
	double tolerance;         /* points, either way; below 0: published is a bound ("at worst") */
	const char *absolute;     /* as published */
	const char *finding;      /* what is known of why a row is off; shown when it is */
};
extern const struct published_row published_rows[]; /* ends with a NULL feature */

/* The run with this id, as an index; -1. */
int published_run_find(const char *id);
double published_figure(const struct sim_figures *f, enum published_figure which);
/* What the row says of two runs, in percent. */
double published_value(const struct published_row *r, const struct sim_figures *base, const struct sim_figures *other);
bool published_within(const struct published_row *r, double simulated);

#endif
