/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The protocol of slice-ext, explored exhaustively: the client's real begin, end and leave against the real
 * rules, with the scheduler let in between any two accesses of the thread to its two bytes.
 *
 * Terms: a *point* is a place where an interrupt may come (ROOST_SLICE_POINT_); at each the model takes one
 * of the *events* below, then asks again, until it takes "go on". A *state* is the point with all that can
 * matter later. Each state's events are taken once, by running the program anew along the recorded path:
 * when no unseen state is left, every interleaving has been covered, however long.
 *
 * Checked: a thread always learns of its grant in the section in which it got it, and gives the CPU up only
 * after one that was running when it looked; one grant a section, and the first preemption in a section gets it;
 * past the end of a grant the first look of the scheduler, or the timer, takes the CPU; no section begins
 * with a grant running; whoever comes after a thread that vanished inherits nothing; a child of a fork touches nothing.
 *
 * Time is two values: before and past the end of the running grant. The budget is a yes or no.
 * --bug N breaks one rule and must be found out; without it the bugs are all tried.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static void at_point(const char *where);
static int model_yield(void);

#define ROOST_SLICE_POINT_(where) at_point(where)
#include "roost/slice.h"
#include "policy/slice_ext.h"

/* The library itself, with the one call out of it caught. */
#define sched_yield model_yield
#include "slice/slice.c"
#undef sched_yield

enum event {
	GO_ON = 0,
	PREEMPT,                /* the slice ends, or a wakeup would preempt */
	PREEMPT_NO_BUDGET,      /* the same with the CPU's budget used up */
	TIMER,                  /* the grant's end, on time */
	TIME_PASSES,            /* past the grant's end; the timer is late */
	BLOCK,                  /* the thread gives the CPU up by itself, or a page fault does */
	HIGHER_CLASS,           /* a real-time task takes the CPU */
	ALONE,                  /* the slice ends, or the thread yields, and nobody wants the CPU: it goes on */
	STOP_AND_MIGRATE,       /* as BLOCK, and it wakes on the other CPU */
	VANISH,                 /* the thread ends without a word; another with its number registers */
	FORK,
	NR_EVENTS
};
static const char *const event_name[] = { "go on", "preempt", "preempt, no budget", "timer", "time passes", "block",
					  "higher class", "alone", "stop and migrate", "vanish", "fork" };

enum bug { NO_BUG, BUG_SPENT_FORGOTTEN, BUG_RENEWED, BUG_REMOTE, BUG_HELD_PAST_END, BUG_DIRTY_SLOT, BUG_LEFT_OPEN, NR_BUGS };
static const char *const bug_name[] = { "none", "the end of a grant leaves the byte at GRANTED", "a section's grant is renewed",
					"the scheduler acts on a request it read earlier", "a grant is held past its end",
					"a slot is taken over as it is", "a thread that goes on keeps its grant" };
static enum bug bug;

static struct roost_knobs knobs = { .slice_ext_ns = 1000, .slice_ext_overruns = 2 };
static struct slice_map map;
static struct roost_slice_slot slots[ROOST_SLICE_SLOTS_MIN];

/* All that is reset at the start of a path. */
static struct world {
	struct roost_task task;
	struct roost_ext_cpu cpu[2];
	u64 now;
	int on_cpu;
	/* what the checks remember */
	int in_section;         /* between begin and the return of end */
	int grants;             /* in this section */
	int refused;            /* in this section, for want of budget or blocked: then none is owed */
	int learned;
	int running_when_read;  /* the grant, when leave looked */
	int alone;              /* nobody wants the CPU: a yield comes back at once */
	int old_request[2];     /* one and two points ago, for BUG_REMOTE */
} w;

#define PATH_MAX_EVENTS 120
struct path {
	unsigned char event[PATH_MAX_EVENTS];
	int length;
};

static struct path *work;
static size_t nr_work, room_work;
static struct path now_path;
static int replay;              /* how much of now_path is given */
static jmp_buf path_end, thread_end;
static const char *fault;
static unsigned long nr_paths, nr_forks;

/* Seen states: open addressing. */
static unsigned char (*seen)[48];
static size_t nr_seen, room_seen;

static void end_path(const char *what)
{
	fault = what;
	longjmp(path_end, 1);
}

static void must(int ok, const char *what)
{
	if (!ok)
		end_path(what);
}

static struct roost_slice_slot *slot(void)
{
	return me.slot;
}

static struct roost_ext_cpu *cpu(void)
{
	return &w.cpu[w.on_cpu];
}

static int grant_runs(void)
{
	return roost_ext_running(&w.task, cpu());
}

/* The thread is off the CPU for a while, in which another has a grant there. */
static void off_cpu(void)
{
	struct roost_task other = { .pid = 2 };
	u32 end;

	end = roost_ext_slot_stop(&knobs, &w.task, cpu(), &slot()->request, &slot()->granted, w.now);
	if (bug == BUG_SPENT_FORGOTTEN && end != ROOST_EXT_END_NONE && slot()->granted == ROOST_EXT_SPENT)
		slot()->granted = ROOST_EXT_GRANTED;
	must(!grant_runs(), "a grant outlives the thread's stop");
	cpu()->stamp_ns = 0;
	must(roost_ext_at_preempt(&knobs, &other, cpu(), 1, 0, w.now) == ROOST_EXT_GRANT, "another thread's grant is refused");
	must(!grant_runs(), "another's grant is taken for the thread's own");
	must(roost_ext_at_stop(&knobs, &other, cpu(), 1, w.now) == ROOST_EXT_END_CUT, "another's grant does not end");
	w.now += 10;
}

/* The thread goes on with a slice of its own, as dispatch lets it. */
static void goes_on(void)
{
	if (bug == BUG_LEFT_OPEN)
		return;
	roost_ext_slot_stop(&knobs, &w.task, cpu(), &slot()->request, &slot()->granted, w.now);
	must(!grant_runs(), "a grant outlives the slice it was granted to");
}

static void preempt(int budget)
{
	volatile u8 *granted = &slot()->granted;
	u8 spent = *granted, old = (u8)w.old_request[1];
	int owed = w.in_section && slot()->request && !w.grants && !w.refused && budget && !grant_runs() &&
		   w.now >= w.task.ext_blocked_until_ns;
	int past = grant_runs() && w.now >= w.task.ext_end_ns;
	u32 verdict;

	cpu()->stamp_ns = budget ? 0 : w.now;
	cpu()->bucket_ns = 0;
	if (bug == BUG_RENEWED)
		*granted = 0;
	if (bug == BUG_HELD_PAST_END && past)
		return;
	verdict = roost_ext_slot_preempt(&knobs, &w.task, cpu(), bug == BUG_REMOTE ? &old : &slot()->request, granted, w.now);
	if (bug == BUG_RENEWED && verdict != ROOST_EXT_GRANT)
		*granted = spent;
	must(!owed || verdict == ROOST_EXT_GRANT, "the first preemption in a section got no grant");
	switch (verdict) {
	case ROOST_EXT_GRANT:
		must(w.in_section, "a grant outside of a section");
		must(w.grants == 0, "a second grant in one section");
		w.grants++;
		return;
	case ROOST_EXT_HOLD:
		must(!past, "a grant is held past its end");
		return;
	default:
		if (slot()->request && !w.grants)
			w.refused = 1;
		off_cpu();
	}
}

static int model_yield(void)
{
	must(w.grants > 0, "the CPU is given up without a grant");
	must(w.running_when_read, "the CPU is given up for a grant that was over when the thread looked");
	at_point("yield");
	if (w.alone)
		goes_on();
	else
		preempt(1);
	w.alone = 0;
	return 0;
}

/* In the child nothing may reach the parent's slot. */
static void fork_here(void)
{
	struct roost_slice_slot before = *slot();
	pid_t pid;
	int status;

	nr_forks++;
	pid = fork();
	if (!pid) {
		struct roost_slice_slot *parents = slot();

		pthread_mutex_lock(&lock);
		maps = NULL;            /* these maps are the model's memory: not to be unmapped */
		process_map = NULL;
		after_fork_child();
		if (roost_slice_self_ || roost_slice_backend() != ROOST_SLICE_NONE)
			_exit(1);
		replay = -1;            /* points are silent */
		roost_slice_begin();
		roost_slice_end();
		_exit(memcmp(parents, &before, sizeof(before)) ? 2 : 0);
	}
	waitpid(pid, &status, 0);
	must(status == 0, "the child of a fork is not unregistered, or wrote into its parent's slot");
	must(!memcmp(slot(), &before, sizeof(before)), "a fork changed the slot");
}

static void take(enum event e)
{
	switch (e) {
	case PREEMPT:
	case PREEMPT_NO_BUDGET:
		preempt(e == PREEMPT);
		break;
	case TIMER:
		w.now = cpu()->end_ns;
		must(roost_ext_at_timer(cpu(), w.now) || bug == BUG_HELD_PAST_END, "the timer fires for nothing");
		preempt(1);
		must(!grant_runs(), "the timer did not end the grant");
		break;
	case TIME_PASSES:
		w.now = cpu()->end_ns + 1;
		break;
	case ALONE:
		goes_on();
		w.alone = 1;
		break;
	case STOP_AND_MIGRATE:
		off_cpu();
		w.on_cpu = !w.on_cpu;
		break;
	case VANISH:
		off_cpu();
		longjmp(thread_end, 1);
	case FORK:
		fork_here();
		break;
	default:
		off_cpu();
	}
}

static int possible(enum event e)
{
	if (e == TIMER || e == TIME_PASSES)
		return grant_runs() && w.now < w.task.ext_end_ns;
	if (e == ALONE)
		return !w.alone;
	if (e == FORK)
		return bug == NO_BUG;   /* slow, and no bug is about it */
	return 1;
}

/* What can matter later, with numbers and times brought down to what they mean. */
static void describe(const char *where, unsigned char out[48])
{
	struct {
		const char *where;
		unsigned char request, granted, grant_runs, past, overruns, blocked, on_cpu;
		unsigned char in_section, grants, refused, learned, running_when_read, alone, old[2];
	} s;

	memset(&s, 0, sizeof(s));
	s.where = where;
	s.request = slot()->request;
	s.granted = slot()->granted;
	s.grant_runs = grant_runs() != 0;
	s.past = s.grant_runs && w.now >= w.task.ext_end_ns;
	s.overruns = (unsigned char)w.task.ext_overruns;
	s.blocked = w.now < w.task.ext_blocked_until_ns;
	s.on_cpu = (unsigned char)w.on_cpu;
	s.in_section = (unsigned char)w.in_section;
	s.grants = (unsigned char)w.grants;
	s.refused = (unsigned char)w.refused;
	s.learned = (unsigned char)w.learned;
	s.running_when_read = (unsigned char)w.running_when_read;
	s.alone = (unsigned char)w.alone;
	for (int i = 0; bug == BUG_REMOTE && i < 2; i++)
		s.old[i] = (unsigned char)w.old_request[i];
	memset(out, 0, 48);
	_Static_assert(sizeof(s) <= 48, "fits");
	memcpy(out, &s, sizeof(s));
}

static size_t find(const unsigned char want[48])
{
	static const unsigned char empty[48];
	unsigned long h = 1469598103934665603ul;
	size_t i;

	for (i = 0; i < 48; i++)
		h = (h ^ want[i]) * 1099511628211ul;
	for (i = h % room_seen; memcmp(seen[i], empty, 48) && memcmp(seen[i], want, 48); i = (i + 1) % room_seen)
		;
	return i;
}

/* 0 when this state was seen before. */
static int see(const char *where)
{
	unsigned char is[48];
	size_t i;

	describe(where, is);
	i = find(is);
	if (!memcmp(seen[i], is, 48))
		return 0;
	memcpy(seen[i], is, 48);
	if (++nr_seen * 2 > room_seen) {
		fprintf(stderr, "slice_protocol: more states than there is room for\n");
		exit(1);
	}
	return 1;
}

static void push(enum event e)
{
	if (nr_work == room_work) {
		room_work = room_work ? room_work * 2 : 1024;
		work = realloc(work, room_work * sizeof(*work));
		if (!work)
			exit(1);
	}
	work[nr_work] = now_path;
	work[nr_work].event[now_path.length] = (unsigned char)e;
	work[nr_work++].length = now_path.length + 1;
}

static void at_point(const char *where)
{
	if (replay < 0)
		return;
	if (!strcmp(where, "leave: the grant was read")) {
		w.learned = 1;
		/* what the thread holds in its register now */
		w.running_when_read = slot()->granted == ROOST_SLICE_GRANTED && (grant_runs() || bug == BUG_REMOTE);
	}
	for (;;) {
		enum event e;

		if (!now_path.length || replay == 0) {
			/* new ground */
			if (!see(where))
				end_path(NULL);
			if (now_path.length == PATH_MAX_EVENTS)
				end_path("a path is longer than there is room for");
			for (e = 1; e < NR_EVENTS; e++)
				if (possible(e))
					push(e);
			e = GO_ON;
			now_path.event[now_path.length++] = GO_ON;
		} else {
			e = now_path.event[now_path.length - replay];
			replay--;
		}
		if (e == GO_ON) {
			w.old_request[1] = w.old_request[0];
			w.old_request[0] = slot()->request;
			return;
		}
		take(e);
	}
}

static void section(void)
{
	must(!grant_runs(), "a section begins with the grant of one before");
	w.in_section = 1;
	w.alone = 0;
	w.grants = w.refused = w.learned = w.running_when_read = 0;
	roost_slice_begin();
	at_point("inside");
	roost_slice_end();
	must(!w.grants || w.learned, "the thread did not learn of its grant");
	must(slot()->granted == 0, "a grant is left over for the next section");
	w.in_section = 0;
	w.grants = 0;
	at_point("outside");
}

/* A thread registers, the one before it having left what it may. */
static void new_thread(void)
{
	memset(&me, 0, sizeof(me));
	if (bug == BUG_DIRTY_SLOT && slots[1].owner)
		me.slot = &slots[1];
	else
		me.slot = slice_map_claim(&map, 1);
	me.map = &map;
	me.backend = ROOST_SLICE_ROOST;
	memset(&w.task, 0, sizeof(w.task));
	w.task.pid = 1;
	w.in_section = w.grants = w.refused = w.learned = w.running_when_read = 0;
	roost_slice_self_ = (struct roost_slice_ctrl_ *)me.slot;
	must(me.slot == &slots[1], "the slot of a thread that vanished is not found again");
	must(!me.slot->request && !me.slot->granted, "a new thread inherits a request or a grant");
}

/* One path. NULL, or what is wrong. */
static const char *run_path(void)
{
	fault = NULL;
	nr_paths++;
	if (setjmp(path_end))
		return fault;
	memset(&w, 0, sizeof(w));
	memset(slots, 0, sizeof(slots));
	w.now = 1000000;
	map = (struct slice_map){ .slots = slots, .nr_slots = ROOST_SLICE_SLOTS_MIN, .sock = -1 };
	replay = now_path.length;
	setjmp(thread_end);
	new_thread();
	for (;;)
		section();
}

static const char *explore(void)
{
	const char *wrong = NULL;

	memset(seen, 0, room_seen * 48);
	nr_seen = nr_work = nr_paths = nr_forks = 0;
	now_path.length = 0;
	wrong = run_path();
	while (!wrong && nr_work) {
		now_path = work[--nr_work];
		wrong = run_path();
	}
	return wrong;
}

static void print_path(void)
{
	for (int i = 0; i < now_path.length; i++)
		if (now_path.event[i] != GO_ON)
			printf("    at point %d: %s\n", i, event_name[now_path.event[i]]);
}

int main(void)
{
	const char *wrong;
	int failed = 0;

	room_seen = 1 << 16;
	seen = calloc(room_seen, 48);
	if (!seen)
		return 1;
	wrong = explore();
	if (wrong) {
		printf("slice_protocol: %s\n", wrong);
		print_path();
		return 1;
	}
	printf("slice_protocol: %zu states, %lu paths, %lu forks: all as it should be\n", nr_seen, nr_paths, nr_forks);
	/* A model that finds nothing wrong with these would prove nothing. */
	for (bug = 1; bug < NR_BUGS; bug++) {
		wrong = explore();
		printf("slice_protocol: with the bug \"%s\": %s\n", bug_name[bug], wrong ? wrong : "NOT FOUND");
		failed |= !wrong;
	}
	return failed;
}
