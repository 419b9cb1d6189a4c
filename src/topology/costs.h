/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The figures of the machine model: one integer each, with a unit and a source, all read from data files
 * (machines/NAME.machine, machines/generic.costs, --costs FILE). This header only names them; no figure stands
 * in code. docs/model.md says what each does in the model.
 */
#ifndef ROOST_COSTS_H
#define ROOST_COSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct topo_error;

/* X(symbol, key, unit, smallest, largest, what it is) */
#define COST_TABLE(X)                                                                                             \
	X(SYSCALL, "syscall", "ns", 0, 100000, "a null system call")                                              \
	X(SWITCH, "context-switch", "ns", 0, 1000000, "context switch between two tasks on one CPU")              \
	X(SWITCH_IDLE, "idle-switch", "ns", 0, 1000000, "switch between the idle loop and a task, each way")      \
	X(BLOCK, "block", "ns", 0, 1000000, "the way into the scheduler of a task that blocks")                   \
	X(WAKE, "wakeup", "ns", 0, 1000000, "the waker's side of a wakeup, without search, lock and kick")        \
	X(PIPE_OP, "pipe-op", "ns", 0, 1000000, "a pipe read or write that does not block, small message")        \
	X(PIPE_KB, "pipe-copy", "ns/KB", 0, 1000000, "copying into or out of a pipe, a kilobyte")                 \
	X(SOCKET_OP, "socket-op", "ns", 0, 1000000, "a small socket read or write that does not block")           \
	X(FUTEX_OP, "futex-op", "ns", 0, 1000000, "a futex call that wakes nobody")                               \
	X(IPI_SEND, "ipi-send", "ns", 0, 1000000, "sending an inter-processor interrupt, on the sender")          \
	X(IPI_LLC, "ipi-llc", "ns", 0, 1000000, "its flight and handling, inside an LLC")                         \
	X(IPI_FAR, "ipi-far", "ns", 0, 1000000, "the same, to another LLC of the socket")                         \
	X(IPI_SOCKET, "ipi-socket", "ns", 0, 1000000, "the same, to another socket")                              \
	X(POLL_WAKE, "poll-wake", "ns", 0, 1000000, "a polling idle CPU sees a wakeup without an interrupt")      \
	X(GUEST, "guest", "flag", 0, 1, "a virtual machine: halting leaves to the host")                          \
	X(GUEST_HALT, "guest-halt-exit", "ns", 0, 10000000, "guest: leaving to the host when a CPU halts")        \
	X(GUEST_WAKE, "guest-wake", "ns", 0, 10000000, "guest: from the kick to running again after a halt")      \
	X(GUEST_IPI_EXIT, "guest-ipi-exit", "ns", 0, 1000000, "guest: the sender's exit when it sends one")       \
	X(GUEST_POLL, "guest-haltpoll", "ns", 0, 1000000000, "guest: polling before it halts (cpuidle haltpoll)") \
	X(IDLE1_EXIT, "idle1-exit", "ns", 0, 10000000, "exit latency of the first idle state")                    \
	X(IDLE1_RES, "idle1-residency", "ns", 0, 100000000, "its target residency")                               \
	X(IDLE2_EXIT, "idle2-exit", "ns", 0, 10000000, "exit latency of the second idle state; 0: none")          \
	X(IDLE2_RES, "idle2-residency", "ns", 0, 100000000, "its target residency")                               \
	X(IDLE3_EXIT, "idle3-exit", "ns", 0, 10000000, "exit latency of the third idle state; 0: none")           \
	X(IDLE3_RES, "idle3-residency", "ns", 0, 100000000, "its target residency")                               \
	X(L2, "l2", "bytes", 0, INT64_C(1) << 40, "second-level cache of a core")                                 \
	X(L3, "l3", "bytes", 0, INT64_C(1) << 40, "last-level cache of an LLC")                                   \
	X(L3_INCLUSIVE, "l3-inclusive", "flag", 0, 1, "1: what is in L2 is in L3 too; 0: victim cache")           \
	X(BW_L3, "l3-bandwidth", "MB/s", 1, 100000000, "refill of a core from its L3")                            \
	X(BW_CROSS, "cross-bandwidth", "MB/s", 1, 100000000, "refill from another LLC or its memory")             \
	X(BW_REMOTE, "remote-bandwidth", "MB/s", 1, 100000000, "refill from another socket")                      \
	X(LINE_SMT, "line-smt", "ns", 0, 100000, "a line from the SMT sibling")                                   \
	X(LINE_LLC, "line-llc", "ns", 0, 100000, "a line from a core of the same LLC")                            \
	X(LINE_FAR, "line-far", "ns", 0, 100000, "a line from another LLC of the socket")                         \
	X(LINE_SOCKET, "line-socket", "ns", 0, 100000, "a line from another socket")                              \
	X(WAKE_LINES, "wakeup-lines", "lines", 0, 1000, "lines a remote wakeup and its hand-over move")           \
	X(DATA_LINES, "message-lines", "lines", 0, 1000, "lines a message moves from writer to reader")           \
	X(SMT_SPEED, "smt-speed", "permille", 100, 1000, "speed of a CPU whose sibling is busy too")              \
	X(RQ_HOLD, "runqueue-hold", "ns", 0, 1000000, "a runqueue lock is held this long an operation")           \
	X(SCAN_PROP, "scan-by-idle-time", "flag", 0, 1, "kernel: 1: searches as long as idle periods pay for, not by utilisation") \
	X(SCAN_CPU, "scan-cpu", "ns", 0, 1000000, "an idle search looks at one CPU of the LLC")                   \
	X(JITTER, "op-jitter", "permille", 0, 900, "how much an operation's time varies, either way")               \
	X(FOOTPRINT, "footprint", "bytes", 0, 1 << 30, "what a message-passing task touches each time it runs")   \
	X(IRQ, "interrupt", "ns", 0, 1000000, "a device or timer interrupt, on the CPU that takes it")            \
	X(IDLE_MWAIT, "idle-mwait", "flag", 0, 1, "the first idle state watches a line: a kick is a store")       \
	X(TICK, "tick", "ns", 100000, 1000000000, "period of the scheduler's tick")                               \
	X(TICK_COST, "tick-cost", "ns", 0, 1000000, "time a tick takes")                                          \
	X(SLICE, "slice", "ns", 100000, 1000000000, "slice of a task before another gets its turn")               \
	X(LATENCY, "latency", "ns", 0, 1000000000, "kernel: each task of a queue runs once in this; 0: slices as roost's")  \
	X(WAKEUP_GRAN, "wakeup-granularity", "ns", 0, 1000000000, "kernel: a wakee this far behind preempts")      \
	X(SLEEPER_CREDIT, "sleeper-credit", "ns", 0, 1000000000, "kernel: the most a sleeper starts ahead by")    \
	X(MIGRATION_COST, "migration-cost", "ns", 0, 1000000000, "a task that ran this recently is cache-hot")    \
	X(BALANCE_LINES, "balance-lines", "lines", 0, 1000, "lines a balancing pass reads of each CPU it looks at") \
	X(NEWIDLE_FLOOR, "newidle-floor", "ns", 0, 1000000000, "kernel: no newidle pass where idle periods are shorter") \
	X(BALANCE_MIN, "balance-interval", "ns", 100000, 10000000000, "shortest time between periodic balances")  \
	X(LOADAVG, "load-average", "ns", 0, 1000000, "updating the group's shared load sum, uncontended line")    \
	X(WAKELIST_IDLE, "wakelist-idle", "flag", 0, 1, "kernel: 1: an idle CPU of the LLC enqueues what it is sent itself too") \
	X(LOADAVG_NS, "load-average-period", "ns", 0, 1000000000, "shortest time between two such updates")

enum cost_id {
#define COST_ENUM(sym, ...) COST_##sym,
	COST_TABLE(COST_ENUM)
#undef COST_ENUM
	COST_NR,
};

struct cost_info {
	const char *key, *unit, *help;
	int64_t min, max;
};
extern const struct cost_info cost_infos[COST_NR];

#define COST_SOURCE_MAX 120
struct costs {
	int64_t v[COST_NR];
	bool set[COST_NR];
	char source[COST_NR][COST_SOURCE_MAX]; /* "KIND: where from"; KIND as in cost_source_kinds */
};

/* What kind of knowledge a figure is: the first word of its source. */
extern const char *const cost_source_kinds[]; /* NULL-terminated */

int cost_find(const char *key); /* its id or -1 */
/* Fitted on this machine, or taken over from one where it was ("derived: ... fitted"): --sensitivity varies those. */
static inline bool cost_is_fitted(const struct costs *c, int id)
{
	return strstr(c->source[id], "fitted") != NULL;
}

/* machines/generic.costs. */
void costs_generic(struct costs *c);
/* Puts the figures of FILE over those in *c. */
int costs_overlay_file(struct costs *c, const char *path, struct topo_error *err);
int costs_overlay_text(struct costs *c, const char *text, const char *where, struct topo_error *err);

#endif
