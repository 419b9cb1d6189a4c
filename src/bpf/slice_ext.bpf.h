/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slice_ext.bpf.h - the kernel's side of extended time slices. The rules are in policy/slice_ext.h, the
 * shared memory in slice/slot.h.
 *
 * Where a grant is decided: in dispatch, on the CPU of the task that is about to lose it, after it was
 * decided that it would. A slice that ends and a wakeup that preempts both come there (for the latter,
 * enqueue queues the woken task and sends a kick when the CPU runs a task of a registered process). So the
 * two bytes are only ever touched on the CPU on which the thread runs, and no CPU races with another.
 *
 * A grant's end: the task's slice is set to what is left, so that no tick lets it run longer, and a timer
 * of this CPU ends it exactly. The timer is never cancelled, which no callback of a scheduler may do on
 * every kernel: when it fires for a grant that is over, it finds that out and does nothing. It lives in the
 * CPU's map entry and outlives the CPU's going offline (it then fires elsewhere, and again finds nothing).
 *
 * The clock here is CLOCK_MONOTONIC, the timer's own, and not the runqueue's, which may be behind it.
 */
#ifndef ROOST_BPF_SLICE_EXT_H
#define ROOST_BPF_SLICE_EXT_H

#include "queue.h"
#include "policy/slice_ext.h"
#include "slice/slot.h"

#define ROOST_CLOCK_MONOTONIC 1
#define ROOST_TIMER_ABS 1ULL
#define ROOST_TIMER_CPU_PIN 2ULL        /* 6.7 and later */

struct ext_cpu_entry {
	struct roost_ext_cpu ext;
	u32 registered;         /* the running task's process is registered */
	u32 pad;
	struct bpf_timer timer;
};

/* One entry a possible CPU; the program sizes it. Not mapped: a map with timers cannot be. */
ROOST_ARRAY(roost_ext_cpus, struct ext_cpu_entry, 1, 0);
ROOST_ARRAY(roost_ext_hists, struct roost_ext_hist, 1, BPF_F_MMAPABLE);
ROOST_ARRAY(roost_ext_state, struct roost_ext_state, 1, 0);

struct ext_slots {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	__uint(max_entries, ROOST_SLICE_SLOTS_MIN);
	__type(key, u32);
	__type(value, struct roost_slice_slot);
};

/* Process -> its slots. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct ext_slots);
} roost_ext_procs SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct upid___ext {
	int nr;
};
struct pid___ext {
	unsigned int level;
	struct upid___ext numbers[1];
};
struct task_struct___ext {
	struct pid___ext *thread_pid;
};
struct bpf_map___ext {
	u32 max_entries;
};
#pragma clang attribute pop

static __always_inline struct ext_cpu_entry *ext_cpu(s32 cpu)
{
	return ROOST_LOOKUP(roost_ext_cpus, cpu);
}

static __always_inline bool ext_in_use(void)
{
	struct roost_ext_state *s = ROOST_LOOKUP(roost_ext_state, 0);

	return s && s->nr_procs;
}

/* The thread id as the thread itself has it: in its own PID namespace. */
static __always_inline u32 ext_thread_id(struct task_struct *p)
{
	struct task_struct___ext *task = (void *)p;
	struct pid___ext *pid = BPF_CORE_READ(task, thread_pid);
	u32 level = pid ? BPF_CORE_READ(pid, level) : 0, own = (u32)p->pid;
	int nr = 0;

	/* Or the compiler makes one load of the two, through either pointer, which the verifier refuses. */
	barrier_var(own);
	if (!level)
		return own;
	bpf_probe_read_kernel(&nr, sizeof(nr),
			      (char *)pid + bpf_core_field_offset(struct pid___ext, numbers) +
			      (u64)level * bpf_core_type_size(struct upid___ext) +
			      bpf_core_field_offset(struct upid___ext, nr));
	return (u32)nr;
}

/* The slot of a thread, or NULL: where its process has a map and it has claimed a place there. */
static __noinline struct roost_slice_slot *ext_slot(struct task_struct *p)
{
	u32 tgid = (u32)p->tgid, tid, nr_slots, probe, index;
	struct roost_slice_slot *slot;
	struct bpf_map___ext *map;

	map = bpf_map_lookup_elem(&roost_ext_procs, &tgid);
	if (!map)
		return 0;
	nr_slots = map->max_entries;
	tid = ext_thread_id(p);
	bpf_for(probe, 0, ROOST_SLICE_PROBES) {
		index = roost_ext_slot_index(tid, probe, nr_slots);
		slot = bpf_map_lookup_elem(map, &index);
		if (slot && *(volatile u32 *)&slot->owner == tid)
			return slot;
	}
	return 0;
}

static __always_inline void ext_hist(s32 cpu, bool late, u64 ns)
{
	struct roost_ext_hist *h = ROOST_LOOKUP(roost_ext_hists, cpu);
	u32 bucket = roost_ext_bucket(ns) & (ROOST_EXT_BUCKETS - 1);

	if (!h)
		return;
	if (late)
		h->late[bucket]++;
	else
		h->over[bucket]++;
}

/* For `roost explain`. */
static __always_inline void ext_report(struct task_struct *p, s32 cpu, u32 verdict, u32 end, u64 spent_ns)
{
	struct roost_control *ctl = ROOST_LOOKUP(roost_control, 0);
	struct roost_ext_event *e;
	u64 now = env_now();

	if (!ctl || POLICY_LIKELY(ctl->explain_until_ns < now))
		return;
	if (ctl->explain_pid && ctl->explain_pid != (u32)p->pid)
		return;
	e = bpf_ringbuf_reserve(&roost_events, sizeof(*e), 0);
	if (!e)
		return;
	e->now_ns = now;
	e->spent_ns = spent_ns;
	e->pid = (u32)p->pid;
	e->cpu = cpu;
	e->verdict = verdict;
	e->end = end;
	__builtin_memcpy(e->comm, p->comm, sizeof(e->comm));
	bpf_ringbuf_submit(e, 0);
}

/* The grant of this CPU may be over: then the CPU looks again who runs next. */
static int ext_timer(void *map, u32 *cpu, struct ext_cpu_entry *e)
{
	u64 now = bpf_ktime_get_ns(), end = e->ext.end_ns;

	if (!roost_ext_at_timer(&e->ext, now))
		return 0;
	ext_hist((s32)*cpu, true, now - end);
	scx_bpf_kick_cpu((s32)*cpu, ROOST_FLAG(scx_kick_flags, SCX_KICK_PREEMPT));
	return 0;
}

/* At init, once for each CPU: a timer cannot be made where a runqueue is locked. */
static __always_inline s32 ext_init_cpu(u32 cpu)
{
	struct ext_cpu_entry *e = ext_cpu((s32)cpu);
	s32 err;

	if (!e)
		return 0;
	err = (s32)bpf_timer_init(&e->timer, &roost_ext_cpus, ROOST_CLOCK_MONOTONIC);
	if (!err)
		err = (s32)bpf_timer_set_callback(&e->timer, ext_timer);
	return err;
}

/* The task begins to run here. */
static __always_inline void ext_running(struct task_struct *p, s32 cpu)
{
	struct ext_cpu_entry *e = ext_cpu(cpu);
	u32 tgid = (u32)p->tgid, registered = 0;

	if (!e)
		return;
	if (ext_in_use())
		registered = bpf_map_lookup_elem(&roost_ext_procs, &tgid) != 0;
	if (e->registered != registered)
		policy_write(e->registered, registered);
}

/* Might the task that runs on @cpu be granted more time? Then a preemption must pass through dispatch. */
static __always_inline bool ext_may_hold(s32 cpu)
{
	struct ext_cpu_entry *e = ext_cpu(cpu);

	return e && policy_read(e->registered);
}

/*
 * These two are global functions, so that the verifier looks at each once and not once a path to its call.
 *
 * From dispatch, when @prev would go on but another takes the CPU: true when it goes on all the same.
 */
__noinline bool ext_hold(struct task_struct *prev __arg_trusted, s32 cpu)
{
	struct ext_cpu_entry *e = ext_cpu(cpu);
	struct roost_task *t = task_of(prev);
	struct roost_slice_slot *slot;
	u64 now;
	u32 verdict;

	if (!e || !t || POLICY_LIKELY(!e->registered) || (t->flags & ROOST_TASK_YIELDED))
		return false;
	slot = ext_slot(prev);
	if (!slot)
		return false;
	now = bpf_ktime_get_ns();
	verdict = roost_ext_slot_preempt(env_knobs(), t, &e->ext, &slot->request, &slot->granted, now);
	if (verdict == ROOST_EXT_GRANT &&
	    bpf_timer_start(&e->timer, e->ext.end_ns, ROOST_TIMER_ABS | ROOST_TIMER_CPU_PIN)) {
		roost_ext_slot_take_back(t, &e->ext, &slot->granted);
		verdict = ROOST_EXT_REFUSE_OFF;
	}
	if (verdict == ROOST_EXT_GRANT) {
		slot->asked++;
		slot->granted_nr++;
		COUNT(ext_grants);
	} else if (roost_ext_refused(verdict)) {
		slot->asked++;
		COUNT(ext_refused);
	}
	if (verdict == ROOST_EXT_GRANT || roost_ext_refused(verdict))
		ext_report(prev, cpu, verdict, ROOST_EXT_END_NONE, 0);
	if (verdict != ROOST_EXT_GRANT && verdict != ROOST_EXT_HOLD)
		return false;
	compat_set_slice(prev, policy_max(1, e->ext.end_ns - now));
	return true;
}

/*
 * The turn of @p on @cpu is over: it stops (still @runnable or not), or goes on with a slice of its own. A grant that nobody needs
 * any more is over too. (One that was left open took what the thread ran from then on out of the CPU's bucket, and in its
 * next section the thread was taken for one that had used its grant up.)
 */
__noinline int ext_turn_over(struct task_struct *p __arg_trusted, s32 cpu, bool runnable)
{
	struct ext_cpu_entry *e = ext_cpu(cpu);
	struct roost_task *t = task_of(p);
	struct roost_slice_slot *slot;
	struct roost_stats *s = stats_here();
	u64 now, spent;
	u32 end;

	if (!e || !t || !s || POLICY_LIKELY(!e->registered && !t->ext_end_ns))
		return 0;
	slot = ext_slot(p);
	if (!slot) {
		/* its process has gone from the map with a grant running: that too is an end, and is counted */
		if (t->ext_end_ns) {
			s->ext_ns += roost_ext_spent_ns(&e->ext, bpf_ktime_get_ns());
			s->ext_cut++;
		}
		roost_ext_take_back(t, &e->ext);
		return 0;
	}
	if (runnable && *(volatile u8 *)&slot->request) {
		slot->preempted++;
		s->ext_preempted++;
	}
	now = bpf_ktime_get_ns();
	spent = roost_ext_spent_ns(&e->ext, now);
	end = roost_ext_slot_stop(env_knobs(), t, &e->ext, &slot->request, &slot->granted, now);
	if (end == ROOST_EXT_END_NONE)
		return 0;
	s->ext_ns += spent;
	ext_hist(cpu, false, spent);
	ext_report(p, cpu, 0, end, spent);
	if (end == ROOST_EXT_END_EXPIRED) {
		slot->expired++;
		s->ext_expired++;
	} else if (end == ROOST_EXT_END_GIVEN_BACK) {
		s->ext_yields++;
	} else {
		s->ext_cut++;
	}
	return 0;
}

#endif
