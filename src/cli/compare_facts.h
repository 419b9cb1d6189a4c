/* SPDX-License-Identifier: GPL-2.0-only */
/* What a comparison says about where and how it was made. */
#ifndef ROOST_CLI_COMPARE_FACTS_H
#define ROOST_CLI_COMPARE_FACTS_H

#include "cli/cli.h"
#include "measure/study.h"

/* Fills command, repeat, machine, kernel, when. */
void compare_facts(struct study *s, const struct cli *cli, u64 seed);

#endif
