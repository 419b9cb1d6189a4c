/* SPDX-License-Identifier: GPL-2.0-only */
/* stat_show.h - counters as text and JSON, for `roost stat` and `roost run --interval`. */
#ifndef ROOST_CLI_STAT_SHOW_H
#define ROOST_CLI_STAT_SHOW_H

#include <jansson.h>
#include "cli/cli.h"
#include "policy/abi.h"

/* Everything counted: plain counters, rules, targets. all = those that are 0 too. */
void stat_print(const struct roost_stats *s, bool all);
/* One row a CPU that has counted anything, or every one. */
void stat_print_cpus(const struct roost_stats *of_cpu, size_t nr_cpus, bool all);
json_t *stat_json(const struct roost_stats *s);

/* Statistics by the interval: what happened since the line before. */
struct stat_stream {
	struct roost_stats last;
	u64 last_ns;
	unsigned int nr_lines;
	unsigned int nr_cpus;       /* online ones, for the share of time they were busy */
	bool json;
};
void stat_stream_start(struct stat_stream *st, const struct roost_stats *now, u64 now_ns, unsigned int nr_cpus, bool json);
/* Prints a line, with the heading above it now and then. 0, or CLI_FAILED when stdout is gone. */
int stat_stream_line(const struct cli *cli, struct stat_stream *st, const struct roost_stats *now, u64 now_ns);

#endif
