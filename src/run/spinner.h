/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spinner.h - idle-spin's threads: one a CPU, pinned, of the lowest priority, which busy-waits where its CPU
 * would idle (src/bpf/spin.bpf.h says when) and is blocked the rest of the time.
 */
#ifndef ROOST_RUN_SPINNER_H
#define ROOST_RUN_SPINNER_H

#include <stdbool.h>
#include <stddef.h>
#include "policy/abi.h"

struct spinner;

struct spinner_config {
	int spins_fd, rings_fd;     /* the maps roost_spins and roost_spin_rings */
	const struct roost_knobs *knobs;
	const struct roost_cpu *cpus;
	u32 nr_cpus;
	bool partial;               /* the threads must choose SCHED_EXT themselves */
};

/* Starts a thread on each online CPU of the machine. 0, or -errno with the reason in text; then none runs. */
int spinner_start(struct spinner **out, const struct spinner_config *config, char *text, size_t size);
/*
 * Starts those of CPUs that came online since, and lets go of those that a real-time task keeps from running. To be called
 * every few seconds at least. Cheap when there is nothing to do.
 */
void spinner_look(struct spinner *s);
/* Ends all; waits for them, two seconds at most (a CPU that a real-time task holds). NULL is fine. */
void spinner_stop(struct spinner *s);

#endif
