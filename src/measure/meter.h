/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of the whole machine, read before and after a run: CPU use, context switches, migrations, run
 * delay, idle wakeups, memory traffic, energy. What this machine cannot count is NaN, and why is said.
 */
#ifndef ROOST_MEASURE_METER_H
#define ROOST_MEASURE_METER_H

#include <stddef.h>

enum meter_value {
	METER_BUSY_S,	/* time that tasks ran, counted by the nanosecond */
	METER_USER_S,	/* these two are counted by the tick */
	METER_SYSTEM_S,
	METER_SWITCHES,
	METER_MIGRATIONS,
	METER_RUN_DELAY_S,
	METER_IDLE_WAKEUPS,
	METER_MEMORY_BYTES,
	METER_ENERGY_J,
	METER_VALUES
};

struct meter_sample {
	double v[METER_VALUES];
};

struct meter;

/* @root is "" or where a copy of /proc and /sys stands (for tests). NULL when out of memory. */
struct meter *meter_open(const char *root);
void meter_read(struct meter *m, struct meter_sample *s);
/* after - before, with counters that wrap put right. */
void meter_delta(struct meter *m, const struct meter_sample *before, const struct meter_sample *after,
		   struct meter_sample *out);
/* Why a value is not counted here, in a few words; NULL when it is. */
const char *meter_why_not(const struct meter *m, enum meter_value v);
void meter_close(struct meter *m);

#endif
