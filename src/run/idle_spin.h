/* SPDX-License-Identifier: GPL-2.0-only */
/* idle_spin.h - which back end of idle-spin serves, and keeping it as the knobs say while roost runs. */
#ifndef ROOST_RUN_IDLE_SPIN_H
#define ROOST_RUN_IDLE_SPIN_H

#include "run/run.h"

/*
 * The back end that these knobs ask for on this machine: ROOST_BACKEND_HALTPOLL, ROOST_BACKEND_SPINNER, or
 * -ENOTSUP with the reason in why. Whether idle-spin is on is not asked.
 */
int idle_spin_backend(const char *root, const struct roost_knobs *k, char *why, size_t size);

struct idle_spin;

/* Nothing is started before the knobs ask for it. NULL when out of memory. */
struct idle_spin *idle_spin_new(const char *root, struct roost *roost);
/* Does what the knobs say now. 0, or -errno with the reason in text: then idle-spin is without effect. */
int idle_spin_look(struct idle_spin *s, char *text, size_t size);
/* Ends what runs, puts back what was changed. 0, or -errno with the reason in text. NULL is fine. */
int idle_spin_free(struct idle_spin *s, char *text, size_t size);

#endif
