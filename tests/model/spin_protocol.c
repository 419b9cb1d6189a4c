/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * idle-spin's protocol, all interleavings: one CPU (its dispatcher, its spinner thread, its idle loop) and two
 * wakers, each of which brings one task by one of the three ways there are. Every shared read and write is a
 * step of its own. A lost wakeup is a state that nothing leads out of, with a task waiting and the CPU idle and
 * not kicked, or spinning and not told. (The end of the window would lead out of the latter; it is no excuse.)
 *
 * Then the same with one thing left out or turned round, which must each be found: src/bpf/spin.bpf.h has
 * nothing in it that is not needed.
 *
 * What is modelled of the kernel: the runqueue lock, held by the CPU while it arms and by a waker from
 * `runnable` to the insertion, but not between dispatch and the spinner's first step, as dispatch may drop
 * it; need_resched, cleared when scheduling begins, without effect on a spinner that has slice left.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fault {
	NONE,
	NO_LOOK_AGAIN,      /* arming does not look for what came before the bit */
	NO_LOOK_QUEUE,      /* ... not at the queue */
	NO_LOOK_LOCAL,      /* ... not at the local queue */
	BIT_FIRST,          /* arming sets the bit, then clears the wake word */
	LOOK_FIRST,         /* arming looks, then sets the bit */
	WAKE_FIRST,         /* a waker looks at the bit, then queues */
	NO_HOOK,            /* nothing in `runnable` */
	NO_WORD,            /* a waker clears the bit and says nothing */
	LATE_WORD,          /* a spinner that yields clears the wake word after it looked at the queue ... and spins on */
	FAULTS
};
static const char *const fault_name[FAULTS] = {
	"as it is", "arming does not look again", "arming does not look at the queue", "arming does not look at the local queue",
	"bit before wake word", "look before bit", "waker looks before it queues", "no hook in runnable", "wake word not set",
	"an old wake word clears a new one",
};

enum way { QUEUE_LOCKED, QUEUE_FREE, DIRECT, WAYS };
#define WAKERS 2
#define WINDOWS 3

/* The CPU's place. */
enum {
	SCHEDULE, LOCAL, QUEUE, TAKEN, LAST_LOOK, IDLE_BIT, IDLE_LOOK, IDLE, ENTER, ARM_WORD, ARM_BIT, ARM_QUEUE, ARM_LOCAL, ARM_TELL,
	ARM_TELL_WORD, SPIN, STOP,
};
/* A waker's. */
enum { CLAIM, LOCK, HOOK_READ, HOOK_CLEAR, HOOK_WORD, COUNT, INSERT, LOOK_IDLE, CLEAR_IDLE, LOOK_SPIN, CLEAR_SPIN, WORD, UNLOCK, DONE };

struct state {
	uint8_t cpu, windows, seen, lock; /* lock: 0 free, 1 the CPU, 2 + i waker i */
	uint8_t idle, spin, wake, kick;
	uint8_t counted, queued, local, goes_on;
	uint8_t way[WAKERS], at[WAKERS];
};

static enum fault broken;

/* ---- the set of states seen ---- */

static struct state *seen;
static bool *used;
static size_t size, nr_seen;

static void table(size_t n)
{
	free(seen);
	free(used);
	size = n;
	nr_seen = 0;
	seen = calloc(n, sizeof(*seen));
	used = calloc(n, sizeof(*used));
	if (!seen || !used)
		exit(2);
}

static bool add(const struct state *s)
{
	const uint8_t *b = (const uint8_t *)s;
	uint64_t h = 14695981039346656037ull;

	for (size_t i = 0; i < sizeof(*s); i++)
		h = (h ^ b[i]) * 1099511628211ull;
	for (size_t i = h % size;; i = (i + 1) % size) {
		if (!used[i]) {
			used[i] = true;
			seen[i] = *s;
			if (++nr_seen * 2 > size) {
				fprintf(stderr, "spin_protocol: too many states\n");
				exit(2);
			}
			return true;
		}
		if (!memcmp(&seen[i], s, sizeof(*s)))
			return false;
	}
}

/* ---- steps: each fills *n with the state after it; false = cannot ---- */

static bool locked(struct state *n, uint8_t who)
{
	if (n->lock && n->lock != who)
		return false;
	n->lock = who;
	return true;
}

/* @choice: 0 and 1, where there is one. */
static bool step_cpu(const struct state *s, struct state *n, int choice)
{
	*n = *s;
	switch (s->cpu) {
	case SCHEDULE:
		n->kick = 0;
		n->cpu = LOCAL;
		return !choice;
	case LOCAL:
		if (choice || (s->lock && s->lock != 1))
			return false;
		if (s->local) {
			n->local--;
			n->idle = 0;    /* it runs */
			n->goes_on = 0;
			n->cpu = SCHEDULE;
		} else {
			n->cpu = QUEUE;
		}
		return true;
	case QUEUE:
		if (choice)
			return false;
		if (s->queued) {
			n->queued--;
			n->cpu = TAKEN;
			return true;
		}
		n->cpu = LAST_LOOK;
		return true;
	case TAKEN:
		n->counted--;
		n->idle = 0;
		n->goes_on = 0;
		n->cpu = SCHEDULE;
		return !choice;
	case LAST_LOOK:     /* nothing: spin (or go on spinning), or idle */
		if (s->goes_on) {
			n->cpu = broken == BIT_FIRST ? ARM_BIT : broken == LOOK_FIRST ? ARM_QUEUE : ARM_WORD;
			if (choice)
				return false;
			n->seen = 0;
			return true;
		}
		if (!choice) {
			n->cpu = IDLE_BIT;
			return true;
		}
		if (s->windows == WINDOWS)
			return false;
		n->windows++;
		n->cpu = ENTER;
		return true;
	case IDLE_BIT:
		n->idle = 1;
		n->cpu = IDLE_LOOK;
		return !choice;
	case IDLE_LOOK:
		if (s->counted)
			n->kick = 1;
		n->cpu = IDLE;
		return !choice;
	case IDLE:          /* a nudge for the spinner is a kick that brings no work */
		if (s->kick ? choice : !choice || s->windows == WINDOWS)
			return false;
		n->cpu = SCHEDULE;
		return true;
	case ENTER:
		n->idle = 0;
		n->seen = 0;
		n->cpu = broken == BIT_FIRST ? ARM_BIT : broken == LOOK_FIRST ? ARM_QUEUE : ARM_WORD;
		return !choice;
	case ARM_WORD:
		if (choice || !locked(n, 1))
			return false;
		n->wake = 0;
		n->cpu = broken == BIT_FIRST ? ARM_QUEUE : ARM_BIT;
		return true;
	case ARM_BIT:
		if (choice || !locked(n, 1))
			return false;
		n->spin = 1;
		n->cpu = broken == BIT_FIRST ? ARM_WORD : broken == LOOK_FIRST ? ARM_TELL : ARM_QUEUE;
		return true;
	case ARM_QUEUE:
		if (choice || !locked(n, 1))
			return false;
		if (s->counted && broken != NO_LOOK_AGAIN && broken != NO_LOOK_QUEUE)
			n->seen = 1;
		n->cpu = ARM_LOCAL;
		return true;
	case ARM_LOCAL:
		if (choice)
			return false;
		if (s->local && broken != NO_LOOK_AGAIN && broken != NO_LOOK_LOCAL)
			n->seen = 1;
		if (broken == LOOK_FIRST) {
			n->wake = 0;
			n->cpu = ARM_BIT;
		} else {
			n->cpu = ARM_TELL;
		}
		return true;
	case ARM_TELL:
		if (s->seen)
			n->spin = 0;
		n->cpu = ARM_TELL_WORD;
		return !choice;
	case ARM_TELL_WORD:
		if (s->seen)
			n->wake = 1;
		n->seen = 0;
		n->lock = 0;
		n->cpu = SPIN;
		return !choice;
	case SPIN:          /* told: yields; or, on its own, the end of the window: blocks */
		if (choice == 0) {
			if (!s->wake)
				return false;
			n->goes_on = 1;
		} else {
			n->goes_on = 0;
		}
		n->kick = 0;
		n->cpu = STOP;
		return true;
	case STOP:          /* one that yields and is not replaced keeps running: its bit is not touched */
		if (choice)
			return false;
		if (!s->goes_on)
			n->spin = 0;
		if (broken == LATE_WORD && s->goes_on) {
			n->wake = 0;
			n->spin = 1;
			n->goes_on = 0;
			n->cpu = s->local || s->queued ? SCHEDULE : SPIN;
			return true;
		}
		n->cpu = SCHEDULE;
		return true;
	}
	return false;
}

static bool step_waker(const struct state *s, struct state *n, int i)
{
	uint8_t me = (uint8_t)(2 + i);

	*n = *s;
	switch (s->at[i]) {
	case CLAIM:         /* select_cpu: an idle CPU is claimed, or the task is queued */
		if (s->way[i] == DIRECT) {
			if (s->idle)
				n->idle = 0;
			else
				n->way[i] = QUEUE_LOCKED;
		}
		n->at[i] = n->way[i] == QUEUE_FREE ? (broken == WAKE_FIRST ? LOOK_IDLE : COUNT) : LOCK;
		return true;
	case LOCK:
		if (!locked(n, me))
			return false;
		n->at[i] = broken == NO_HOOK ? COUNT : HOOK_READ;
		return true;
	case HOOK_READ:
		n->at[i] = s->spin ? HOOK_CLEAR : COUNT;
		return true;
	case HOOK_CLEAR:
		n->spin = 0;
		n->at[i] = s->spin ? HOOK_WORD : COUNT;
		return true;
	case HOOK_WORD:
		if (broken != NO_WORD)
			n->wake = 1;
		n->at[i] = COUNT;
		return true;
	case COUNT:
		if (s->way[i] == DIRECT) {
			n->local++;
			n->kick = 1;    /* the kernel's own resched of an idle CPU */
			n->at[i] = UNLOCK;
			return true;
		}
		n->counted++;
		n->at[i] = INSERT;
		return true;
	case INSERT:
		n->queued++;
		n->at[i] = broken == WAKE_FIRST && s->way[i] == QUEUE_FREE ? UNLOCK : LOOK_IDLE;
		return true;
	case LOOK_IDLE:
		n->at[i] = s->idle ? CLEAR_IDLE : LOOK_SPIN;
		return true;
	case CLEAR_IDLE:
		n->idle = 0;
		if (s->idle)
			n->kick = 1;
		n->at[i] = s->idle ? (broken == WAKE_FIRST && s->way[i] == QUEUE_FREE ? COUNT : UNLOCK) : LOOK_SPIN;
		return true;
	case LOOK_SPIN:
		n->at[i] = s->spin ? CLEAR_SPIN : broken == WAKE_FIRST && s->way[i] == QUEUE_FREE ? COUNT : UNLOCK;
		return true;
	case CLEAR_SPIN:
		n->spin = 0;
		n->at[i] = s->spin ? WORD : broken == WAKE_FIRST && s->way[i] == QUEUE_FREE ? COUNT : UNLOCK;
		return true;
	case WORD:
		if (broken != NO_WORD)
			n->wake = 1;
		n->at[i] = broken == WAKE_FIRST && s->way[i] == QUEUE_FREE ? COUNT : UNLOCK;
		return true;
	case UNLOCK:
		if (s->lock == me)
			n->lock = 0;
		n->at[i] = DONE;
		return true;
	}
	return false;
}

static bool lost(const struct state *s)
{
	for (int i = 0; i < WAKERS; i++)
		if (s->at[i] != DONE)
			return false;
	if (!s->queued && !s->local)
		return false;
	return (s->cpu == IDLE && !s->kick) || (s->cpu == SPIN && !s->wake);
}

/* True: none is lost. The stack holds states not yet looked into. */
static bool explore(enum fault fault)
{
	static struct state *stack;
	static size_t room;
	size_t depth = 0;
	struct state s, n;
	bool ok = true;

	broken = fault;
	table(1u << 22);
	if (!stack) {
		room = 1u << 22;
		stack = malloc(room * sizeof(*stack));
		if (!stack)
			exit(2);
	}
	for (int a = 0; a < WAYS; a++) {
		for (int b = a; b < WAYS; b++) {
			memset(&s, 0, sizeof(s));
			s.way[0] = (uint8_t)a;
			s.way[1] = (uint8_t)b;
			if (add(&s))
				stack[depth++] = s;
		}
	}
	while (depth) {
		s = stack[--depth];
		if (lost(&s)) {
			ok = false;
			break;
		}
		for (int i = 0; i < 2 + WAKERS; i++) {
			if (!(i < 2 ? step_cpu(&s, &n, i) : step_waker(&s, &n, i - 2)) || !add(&n))
				continue;
			if (depth == room)
				exit(2);
			stack[depth++] = n;
		}
	}
	return ok;
}

int main(void)
{
	int bad = 0;

	for (int f = 0; f < FAULTS; f++) {
		bool ok = explore((enum fault)f);

		printf("%-45s %8zu states: %s\n", fault_name[f], nr_seen, ok ? "no wakeup lost" : "a wakeup lost");
		if (ok != (f == NONE)) {
			printf("  that is wrong\n");
			bad = 1;
		}
	}
	return bad;
}
