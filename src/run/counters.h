/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counters.h - the counters of a running roost (struct roost_stats, one a CPU): adding up, differences,
 * names. How they are shown is src/cli's affair.
 */
#ifndef ROOST_RUN_COUNTERS_H
#define ROOST_RUN_COUNTERS_H

#include <stddef.h>
#include "policy/abi.h"

/* The plain counters by name; those of rules, distances and targets are arrays with names of their own. */
struct counter {
	const char *name;       /* with its unit last: "wait_ns" */
	size_t offset;
	const char *help;
};
extern const struct counter counter_table[];
extern const size_t counter_count;
u64 counter_get(const struct roost_stats *s, const struct counter *c);

struct rule_name {
	const char *name;
	const char *help;
};
extern const struct rule_name rule_names[ROOST_RULE_COUNT];
extern const char *const distance_names[ROOST_DIST_COUNT];
extern const char *const target_names[ROOST_TARGET_COUNT];

/* sum += one. wait_max_ns is the greater of both, all else adds up. */
void counters_add(struct roost_stats *sum, const struct roost_stats *one);
/* now - before, for what happened in between; wait_max_ns stays what it is: a maximum has no difference. */
void counters_since(struct roost_stats *diff, const struct roost_stats *now, const struct roost_stats *before);
/* All CPUs. Reads each counter once; other CPUs may be counting meanwhile. */
void counters_sum(struct roost_stats *sum, const struct roost_stats *of_cpu, size_t nr_cpus);

/* The wait that a share @q (0..1) of all waits did not exceed, to within a quarter; 0 when there was none. */
double counters_wait_quantile_ns(const struct roost_stats *s, double q);

/* Decisions that left the task's previous CPU, by the rules that place (not those that steal). */
u64 counters_moved(const struct roost_stats *s, enum roost_distance at_least);

#endif
