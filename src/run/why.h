/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * why.h - one decision in words: which rule chose the CPU, and why each earlier step did not.
 * The words are those of policy/wake.h, whose order of steps this follows.
 */
#ifndef ROOST_RUN_WHY_H
#define ROOST_RUN_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include "policy/slice_ext.h"

/* Mirrors enum policy_step and enum policy_passed of policy/wake.h, which needs a host to be included. */
#define WHY_STEPS 8
#define WHY_REASONS 9

extern const char *const why_step_names[WHY_STEPS];     /* "bias-prev", "target", ... */
extern const char *const why_reason_names[WHY_REASONS]; /* "not-reached", "off", "busy", ... */

/* Why a step did not choose; 0 = it was not reached, or it chose. */
unsigned int why_reason(u32 passed, unsigned int step);
/* A task may call itself anything; a terminal and JSON get printable characters only. */
void why_printable(const char comm[16], char out[static 17]);
/* "bias-prev: off, target: busy, prev: looked at already"; "" when no step was passed over. */
void why_passed(u32 passed, char *buf, size_t size);
/* Was there a search from a target? Forks and tasks with no choice have none. */
bool why_has_target(const struct roost_event *e);
/* A whole line without newline: who, by whom, from where, to where, rule, why not the others. */
void why_line(const struct roost_event *e, u64 start_ns, char *buf, size_t size);

/* The same for slice-ext: what was decided ("granted", "refused-budget", "given-back", ...), and the line. */
const char *why_slice_word(const struct roost_ext_event *e);
void why_slice_line(const struct roost_ext_event *e, u64 start_ns, char *buf, size_t size);

#endif
