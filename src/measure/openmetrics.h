/* SPDX-License-Identifier: GPL-2.0-only */
/* The counters and knobs of a running roost as OpenMetrics 1.0 text, or in the older Prometheus text format. */
#ifndef ROOST_MEASURE_OPENMETRICS_H
#define ROOST_MEASURE_OPENMETRICS_H

#include <stdio.h>

#include "policy/abi.h"

struct openmetrics_source {
	const char *version, *kernel;
	/* All NULL when roost is not running: only roost_up and roost_build_info are given then. */
	const struct roost_machine *machine;
	const struct roost_cpu *cpus;
	const struct roost_stats *stats;
	const struct roost_llc *llcs;
	const struct roost_llc_word *words;
	const struct roost_knobs *knobs;
};

/* @openmetrics 0: the text format 0.0.4, which differs in how counters are announced and in the end mark. */
void openmetrics_write(FILE *out, const struct openmetrics_source *src, int openmetrics);

#endif
