/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * abi.h - the data that the kernel's side, the program, the simulator and the tests share.
 *
 * Fixed-width types, numbered enums, asserted sizes. No behaviour lives here.
 *
 * Terms: "CPU word" w holds CPUs 64w..64w+63; an LLC owns one struct roost_llc_word for each CPU word
 * in which it has a CPU, so that its idle search is a few word operations on lines that no other LLC
 * writes, and a task's affinity mask (also in CPU words) can be and-ed in directly.
 */
#ifndef ROOST_POLICY_ABI_H
#define ROOST_POLICY_ABI_H

#ifdef __BPF__
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
#else
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
/* as on the BPF side, so that formats agree everywhere: %llu */
typedef unsigned long long u64;
typedef signed long long s64;
#endif

#define ROOST_ABI_VERSION 1
#define ROOST_MAX_CPUS 8192         /* possible CPU ids; the kernel's own limit on x86 */
#define ROOST_MAX_WORDS (ROOST_MAX_CPUS / 64)
#define ROOST_MAX_SIBLINGS 8        /* threads of one core */
#define ROOST_WAIT_BUCKETS 64       /* a power of two */
#define ROOST_CAPACITY 1024         /* capacity and utilisation of one whole CPU */
#define ROOST_WEIGHT_NICE0 1024
#define ROOST_WEIGHT_IDLE 3         /* SCHED_IDLE, as in the fair class */

enum roost_rule {
#define RULE(id, name, help) ROOST_RULE_##id,
#include "rules.def"
#undef RULE
	ROOST_RULE_COUNT
};

/* Why the target is what it is (semantics.md section 0, "Target"). */
enum roost_target_rule {
	ROOST_TARGET_WIDE = 0,      /* wide wakeup, or waker not allowed: prev */
	ROOST_TARGET_WAKER_IDLE,    /* waker idle, shares(waker, prev), prev not idle: waker */
	ROOST_TARGET_PREV_IDLE,     /* prev idle: prev */
	ROOST_TARGET_SYNC,          /* synchronous, only the waker's task runnable: waker */
	ROOST_TARGET_LIGHTER_WAKER, /* by load */
	ROOST_TARGET_LIGHTER_PREV,  /* by load */
	ROOST_TARGET_COUNT
};

/* How far a task moved from prev. */
enum roost_distance {
	ROOST_DIST_SAME = 0,
	ROOST_DIST_CORE,
	ROOST_DIST_LLC,
	ROOST_DIST_NODE,
	ROOST_DIST_FAR,
	ROOST_DIST_COUNT
};

enum roost_backend { ROOST_BACKEND_AUTO = 0, ROOST_BACKEND_HALTPOLL, ROOST_BACKEND_SPINNER };

struct roost_knobs {
#define KNOB(field, key, alias, kind, min, max, def, help, origin) u64 field;
#include "knobs.def"
#undef KNOB
};

/* roost_cpu.flags */
#define ROOST_CPU_ONLINE 1u
#define ROOST_CPU_RT_HELD 2u        /* a task of a higher class runs there */

/*
 * One a possible CPU. The first line is what other CPUs' searches read; the second is the runqueue's
 * state, written by whoever queues there; the third belongs to the CPU itself.
 */
struct roost_cpu {
	/* fixed at load and at hotplug */
	u32 flags;
	u32 llc;                    /* index of its LLC */
	u32 node;
	u32 core;                   /* lowest CPU number of the core */
	u16 siblings[ROOST_MAX_SIBLINGS]; /* CPU numbers, ascending, this one included */
	u32 nr_siblings;
	u32 word;                   /* index of its LLC word (holds bit cpu % 64) */
	u32 nr_switches;            /* for the owner's eyes: roost top */
	u32 capacity;               /* of ROOST_CAPACITY, less real-time, deadline and interrupt work */
	u64 idle_exit_ns;           /* when it last stopped idling; 0 = never */
	u32 util_busy;              /* an ordinary task runs there (since util_stamp_ns at least) */
	u32 preempt_due;            /* a wakeup would have preempted, but the running task was protected */

	/* runqueue */
	u32 nr_runnable;            /* tasks of this scheduler runnable here, the running one included */
	u32 nr_idle_class;          /* of these, SCHED_IDLE */
	u32 est_sum;                /* sum of the runnable tasks' estimated utilisation: E(c) */
	u32 nr_queued;              /* waiting in the CPU's queue */
	u64 load;                   /* sum of the runnable tasks' weights */
	u64 oldest_wait_ns;         /* no task waits here since before this; 0 = none waits */
	u64 vtime;                  /* the queue's virtual time */
	u64 curr_deadline;          /* virtual deadline of the running task; 0 = none of this scheduler's */
	s64 vtime_lead;             /* vtime + vtime_lead is comparable between CPUs */
	u32 curr_pid;
	u32 curr_weight;
	u64 curr_vruntime;          /* of the running task, at curr_start_ns */
	u64 curr_start_ns;
	u64 far_steal_ns;           /* when it last looked beyond its LLC for work */
	u32 curr_idle_class;        /* the running task is SCHED_IDLE */
	u32 rt_pid;                 /* who holds it while ROOST_CPU_RT_HELD */
	u64 balance_stamp_ns;       /* when it last thought of handing a task over */
	u64 load_avg;               /* geometric average of load, at util_stamp_ns */
	u64 load_sum;               /* load times nanoseconds since then, up to load_stamp_ns */
	u64 load_stamp_ns;

	/* the CPU's own */
	u64 util_stamp_ns;          /* when the averages were last brought up to date */
	u32 util_avg;               /* geometric average of its busy share, of ROOST_UTIL_ONE */
	u32 capacity_max;           /* capacity with nothing taken away */
	u64 rt_stamp_ns;
	u32 rt_avg;                 /* geometric average of what higher classes take, of ROOST_UTIL_ONE */
	s32 pull_from;              /* take a task from here at the next dispatch; itself: one that is overdue; -1 = none */
	u64 spin_window_ns;         /* idle-spin: the current adaptive window */
	u64 spin_start_ns;          /* 0 = not spinning */
	u64 spin_spent_ns;          /* in the budget second that began at spin_second_ns */
	u64 spin_second_ns;
};
_Static_assert(sizeof(struct roost_cpu) == 256, "struct roost_cpu is shared with the kernel's side");

/* One cache line: an LLC's CPUs in one CPU word. */
struct roost_llc_word {
	u64 member;                 /* online CPUs of the LLC */
	u64 idle;                   /* truly idle and unclaimed */
	u64 core;                   /* candidates: CPUs whose whole core counts as idle */
	u64 grace;                  /* candidates: CPUs that left idle less than idle-grace ago */
	u64 sidle;                  /* CPUs running or queueing only SCHED_IDLE tasks */
	u64 spin;                   /* CPUs inside their busy-wait window */
	u64 waiting;                /* CPUs in whose queue a task waits */
	u32 cpu_word;               /* which CPU word this is */
	u32 pad;
};
_Static_assert(sizeof(struct roost_llc_word) == 64, "one line a word");

struct roost_llc {
	u32 id;
	u32 node;
	u32 first_word;             /* its words are first_word .. first_word + nr_words - 1, ascending CPU words */
	u32 nr_words;
	u32 weight;                 /* online CPUs */
	u32 scan_depth;             /* how many CPUs the scan of step 6 may look at */
	u32 has_idle_core;          /* the hint */
	u32 smt;                    /* any core with more than one thread */
	u64 depth_stamp_ns;         /* when scan_depth was last computed */
	u64 load;                   /* sum of its CPUs' load, as of depth_stamp_ns */
	u64 pad[2];
};
_Static_assert(sizeof(struct roost_llc) == 64, "one line an LLC");

/* Utilisation of a task: util.h. */
struct roost_util {
	u64 stamp_ns;               /* up to when avg is counted */
	u32 avg;                    /* of ROOST_UTIL_ONE */
	u32 est;                    /* peak-hold, set at dequeue; of ROOST_CAPACITY */
};
_Static_assert(sizeof(struct roost_util) == 16, "shared");

/* roost_task.flags */
#define ROOST_TASK_QUEUED 1u        /* waits in a CPU's queue */
#define ROOST_TASK_RUNNABLE 2u      /* counted on cpu below */
#define ROOST_TASK_IDLE_CLASS 4u    /* SCHED_IDLE */
#define ROOST_TASK_BATCH 8u         /* SCHED_BATCH: never preempts */
#define ROOST_TASK_SPINNER 16u      /* one of roost's own busy-wait threads */
#define ROOST_TASK_PLACED 32u       /* vruntime belongs to the frame of cpu: not placed anew at enqueue */
#define ROOST_TASK_SLEPT 128u       /* was not runnable since lag was taken */
#define ROOST_TASK_YIELDED 64u      /* gave the CPU up: the others of its queue go first */
#define ROOST_TASK_OVERDUE 256u     /* was overdue: its next turn is a least slice at any rate */

/* Kept for each task by the kernel's side and by the simulator. */
struct roost_task {
	u64 vruntime;               /* in the frame of the queue of cpu */
	u64 deadline;
	s64 lag;                    /* vtime - vruntime when it last went to sleep; weighted ns */
	u64 run_start_ns;           /* charged up to here; 0 = does not run */
	u64 wait_start_ns;          /* when it began to wait; 0 = does not wait */
	u64 slice_ns;               /* the slice it was last given */
	struct roost_util util;
	u32 weight;                 /* nice 0 = 1024 */
	u32 flags;
	s32 cpu;                    /* the queue whose frame vruntime is in; -1 = new */
	s32 count_cpu;              /* where it is counted as runnable */
	s32 queue_cpu;              /* in whose queue it waits */
	s32 prev_cpu;               /* where it last ran; -1 = nowhere yet */
	s32 recent_cpu;             /* where it ran before prev_cpu; -1 = nowhere */
	u32 est_counted;            /* what was added to est_sum of cpu */
	u32 wakee_flips;            /* as a waker: switches between wakees, halved once a second */
	u32 last_wakee;             /* pid */
	u64 flips_stamp_ns;
	u32 ext_overruns;           /* slice-ext: grants in a row run to their end */
	u32 pid;
	u64 ext_blocked_until_ns;
	u64 ext_end_ns;             /* a running grant ends here; 0 = none */
	u32 runnable_avg;           /* geometric average of its time running or waiting, of ROOST_UTIL_ONE */
	u32 pad;
};
_Static_assert(sizeof(struct roost_task) == 144, "shared with the kernel's side");

/* Counters of one CPU, written only by that CPU. */
struct roost_stats {
	u64 rule[ROOST_RULE_COUNT];
	u64 rule_idle[ROOST_RULE_COUNT]; /* of these, the chosen CPU was truly idle */
	u64 rule_distance[ROOST_RULE_COUNT][ROOST_DIST_COUNT];
	u64 target[ROOST_TARGET_COUNT];
	u64 nr_wakeups;
	u64 nr_enqueued;            /* queued in a CPU's queue, not dispatched directly */
	u64 nr_dispatched;          /* taken by a CPU from its own queue */
	u64 nr_kicks_idle;          /* interrupts sent to wake an idle CPU */
	u64 nr_kicks_preempt;
	u64 nr_preempt;             /* wakeups that preempted */
	u64 nr_claim_lost;          /* an idle CPU was claimed by somebody else first */
	u64 nr_requeued;            /* queued anew because a higher class took the CPU */
	u64 nr_yield;
	u64 nr_switches;
	u64 wait_ns;                /* run delay: time runnable but waiting */
	u64 wait_max_ns;
	u64 wait_hist[ROOST_WAIT_BUCKETS]; /* single waits by length: waithist.h */
	u64 run_ns;
	u64 spin_windows, spin_hits, spin_ns, spin_kicks_avoided, spin_budget_stops;
	u64 ext_grants, ext_yields, ext_expired, ext_refused, ext_cut;
	u64 ext_preempted;          /* lost the CPU inside a critical section, for any reason */
	u64 ext_ns;                 /* what grants took in all */
};

/* Fixed at load; the program writes it before it attaches. */
struct roost_machine {
	u32 abi_version;
	u32 nr_cpu_ids;
	u32 nr_llcs;
	u32 nr_words;               /* LLC words in all */
	u32 nr_nodes;
	u32 smt;                    /* any core with more than one thread */
	u32 nr_possible;            /* CPUs; fewer than nr_cpu_ids where the numbers have holes */
	u32 partial;
	u64 vtime;                  /* the furthest that any CPU's vtime + vtime_lead has come */
};

/* What may be asked for while it runs, beside the knobs. */
struct roost_control {
	u64 explain_until_ns;       /* decisions are reported until then */
	u32 explain_pid;            /* of this task only; 0 = all */
	u32 pad;
};

/* One decision, for `roost explain`. */
struct roost_event {
	u64 now_ns;
	u32 pid, waker_pid;
	char comm[16], waker_comm[16];
	s32 waker, prev, target, cpu;
	u16 rule;
	u8 target_rule;
	u8 claimed;
	u32 passed;                 /* enum policy_passed, four bits an enum policy_step */
};

/* Why the kernel let go of the scheduler, written by the exit callback. */
struct roost_exit {
	u32 done;                   /* 1 = the rest is valid */
	s32 kind;                   /* enum scx_exit_kind */
	s64 code;
	char reason[128];
	char msg[1024];
};

#endif
