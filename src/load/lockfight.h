/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lockfight calls around its critical section. Whoever can ask the scheduler for more time (the
 * client library of slice-ext) plugs in here; "none" does nothing.
 */
#ifndef ROOST_LOAD_LOCKFIGHT_H
#define ROOST_LOAD_LOCKFIGHT_H

#include <stddef.h>

struct lock_hooks {
	const char *name;
	/* Once a thread, before the fight. 0, or -errno when this way is not to be had here. */
	int (*enter_thread)(void);
	void (*leave_thread)(void);
	void (*begin)(void);
	/* Ends the section and gives the CPU up when asked to; 1 when it had been granted extra time. */
	int (*end)(void);
};

extern const struct lock_hooks lock_hooks_none;
/* The hooks for a --slice WORD ("auto|mainline|roost|none"), NULL when unknown in this build. */
const struct lock_hooks *lock_hooks_find(const char *word);

/* Why a thread could not enter with @rc: a line in @err. Returns -ENOTSUP where this machine has it not, else @rc. */
int lock_hooks_say(const struct lock_hooks *hooks, int rc, char *err, size_t err_len);

#endif
