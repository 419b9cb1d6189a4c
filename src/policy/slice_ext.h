/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slice_ext.h - extended time slices: who is granted more time, how it ends, and what it may cost.
 *
 * Terms: a *section* is what a thread announced with its request byte; a *grant* is the one extension it
 * may get in it; the *budget* of a CPU bounds what grants take of it.
 *
 * The host calls, always on the CPU concerned:
 *	roost_ext_at_preempt()  when it is about to take the CPU from a task for another task of this
 *	                        scheduler (its slice ended, or a wakeup preempts). Never when a real-time or
 *	                        deadline task wants the CPU: those do not ask, and so are never delayed.
 *	roost_ext_at_stop()     when the task stops running, for whatever reason.
 *	roost_ext_at_timer()    when the timer that the grant asked for has fired.
 * and keeps the two bytes of the thread's slot (src/slice/slot.h) as the result says.
 *
 * A grant ends when it is given back (the thread left its section and gave the CPU up), when it expires
 * (the timer, or the first preemption past its end), or is cut short (the thread blocked in its section, or
 * a higher class took the CPU). Its time is charged to the task like any other, so that a task that always
 * asks pays for all it gets. A grant that runs to its end is an overrun; so many in a row (slice-ext-overruns)
 * and the task gets none for a second.
 *
 * The budget is a bucket: time flows in at 4.9 % and stops at 1 ms. The most that can flow out in any second
 * is then 49 ms and the 1 ms, 5 % of it. A grant is refused unless the bucket holds it whole; what it really
 * took, lateness of the timer included, is taken out at its end, below zero if need be.
 *
 * What is left out: nesting, and grants across a migration (a task that stops running has lost its grant).
 */
#ifndef ROOST_POLICY_SLICE_EXT_H
#define ROOST_POLICY_SLICE_EXT_H

#include "policy/abi.h"

#define roost_ext_inline static inline __attribute__((always_inline, unused))

#define ROOST_EXT_BUCKET_NS 1000000ll
#define ROOST_EXT_REFILL_PPM 49000ull
#define ROOST_EXT_BLOCK_NS 1000000000ull

/* The slot's two bytes, as src/slice/slot.h has them. */
#define ROOST_EXT_GRANTED 1
#define ROOST_EXT_SPENT 2

/* One in all, written by the program. */
struct roost_ext_state {
	u64 nr_procs;               /* processes registered; with none nobody looks for sections */
};

/* One a CPU; all zero is a good start (the bucket is then filled at first use). */
struct roost_ext_cpu {
	u64 start_ns;               /* of the running grant */
	u64 end_ns;                 /* when it must end; 0 = none runs */
	u64 stamp_ns;               /* up to when the bucket is filled; 0 = never used */
	s64 bucket_ns;
	u32 pid;                    /* whose grant it is */
	u32 pad;
};
_Static_assert(sizeof(struct roost_ext_cpu) == 40, "shared with the kernel's side");

/*
 * How long grants lasted, and how late the timer was, in microseconds: one bucket each below 32, above that
 * four an octave, up to 8 ms.
 */
#define ROOST_EXT_BUCKETS 64u
struct roost_ext_hist {
	u32 over[ROOST_EXT_BUCKETS];
	u32 late[ROOST_EXT_BUCKETS];
};

roost_ext_inline u32 roost_ext_bucket(u64 ns)
{
	u64 us = ns / 1000;
	u32 octave = 5;

	if (us < 32)
		return (u32)us;
	if (us >= 8192)
		return ROOST_EXT_BUCKETS - 1;
	for (u32 i = 0; i < 8 && us >= 64; i++) {
		us >>= 1;
		octave++;
	}
	return 32 + (octave - 5) * 4 + (u32)(us - 32) / 8;
}

/* The least value of a bucket. */
roost_ext_inline u64 roost_ext_bucket_us(u32 bucket)
{
	if (bucket < 32)
		return bucket;
	return (32ull + (bucket - 32) % 4 * 8) << ((bucket - 32) / 4);
}

enum roost_ext_verdict {
	ROOST_EXT_OUTSIDE = 0,      /* not in a section: preempt */
	ROOST_EXT_GRANT,            /* run on until end_ns; set the grant byte, start the timer */
	ROOST_EXT_HOLD,             /* a grant is running: run on until end_ns */
	ROOST_EXT_OVER,             /* its grant is over: preempt */
	ROOST_EXT_REFUSE_OFF,       /* slice-ext is 0: preempt; so for the rest */
	ROOST_EXT_REFUSE_SPENT,     /* this section had its grant */
	ROOST_EXT_REFUSE_BLOCKED,   /* overran too often */
	ROOST_EXT_REFUSE_BUDGET,    /* the CPU's share of extensions is used up */
	ROOST_EXT_VERDICT_COUNT
};

enum roost_ext_end {
	ROOST_EXT_END_NONE = 0,     /* no grant was running */
	ROOST_EXT_END_GIVEN_BACK,
	ROOST_EXT_END_EXPIRED,
	ROOST_EXT_END_CUT,
	ROOST_EXT_END_COUNT
};

/* What is told of a grant, in the same ring as wakeups (struct roost_event) and told from them by its size. */
struct roost_ext_event {
	u64 now_ns;
	u64 spent_ns;               /* of the CPU, by the grant that has ended */
	u32 pid;
	s32 cpu;
	u32 verdict;                /* enum roost_ext_verdict; 0 when it is about an end */
	u32 end;                    /* enum roost_ext_end */
	char comm[16];
};
_Static_assert(sizeof(struct roost_ext_event) == 48 && sizeof(struct roost_event) > 48, "told apart by size");

roost_ext_inline int roost_ext_refused(u32 verdict)
{
	return verdict >= ROOST_EXT_REFUSE_OFF;
}

roost_ext_inline void roost_ext_fill(struct roost_ext_cpu *c, u64 now_ns)
{
	u64 passed_ns;

	if (!c->stamp_ns) {
		c->bucket_ns = ROOST_EXT_BUCKET_NS;
	} else {
		passed_ns = now_ns > c->stamp_ns ? now_ns - c->stamp_ns : 0;
		/* long enough to fill it from any debt a grant can leave; keeps the product in range */
		if (passed_ns > 10000000000ull)
			passed_ns = 10000000000ull;
		c->bucket_ns += (s64)(passed_ns * ROOST_EXT_REFILL_PPM / 1000000ull);
		if (c->bucket_ns > ROOST_EXT_BUCKET_NS)
			c->bucket_ns = ROOST_EXT_BUCKET_NS;
	}
	c->stamp_ns = now_ns;
}

/* Does the task's own grant run on this CPU? */
roost_ext_inline int roost_ext_running(const struct roost_task *t, const struct roost_ext_cpu *c)
{
	return t->ext_end_ns && c->end_ns == t->ext_end_ns && c->pid == t->pid;
}

/* request, granted: the slot's bytes as they are now. */
roost_ext_inline u32 roost_ext_at_preempt(const struct roost_knobs *k, struct roost_task *t, struct roost_ext_cpu *c,
					  u32 request, u32 granted, u64 now_ns)
{
	if (roost_ext_running(t, c)) {
		/* Left its section, or ran to the end: roost_ext_at_stop() says which. */
		if (!request || now_ns >= t->ext_end_ns)
			return ROOST_EXT_OVER;
		return ROOST_EXT_HOLD;
	}
	if (!request)
		return ROOST_EXT_OUTSIDE;
	if (!k->slice_ext_ns)
		return ROOST_EXT_REFUSE_OFF;
	if (granted)
		return ROOST_EXT_REFUSE_SPENT;
	if (now_ns < t->ext_blocked_until_ns)
		return ROOST_EXT_REFUSE_BLOCKED;
	roost_ext_fill(c, now_ns);
	if (c->bucket_ns < (s64)k->slice_ext_ns)
		return ROOST_EXT_REFUSE_BUDGET;
	c->pid = t->pid;
	c->start_ns = now_ns;
	c->end_ns = now_ns + k->slice_ext_ns;
	t->ext_end_ns = c->end_ns;
	return ROOST_EXT_GRANT;
}

/* The timer could not be started: as if nothing had been granted. */
roost_ext_inline void roost_ext_take_back(struct roost_task *t, struct roost_ext_cpu *c)
{
	t->ext_end_ns = 0;
	c->end_ns = 0;
}

/* Must the CPU be taken now? Not when the grant that asked for the timer is over and another has begun. */
roost_ext_inline int roost_ext_at_timer(const struct roost_ext_cpu *c, u64 now_ns)
{
	return c->end_ns && now_ns >= c->end_ns;
}

/* How much of the CPU the grant has taken up to now. */
roost_ext_inline u64 roost_ext_spent_ns(const struct roost_ext_cpu *c, u64 now_ns)
{
	return c->end_ns && now_ns > c->start_ns ? now_ns - c->start_ns : 0;
}

/*
 * When a grant was running, ends and charges it. The grant byte, if it is still GRANTED, must then become
 * SPENT: the thread has yet to learn of its grant, and has nothing left to give back.
 */
roost_ext_inline u32 roost_ext_at_stop(const struct roost_knobs *k, struct roost_task *t, struct roost_ext_cpu *c,
						u32 request, u64 now_ns)
{
	u32 end;

	if (!roost_ext_running(t, c))
		return ROOST_EXT_END_NONE;
	roost_ext_fill(c, now_ns);
	c->bucket_ns -= (s64)roost_ext_spent_ns(c, now_ns);
	if (now_ns >= c->end_ns)
		end = ROOST_EXT_END_EXPIRED;
	else
		end = request ? ROOST_EXT_END_CUT : ROOST_EXT_END_GIVEN_BACK;
	if (end == ROOST_EXT_END_GIVEN_BACK)
		t->ext_overruns = 0;
	if (end == ROOST_EXT_END_EXPIRED && ++t->ext_overruns >= k->slice_ext_overruns) {
		t->ext_overruns = 0;
		t->ext_blocked_until_ns = now_ns + ROOST_EXT_BLOCK_NS;
	}
	t->ext_end_ns = 0;
	c->end_ns = 0;
	return end;
}

/*
 * The same with the thread's two bytes in their place: what the kernel's side calls, and what the model in
 * tests/model explores. Each byte is read once: the thread may be hostile, but it does not run meanwhile.
 */
roost_ext_inline u32 roost_ext_slot_preempt(const struct roost_knobs *k, struct roost_task *t, struct roost_ext_cpu *c,
					 const volatile u8 *request, volatile u8 *granted, u64 now_ns)
{
	u32 verdict = roost_ext_at_preempt(k, t, c, *request, *granted, now_ns);

	if (verdict == ROOST_EXT_GRANT)
		*granted = ROOST_EXT_GRANTED;
	return verdict;
}

roost_ext_inline void roost_ext_slot_take_back(struct roost_task *t, struct roost_ext_cpu *c, volatile u8 *granted)
{
	roost_ext_take_back(t, c);
	*granted = 0;
}

roost_ext_inline u32 roost_ext_slot_stop(const struct roost_knobs *k, struct roost_task *t, struct roost_ext_cpu *c,
				      const volatile u8 *request, volatile u8 *granted, u64 now_ns)
{
	u32 end = roost_ext_at_stop(k, t, c, *request, now_ns);

	if (end != ROOST_EXT_END_NONE && *granted == ROOST_EXT_GRANTED)
		*granted = ROOST_EXT_SPENT;
	return end;
}

/* Where a slot may be: its first place, then the next ones, in a map of a power of two of slots. */
roost_ext_inline u32 roost_ext_slot_index(u32 tid, u32 probe, u32 nr_slots)
{
	return (tid + probe) & (nr_slots - 1);
}

#endif
