/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waithist.h - into which bucket of roost_stats.wait_hist a wait belongs: two buckets a power of two, from 512 ns up. Shared by
 * the side that counts and the side that shows percentiles.
 */
#ifndef ROOST_POLICY_WAITHIST_H
#define ROOST_POLICY_WAITHIST_H

#include "abi.h"

#define WAITHIST_SHIFT 9

/* Below ROOST_WAIT_BUCKETS, whatever is passed. No loop and no table: this runs at every context switch. */
static inline __attribute__((always_inline)) u32 waithist_bucket(u64 wait_ns)
{
	u64 units = wait_ns >> WAITHIST_SHIFT;
	u32 x = units > 0x7fffffffull ? 0x7fffffffu : (u32)units, log = 0, half = x;

	if (!x)
		return 0;
	if (x >> 16) {
		x >>= 16;
		log += 16;
	}
	if (x >> 8) {
		x >>= 8;
		log += 8;
	}
	if (x >> 4) {
		x >>= 4;
		log += 4;
	}
	if (x >> 2) {
		x >>= 2;
		log += 2;
	}
	if (x >> 1)
		log += 1;
	/* the bit after the leading one cuts the power of two in halves */
	half = log ? half >> (log - 1) & 1 : 0;
	return 1 + 2 * log + half;
}

/* The least wait that bucket @b holds. */
static inline u64 waithist_low_ns(u32 b)
{
	u32 log;

	if (!b)
		return 0;
	log = (b - 1) / 2;
	return ((1ull << log) + ((b - 1) & 1 ? (1ull << log) / 2 : 0)) << WAITHIST_SHIFT;
}

#endif
