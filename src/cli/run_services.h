/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run_services.h - what works beside a loaded roost for as long as it is loaded: the slice-ext server, and
 * whatever else needs a thread of `roost run`. Each service starts after the load and stops before the unload.
 */
#ifndef ROOST_CLI_RUN_SERVICES_H
#define ROOST_CLI_RUN_SERVICES_H

#include "cli/cli.h"
#include "run/idle_spin.h"
#include "run/run.h"
#include "run/slice_maps.h"

struct run_services {
	struct slice_server *slice;
	struct slice_maps slice_maps;
	struct metrics_service *metrics;
	struct idle_spin *spin;
};

/* Before the load: what the options of the services say, taken apart. 0, or CLI_MISUSED and the reason said. */
int run_services_check(const struct cli *cli);
/* 0, or an exit code and the reason said; then nothing is left started. */
int run_services_start(struct run_services *s, const struct cli *cli, struct roost *roost);
/* Now and then: follows the knobs. */
void run_services_look(struct run_services *s, const struct cli *cli);
void run_services_stop(struct run_services *s, const struct cli *cli);

#endif
