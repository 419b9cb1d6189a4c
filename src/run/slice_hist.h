/* SPDX-License-Identifier: GPL-2.0-only */
/* slice_hist.h - how long the grants of the running roost lasted, and how late its timers were. */
#ifndef ROOST_RUN_SLICE_HIST_H
#define ROOST_RUN_SLICE_HIST_H

#include "policy/slice_ext.h"

/* Sums over the CPUs of the running roost, found by the name of its map. 0 or -errno; -ENOENT: none runs. */
int slice_hist_read(struct roost_ext_hist *sum);

/* Of the buckets of one of its arrays: how many there are in all, and the lower bound that share of them reach. */
u64 slice_hist_count(const u32 *buckets);
u64 slice_hist_quantile_us(const u32 *buckets, double share);

#endif
