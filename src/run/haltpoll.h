/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * haltpoll.h - idle-spin by the kernel's own cpuidle governor, where it has it (KVM guests): selected, its
 * parameters set, and all put back as found.
 *
 * What was found is kept in a file, written before anything is changed and removed after all is put back. One
 * that is there already is from a run that was killed: what it says is what was found, and stays.
 */
#ifndef ROOST_RUN_HALTPOLL_H
#define ROOST_RUN_HALTPOLL_H

#include <stdbool.h>
#include <stddef.h>
#include "policy/abi.h"

#define HALTPOLL_RECORD "/run/roost/haltpoll.found"

/* Can it be used? 0, or -ENOTSUP with the reason ("the kernel has no haltpoll governor") in why. */
int haltpoll_check(const char *root, char *why, size_t size);
/* Windows of up to @window_ns from now on; with @adapt they shrink and grow. Errors put all back. */
int haltpoll_set(const char *root, u64 window_ns, bool adapt, char *text, size_t size);
/* Puts back what was found. 0 (also when nothing was changed), or the first -errno; then the record stays. */
int haltpoll_restore(const char *root, char *text, size_t size);
/* A record is there. */
bool haltpoll_changed(const char *root);

#endif
