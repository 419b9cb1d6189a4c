/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * view.h - the window that every other process has on a running roost: its maps, pinned under
 * /sys/fs/bpf/roost by the process that loaded it, mapped into memory here.
 *
 * Pins outlive a loader that was killed, so they prove nothing: whether roost runs is asked of the
 * kernel (/sys/kernel/sched_ext), at opening and whenever roost_view_alive() is called.
 */
#ifndef ROOST_RUN_VIEW_H
#define ROOST_RUN_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include "policy/abi.h"

#define ROOST_PIN_DIR "/sys/fs/bpf/roost"

/* What the kernel says about sched_ext, read now. */
struct roost_kernel_state {
	bool supported;         /* it has sched_ext */
	char state[32];         /* "disabled", "enabling", "enabled", "disabling"; "" when not supported */
	char ops[128];          /* name of the loaded scheduler, or "" */
	bool roost;             /* that is enabled, and it is roost */
};
/* root is put before /sys; "" for this machine. */
void roost_kernel_state(const char *root, struct roost_kernel_state *s);

struct roost_view {
	struct roost_knobs *knobs;          /* writable only with ROOST_VIEW_WRITE */
	struct roost_control *control;      /* writable only with ROOST_VIEW_EVENTS */
	const struct roost_machine *machine;
	const struct roost_cpu *cpus;       /* machine->nr_cpu_ids of them, as is stats */
	const struct roost_stats *stats;
	const struct roost_llc *llcs;       /* machine->nr_llcs */
	const struct roost_llc_word *words; /* machine->nr_words */
	int events_fd;                      /* ring buffer of struct roost_event; -1 without ROOST_VIEW_EVENTS */

	/* its own */
	const char *root;
	int lock_fd;
	struct roost_view_map {
		void *at;
		size_t size;
	} map[7];
};

#define ROOST_VIEW_WRITE 1u     /* knobs may be written, by one process at a time: waits for its turn */
#define ROOST_VIEW_EVENTS 2u    /* decisions may be asked for and read */

struct roost_view_place {
	const char *pin_dir;    /* NULL = ROOST_PIN_DIR */
	const char *root;       /* NULL = "" */
};

/*
 * 0; -EOPNOTSUPP no sched_ext in this kernel; -ENOENT roost is not running; -EBUSY another scheduler is
 * (see roost_kernel_state); -EPROTO the running roost is of another version; -EACCES, -EPERM not permitted;
 * -ENODEV it runs, but its maps are not pinned (no bpffs).
 */
int roost_view_open(struct roost_view **view, const struct roost_view_place *place, unsigned int flags);
bool roost_view_alive(const struct roost_view *view);
void roost_view_close(struct roost_view *view);

#endif
