/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers in what a command prints: the user's own patterns, and the JSON line of `roost load`. */
#ifndef ROOST_MEASURE_OUTPUT_H
#define ROOST_MEASURE_OUTPUT_H

#include <regex.h>
#include <stddef.h>

#define PATTERN_NAME_MAX 32
#define LATENCY_POINTS 40

enum better { BETTER_UNKNOWN, BETTER_LESS, BETTER_MORE };

struct pattern {
	char name[PATTERN_NAME_MAX];
	enum better better;
	regex_t regex;
};

/*
 * "REGEX" or "NAME=REGEX"; the name's last letter may be + (more is better) or - (less is). The pattern is a
 * POSIX extended one with exactly one group, which is the number. A text whose part before the first "=" is not
 * a plain name is all pattern. 0, or -EINVAL and a line in @err.
 */
int pattern_compile(struct pattern *p, const char *text, char *err, size_t err_len);
void pattern_free(struct pattern *p);
/* The number of the last line that matches; NaN when none does or the group holds no number. */
double pattern_find(const struct pattern *p, const char *output);

/* What `roost load` printed: its throughput and its latencies in seconds. */
struct load_line {
	int found;
	char load[32], unit[32];
	double ops_per_second, p50_s, p95_s, p99_s;
	unsigned points;
	double q[LATENCY_POINTS], latency_s[LATENCY_POINTS];
};

void load_line_find(struct load_line *l, const char *output);

#endif
