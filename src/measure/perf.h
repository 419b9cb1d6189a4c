/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's event counters: which there are, opening, reading. A counter that is not to be had is -1. */
#ifndef ROOST_MEASURE_PERF_H
#define ROOST_MEASURE_PERF_H

#include <stdint.h>
#include <sys/types.h>

enum perf_kind { PERF_MIGRATIONS, PERF_SWITCHES, PERF_INSTRUCTIONS, PERF_L2_MISSES, PERF_KINDS };

/* Of one process about to exec and all its descendants, from its exec on. A descriptor, or -1. */
int perf_open_tree(enum perf_kind kind, pid_t pid);
/* Of everything on one CPU, from now on. */
int perf_open_cpu(enum perf_kind kind, int cpu);
/* The raw event of a device in sysfs: type, config; one CPU. */
int perf_open_raw(uint32_t type, uint64_t config, int cpu);
/* NaN when @fd is -1 or did not count. Scaled up when the counter was shared with others. */
double perf_read(int fd);

#endif
