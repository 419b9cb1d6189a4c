/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * units.h - text to numbers and back: times, counts, percentages, sizes; and hints for mistyped names.
 *
 * The whole string parses or it is refused; nothing is ever cut short, rounded or saturated.
 * All return 0, -EINVAL (not of this form), -ERANGE (does not fit in the result).
 */
#ifndef ROOST_RUN_UNITS_H
#define ROOST_RUN_UNITS_H

#include <stddef.h>
#include "policy/abi.h"

/* "50us", "1.5ms", "1s", "2min", "1h", "0": nanoseconds. A unit is required unless the value is 0. */
int units_parse_time(const char *s, u64 *ns);
/* "123": decimal digits only. */
int units_parse_count(const char *s, u64 *n);
/* "3", "3%", "2.5%" */
int units_parse_percent(const char *s, double *percent);
/* "100", "64K", "1M", "2G", also "64KiB": bytes, in powers of 1024. */
int units_parse_size(const char *s, u64 *bytes);
/* on/off, yes/no, true/false, 1/0 in any case: 1 or 0. */
int units_parse_bool(const char *s, u64 *on);

#define UNITS_TEXT_MAX 32
/* The largest unit that gives a whole number ("750us", "3ms"), so that it parses back to the same value. */
const char *units_format_time(u64 ns, char buf[static UNITS_TEXT_MAX]);
const char *units_format_size(u64 bytes, char buf[static UNITS_TEXT_MAX]);

/* Of several names, the one nearest to a mistyped one; NULL when none is near. Compares without case. */
struct units_hint {
	const char *typed;
	const char *best;
	unsigned int best_distance;
};
void units_hint_start(struct units_hint *h, const char *typed);
void units_hint_offer(struct units_hint *h, const char *name);
const char *units_hint_best(const struct units_hint *h);

#endif
