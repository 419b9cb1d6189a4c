/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of the HTML report: the plots, as SVG that takes its colours from the page's style. */
#ifndef ROOST_MEASURE_HTML_H
#define ROOST_MEASURE_HTML_H

#include <stdio.h>

#include "measure/study.h"

extern const char html_style[];

/* With &, <, >, " and ' made harmless. */
void html_text(FILE *out, const char *text);

/* Every run of the primary metric, by round, with each variant's median. */
void html_plot_runs(const struct study *s, FILE *out);
/* The ratios with their intervals, of one variant against the base; nothing when there is none. */
void html_plot_ratios(const struct study *s, unsigned variant, FILE *out);
/* Latency by percentile; nothing when no run printed a distribution. */
void html_plot_latency(const struct study *s, FILE *out);
int html_has_latency(const struct study *s);
/* Which rules chose the CPUs; nothing when no run has counts. */
void html_plot_rules(const struct study *s, FILE *out);
int html_has_rules(const struct study *s);

#endif
