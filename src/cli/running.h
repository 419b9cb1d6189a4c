/* SPDX-License-Identifier: GPL-2.0-only */
/* running.h - what `roost set`, `get`, `stat` and `explain` share: finding the running roost, or saying why not. */
#ifndef ROOST_CLI_RUNNING_H
#define ROOST_CLI_RUNNING_H

#include "cli/cli.h"
#include "run/kernel_state.h"
#include "run/run.h"

/* 0; or an exit code, and then the reason has been said. */
int running_open(const struct cli *cli, struct roost_view **view, bool writable);
/* The kernel still runs the roost of this view. Asked of the kernel, never remembered. */
bool running_still(const struct roost_view *view);
/* Says that it ended, and why if it left word; returns the exit code. */
int running_ended(const struct cli *cli, const struct roost_view *view);

/* Knobs from --profile, --config and --set, in this order, onto *k. 0 or CLI_MISUSED, said. */
int running_knobs(const struct cli *cli, struct roost_knobs *k, char *const *assignments, size_t nr);

/* CLOCK_MONOTONIC, as the kernel's side counts. */
u64 running_now_ns(void);

#endif
