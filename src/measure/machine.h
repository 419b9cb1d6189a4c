/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of the whole machine, read before and after a run: CPU use, context switches, migrations, run
 * delay, idle wakeups, memory traffic, energy. What this machine cannot count is NaN, and why is said.
 */
#ifndef ROOST_MEASURE_MACHINE_H
#define ROOST_MEASURE_MACHINE_H

#include <stddef.h>

enum machine_value {
	MACHINE_USER_S,
	MACHINE_SYSTEM_S,
	MACHINE_SWITCHES,
	MACHINE_MIGRATIONS,
	MACHINE_RUN_DELAY_S,
	MACHINE_IDLE_WAKEUPS,
	MACHINE_MEMORY_BYTES,
	MACHINE_ENERGY_J,
	MACHINE_VALUES
};

struct machine_sample {
	double v[MACHINE_VALUES];
};

struct machine;

/* @root is "" or where a copy of /proc and /sys stands (for tests). NULL when out of memory. */
struct machine *machine_open(const char *root);
void machine_read(struct machine *m, struct machine_sample *s);
/* after - before, with counters that wrap put right. */
void machine_delta(struct machine *m, const struct machine_sample *before, const struct machine_sample *after,
		   struct machine_sample *out);
/* Why a value is not counted here, in a few words; NULL when it is. */
const char *machine_why_not(const struct machine *m, enum machine_value v);
void machine_close(struct machine *m);

#endif
