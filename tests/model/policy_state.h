/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine and a wakeup as plain arrays: what policy_model.c makes up at random, and what policy_reference.c decides on.
 * No bitmaps and nothing of src/policy: the two sides share the facts, not the means.
 */
#ifndef ROOST_MODEL_POLICY_STATE_H
#define ROOST_MODEL_POLICY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#define STATE_MAX_CPUS 512
#define STATE_NO_PLACE (-1)             /* LLC of a CPU that was never online */

struct state_cpu {
	bool online;
	int core;                       /* CPUs with the same number are threads of one core */
	int llc;
	int domain;                     /* a cpuset partition is a domain of its own */
	bool affine;                    /* in the wakee's affinity mask */
	bool idle;                      /* runs its idle task, has nothing queued and no wakeup pending */
	bool rt_held;                   /* a task of a higher class runs there */
	unsigned int nr_runnable;
	unsigned int nr_idle_class;     /* of these, SCHED_IDLE */
	uint64_t idle_exit_ns;          /* when it last left idle; 0 = never */
	unsigned int est_sum;           /* E(c) */
	unsigned int capacity;          /* C(c) */
	unsigned int capacity_max;
	uint64_t load;
};

struct state_llc {
	unsigned int mean;              /* its CPUs' mean utilisation, of 1024 */
	bool hint;                      /* "there is an idle core": may be stale */
};

struct state {
	uint64_t seed;
	int nr_cpus, nr_llcs;
	bool smt;
	struct state_cpu cpu[STATE_MAX_CPUS];
	struct state_llc llc[STATE_MAX_CPUS];

	/* features */
	bool idle_smt, util_fits, bias_prev;
	uint64_t grace_ns;              /* 0 = off */
	unsigned int max_queued;

	/* the wakeup */
	int prev, waker, recent;        /* recent: -1 = none */
	bool sync, kthread, idle_class;
	unsigned int task_util, waker_flips, wakee_flips, wakee_load, curr_load;
	uint64_t now_ns;
};

struct answer {
	int cpu, target;
	const char *rule, *target_rule; /* by name: rules.def's, and those of policy_model.c */
	bool claimed;
	bool hint;                      /* of the target's LLC, afterwards */
};

/* One error at a time put into the reference, to see that the comparison finds it; 0 = none. */
extern int reference_bug;
#define REFERENCE_BUGS 24
const char *reference_bug_name(int bug);

void reference_decide(const struct state *st, struct answer *out);

/* For the print-out of a disagreement. */
bool reference_idle(const struct state *st, int cpu);
bool reference_ok(const struct state *st, int cpu);
bool reference_fits(const struct state *st, int cpu);
bool reference_allowed(const struct state *st, int cpu);
bool reference_core_idle(const struct state *st, int cpu);

#endif
