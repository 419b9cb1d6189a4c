/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lock fight: more threads than CPUs, for some seconds: spin until the lock looks free, announce a critical
 * section, compare-and-swap it, count, release, end the section, give the CPU up if asked, spin until the
 * count moves. Reported: rounds, total wait, and how often a holder was preempted while it held the lock.
 *
 * The last comes from the kernel itself, without a call per round: before the section the thread stores a
 * restartable-sequence descriptor that covers no code it runs. On its way back to a thread that was
 * preempted, migrated or signalled, the kernel finds the thread outside the sequence and clears the
 * pointer; a cleared pointer after the section means that the holder lost its CPU.
 */
#include "load/load.h"
#include "load/lockfight.h"
#include "load/util.h"
#include "measure/hist.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/rseq.h>

struct conf {
	uint64_t threads, run_ns, hold_ns, slice;
};

struct fight {
	const struct conf *conf;
	const struct lock_hooks *hooks;
	_Atomic int go, stop;
	struct {
		_Atomic uint32_t held;
	} lock __attribute__((aligned(64)));
	struct {
		_Atomic uint64_t count;
	} rounds __attribute__((aligned(64)));
};

struct fighter {
	struct fight *f;
	pthread_t thread;
	int rc, can_watch;
	uint64_t rounds, wait_ns, hold_ns, preempted, grants;
	struct hist wait;
} __attribute__((aligned(64)));

static int none_enter(void)
{
	return 0;
}

static void none_nothing(void)
{
}

static int none_end(void)
{
	return 0;
}

const struct lock_hooks lock_hooks_none = {
	.name = "none", .enter_thread = none_enter, .leave_thread = none_nothing, .begin = none_nothing, .end = none_end,
};

/* A sequence one byte long in a function nobody calls; the word before the abort address is the signature. */
struct outside {
	uint32_t signature;
	uint32_t abort_here;
};
static const struct outside outside = { RSEQ_SIG, 0 };
static const char never_run[8];

static struct rseq *own_rseq(void)
{
	return __rseq_size ? (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset) : NULL;
}

/* The pointer is a plain number or a union, by the age of the headers. */
typedef volatile uint64_t __attribute__((may_alias)) rseq_cs_word;

static void watch_begin(struct rseq *r, const struct rseq_cs *cs)
{
	if (r)
		*(rseq_cs_word *)&r->rseq_cs = (uint64_t)(uintptr_t)cs;
}

/* 1 when the thread lost its CPU since watch_begin(). */
static int watch_end(struct rseq *r)
{
	int lost;

	if (!r)
		return 0;
	lost = *(rseq_cs_word *)&r->rseq_cs == 0;
	*(rseq_cs_word *)&r->rseq_cs = 0;
	return lost;
}

/* The section itself: count, and stay for as long as the user asked. */
static uint64_t hold(struct fight *f, struct fighter *me, uint64_t since_ns)
{
	uint64_t mine = atomic_fetch_add_explicit(&f->rounds.count, 1, memory_order_relaxed) + 1;

	me->rounds++;
	while (f->conf->hold_ns && load_now_ns() - since_ns < f->conf->hold_ns)
		load_pause();
	return mine;
}

static int take(struct fight *f, struct rseq *r, const struct rseq_cs *cs, struct fighter *me)
{
	while (!atomic_load_explicit(&f->stop, memory_order_relaxed)) {
		uint32_t is_free = 0;

		if (atomic_load_explicit(&f->lock.held, memory_order_relaxed)) {
			load_pause();
			continue;
		}
		f->hooks->begin();
		watch_begin(r, cs);
		if (atomic_compare_exchange_strong_explicit(&f->lock.held, &is_free, 1, memory_order_acquire,
							    memory_order_relaxed))
			return 1;
		watch_end(r);
		me->grants += (uint64_t)f->hooks->end();
	}
	return 0;
}

static void *fighter_main(void *arg)
{
	struct fighter *me = arg;
	struct fight *f = me->f;
	struct rseq *r = own_rseq();
	const struct rseq_cs cs = { .start_ip = (uintptr_t)never_run, .post_commit_offset = 1,
				    .abort_ip = (uintptr_t)&outside.abort_here };

	me->can_watch = r != NULL;
	me->rc = f->hooks->enter_thread();
	while (!me->rc && !atomic_load(&f->go))
		load_sleep_ns(100000);
	while (!me->rc && !atomic_load_explicit(&f->stop, memory_order_relaxed)) {
		uint64_t begin = load_now_ns(), got, mine;

		if (!take(f, r, &cs, me))
			break;
		got = load_now_ns();
		mine = hold(f, me, got);
		atomic_store_explicit(&f->lock.held, 0, memory_order_release);
		me->preempted += (uint64_t)watch_end(r);
		me->grants += (uint64_t)f->hooks->end();
		me->wait_ns += got - begin;
		hist_add(&me->wait, got - begin);
		/* Let another thread have a round; a lone thread goes on by itself. */
		while (f->conf->threads > 1 && atomic_load_explicit(&f->rounds.count, memory_order_relaxed) == mine &&
		       !atomic_load_explicit(&f->stop, memory_order_relaxed))
			load_pause();
	}
	if (!me->rc)
		f->hooks->leave_thread();
	return NULL;
}

static json_t *collect(struct fight *f, struct fighter *fighters, uint64_t n, uint64_t elapsed_ns,
		       struct load_cost *cost)
{
	struct hist *all = malloc(sizeof(*all));
	uint64_t rounds = 0, wait_ns = 0, preempted = 0, grants = 0;
	json_t *o;

	if (!all)
		return NULL;
	hist_init(all);
	for (uint64_t i = 0; i < n; i++) {
		hist_merge(all, &fighters[i].wait);
		rounds += fighters[i].rounds;
		wait_ns += fighters[i].wait_ns;
		preempted += fighters[i].preempted;
		grants += fighters[i].grants;
	}
	o = load_json("lockfight", "rounds", rounds, elapsed_ns, all, cost);
	json_object_set_new(o, "total_wait_seconds", json_real((double)wait_ns / 1e9));
	json_object_set_new(o, "preempted_holding",
			    fighters[0].can_watch ? json_integer((json_int_t)preempted) : json_null());
	json_object_set_new(o, "slice", json_string(f->hooks->name));
	json_object_set_new(o, "grants", json_integer((json_int_t)grants));
	json_object_set_new(o, "threads", json_integer((json_int_t)n));
	free(all);
	return o;
}

static const char slice_words[] = "none|auto|mainline|roost";

static const struct lock_hooks *hooks_of(uint64_t word)
{
	static const char *const names[] = { "none", "auto", "mainline", "roost" };

	return word ? lock_hooks_find(names[word]) : &lock_hooks_none;
}

static int run(const void *conf, json_t **out, char *err, size_t err_len)
{
	struct conf c = *(const struct conf *)conf;
	struct fight *f = aligned_alloc(64, sizeof(*f));
	struct fighter *fighters;
	uint64_t started = 0, t0, elapsed_ns = 0;
	struct load_cost cost;
	int rc = -ENOMEM, entered = 0;

	if (!c.threads)
		c.threads = 2 * load_cpus();
	fighters = aligned_alloc(64, c.threads * sizeof(*fighters));
	if (!f || !fighters)
		goto out;
	memset(f, 0, sizeof(*f));
	memset(fighters, 0, c.threads * sizeof(*fighters));
	f->conf = &c;
	f->hooks = hooks_of(c.slice);
	rc = f->hooks ? 0 : -ENOTSUP;
	if (rc)
		goto out;
	load_cost_begin(&cost);
	for (; started < c.threads && !rc; started += !rc) {
		fighters[started].f = f;
		hist_init(&fighters[started].wait);
		rc = load_thread(&fighters[started].thread, fighter_main, &fighters[started]);
	}
	t0 = load_now_ns();
	atomic_store(&f->go, 1);
	if (!rc)
		load_sleep_ns(c.run_ns);
	atomic_store(&f->stop, 1);
	elapsed_ns = load_now_ns() - t0;
	for (uint64_t i = 0; i < started; i++) {
		pthread_join(fighters[i].thread, NULL);
		entered = entered ? entered : fighters[i].rc;
	}
	if (!rc && entered) {
		rc = lock_hooks_say(f->hooks, entered, err, err_len);
		goto out;
	}
	*out = collect(f, fighters, c.threads, elapsed_ns, &cost);
	if (!rc && !*out)
		rc = -ENOMEM;
	if (rc) {
		json_decref(*out);
		*out = NULL;
	}
out:
	if (rc && !entered)
		snprintf(err, err_len, "lockfight: %s", strerror(-rc));
	free(fighters);
	free(f);
	return rc;
}

#define S 1000000000ull
#define AT(field) offsetof(struct conf, field)
static const struct load_opt opts[] = {
	{ "threads", 't', LOAD_COUNT, AT(threads), 0, 8192, 0, NULL, "threads; 0 = two a CPU" },
	{ "runtime", 'r', LOAD_SECONDS, AT(run_ns), S / 100, 3600 * S, 5 * S, NULL, "how long to fight" },
	{ "hold", 0, LOAD_MICROS, AT(hold_ns), 0, S / 10, 0, NULL, "stay in the section for this long" },
	{ "slice", 0, LOAD_WORD, AT(slice), 0, 3, 0, slice_words, "ask the scheduler for more time in the section" },
	{ NULL },
};

const struct load load_lockfight = {
	.name = "lockfight", .what = "more threads than CPUs fight for one user-space lock", .opts = opts,
	.conf_size = sizeof(struct conf), .run = run,
};
