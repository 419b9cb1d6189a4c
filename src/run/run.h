/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - roost as a library: load it, watch it, take it off; and find one that runs already.
 *
 * A loaded roost lives as long as its struct roost: however the process ends, the kernel takes the
 * scheduler off and goes on with its own. Nothing is pinned, so nothing is left behind.
 *
 * Nothing here prints or exits. A function that fails returns a negative errno and, where it takes one,
 * says in a struct run_error what is wrong in one line.
 */
#ifndef ROOST_RUN_RUN_H
#define ROOST_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include "policy/abi.h"

struct roost;
struct machine;

struct run_error {
	int err;                    /* negative errno */
	bool missing;               /* this kernel cannot (exit 3) */
	char text[1024];
	char log[16384];            /* the tail of libbpf's and the verifier's words, if any */
};

struct roost_opts {
	struct roost_knobs knobs;
	bool partial;               /* only tasks that chose SCHED_EXT */
	const struct machine *machine; /* NULL: read from sysfs */
	/* libbpf's talk: level 0 warnings, 1 information, 2 debugging; NULL keeps it for run_error.log only */
	void (*talk)(int level, const char *text);
};

/* The records of a running roost, in memory. All pointers stay valid until closed. */
struct roost_view {
	struct roost_knobs *knobs;          /* writable: a store takes effect at the next decision */
	struct roost_control *control;      /* writable */
	const struct roost_machine *machine;
	const struct roost_cpu *cpus;       /* machine->nr_cpu_ids */
	const struct roost_llc *llcs;       /* machine->nr_llcs */
	const struct roost_llc_word *words; /* machine->nr_words */
	const struct roost_stats *stats;    /* machine->nr_cpu_ids, one a CPU */
	const struct roost_exit *exit;
	int events_fd;                      /* the ring buffer of struct roost_event */
	bool writable;
	/* how to undo it */
	struct { void *address; size_t length; } mapped[8];
};

/*
 * Loads and attaches. 0, or
 *   -EBUSY   another scheduler is loaded (named in the text)
 *   -EPERM   not privileged enough
 *   else     err->missing tells whether this kernel cannot
 */
int roost_load(struct roost **out, const struct roost_opts *opts, struct run_error *err);
/* Takes the scheduler off and frees all. NULL is fine. */
void roost_unload(struct roost *r);

struct roost_view *roost_view(struct roost *r);
/* The descriptor of one of its maps, by name; -ENOENT. Owned by @r. */
int roost_map_fd(struct roost *r, const char *name);
/* The kernel still runs it. */
bool roost_alive(const struct roost *r);
/*
 * A CPU came online that was not known when it was loaded: it must be loaded anew to use it. Cheap; asks
 * the kernel's hotplug counter first.
 */
bool roost_outgrown(struct roost *r);

/* What the exit record says: the exit codes of design.md. 0 = taken off by us, 4 = ejected by the kernel. */
int roost_exit_code(const struct roost_exit *e);
/* The hotplug or another owner asked for a restart. */
bool roost_exit_restart(const struct roost_exit *e);
/* One line about why it ended; names the real-time task that held a CPU where the watchdog fired. */
void roost_exit_text(const struct roost_view *v, char *buf, size_t size);

/*
 * The running roost of this machine, found by the names of its maps (no pinned files to go stale).
 * -ENOENT: none runs. -EPERM: may not look. @writable asks for knobs and control that can be written.
 */
int roost_find(struct roost_view **out, bool writable);
void roost_close(struct roost_view *v);

/* The name of the sched_ext scheduler that the kernel runs now, "" if none. From sysfs. */
int roost_current_scheduler(char *buf, size_t size);

#endif
