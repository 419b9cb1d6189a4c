/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * util.h - utilisation: geometric averages with a half-life of 32 ms, in integers, and what is made of
 * them: the task's estimate, the CPU's capacity for ordinary tasks, the depth of an idle search.
 *
 *   avg(t + d) = avg(t) * 2^(-d / 32 ms) + (busy ? 1 - 2^(-d / 32 ms) : 0)
 *
 * ROOST_UTIL_ONE stands for 1. The factor is the product of two table entries and a linear rest; its
 * error stays below 2^-22 (tests/unit/test_util.c).
 */
#ifndef ROOST_POLICY_UTIL_H
#define ROOST_POLICY_UTIL_H

#include "env.h"

#define ROOST_UTIL_SHIFT 20
#define ROOST_UTIL_ONE (1u << ROOST_UTIL_SHIFT)
#define ROOST_UTIL_HALF_LIFE_NS 32000000ULL
#define ROOST_UTIL_NEW (ROOST_UTIL_ONE / 2)     /* a new task: half a CPU until it is known better */

/* 2^(-i/32) and 2^(-i/1024), of 2^32, rounded. */
static const u32 policy_util_coarse[32] __attribute__((unused)) = {
	0xffffffffu, 0xfa83b2dbu, 0xf5257d15u, 0xefe4b99cu, 0xeac0c6e8u, 0xe5b906e7u,
	0xe0ccdeecu, 0xdbfbb798u, 0xd744fccbu, 0xd2a81d92u, 0xce248c15u, 0xc9b9bd86u,
	0xc5672a11u, 0xc12c4ccau, 0xbd08a39fu, 0xb8fbaf47u, 0xb504f334u, 0xb123f582u,
	0xad583eeau, 0xa9a15ab5u, 0xa5fed6aau, 0xa2704303u, 0x9ef53261u, 0x9b8d39bau,
	0x9837f052u, 0x94f4efa9u, 0x91c3d374u, 0x8ea4398bu, 0x8b95c1e4u, 0x88980e81u,
	0x85aac368u, 0x82cd8699u,
};
static const u32 policy_util_fine[32] __attribute__((unused)) = {
	0xffffffffu, 0xffd3a752u, 0xffa75652u, 0xff7b0d00u, 0xff4ecb59u, 0xff22915eu,
	0xfef65f0bu, 0xfeca3460u, 0xfe9e115cu, 0xfe71f5feu, 0xfe45e243u, 0xfe19d62bu,
	0xfdedd1b5u, 0xfdc1d4deu, 0xfd95dfa6u, 0xfd69f20bu, 0xfd3e0c0du, 0xfd122da9u,
	0xfce656dfu, 0xfcba87adu, 0xfc8ec011u, 0xfc63000bu, 0xfc374799u, 0xfc0b96bau,
	0xfbdfed6du, 0xfbb44bb0u, 0xfb88b181u, 0xfb5d1ee1u, 0xfb3193ccu, 0xfb061043u,
	0xfada9443u, 0xfaaf1fccu,
};

/* 2^(-delta / 32 ms), of 2^32 (so 1 is 2^32). */
policy_inline u64 policy_util_decay(u64 delta_ns)
{
	u64 halvings = 0, step, tail, factor;

	if (POLICY_UNLIKELY(delta_ns >= ROOST_UTIL_HALF_LIFE_NS)) {
		halvings = delta_ns / ROOST_UTIL_HALF_LIFE_NS;
		delta_ns -= halvings * ROOST_UTIL_HALF_LIFE_NS;
		if (halvings >= 32)
			return 0;
	}
	/* in 1/1024, 31250 ns each: a multiplication by 2^32 / 31250, cut off, so that the rest may be 223 ns longer than that */
	step = (delta_ns * 137438) >> 32;
	tail = delta_ns - step * 31250;
	factor = step >= 32 ? policy_util_coarse[policy_index32(step >> 5)] : 1ULL << 32;
	if (step & 31)
		factor = (factor * policy_util_fine[policy_index32(step)]) >> 32;
	/* 1 - ln 2 * tail / (1024 * 31250), as ln 2 * 2^32 / 32000000 = 93.0326 a ns */
	factor -= (factor * ((tail * 95265) >> 10)) >> 32;
	return factor >> halvings;
}

/* An average, of ROOST_UTIL_ONE, that fades by @factor, of 2^32, while @part of @whole were busy. */
policy_inline u32 policy_util_mix(u32 avg, u64 factor, u64 part, u64 whole)
{
	u64 left = ((u64)avg * factor + (1ULL << 31)) >> 32, more;

	if (part) {
		more = ((u64)ROOST_UTIL_ONE * ((1ULL << 32) - factor) + (1ULL << 31)) >> 32;
		left += part >= whole ? more : more * part / whole;
	}
	return left > ROOST_UTIL_ONE ? ROOST_UTIL_ONE : (u32)left;
}

/* The average after @delta_ns more of being busy or not; @avg of ROOST_UTIL_ONE. */
policy_fn u32 policy_util_advance(u32 avg, u64 delta_ns, bool busy)
{
	return policy_util_mix(avg, policy_util_decay(delta_ns), busy, 1);
}

/* Tasks that leave for other CPUs take their part off while the CPU writes its average: what falls below nothing is nothing. */
policy_inline u64 policy_load_left(struct roost_cpu *c)
{
	u64 load = policy_read(c->load_avg);

	return (s64)load < 0 ? 0 : load;
}

/* Before the load of @c changes: what it was until now. */
policy_inline void policy_load_until(struct roost_cpu *c, u64 now)
{
	u64 since = policy_read(c->load_stamp_ns);

	if (!policy_before(since, now))
		return;
	policy_write(c->load_sum, policy_read(c->load_sum) + policy_read(c->load) * (now - since));
	policy_write(c->load_stamp_ns, now);
}

/*
 * Brings the CPU's averages up to date: the share of time in which an ordinary task ran, and the load, of which the time since
 * the last stamp counts with its mean. Called at ticks and when the CPU begins or ends to run ordinary tasks: 4 ms are short
 * beside the half-life, and the way from one task to the next costs a multiplication.
 */
policy_fn int policy_cpu_averages(struct roost_cpu *c policy_nonnull, u64 now)
{
	u64 since = c->util_stamp_ns, factor;

	policy_load_until(c, now);
	if (since && !policy_before(since, now))
		return 0;
	if (since) {
		factor = policy_util_decay(now - since);
		c->util_avg = policy_util_mix(c->util_avg, factor, c->util_busy, 1);
		c->load_avg = (policy_load_left(c) * factor + c->load_sum / (now - since) * ((1ULL << 32) - factor)) >> 32;
	}
	policy_write(c->load_sum, 0);
	policy_write(c->util_stamp_ns, now);
	return 0;
}

/* From now on an ordinary task runs on it, or none does. */
policy_inline void policy_cpu_busy(struct roost_cpu *c, u64 now, bool busy)
{
	if (POLICY_LIKELY(c->util_busy == busy))
		return;
	policy_cpu_averages(c, now);
	policy_write(c->util_busy, busy);
}

/* The average load of @c now. One that runs nothing does not write its average: it fades here. */
policy_inline u64 policy_load_avg(struct roost_cpu *c, u64 now)
{
	u64 load = policy_load_left(c), since = policy_read(c->util_stamp_ns);

	if (policy_read(c->util_busy) || !policy_before(since, now))
		return load;
	return load * policy_util_decay(now - since) >> 32;
}

/* From ROOST_UTIL_ONE to ROOST_CAPACITY. */
policy_inline u32 policy_util_scale(u32 avg)
{
	return avg >> (ROOST_UTIL_SHIFT - 10);
}

/* The task's averages up to now: what it ran and what it was runnable. @busy: it ran since its stamp; else it slept, then waited. */
policy_inline void policy_task_averages(struct roost_task *t, u64 now, bool busy)
{
	u64 since = t->util.stamp_ns, gone = now - since, waited = 0, factor;

	if (!since) {
		t->util.stamp_ns = now;
		return;
	}
	if (!policy_before(since, now))
		return;
	if (busy)
		waited = gone;
	else if (t->wait_start_ns && policy_before(t->wait_start_ns, now))
		waited = now - t->wait_start_ns;
	factor = policy_util_decay(gone);
	t->util.avg = policy_util_mix(t->util.avg, factor, busy, 1);
	t->runnable_avg = policy_util_mix(t->runnable_avg, factor, waited, gone);
	t->util.stamp_ns = now;
}

/*
 * Peak-hold, taken when a task stops being runnable: up at once, down by a quarter of the way each time,
 * so that one short activation does not hide what the task usually needs (the fair class's UTIL_EST).
 */
policy_inline void policy_util_hold(struct roost_util *u)
{
	u32 now = policy_util_scale(u->avg);

	u->est = now >= u->est ? now : u->est - (u->est - now + 3) / 4;
}

/* The task's part in the average load of the CPU on which it was last counted. */
policy_inline u32 policy_task_load(const struct roost_task *t)
{
	return (u32)(((u64)t->weight * t->runnable_avg) >> ROOST_UTIL_SHIFT);
}

/* U of semantics.md: the task's estimated utilisation. */
policy_inline u32 policy_util_of(const struct roost_util *u)
{
	u32 now = policy_util_scale(u->avg);

	return now > u->est ? now : u->est;
}

/*
 * C(c) of semantics.md: what higher classes and interrupts leave. @taken and @irq of ROOST_UTIL_ONE. At least
 * one part in 1024 stays, so that a division by it is one.
 */
policy_inline u32 policy_capacity(u32 capacity_max, u32 taken, u32 irq)
{
	u64 left = ROOST_UTIL_ONE - policy_min(ROOST_UTIL_ONE, (u64)taken + irq);
	u64 capacity = (capacity_max * left) >> ROOST_UTIL_SHIFT;

	return capacity ? (u32)capacity : 1;
}

/*
 * Counts up to now what higher classes take of a CPU (@held: one has it), and its capacity with that. Costs one
 * test on a CPU that none ever had.
 */
policy_inline void policy_capacity_update(struct roost_cpu *c, u64 now, bool held, u32 irq)
{
	u64 since = c->rt_stamp_ns;

	if (POLICY_LIKELY(!c->rt_avg && !held && !irq && c->capacity == c->capacity_max)) {
		c->rt_stamp_ns = now;
		return;
	}
	if (since && policy_before(since, now))
		c->rt_avg = policy_util_advance(c->rt_avg, now - since, held);
	c->rt_stamp_ns = now;
	policy_write(c->capacity, policy_capacity(c->capacity_max, c->rt_avg, irq));
}

/* fit(c) of semantics.md section 3: with a margin of 20 %, and strict. */
policy_inline bool policy_fits(struct roost_cpu *c, u32 task_util)
{
	return ((u64)policy_read(c->est_sum) + task_util) * 1280 < (u64)policy_read(c->capacity) * 1024;
}

/* How many CPUs of an LLC of @weight a scan looks at, when its CPUs are @mean busy (of 1024). */
policy_inline u32 policy_scan_depth(u64 mean, u32 weight)
{
	u64 x = mean * mean * 117 * 117 / (10000 * 1024);

	return (u32)((1024 - policy_min(1024, x)) * weight / 1024);
}

#endif
