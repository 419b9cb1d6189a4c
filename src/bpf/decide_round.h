/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * decide_round.h - what the decision benchmark measures, the same natively and as BPF: rounds of one decision, each timed by
 * itself. The host defines decide_clock().
 */
#ifndef ROOST_BPF_DECIDE_ROUND_H
#define ROOST_BPF_DECIDE_ROUND_H

#include "decide_linear.h"

enum decide_mode { DECIDE_EMPTY = 0, DECIDE_ROOST, DECIDE_LINEAR, DECIDE_MODES };

struct decide_args {
	u64 rounds;
	u64 mode;               /* enum decide_mode */
	u64 now_ns;
	u64 sink;               /* out: keeps the compiler honest */
};

#define DECIDE_BUCKETS 4096     /* of 1 ns; the last one holds all that is longer */

/* A task that stays where it is. */
policy_fn int decide_empty(env_task *p policy_task_arg, const struct policy_wake *w policy_nonnull,
			   struct roost_choice *ch policy_nonnull)
{
	ch->target = w->prev;
	ch->cpu = w->prev;
	return 0;
}

/* Outside of the time taken: the machine is put back as it was, the idle core's bits and the hint included. */
policy_inline void decide_give_back(const struct roost_choice *ch, u64 now)
{
	struct roost_cpu *c = env_cpu(ch->cpu);

	if (c && ch->claimed)
		policy_went_idle(c, ch->cpu, now);
}

/*
 * One decision; returns how long it took. prev is drawn anew each time, since a short cycle would be learnt by the branch
 * predictor on small machines only; the waker is one of the three CPUs after it, or itself.
 */
policy_inline u64 decide_round(env_task *p, struct policy_wake *w, u64 round, u64 mode, u64 *sink)
{
	u64 nr = env_machine()->nr_cpu_ids, drawn = (round + 1) * 0x9e3779b97f4a7c15ULL, start, took;
	struct roost_choice ch = {};

	drawn = (drawn ^ drawn >> 32) * 0xbf58476d1ce4e5b9ULL >> 32;
	w->prev = (s32)(drawn % nr);
	w->waker = (s32)((drawn + (drawn >> 20 & 3)) % nr);
	start = decide_clock();
	if (mode == DECIDE_ROOST)
		policy_wakeup(p, w, &ch);
	else if (mode == DECIDE_LINEAR)
		linear_wakeup(p, w, &ch);
	else
		decide_empty(p, w, &ch);
	took = decide_clock() - start;
	*sink += (u64)ch.cpu;
	decide_give_back(&ch, w->now_ns);
	return took < DECIDE_BUCKETS ? took : DECIDE_BUCKETS - 1;
}

#endif
