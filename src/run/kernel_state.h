/* SPDX-License-Identifier: GPL-2.0-only */
/* kernel_state.h - what the kernel says about sched_ext. Read anew each time; nothing is remembered. */
#ifndef ROOST_RUN_KERNEL_STATE_H
#define ROOST_RUN_KERNEL_STATE_H

#include <stdbool.h>

struct roost_kernel_state {
	bool supported;         /* the kernel has sched_ext */
	char state[32];         /* "disabled", "enabling", "enabled", "disabling"; "" when not supported */
	char ops[128];          /* name of the loaded scheduler, or "" */
	bool roost;             /* that one is enabled, and it is roost */
};

/* root is put before /sys; "" for this machine. */
void roost_kernel_state(const char *root, struct roost_kernel_state *s);

#endif
