/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spin.bpf.h - the spinner back end of idle-spin, in the kernel: when a CPU's spinner thread runs, and how the
 * CPU's work stops it.
 *
 * The thread (src/run/spinner.c) is pinned to its CPU. While runnable it is parked in a queue of its own,
 * which dispatch looks at when there is nothing else: so it runs just where the CPU would idle. It reads its
 * record: with a window open it watches the wake word, else it blocks, and only then does the CPU idle. A
 * blocked one is sent for (a ring buffer's wakeup, an interrupt of the CPU to itself) when a window is due.
 *
 * No lost wakeup: a CPU that spins has its bit in its LLC word's `spin`. Whoever gives it work clears the
 * bit, and who cleared it sets the wake word. What came before the bit was set is looked for after it was
 * set (spin_arm): the CPU's queue, its local queue, an errand. Two places give work: queue_on (the CPU's queue)
 * and `runnable` (anything that becomes runnable on its runqueue, under its lock; this covers what goes
 * straight to the local queue). tests/model/spin_protocol.c tries all interleavings.
 *
 * A parked thread whose CPU stays busy is let run once a second, to block; the kernel's watchdog would
 * count it as starved.
 */
#ifndef ROOST_BPF_SPIN_H
#define ROOST_BPF_SPIN_H

#include "state.h"
#include "policy/spin.h"

#define SPIN_PARK(cpu) (1ULL << 32 | (u32)(cpu))
#define SPIN_SLICE_NS 20000000ULL
#define SPIN_PARKED_MAX_NS 1000000000ULL
/* roost_spin.wake: there is work; the second: and it is another CPU that says so */
#define SPIN_WAKE 1
#define SPIN_WAKE_SPARED 2

ROOST_ARRAY(roost_spins, struct roost_spin, 1, BPF_F_MMAPABLE);

struct spin_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* What a CPU's thread blocks on; the program puts one in for each CPU that has a thread. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct spin_ring);
} roost_spin_rings SEC(".maps");

static __always_inline struct roost_spin *spin_of(s32 cpu)
{
	return ROOST_LOOKUP(roost_spins, cpu);
}

/* There is work for @cpu: if it spins, it stops, and no interrupt is needed. */
static __always_inline bool spin_wake(struct roost_cpu *c, s32 cpu)
{
	struct roost_llc_word *w = env_word(c->word);
	struct roost_spin *s;
	u64 bit = policy_bit(cpu);

	if (!w || POLICY_LIKELY(!(policy_read(w->spin) & bit)))
		return false;
	if (!(policy_word_clear(&w->spin, bit) & bit))
		return false;
	s = spin_of(cpu);
	if (s)
		policy_write(s->wake, (u32)cpu == bpf_get_smp_processor_id() ? SPIN_WAKE : SPIN_WAKE_SPARED);
	return true;
}

/* The wakeup that the spinner was stopped for came from another CPU: an interrupt not sent. */
static __always_inline void spin_count_spared(struct roost_spin *s)
{
	if (policy_read(s->wake) == SPIN_WAKE_SPARED)
		COUNT(spin_kicks_avoided);
}

/* The CPU spins from now on; what came before that was to be seen is looked for once more. */
static __noinline int spin_arm(s32 cpu)
{
	struct roost_cpu *c = env_cpu(cpu);
	struct roost_llc_word *w = c ? env_word(c->word) : 0;
	struct roost_spin *s = spin_of(cpu);
	const struct rq *rq = compat_rq(cpu);
	u64 bit = policy_bit(cpu);

	if (!c || !w || !s)
		return 0;
	policy_write(s->wake, 0);
	policy_word_set(&w->spin, bit);
	if (policy_read(c->nr_queued) || (rq && rq->scx.local_dsq.nr) || policy_read(c->pull_from) >= 0) {
		policy_word_clear(&w->spin, bit);
		policy_write(s->wake, SPIN_WAKE);
	}
	return 0;
}

/* enqueue, for a spinner. Wherever it is: one that lost its CPU (hotplug) waits with that CPU's. */
static __always_inline void spin_park(struct task_struct *p, s32 cpu, u64 enq_flags)
{
	struct roost_spin *s = spin_of(cpu);

	if (s)
		s->parked_ns = bpf_ktime_get_ns();
	compat_insert(p, SPIN_PARK(cpu), SPIN_SLICE_NS, enq_flags);
}

static __always_inline bool spin_unpark(struct roost_spin *s, s32 cpu)
{
	if (!s->parked_ns || !compat_move_to_local(SPIN_PARK(cpu)))
		return false;
	s->unparked = 1;
	if (scx_bpf_dsq_nr_queued(SPIN_PARK(cpu)) <= 0)
		s->parked_ns = 0;
	return true;
}

/* dispatch, before anything else: a parked thread that has waited long, or is to end, runs for a moment. */
static __noinline bool spin_overdue(s32 cpu)
{
	struct roost_spin *s = spin_of(cpu);

	if (!s || POLICY_LIKELY(!s->parked_ns))
		return false;
	if (!policy_read(s->leave) && bpf_ktime_get_ns() - s->parked_ns < SPIN_PARKED_MAX_NS)
		return false;
	s->grant_ns = 0;
	return spin_unpark(s, cpu);
}

/* How long the CPU, which has nothing to do, is to spin now; 0 = not. */
static __noinline u64 spin_due(s32 cpu, u64 now)
{
	struct roost_cpu *c = env_cpu(cpu);
	struct roost_spin *s = spin_of(cpu);
	struct roost_stats *stats = stats_here();
	struct roost_knobs *k = env_knobs();
	bool stopped = false;
	u64 window;

	if (!c || !s)
		return 0;
	if (!s->quiet_ns) {
		s->quiet_ns = now;
		s->due = 1;
	}
	if (!s->due || !(policy_read(c->flags) & ROOST_CPU_ONLINE))
		return 0;
	window = roost_spin_window(s, policy_read(k->idle_spin_ns), policy_read(k->idle_spin_budget_pct),
				   policy_read(k->idle_spin_adapt), now, &stopped);
	if (stopped && stats)
		stats->spin_budget_stops++;
	if (!window)
		s->due = 0;
	return window;
}

/* The blocked thread of @cpu is sent for. */
static __noinline int spin_nudge(s32 cpu, u64 now)
{
	struct roost_spin *s = spin_of(cpu);
	u32 key = (u32)cpu;
	void *ring;

	if (!s)
		return 0;
	if (!roost_spin_may_nudge(s, now)) {
		s->due = 0;
		return 0;
	}
	ring = bpf_map_lookup_elem(&roost_spin_rings, &key);
	if (!ring)
		return 0;
	s->nudged = 1;
	s->nudges++;
	bpf_ringbuf_output(ring, &now, sizeof(now), BPF_RB_FORCE_WAKEUP);
	return 0;
}

/*
 * The CPU has nothing to do. True: its spinner runs instead of idling. @goes_on: the spinner is what ran, and
 * what it was stopped for went elsewhere: the rest of its window.
 */
static __noinline bool spin_instead(s32 cpu, u32 goes_on)
{
	struct roost_spin *s = spin_of(cpu);
	u64 now, window;

	if (!s || POLICY_LIKELY(!s->pid && !s->parked_ns))
		return false;
	if (goes_on) {
		if (s->start_ns) {
			spin_count_spared(s);
			spin_arm(cpu);
		}
		return true;
	}
	now = bpf_ktime_get_ns();
	window = spin_due(cpu, now);
	if (s->parked_ns) {
		/* without a window it runs all the same, to block */
		s->grant_ns = window;
		return spin_unpark(s, cpu);
	}
	if (window && s->asleep && !s->nudged)
		spin_nudge(cpu, now);
	return false;
}

/* running, for a spinner: its window begins. Not at home it has none, and blocks. */
static __noinline int spin_running(s32 cpu, s32 home)
{
	struct roost_cpu *c = env_cpu(cpu);
	struct roost_spin *s = spin_of(cpu);
	struct roost_stats *stats = stats_here();
	u64 now = bpf_ktime_get_ns();

	if (!c || !s)
		return 0;
	/* a higher class that took the CPU has left it, and nobody was asked: the kernel kept the thread at hand */
	if (!s->unparked && cpu == home && !policy_read(s->leave))
		s->grant_ns = spin_due(cpu, now);
	s->unparked = 0;
	if (cpu != home || !s->grant_ns)
		return 0;
	s->due = 0;
	s->start_ns = now;
	policy_write(s->deadline_ns, now + s->grant_ns);
	s->grant_ns = 0;
	if (stats)
		stats->spin_windows++;
	spin_arm(cpu);
	policy_cpu_busy(c, env_now(), false);
	policy_core_maybe_idle(c, cpu, env_now());
	return 0;
}

/* stopping, for a spinner: whatever the reason, its window is over. */
static __noinline int spin_stopping(s32 cpu, s32 home, u32 runnable)
{
	struct roost_cpu *c = env_cpu(cpu);
	struct roost_spin *s = spin_of(home);
	struct roost_llc_word *w = c ? env_word(c->word) : 0;
	struct roost_stats *stats = stats_here();
	u64 now = bpf_ktime_get_ns();
	enum roost_spin_end how = ROOST_SPIN_CUT;

	if (!c || !s || !stats)
		return 0;
	if (!runnable)
		s->asleep = 1;
	if (cpu != home || !s->start_ns)
		return 0;
	if (w)
		policy_word_clear(&w->spin, policy_bit(cpu));
	if (policy_read(s->wake))
		how = ROOST_SPIN_HIT;
	else if (!runnable || now >= s->deadline_ns)
		how = ROOST_SPIN_MISS;
	policy_write(s->deadline_ns, 0);
	stats->spin_ns += roost_spin_close(s, how, now);
	if (how == ROOST_SPIN_HIT) {
		stats->spin_hits++;
		spin_count_spared(s);
		policy_left_idle(c, cpu, env_now());
	}
	c->spin_window_ns = s->window_ns;
	return 0;
}

/* runnable, for a spinner. */
static __always_inline void spin_runnable(s32 home)
{
	struct roost_spin *s = spin_of(home);

	if (s) {
		s->asleep = 0;
		s->nudged = 0;
	}
}

/* Work begins to run here. */
static __always_inline void spin_work(s32 cpu)
{
	struct roost_spin *s;

	if (POLICY_LIKELY(!policy_read(env_knobs()->idle_spin_ns)))
		return;
	s = spin_of(cpu);
	if (!s || !s->quiet_ns)
		return;
	roost_spin_work(s, bpf_ktime_get_ns() - s->quiet_ns);
	s->quiet_ns = 0;
}

/* A higher class's work begins to run here: when it leaves, the CPU runs out of work anew, and another window is due. */
static __always_inline void spin_taken(s32 cpu)
{
	struct roost_spin *s;

	if (POLICY_LIKELY(!policy_read(env_knobs()->idle_spin_ns)))
		return;
	s = spin_of(cpu);
	if (s)
		s->quiet_ns = 0;
}

/* The tick, while a CPU spins: work that waits elsewhere for too long ends the window. */
static __noinline int spin_tick(s32 cpu, u64 now)
{
	struct roost_cpu *c = env_cpu(cpu);
	u32 rule = 0;

	if (c && policy_victim(c, cpu, now, &rule) >= 0)
		spin_wake(c, cpu);
	return 0;
}

/* The CPU leaves idle: for its spinner, which is not leaving idle as others see it? */
static __always_inline bool spin_enters(struct roost_cpu *c, s32 cpu)
{
	struct roost_spin *s = spin_of(cpu);
	struct roost_llc_word *w = env_word(c->word);

	if (!s || POLICY_LIKELY(!s->unparked) || !w)
		return false;
	policy_word_clear(&w->idle, policy_bit(cpu));
	return true;
}

/*
 * A thread says that it is its CPU's spinner: it wrote its pid into the record of the CPU it is pinned to, and
 * then changed its nice value, which is how this is called.
 */
static __always_inline bool spin_adopt(struct task_struct *p, struct roost_task *t)
{
	s32 cpu = scx_bpf_task_cpu(p);
	struct roost_spin *s;

	if (t->flags & ROOST_TASK_SPINNER)
		return true;
	s = spin_of(cpu);
	if (!s || POLICY_LIKELY(s->pid != (u32)p->pid) || p->nr_cpus_allowed != 1)
		return false;
	t->flags |= ROOST_TASK_SPINNER;
	t->prev_cpu = cpu;
	s->asleep = 0;
	s->nudged = 0;
	return true;
}

static __always_inline void spin_gone(struct task_struct *p, struct roost_task *t)
{
	struct roost_spin *s;

	if (!(t->flags & ROOST_TASK_SPINNER))
		return;
	s = spin_of(t->prev_cpu);
	if (s && s->pid == (u32)p->pid)
		s->pid = 0;
}

#endif
