/* SPDX-License-Identifier: GPL-2.0-only */
/* counters.c - adding up and naming the counters; see counters.h. */
#include "run/counters.h"

#include <string.h>

#include "policy/waithist.h"

#define C(field, help) { #field, offsetof(struct roost_stats, field), help }

const struct counter counter_table[] = {
	C(nr_wakeups, "wakeups placed"),
	C(nr_switches, "context switches to a task of roost's"),
	C(nr_enqueued, "tasks queued in a CPU's queue"),
	C(nr_dispatched, "tasks that a CPU took from its own queue"),
	C(nr_kicks_idle, "interrupts sent to wake an idle CPU"),
	C(nr_kicks_preempt, "interrupts sent to preempt"),
	C(nr_preempt, "wakeups that preempted"),
	C(nr_claim_lost, "idle CPUs that somebody else claimed first"),
	C(nr_requeued, "tasks queued anew because a higher class took their CPU"),
	C(nr_yield, "calls of sched_yield"),
	C(wait_ns, "run delay: time runnable but waiting"),
	C(wait_max_ns, "the longest single wait"),
	C(run_ns, "time tasks ran"),
	C(spin_windows, "idle-spin: windows"),
	C(spin_hits, "idle-spin: windows in which work arrived"),
	C(spin_ns, "idle-spin: time spent in windows"),
	C(spin_kicks_avoided, "idle-spin: interrupts not sent to a CPU that spun"),
	C(spin_budget_stops, "idle-spin: windows not begun because the budget was spent"),
	C(ext_grants, "slice-ext: extensions granted"),
	C(ext_yields, "slice-ext: given back in time"),
	C(ext_expired, "slice-ext: run to their end"),
	C(ext_refused, "slice-ext: refused"),
	C(ext_cut, "slice-ext: cut short, the thread blocked or a higher class came"),
	C(ext_preempted, "slice-ext: times a thread lost the CPU inside a critical section"),
	C(ext_ns, "slice-ext: time that extensions took"),
};
const size_t counter_count = sizeof(counter_table) / sizeof(counter_table[0]);

#define NR_STATS (sizeof(struct roost_stats) / sizeof(u64))
#define NR_RULE_ARRAYS (ROOST_RULE_COUNT * (2 + ROOST_DIST_COUNT))

/* A counter added to the record must be named here, or it would never be shown. */
_Static_assert(sizeof(counter_table) / sizeof(counter_table[0]) + NR_RULE_ARRAYS + ROOST_TARGET_COUNT +
		       ROOST_WAIT_BUCKETS == NR_STATS,
	       "every counter of struct roost_stats has a name");

const struct rule_name rule_names[ROOST_RULE_COUNT] = {
#define RULE(id, name, help) [ROOST_RULE_##id] = { name, help },
#include "policy/rules.def"
#undef RULE
};

const char *const distance_names[ROOST_DIST_COUNT] = {
	[ROOST_DIST_SAME] = "same",
	[ROOST_DIST_CORE] = "core",
	[ROOST_DIST_LLC] = "llc",
	[ROOST_DIST_NODE] = "node",
	[ROOST_DIST_FAR] = "far",
};

const char *const target_names[ROOST_TARGET_COUNT] = {
	[ROOST_TARGET_WIDE] = "wide",
	[ROOST_TARGET_WAKER_IDLE] = "waker-idle",
	[ROOST_TARGET_PREV_IDLE] = "prev-idle",
	[ROOST_TARGET_SYNC] = "sync",
	[ROOST_TARGET_LIGHTER_WAKER] = "waker-lighter",
	[ROOST_TARGET_LIGHTER_PREV] = "prev-lighter",
};

u64 counter_get(const struct roost_stats *s, const struct counter *c)
{
	return *(const u64 *)((const char *)s + c->offset);
}

#define WAIT_MAX (offsetof(struct roost_stats, wait_max_ns) / sizeof(u64))

void counters_add(struct roost_stats *sum, const struct roost_stats *one)
{
	u64 *s = (u64 *)sum;
	const u64 *o = (const u64 *)one;

	for (size_t i = 0; i < NR_STATS; i++) {
		u64 v = __atomic_load_n(&o[i], __ATOMIC_RELAXED);

		if (i == WAIT_MAX)
			s[i] = v > s[i] ? v : s[i];
		else
			s[i] += v;
	}
}

void counters_since(struct roost_stats *diff, const struct roost_stats *now, const struct roost_stats *before)
{
	u64 *d = (u64 *)diff;
	const u64 *n = (const u64 *)now, *b = (const u64 *)before;

	for (size_t i = 0; i < NR_STATS; i++)
		d[i] = i == WAIT_MAX ? n[i] : n[i] - b[i];
}

void counters_sum(struct roost_stats *sum, const struct roost_stats *of_cpu, size_t nr_cpus)
{
	memset(sum, 0, sizeof(*sum));
	for (size_t i = 0; i < nr_cpus; i++)
		counters_add(sum, &of_cpu[i]);
}

double counters_wait_quantile_ns(const struct roost_stats *s, double q)
{
	u64 total = 0, seen = 0;

	for (u32 i = 0; i < ROOST_WAIT_BUCKETS; i++)
		total += s->wait_hist[i];
	for (u32 i = 0; i < ROOST_WAIT_BUCKETS; i++) {
		u64 low = waithist_low_ns(i), high = i < ROOST_WAIT_BUCKETS - 1 ? waithist_low_ns(i + 1) : low;

		seen += s->wait_hist[i];
		if (seen && (double)seen >= q * (double)total)
			return high > low ? ((double)low + (double)high) / 2 : (double)low;
	}
	return 0;
}

u64 counters_moved(const struct roost_stats *s, enum roost_distance at_least)
{
	u64 n = 0;

	for (size_t r = 0; r < ROOST_RULE_STEAL_CORE; r++) {
		for (size_t d = at_least; d < ROOST_DIST_COUNT; d++)
			n += s->rule_distance[r][d];
	}
	return n;
}
