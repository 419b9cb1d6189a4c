/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * layout.h - a machine as the policy's records: one struct roost_cpu a possible CPU, one roost_llc an LLC,
 * one roost_llc_word for each CPU word an LLC has a CPU in. The loader and the tests fill their maps with it.
 */
#ifndef ROOST_RUN_LAYOUT_H
#define ROOST_RUN_LAYOUT_H

#include "policy/abi.h"
#include "topology/topology.h"

#define ROOST_NOWHERE (~0u)     /* llc and word of a CPU whose place is not known (offline since boot) */

struct roost_layout {
	struct roost_machine machine;
	struct roost_cpu *cpus;         /* machine.nr_cpu_ids */
	struct roost_llc *llcs;         /* machine.nr_llcs */
	struct roost_llc_word *words;   /* machine.nr_words */
};

/* 0, -ENOMEM, -EINVAL (no CPU online), -E2BIG (a core of more than 8 threads). Owned by the caller. */
int roost_layout_make(const struct machine *m, struct roost_layout *out);
void roost_layout_free(struct roost_layout *l);

#endif
