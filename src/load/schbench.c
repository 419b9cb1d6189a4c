/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schbench: m message threads with t workers each. A worker queues itself, wakes its message thread and
 * sleeps on a futex; woken, it records the wakeup latency, sleeps 100 us, takes the spin lock of the CPU it is
 * on and does n matrix products over a 256 KB footprint; the request latency covers sleep and work.
 * With -R requests are posted at a fixed rate, round robin, to workers with fewer than 128 pending.
 */
#include "load/load.h"
#include "load/util.h"
#include "load/work.h"
#include "measure/hist.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PENDING_MAX 128
#define CPU_LOCKS 8192

struct conf {
	uint64_t messagers, workers, run_ns, warmup_ns, sleep_ns, operations, footprint_kb, rps, no_lock;
};

struct bench;

struct worker {
	struct bench *b;
	struct messager *boss;
	struct worker *next;		/* the boss's list of those who wait for a message */
	pthread_t thread;
	_Atomic uint32_t go;		/* futex: 1 = woken */
	_Atomic uint64_t woken_ns;
	/* With -R: a ring of the times at which requests were posted. */
	_Atomic uint32_t head, tail;
	uint64_t posted_ns[PENDING_MAX];
	uint64_t *matrix;
	uint64_t requests;
	uint64_t sink;
	struct hist wakeup, request;
};

struct messager {
	struct bench *b;
	pthread_t thread;
	_Atomic(struct worker *) waiting;
	_Atomic uint32_t bell;		/* futex: 1 = there is somebody on the list */
	struct worker *workers;
	uint64_t dropped;
};

struct lock {
	_Atomic uint32_t held;
} __attribute__((aligned(64)));

struct bench {
	const struct conf *conf;
	unsigned matrix_n;
	_Atomic int stop, recording;
	struct lock *locks;
};

/* Spins while the holder runs elsewhere; when it was preempted on this very CPU only the scheduler can help. */
static void lock_cpu(struct bench *b, struct lock **held)
{
	for (;;) {
		int cpu = sched_getcpu();
		struct lock *l = &b->locks[(cpu < 0 ? 0 : cpu) % CPU_LOCKS];

		for (int i = 0; i < 1000; i++) {
			if (!atomic_exchange_explicit(&l->held, 1, memory_order_acquire)) {
				*held = l;
				return;
			}
			load_pause();
		}
	}
}

static void do_request(struct worker *w)
{
	const struct conf *c = w->b->conf;
	struct lock *held = NULL;

	if (c->sleep_ns)
		load_sleep_ns(c->sleep_ns);
	if (!c->no_lock)
		lock_cpu(w->b, &held);
	for (uint64_t i = 0; i < c->operations; i++)
		w->sink += work_matrix(w->matrix, w->b->matrix_n);
	if (held)
		atomic_store_explicit(&held->held, 0, memory_order_release);
}

/* Joins the list, rings for the message thread, sleeps until it answers. */
static void wait_for_message(struct worker *w)
{
	struct messager *m = w->boss;
	struct worker *first = atomic_load(&m->waiting);

	atomic_store(&w->go, 0);
	do
		w->next = first;
	while (!atomic_compare_exchange_weak(&m->waiting, &first, w));
	if (!atomic_exchange(&m->bell, 1))
		load_futex_wake(&m->bell, 1);
	while (!atomic_load(&w->go) && !atomic_load(&w->b->stop))
		load_futex_wait(&w->go, 0);
}

/* With -R: sleeps until a request is pending. The poster rings only for those that sleep. */
static void wait_for_request(struct worker *w)
{
	for (;;) {
		atomic_store(&w->go, 0);
		if (atomic_load(&w->head) != atomic_load(&w->tail) || atomic_load(&w->b->stop))
			return;
		load_futex_wait(&w->go, 0);
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct bench *b = w->b;

	while (!atomic_load_explicit(&b->stop, memory_order_relaxed)) {
		uint64_t asked, begin, end;
		int slept;

		if (!b->conf->rps) {
			wait_for_message(w);
			slept = 1;
		} else {
			slept = atomic_load(&w->tail) == atomic_load(&w->head);
			if (slept)
				wait_for_request(w);
		}
		if (atomic_load(&b->stop))
			break;
		begin = load_now_ns();
		asked = b->conf->rps ? w->posted_ns[atomic_load(&w->tail) % PENDING_MAX] : atomic_load(&w->woken_ns);
		if (slept && atomic_load_explicit(&b->recording, memory_order_relaxed))
			hist_add(&w->wakeup, begin - asked);
		if (b->conf->rps)
			begin = asked;
		do_request(w);
		end = load_now_ns();
		if (b->conf->rps)
			atomic_fetch_add(&w->tail, 1);
		if (atomic_load_explicit(&b->recording, memory_order_relaxed)) {
			hist_add(&w->request, end - begin);
			w->requests++;
		}
	}
	return NULL;
}

static void wake(struct worker *w)
{
	atomic_store(&w->woken_ns, load_now_ns());
	atomic_store(&w->go, 1);
	load_futex_wake(&w->go, 1);
}

static void wake_list(struct messager *m)
{
	struct worker *w = atomic_exchange(&m->waiting, NULL);

	while (w) {
		struct worker *next = w->next;

		wake(w);
		w = next;
	}
}

/* Every worker that queued itself is answered at once. */
static void answer(struct messager *m)
{
	while (!atomic_load(&m->b->stop)) {
		while (!atomic_exchange(&m->bell, 0) && !atomic_load(&m->b->stop))
			load_futex_wait(&m->bell, 0);
		wake_list(m);
	}
}

/* Requests at a fixed rate; a late message thread posts what is due, none is left out. */
static void post(struct messager *m)
{
	const struct conf *c = m->b->conf;
	double gap_ns = 1e9 * (double)c->messagers / (double)c->rps, due = (double)load_now_ns();
	uint64_t turn = 0;

	while (!atomic_load(&m->b->stop)) {
		uint64_t tried;

		due += gap_ns;
		load_sleep_until_ns((uint64_t)due);
		for (tried = 0; tried < c->workers; tried++) {
			struct worker *w = &m->workers[turn++ % c->workers];
			uint32_t head = atomic_load(&w->head);

			if (head - atomic_load(&w->tail) >= PENDING_MAX)
				continue;
			w->posted_ns[head % PENDING_MAX] = load_now_ns();
			atomic_store(&w->head, head + 1);
			if (!atomic_exchange(&w->go, 1))
				load_futex_wake(&w->go, 1);
			break;
		}
		if (tried == c->workers && atomic_load(&m->b->recording))
			m->dropped++;
	}
}

static void *messager_main(void *arg)
{
	struct messager *m = arg;

	if (m->b->conf->rps)
		post(m);
	else
		answer(m);
	return NULL;
}

static void stop_all(struct bench *b, struct messager *m, struct worker *w, uint64_t started_m, uint64_t started_w)
{
	atomic_store(&b->stop, 1);
	for (uint64_t i = 0; i < started_m; i++) {
		atomic_store(&m[i].bell, 1);
		load_futex_wake(&m[i].bell, 1);
		pthread_join(m[i].thread, NULL);
	}
	for (uint64_t i = 0; i < started_w; i++) {
		/* The word must change, or a worker about to sleep would miss the wakeup. */
		atomic_store(&w[i].go, 1);
		load_futex_wake(&w[i].go, 1);
		pthread_join(w[i].thread, NULL);
	}
}

static int start_all(struct bench *b, struct messager *m, struct worker *w, uint64_t *started_m, uint64_t *started_w)
{
	const struct conf *c = b->conf;
	int rc;

	for (uint64_t i = 0; i < c->messagers; i++) {
		m[i].b = b;
		m[i].workers = w + i * c->workers;
		rc = load_thread(&m[i].thread, messager_main, &m[i]);
		if (rc)
			return rc;
		++*started_m;
	}
	for (uint64_t i = 0; i < c->messagers * c->workers; i++) {
		w[i].b = b;
		w[i].boss = &m[i / c->workers];
		hist_init(&w[i].wakeup);
		hist_init(&w[i].request);
		w[i].matrix = calloc(3 * (size_t)b->matrix_n * b->matrix_n, sizeof(uint64_t));
		if (!w[i].matrix)
			return -ENOMEM;
		rc = load_thread(&w[i].thread, worker_main, &w[i]);
		if (rc)
			return rc;
		++*started_w;
	}
	return 0;
}

static json_t *collect(struct bench *b, struct messager *m, struct worker *w, uint64_t elapsed_ns,
		       struct load_cost *cost)
{
	const struct conf *c = b->conf;
	struct hist *wakeup = malloc(2 * sizeof(*wakeup)), *request = wakeup + 1;
	uint64_t requests = 0, dropped = 0;
	json_t *o;

	if (!wakeup)
		return NULL;
	hist_init(wakeup);
	hist_init(request);
	for (uint64_t i = 0; i < c->messagers * c->workers; i++) {
		hist_merge(wakeup, &w[i].wakeup);
		hist_merge(request, &w[i].request);
		requests += w[i].requests;
	}
	for (uint64_t i = 0; i < c->messagers; i++)
		dropped += m[i].dropped;
	o = load_json("schbench", "requests", requests, elapsed_ns, wakeup, cost);
	json_object_set_new(o, "request_latency_ns", hist_json(request, 1));
	if (c->rps)
		json_object_set_new(o, "not_posted", json_integer((json_int_t)dropped));
	free(wakeup);
	return o;
}

static int run(const void *conf, json_t **out, char *err, size_t err_len)
{
	struct conf c = *(const struct conf *)conf;
	struct bench b = { .conf = &c };
	struct messager *m;
	struct worker *w;
	uint64_t started_m = 0, started_w = 0, t0, elapsed_ns = 0;
	struct load_cost cost;
	int rc = -ENOMEM;

	if (!c.workers)
		c.workers = (load_cpus() + c.messagers - 1) / c.messagers;
	b.matrix_n = (unsigned)sqrt((double)c.footprint_kb * 1024 / 3 / sizeof(uint64_t));
	m = calloc(c.messagers, sizeof(*m));
	w = calloc(c.messagers * c.workers, sizeof(*w));
	b.locks = aligned_alloc(64, CPU_LOCKS * sizeof(*b.locks));
	if (!m || !w || !b.locks)
		goto out;
	memset(b.locks, 0, CPU_LOCKS * sizeof(*b.locks));
	load_cost_begin(&cost);
	rc = start_all(&b, m, w, &started_m, &started_w);
	if (!rc) {
		load_sleep_ns(c.warmup_ns);
		t0 = load_now_ns();
		atomic_store(&b.recording, 1);
		load_sleep_ns(c.run_ns);
		atomic_store(&b.recording, 0);
		elapsed_ns = load_now_ns() - t0;
	}
	stop_all(&b, m, w, started_m, started_w);
	*out = collect(&b, m, w, elapsed_ns, &cost);
	if (!rc && !*out)
		rc = -ENOMEM;
	if (rc) {
		json_decref(*out);
		*out = NULL;
	}
out:
	if (rc)
		snprintf(err, err_len, "schbench: %s", strerror(-rc));
	for (uint64_t i = 0; w && i < c.messagers * c.workers; i++)
		free(w[i].matrix);
	free(b.locks);
	free(w);
	free(m);
	return rc;
}

#define S 1000000000ull
#define AT(field) offsetof(struct conf, field)
static const struct load_opt opts[] = {
	{ "message-threads", 'm', LOAD_COUNT, AT(messagers), 1, 256, 1, NULL, "message threads" },
	{ "threads", 't', LOAD_COUNT, AT(workers), 0, 1024, 0, NULL, "workers a message thread; 0 = share of the CPUs" },
	{ "runtime", 'r', LOAD_SECONDS, AT(run_ns), S / 100, 86400 * S, 10 * S, NULL, "how long to measure" },
	{ "warmuptime", 'w', LOAD_SECONDS, AT(warmup_ns), 0, 3600 * S, 0, NULL, "how long to run before that" },
	{ "sleep_usec", 's', LOAD_MICROS, AT(sleep_ns), 0, S, 100000, NULL, "sleep at the start of a request" },
	{ "operations", 'n', LOAD_COUNT, AT(operations), 0, 100000, 5, NULL, "matrix products in a request" },
	{ "cache_footprint", 'F', LOAD_COUNT, AT(footprint_kb), 1, 1 << 20, 256, NULL, "KB the matrices fill" },
	{ "rps", 'R', LOAD_COUNT, AT(rps), 0, 100000000, 0, NULL, "requests posted a second; 0 = as fast as it goes" },
	{ "no-locking", 'L', LOAD_FLAG, AT(no_lock), 0, 1, 1, NULL, "leave out the lock of the CPU" },
	{ NULL },
};

const struct load load_schbench = {
	.name = "schbench", .what = "message threads that wake workers; wakeup and request latency", .opts = opts,
	.conf_size = sizeof(struct conf), .run = run,
};
