/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulator: discrete events, integer nanoseconds, the real policy code. docs/model.md describes the model.
 *
 * A run is a machine, a workload, a setting of the knobs and a seed; it gives a struct sim_result. Everything
 * that decides the order of events is integer arithmetic, so that the same run gives the same bytes with every
 * compiler. One process simulates one run at a time (the policy reaches its host through one global); parallel
 * runs are processes of their own (pool.h).
 *
 * Terms: an op is a stretch of work a task does without interruption by its own doing (compute, a system call);
 * its work is in nanoseconds of a CPU that has its core to itself. "kernel mode" runs the pull side of the fair
 * class (newidle and periodic balance), "roost mode" that of roost (stealing after steal-delay).
 */
#ifndef ROOST_SIM_SIM_H
#define ROOST_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "measure/hist.h"
#include "policy/abi.h"
#include "sim/eventq.h"
#include "topology/topology.h"

#define SIM_MAX_TASKS 1000000
#define SIM_NONE UINT32_MAX
#define SIM_FOREVER UINT64_MAX

enum sim_pull { SIM_PULL_KERNEL, SIM_PULL_ROOST };

/* What a task does next. */
enum sim_act { SIM_RUN, SIM_BLOCK, SIM_SLEEP, SIM_YIELD, SIM_EXIT };
struct sim_op {
	enum sim_act act;
	uint64_t ns;      /* RUN: work; SLEEP: how long */
	bool user;        /* RUN: counts as user time */
	bool spin;        /* RUN: busy waiting; ends by sim_spin_end(), not by itself */
};

enum sim_task_state { SIM_TASK_NEW, SIM_TASK_BLOCKED, SIM_TASK_QUEUED, SIM_TASK_RUNNING, SIM_TASK_EXITED };

struct sim_mask {
	uint64_t word[ROOST_MAX_WORDS];
};

struct sim;

struct sim_task {
	struct roost_task rt;
	uint32_t id;
	uint8_t state;          /* enum sim_task_state */
	uint8_t op_user, op_spin, direct, wake_pending;
	int8_t nice;
	uint8_t kind;           /* the workload's own */
	uint32_t qpos;          /* place in its CPU's queue */
	uint16_t mask;          /* index into sim.masks; 0: every CPU */
	uint8_t in_section;     /* slice-ext: the request bit */
	uint8_t granted;        /* slice-ext: the grant bit */
	uint64_t work_left;     /* of the op under way, the time to start included */
	uint64_t last_off_ns;   /* when it last gave a CPU up */
	uint64_t woken_ns;
	/* cache: what was brought in where, see cache.h */
	uint32_t footprint;     /* bytes it touches again each time it runs */
	int32_t l2_core, l3_llc;
	uint64_t l2_mark, l3_mark;
	uint64_t run_ns, wait_ns;
	uint32_t nr_migrations;
	uint32_t next;          /* workload: list link */
	uint32_t pc;            /* workload: where in its program */
	uint32_t w32[8];        /* workload: registers */
	uint64_t w64[5];
};
_Static_assert(sizeof(struct sim_task) <= 512, "a task takes less than 1 KB, queue entries included");

struct sim_qent {
	uint64_t deadline;
	uint32_t task;
};

struct sim_cpu {
	struct sim_task *curr;
	uint32_t direct;        /* task handed over to an idle CPU; it runs first; SIM_NONE */
	uint32_t nr_queue, cap_queue;
	struct sim_qent *queue; /* heap by deadline */
	uint64_t op_start_ns;   /* work is counted from here */
	uint32_t speed;         /* permille; now, with the core to itself, with a busy sibling */
	uint32_t speed_alone, speed_shared;
	uint8_t idle, waking, need_resched, pad_;
	uint64_t charge_ns;     /* kernel work to add to what runs next here */
	uint64_t sys_first_ns;  /* of the op under way, this much is system time */
	uint64_t on_since_ns;   /* when the running task was put on */
	uint64_t busy_until_ns; /* the way into idle takes until then */
	/* idle */
	uint64_t idle_since_ns, idle_from_ns; /* since it idles; since an interrupt last broke it */
	uint64_t idle_work_ns;  /* work of interrupts while it idled */
	uint32_t idle_hist[8], idle_at;
	uint8_t idle_state, spinning;
	uint64_t spin_until_ns;
	uint64_t avg_idle_ns, scan_cost_ns, newidle_cost_ns, next_balance_ns, next_far_ns;
	/* the group's load sum: when this queue last wrote it, the write it has seen, loads to take off */
	uint64_t loadavg_ns, loadavg_seen;
	uint32_t loadavg_removed;
	/* the runqueue lock */
	uint64_t lock_free_ns;
	uint32_t lock_owner;
	/* totals */
	uint64_t user_ns, sys_ns, idle_ns, spin_ns, last_ns;
	uint32_t round;
};

/* A lock or line that several CPUs share: who had it last, and until when it is held. */
struct sim_shared {
	uint64_t free_ns;
	uint32_t owner;
};

struct sim_figures { /* all POD: it crosses process borders */
	uint64_t sim_ns, events;
	uint64_t work_ns;            /* what the workload calls its time */
	uint64_t ops;                /* messages, requests, rounds, round trips */
	uint64_t user_ns, sys_ns, idle_ns, spin_ns;
	uint64_t switches, wakeups, preemptions, kicks, kicks_avoided;
	uint64_t migrations, migrations_by[TOPO_NR_DISTANCES];
	uint64_t run_delay_ns, run_delay_max_ns;
	uint64_t l2_miss_bytes, memory_bytes;
	uint64_t load_sum_ns;        /* kernel mode: reading and writing the group's load sum, waiting included */
	uint64_t lock_wait_ns, search_ns, idle_exit_ns, refill_ns;
	uint64_t steals, balance_pulls;
	uint64_t ext_grants, ext_yields, ext_expired;
	uint64_t wait_ns;            /* lockfight: total wait for the lock */
	uint64_t latency_count, latency_ns[4]; /* p50 p90 p95 p99 */
	uint64_t latency_p999_ns, latency_max_ns;
	uint64_t wake_latency_ns[3]; /* p50 p99 p99.9 */
	uint64_t rule[ROOST_RULE_COUNT], target[ROOST_TARGET_COUNT];
	uint64_t memory_bytes_used;  /* of the simulator */
	uint64_t wall_ns;            /* real time; not part of --json's reproducible part */
	uint64_t nr_tasks;
	uint64_t cut;                /* end_ns came before the workload was done */
};

struct sim_workload;

struct sim_config {
	const struct machine *machine;
	const struct costs *costs;
	const struct sim_workload *workload;
	void *workload_args;         /* what the workload's parse() made */
	struct roost_knobs knobs;
	enum sim_pull pull;
	bool before_5_12;            /* kernel: the search of then instead of the policy's (before.c) */
	uint64_t seed;
	uint64_t end_ns;             /* stop here at the latest; 0: the workload decides */
	uint64_t check_every;        /* full check of the state each so many events; 0: the default */
	FILE *timeline;
	const char *repeat;          /* the command that repeats the run, for failures */
	volatile uint64_t *progress; /* permille, for another process to watch; may be NULL */
};

struct sim_error {
	char text[400];
};

/* 0; -EINVAL and others with err->text; -EPROTO when a checker found the run wrong. */
int sim_run(const struct sim_config *cfg, struct sim_figures *out, struct sim_error *err);

struct sim_option { /* for --help and the manual */
	const char *names, *metavar, *help; /* metavar: NULL where it takes no value */
};

/* A workload: its options, its tasks, what each does next. */
struct sim_workload {
	const char *name, *help;
	const struct sim_option *options; /* ends with NULL names; NULL: none */
	/* args: argv of the workload alone; *out is freed with free_args */
	int (*parse)(int argc, char **argv, void **out, struct sim_error *err);
	void (*free_args)(void *args);
	uint32_t (*nr_tasks)(const void *args, const struct machine *m);
	int (*setup)(struct sim *s);           /* makes the tasks and wakes those that start */
	void (*step)(struct sim *s, struct sim_task *t, struct sim_op *op);
	void (*timer)(struct sim *s, uint32_t index); /* a workload timer fired; may be NULL */
	uint32_t (*nr_timers)(const void *args, const struct machine *m);
	void (*finish)(struct sim *s, struct sim_figures *f);
	void (*teardown)(struct sim *s);
};
extern const struct sim_workload *const sim_workloads[]; /* NULL-terminated */
const struct sim_workload *sim_workload_find(const char *name);

#endif
