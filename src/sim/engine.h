/* SPDX-License-Identifier: GPL-2.0-only */
/* The inside of a run, for src/sim only: state, and what workloads may call. */
#ifndef ROOST_SIM_ENGINE_H
#define ROOST_SIM_ENGINE_H

#include "policy/slice_ext.h"
#include "sim/sim.h"

#define SIM_MASKS_MAX 1024

struct sim {
	const struct sim_config *cfg;
	const struct machine *m;
	const int64_t *cost; /* by enum cost_id */
	struct roost_knobs knobs;
	uint64_t now;
	struct evq q;
	uint32_t nr_cpus; /* nr_cpu_ids */
	uint32_t nr_words;
	struct roost_machine pm;
	struct roost_cpu *pcpu;
	struct roost_llc *pllc;
	struct roost_llc_word *pword;
	uint64_t *online_word;
	struct sim_cpu *cpus;
	struct sim_task *tasks;
	uint32_t nr_tasks, cap_tasks, nr_alive, nr_online;
	uint32_t nr_waiting; /* tasks in queues */
	uint32_t nr_timers;
	struct sim_mask **masks; /* 0: none, every CPU */
	uint32_t *mask_weight;
	struct roost_ext_cpu *ext;
	uint32_t nr_masks;
	uint64_t rng;
	/* caches */
	uint64_t *core_fill, *llc_fill;
	uint32_t line_ns[TOPO_NR_DISTANCES], ipi_ns[TOPO_NR_DISTANCES];
	/* the group's load sum: its line, the writes so far, which of them each LLC has seen, how far readers are */
	struct sim_shared loadavg;
	uint64_t loadavg_writes, *loadavg_llc;
	enum topo_distance loadavg_reach;
	uint64_t last_nohz_ns;
	struct sim_figures f;
	struct hist *latency, *wake_latency;
	uint64_t events, next_check;
	int stop;               /* 1: the workload is done; negative errno: a checker failed */
	struct sim_error *err;
	void *w;                /* the workload's own state */
	/* timeline */
	bool tl_first;
};

extern struct sim *sim_now_running;

/* slots of the event queue */
static inline uint32_t slot_op(const struct sim *s, uint32_t cpu) { return cpu; }
static inline uint32_t slot_kick(const struct sim *s, uint32_t cpu) { return s->nr_cpus + cpu; }
static inline uint32_t slot_tick(const struct sim *s, uint32_t cpu) { return 2 * s->nr_cpus + cpu; }
static inline uint32_t slot_ext(const struct sim *s, uint32_t cpu) { return 3 * s->nr_cpus + cpu; }
static inline uint32_t slot_timer(const struct sim *s, uint32_t i) { return 4 * s->nr_cpus + i; }
static inline uint32_t slot_task(const struct sim *s, uint32_t id) { return 4 * s->nr_cpus + s->nr_timers + id; }

/* ---- for workloads ---- */
struct sim_task *sim_task_new(struct sim *s, int nice, uint32_t footprint);
/* Starts a new task: fork placement from `parent` (a CPU). */
void sim_task_start(struct sim *s, struct sim_task *t, uint32_t parent);
/* Wakes a blocked task from `waker` (the CPU whose task, or interrupt, does it). No effect on one that is awake. */
#define SIM_WAKE_SYNC 1u
#define SIM_WAKE_IRQ 2u
void sim_wake(struct sim *s, uint32_t waker, struct sim_task *t, unsigned int flags);
/* The running task of `cpu` busy-waits no longer: its op ends after `ns` more. */
void sim_spin_end(struct sim *s, struct sim_task *t, uint64_t ns);
/* Kernel or interrupt work of that CPU, on top of what its task does. */
void sim_charge(struct sim *s, uint32_t cpu, uint64_t ns);
/* A device's or timer's interrupt reaches cpu: it costs time there, and ends an idle period. */
void sim_interrupt(struct sim *s, uint32_t cpu);
static inline uint32_t sim_cpu_of(const struct sim_task *t) { return (uint32_t)t->rt.cpu; }
/* Moves a shared line to `cpu`, `lines` of it, and holds it `hold_ns`: what that takes, waiting included. */
uint64_t sim_share(struct sim *s, struct sim_shared *l, uint32_t cpu, uint64_t lines, uint64_t hold_ns);
void sim_timer_set(struct sim *s, uint32_t index, uint64_t at);
void sim_latency(struct sim *s, uint64_t ns);
void sim_finish(struct sim *s);          /* the run ends here */
int sim_fail(struct sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int sim_mask_add(struct sim *s, const struct sim_mask *m, uint16_t *index);
/* slice-ext: the running task of `cpu` enters a critical section. */
static inline void sim_section_enter(struct sim_task *t) { t->in_section = 1; }
/* It leaves it; true: a grant was running and the CPU must be given up (SIM_YIELD). */
bool sim_section_leave(struct sim *s, struct sim_task *t);
static inline int64_t sim_cost(const struct sim *s, enum cost_id id) { return s->cost[id]; }

/* random numbers, integers only */
uint64_t sim_rand(struct sim *s);
uint64_t sim_rand_below(struct sim *s, uint64_t n);
/* ns +- jitter (the machine's op-jitter) */
uint64_t sim_jitter(struct sim *s, uint64_t ns);
uint64_t sim_rand_exp(struct sim *s, uint64_t mean);
uint64_t sim_rand_pareto(struct sim *s, uint64_t scale_ns_e4, uint32_t shape_e6);

/* ---- inside the engine ---- */
#define SIM_EPOCH_NS UINT64_C(1000000000) /* a run starts here: to the policy a stamp of 0 means "never" */
enum topo_distance sim_distance(const struct sim *s, uint32_t a, uint32_t b);
/* model.c: what things cost */
int sim_model_setup(struct sim *s);
/* by takes and holds the lock of cpu's queue: what that takes. */
uint64_t sim_lock_rq(struct sim *s, uint32_t by, uint32_t cpu);
/* The same to enqueue or dequeue a task there, with what the load sum takes; changed: the queue's load did. */
uint64_t sim_lock_rq_update(struct sim *s, uint32_t by, uint32_t cpu, bool changed);
uint64_t sim_cache_refill(struct sim *s, struct sim_task *t, uint32_t cpu);
void sim_cache_left(struct sim *s, struct sim_task *t, uint32_t cpu);
void sim_idle_predict(struct sim *s, struct sim_cpu *c);
void sim_idle_record(struct sim_cpu *c, uint64_t idle_ns);
/* From a kick sent at `now` to the CPU running again; *charge is added to what the sender pays. */
uint64_t sim_idle_exit_ns(struct sim *s, uint32_t from, uint32_t cpu, uint64_t *charge);
uint64_t sim_loadavg_tick(struct sim *s, uint32_t cpu);
/* queue.c: a CPU's queue */
int sim_queue_push(struct sim *s, uint32_t cpu, struct sim_task *t);
void sim_queue_remove(struct sim *s, uint32_t cpu, struct sim_task *t);
struct sim_task *sim_queue_oldest(struct sim *s, uint32_t cpu, uint32_t for_cpu);
/* wakeup.c */
void sim_place(struct sim *s, struct sim_task *t, struct roost_cpu *from, struct roost_cpu *to);
void sim_set_deadline(struct sim *s, struct sim_task *t, uint32_t nr_runnable);
bool sim_preempts(struct sim *s, uint32_t cpu, const struct sim_task *t);
void sim_kick_idle(struct sim *s, uint32_t from, uint32_t cpu, uint64_t cost);
/* engine.c */
void sim_kicked(struct sim *s, uint32_t cpu);
void sim_cpu_busy_account(struct sim *s, uint32_t cpu);
/* balance.c: the pull side; a task to run next on `cpu` (taken out of where it waited), or NULL */
struct sim_task *sim_pull(struct sim *s, uint32_t cpu);
struct sim_task *sim_pull_asked(struct sim *s, uint32_t cpu);
void sim_tick_balance(struct sim *s, uint32_t cpu);
/* check.c */
void sim_check(struct sim *s);
void sim_check_run(struct sim *s, const struct sim_task *t, uint32_t cpu);
void sim_dump(struct sim *s, char *buf, size_t size);
/* timeline.c */
void sim_tl_begin(struct sim *s);
void sim_tl_end(struct sim *s);
void sim_tl_run(struct sim *s, uint32_t cpu, const struct sim_task *t, uint64_t from, uint64_t to);
void sim_tl_wake(struct sim *s, uint32_t waker, uint32_t cpu, const struct sim_task *t, unsigned int rule);

/* parsing of workload options, shared */
int sim_opt_u64(const char *w, const char *opt, const char *text, uint64_t min, uint64_t max, uint64_t *out,
		struct sim_error *err);
int sim_opt_time(const char *w, const char *opt, const char *text, uint64_t min, uint64_t max, uint64_t *out,
		 struct sim_error *err);
int sim_error(struct sim_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
