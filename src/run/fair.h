/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fair.h - roost's policies inside the kernel's own fair class, where the kernel has them (kernel/apply,
 * docs/kernel.md): read, switched, put back as they were found.
 *
 * They go by the names of roost's knobs. A setting that names only some of them leaves the others alone.
 */
#ifndef ROOST_RUN_FAIR_H
#define ROOST_RUN_FAIR_H

#include <stdbool.h>

#include "run/knobs.h"

enum fair_item {
	FAIR_BIAS_PREV = 0,         /* 0 or 1, as the next two */
	FAIR_UTIL_FITS,
	FAIR_IDLE_SMT,
	FAIR_IDLE_GRACE,            /* nanoseconds; 0 = the feature is off */
	FAIR_IDLE_GRACE_MAX_QUEUED,
	FAIR_IDLE_SPIN,             /* nanoseconds, whole microseconds */
	FAIR_COUNT
};

struct fair_settings {
	bool set[FAIR_COUNT];
	u64 value[FAIR_COUNT];
	u64 grace_ns;               /* as read: what the kernel holds while the feature is off */
};

/* The knob a setting goes by. */
const struct knob *fair_knob(enum fair_item item);

/* Assignments as knobs.h has them, of these knobs only. 0, or -EINVAL with the reason in refusal. */
int fair_parse(struct fair_settings *s, char *const *assignments, size_t nr, char refusal[static KNOB_REFUSAL_MAX]);

/* What this kernel has is set; root is put before /sys. 0, or -errno of a file that is there and cannot be read. */
int fair_read(const char *root, struct fair_settings *s);

/*
 * Writes what is set. All or nothing: when one fails, those before it are put back. 0, -ENOTSUP (this kernel has not
 * got one of them), or what a write failed with; either way with the reason in refusal.
 */
int fair_write(const char *root, const struct fair_settings *s, char refusal[static KNOB_REFUSAL_MAX]);

#endif
