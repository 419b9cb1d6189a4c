/* SPDX-License-Identifier: GPL-2.0-only */
/* metrics_service.h - metrics over HTTP: beside a loaded roost (`roost run --metrics`), or on their own. */
#ifndef ROOST_CLI_METRICS_SERVICE_H
#define ROOST_CLI_METRICS_SERVICE_H

#include <signal.h>

#include "cli/cli.h"
#include "run/run.h"

struct metrics_service;

/*
 * A thread that serves until metrics_service_stop(). @view is the caller's and must outlive it. 0, or an exit code and
 * the reason said.
 */
int metrics_service_start(struct metrics_service **out, const struct cli *cli, const char *address, const struct roost_view *view);
void metrics_service_stop(struct metrics_service *s);

/* The page; @view NULL: roost is not running. */
char *metrics_page(const struct roost_view *view, int openmetrics, size_t *len);

#endif
