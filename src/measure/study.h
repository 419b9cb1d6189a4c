/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A comparison: variants, metrics, runs, and what follows from them. The first variant is the base that the others
 * are compared with. Filled by plan.c while it runs, rendered by table.c, report.c and cli/compare_json.c.
 */
#ifndef ROOST_MEASURE_STUDY_H
#define ROOST_MEASURE_STUDY_H

#include <stdio.h>

#include "measure/output.h"
#include "measure/stats.h"
#include "policy/abi.h"

#define STUDY_VARIANTS_MAX 16
#define STUDY_METRICS_MAX 48

enum study_scope { SCOPE_TREE, SCOPE_MACHINE, SCOPE_OUTPUT };
enum study_unit { UNIT_SECONDS, UNIT_COUNT, UNIT_PLAIN, UNIT_BYTES_S, UNIT_JOULES };

/* The metrics that are always there, in the order in which they are shown. */
enum study_metric_id {
	M_TIME, M_CPU, M_USER, M_SYSTEM, M_RUN_DELAY, M_MIGRATIONS, M_SWITCHES, M_L2,
	M_MACHINE_CPU, M_MACHINE_USER, M_MACHINE_SYSTEM, M_MACHINE_RUN_DELAY, M_MACHINE_MIGRATIONS, M_MACHINE_SWITCHES,
	M_MACHINE_IDLE, M_MACHINE_MEMORY, M_MACHINE_ENERGY,
	M_LOAD_RATE, M_LOAD_P50, M_LOAD_P95, M_LOAD_P99,
	M_FIXED
};

struct study_metric {
	char name[48];
	enum study_scope scope;
	enum study_unit unit;
	enum better better;
	char why_not[120];	/* not empty: not counted here, and why */
	int optional;		/* not worth a word when no run has it */
};

enum study_outcome { RUN_OK, RUN_FAILED, RUN_EJECTED, RUN_NOT_LOADED, RUN_STOPPED };

struct study_run {
	unsigned variant, round;	/* rounds from 0 */
	unsigned position;		/* when in its round it ran */
	double at_s;			/* since the study began */
	enum study_outcome outcome;
	char note[240];			/* "exit code 3", the kernel's reason ... */
	double value[STUDY_METRICS_MAX];
	int has_rules;
	u64 rules[ROOST_RULE_COUNT];
	struct load_line load;
};

struct study_variant {
	char name[64];
	char what[300];		/* the knobs, as they were set */
	int dropped;		/* ejected or not loadable: not run again */
};

struct study {
	char *command;		/* as a shell would take it */
	char *repeat;		/* the command that repeats the whole comparison */
	char machine[400], kernel[200], when[64];
	struct study_variant variant[STUDY_VARIANTS_MAX];
	unsigned n_variants;
	struct study_metric metric[STUDY_METRICS_MAX];
	unsigned n_metrics;
	unsigned primary;	/* the metric the verdict is about */
	struct study_run *run;
	unsigned n_runs, room;
	unsigned rounds;	/* begun */
	int partial;		/* ended before its time */
};

void study_init(struct study *s);
void study_free(struct study *s);
/* Both return an index, or -ENOSPC. */
int study_add_variant(struct study *s, const char *name, const char *what);
int study_add_metric(struct study *s, const char *name, enum better better);
int study_add_run(struct study *s, const struct study_run *r);
/* A run with every value NaN. */
void study_run_init(struct study_run *r);
/* After the last run (or for a look in between): the built-in load's rate becomes the primary metric if it is there. */
void study_settle(struct study *s);

/* The metric's value of each round, NaN where the run did not count; returns how many rounds. */
unsigned study_values(const struct study *s, unsigned variant, unsigned metric, double *by_round);
double study_median(const struct study *s, unsigned variant, unsigned metric);
/* @variant against the base; 0 or as stat_ratio. */
int study_compare(const struct study *s, unsigned variant, unsigned metric, struct stat_ratio *out);
/* How many runs of a variant had this outcome. */
unsigned study_count(const struct study *s, unsigned variant, enum study_outcome o);
int study_metric_seen(const struct study *s, unsigned metric);

/* What a person would tell a colleague, of one variant against the base. */
void study_verdict(const struct study *s, unsigned variant, char *buf, size_t len);
/* A figure with its unit: "1.234 s", "56 us", "12345". */
const char *study_format(enum study_unit unit, double v, char buf[static 32]);
/* "12 % less" */
const char *study_percent(double ratio, char buf[static 32]);

/* Words for enum study_scope and enum study_outcome, in CSV and JSON. */
extern const char *const study_scope_keys[], *const study_outcome_keys[];

void study_table(const struct study *s, FILE *out, int color);
void study_csv(const struct study *s, FILE *out);
/* One HTML file; 0 or -errno. */
int study_report(const struct study *s, FILE *out);

#endif
