/* SPDX-License-Identifier: GPL-2.0-only */
SCHED_FEAT(UTIL_EST, true)
