/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spin.h - idle-spin: how long a CPU that ran out of work busy-waits before it idles.
 *
 * A *window* is one such wait. It is opened once for each time the CPU ran out of work, and closed by work (a
 * hit), by its end (a miss), or by something else (a higher class: neither).
 *
 * Three things bound it: the knob; the budget, a share of each second of the CPU's time, which a window is
 * cut to; and, with idle-spin-adapt, the CPU's own window, which a miss halves, down to nothing, and which
 * grows again, to twice the wait that would have caught the work, when work comes within idle-spin of the
 * moment the CPU ran out of it.
 *
 * A thread that has to be woken to spin is woken only on credit, so that it cannot keep an idle machine
 * awake, and costs no more interrupts than it saves: of the times that work came within idle-spin of the CPU's
 * going quiet (with a window or without) every fourth earns one, and every other second one is free.
 *
 * Times are those of one clock, handed in. All calls for one CPU are made under its runqueue's lock.
 */
#ifndef ROOST_POLICY_SPIN_H
#define ROOST_POLICY_SPIN_H

#include "policy/abi.h"

#define roost_spin_inline static inline __attribute__((always_inline, unused))

#define ROOST_SPIN_SECOND_NS 1000000000ull
#define ROOST_SPIN_LEAST_NS 1000ull     /* shorter windows are not worth opening */
#define ROOST_SPIN_STEPS 6              /* a window below limit >> steps is none */
#define ROOST_SPIN_CREDIT_MAX 8u
#define ROOST_SPIN_FREE_NS 2000000000ull /* so often a credit is free */
#define ROOST_SPIN_EARNS 4u             /* catchable wakeups a credit */

/* One a CPU. The first line is shared with the thread that spins; all zero is a good start. */
struct roost_spin {
	u64 wake;                   /* not 0: work waits, give the CPU up */
	u64 deadline_ns;            /* the open window ends then (CLOCK_MONOTONIC); 0 = none is open: block */
	u32 pid;                    /* the thread; 0 = none. Written by the thread */
	u32 leave;                  /* the thread is to end: let it run soon. Written by the program */
	u64 pad[5];

	/* the CPU's own */
	u64 limit_ns;               /* idle-spin, as last seen */
	u64 window_ns;              /* what adapting left of it */
	u64 start_ns;               /* the open window began then; 0 = none is open */
	u64 grant_ns;               /* the thread is about to run with a window this long */
	u64 spent_ns;               /* in the second that began at second_ns */
	u64 second_ns;
	u64 quiet_ns;               /* ran out of work then; 0 = has work */
	u64 parked_ns;              /* the thread is runnable and waits since; 0 = it does not wait */
	u64 credit_ns;              /* last free credit */
	u32 credit;
	u32 asleep;                 /* the thread is blocked */
	u32 nudged;                 /* and was sent for */
	u32 due;                    /* ran out of work, and no window was opened or ruled out since */
	u32 unparked;               /* the thread is about to run */
	u32 earned;                 /* towards the next credit */
	u64 nudges;                 /* how often the thread was sent for */
	u64 pad2[3];
};
_Static_assert(sizeof(struct roost_spin) == 192, "shared with the kernel's side");

/* What is left of the budget of this second. */
roost_spin_inline u64 roost_spin_budget(struct roost_spin *s, u64 budget_pct, u64 now)
{
	u64 most = budget_pct * (ROOST_SPIN_SECOND_NS / 100);

	if (now - s->second_ns >= ROOST_SPIN_SECOND_NS) {
		s->second_ns = now;
		s->spent_ns = 0;
	}
	return s->spent_ns < most ? most - s->spent_ns : 0;
}

/* The window that adapting allows. */
roost_spin_inline u64 roost_spin_allowed(struct roost_spin *s, u64 limit_ns, u64 adapt)
{
	if (s->limit_ns != limit_ns) {
		s->limit_ns = limit_ns;
		s->window_ns = limit_ns;
	}
	return adapt ? s->window_ns : limit_ns;
}

/* The CPU ran out of work at @now: how long the window would be; 0 = none. *stopped: by the budget alone. */
roost_spin_inline u64 roost_spin_window(struct roost_spin *s, u64 limit_ns, u64 budget_pct, u64 adapt, u64 now, bool *stopped)
{
	u64 window = limit_ns ? roost_spin_allowed(s, limit_ns, adapt) : 0, left;

	*stopped = false;
	if (window < ROOST_SPIN_LEAST_NS)
		return 0;
	left = roost_spin_budget(s, budget_pct, now);
	if (left < ROOST_SPIN_LEAST_NS) {
		*stopped = true;
		return 0;
	}
	return window < left ? window : left;
}

/* May the blocked thread be woken for a window? Takes the credit. */
roost_spin_inline bool roost_spin_may_nudge(struct roost_spin *s, u64 now)
{
	if (!s->credit && now - s->credit_ns >= ROOST_SPIN_FREE_NS) {
		s->credit = 1;
		s->credit_ns = now;
	}
	if (!s->credit)
		return false;
	s->credit--;
	return true;
}

enum roost_spin_end { ROOST_SPIN_HIT, ROOST_SPIN_MISS, ROOST_SPIN_CUT };

/* The open window is over. Returns how long it was. */
roost_spin_inline u64 roost_spin_close(struct roost_spin *s, enum roost_spin_end how, u64 now)
{
	u64 took = s->start_ns && now > s->start_ns ? now - s->start_ns : 0;

	s->start_ns = 0;
	s->spent_ns += took;
	if (how == ROOST_SPIN_MISS) {
		s->window_ns >>= 1;
		if (s->window_ns < s->limit_ns >> ROOST_SPIN_STEPS || s->window_ns < ROOST_SPIN_LEAST_NS)
			s->window_ns = 0;
	}
	return took;
}

/* Work runs again, @gap_ns after the CPU ran out of it. */
roost_spin_inline void roost_spin_work(struct roost_spin *s, u64 gap_ns)
{
	u64 grown;

	if (gap_ns > s->limit_ns)
		return;
	if (++s->earned >= ROOST_SPIN_EARNS) {
		s->earned = 0;
		if (s->credit < ROOST_SPIN_CREDIT_MAX)
			s->credit++;
	}
	if (gap_ns <= s->window_ns)
		return;
	grown = 2 * (gap_ns > s->window_ns ? gap_ns : s->window_ns);
	s->window_ns = grown < s->limit_ns ? grown : s->limit_ns;
}

#endif
