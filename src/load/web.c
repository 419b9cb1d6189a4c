/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * web-type load: a load balancer sends each request to the emptiest queue; a request computes 1..20 ms in
 * several stages that block in between (a call to a database, say: here a sleep). As many requests are always
 * under way as --connections says, so the figure is requests served a second at saturation.
 * The amount of work of the k-th request is the same in every run: it comes from the seed and k.
 */
#include "load/load.h"
#include "load/util.h"
#include "load/work.h"
#include "measure/hist.h"
#include "measure/rng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE 1024
#define WORDS 8192	/* 64 KB a worker */
#define STEPS_A_MS 1000000.0

struct conf {
	uint64_t workers, connections, stages, block_ns, min_ns, max_ns, run_ns, warmup_ns, seed;
};

struct request {
	uint64_t number, sent_ns;
};

struct worker {
	struct bench *b;
	pthread_t thread;
	/* The balancer fills at head, the worker takes at tail. */
	_Atomic uint32_t head, tail;
	_Atomic uint32_t bell;
	struct request queue[QUEUE];
	uint64_t served, sink;
	uint64_t *buf;
	struct hist lat;
} __attribute__((aligned(64)));

struct bench {
	const struct conf *conf;
	struct worker *workers;
	pthread_t balancer;
	_Atomic uint32_t done;	/* requests finished; what the balancer sleeps on */
	_Atomic int stop, recording;
};

static void serve(struct worker *w, const struct request *r)
{
	const struct conf *c = w->b->conf;
	struct rng rng = { c->seed + r->number * 0x9e3779b97f4a7c15ull };
	double total_ms = ((double)c->min_ns + rng_unit(&rng) * (double)(c->max_ns - c->min_ns)) / 1e6;
	double left = total_ms;

	for (uint64_t s = 0; s < c->stages; s++) {
		/* Uneven stages: half of an even share, up to one and a half; the last does what is left. */
		double ms = s + 1 == c->stages ? left : total_ms / (double)c->stages * (0.5 + rng_unit(&rng));

		if (ms > left)
			ms = left;
		left -= ms;
		w->sink += work_chain(w->buf, WORDS, (uint64_t)(ms * STEPS_A_MS), r->number + s);
		if (s + 1 < c->stages && c->block_ns)
			load_sleep_ns((uint64_t)rng_exponential(&rng, (double)c->block_ns));
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct bench *b = w->b;

	for (;;) {
		uint32_t tail = atomic_load(&w->tail), bell = atomic_load(&w->bell);
		struct request r;

		if (atomic_load(&b->stop))
			return NULL;
		if (tail == atomic_load(&w->head)) {
			load_futex_wait(&w->bell, bell);
			continue;
		}
		r = w->queue[tail % QUEUE];
		serve(w, &r);
		if (atomic_load_explicit(&b->recording, memory_order_relaxed)) {
			hist_add(&w->lat, load_now_ns() - r.sent_ns);
			w->served++;
		}
		/* Only now is the place free: a queue's length counts the request being served. */
		atomic_store(&w->tail, tail + 1);
		atomic_fetch_add(&b->done, 1);
		load_futex_wake(&b->done, 1);
	}
}

static struct worker *emptiest(struct bench *b, uint64_t turn)
{
	struct worker *best = NULL;
	uint32_t least = UINT32_MAX;

	for (uint64_t i = 0; i < b->conf->workers; i++) {
		struct worker *w = &b->workers[(turn + i) % b->conf->workers];
		uint32_t len = atomic_load(&w->head) - atomic_load(&w->tail);

		if (len < least) {
			least = len;
			best = w;
		}
	}
	return best;
}

static void *balancer_main(void *arg)
{
	struct bench *b = arg;
	uint64_t sent = 0;

	while (!atomic_load(&b->stop)) {
		uint32_t done = atomic_load(&b->done);

		/* "done" wraps and "sent" does not; only their distance counts. */
		while ((uint32_t)sent - done < b->conf->connections) {
			struct worker *w = emptiest(b, sent);
			uint32_t head = atomic_load(&w->head);

			w->queue[head % QUEUE] = (struct request){ sent++, load_now_ns() };
			atomic_store(&w->head, head + 1);
			atomic_fetch_add(&w->bell, 1);
			load_futex_wake(&w->bell, 1);
		}
		load_futex_wait(&b->done, done);
	}
	return NULL;
}

static void stop_all(struct bench *b, uint64_t started, int balancer)
{
	atomic_store(&b->stop, 1);
	if (balancer) {
		atomic_fetch_add(&b->done, 1);
		load_futex_wake(&b->done, 1);
		pthread_join(b->balancer, NULL);
	}
	for (uint64_t i = 0; i < started; i++) {
		atomic_fetch_add(&b->workers[i].bell, 1);
		load_futex_wake(&b->workers[i].bell, 1);
		pthread_join(b->workers[i].thread, NULL);
	}
}

static int measure(struct bench *b, uint64_t *elapsed_ns)
{
	const struct conf *c = b->conf;
	uint64_t started = 0, t0;
	int rc = 0;

	for (; started < c->workers && !rc; started += !rc) {
		struct worker *w = &b->workers[started];

		w->b = b;
		hist_init(&w->lat);
		w->buf = calloc(WORDS, sizeof(*w->buf));
		rc = w->buf ? load_thread(&w->thread, worker_main, w) : -ENOMEM;
	}
	if (!rc)
		rc = load_thread(&b->balancer, balancer_main, b);
	if (rc) {
		stop_all(b, started, 0);
		return rc;
	}
	load_sleep_ns(c->warmup_ns);
	t0 = load_now_ns();
	atomic_store(&b->recording, 1);
	load_sleep_ns(c->run_ns);
	atomic_store(&b->recording, 0);
	*elapsed_ns = load_now_ns() - t0;
	stop_all(b, started, 1);
	return 0;
}

static int run(const void *conf, json_t **out, char *err, size_t err_len)
{
	struct conf c = *(const struct conf *)conf;
	struct bench b = { .conf = &c };
	struct hist *all = malloc(sizeof(*all));
	uint64_t elapsed_ns = 0, served = 0;
	struct load_cost cost;
	int rc = -ENOMEM;

	if (c.min_ns > c.max_ns) {
		snprintf(err, err_len, "web: --min is above --max");
		free(all);
		return -EINVAL;
	}
	if (!c.workers)
		c.workers = 4 * load_cpus();
	if (!c.connections)
		c.connections = 2 * c.workers;
	/* The emptiest queue is never longer than the mean, so no queue overflows. */
	if (c.connections > c.workers * (QUEUE - 1))
		c.connections = c.workers * (QUEUE - 1);
	b.workers = aligned_alloc(64, c.workers * sizeof(*b.workers));
	if (!b.workers || !all)
		goto out;
	memset(b.workers, 0, c.workers * sizeof(*b.workers));
	hist_init(all);
	load_cost_begin(&cost);
	rc = measure(&b, &elapsed_ns);
	for (uint64_t i = 0; !rc && i < c.workers; i++) {
		hist_merge(all, &b.workers[i].lat);
		served += b.workers[i].served;
	}
	*out = load_json("web", "requests", served, elapsed_ns, all, &cost);
	if (rc) {
		json_decref(*out);
		*out = NULL;
	}
out:
	if (rc)
		snprintf(err, err_len, "web: %s", strerror(-rc));
	for (uint64_t i = 0; b.workers && i < c.workers; i++)
		free(b.workers[i].buf);
	free(b.workers);
	free(all);
	return rc;
}

#define S 1000000000ull
#define AT(field) offsetof(struct conf, field)
static const struct load_opt opts[] = {
	{ "workers", 't', LOAD_COUNT, AT(workers), 0, 4096, 0, NULL, "workers, each with a queue; 0 = four a CPU" },
	{ "connections", 'c', LOAD_COUNT, AT(connections), 0, 1000000, 0, NULL, "requests under way; 0 = two a worker" },
	{ "stages", 0, LOAD_COUNT, AT(stages), 1, 100, 4, NULL, "stages of a request" },
	{ "block", 0, LOAD_MICROS, AT(block_ns), 0, S, 500000, NULL, "mean time a request blocks between stages" },
	{ "min", 0, LOAD_MICROS, AT(min_ns), 0, S, 1000000, NULL, "least work of a request, as on a 4 GHz CPU" },
	{ "max", 0, LOAD_MICROS, AT(max_ns), 0, S, 20000000, NULL, "most work of a request, as on a 4 GHz CPU" },
	{ "time", 'r', LOAD_SECONDS, AT(run_ns), S / 100, 86400 * S, 5 * S, NULL, "how long to measure" },
	{ "warmup", 'w', LOAD_SECONDS, AT(warmup_ns), 0, 3600 * S, S / 2, NULL, "how long to run before that" },
	{ "seed", 0, LOAD_COUNT, AT(seed), 0, 1ull << 53, 1, NULL, "seed of the requests' sizes" },
	{ NULL },
};

const struct load load_web = {
	.name = "web", .what = "requests through a balancer; served a second at saturation", .opts = opts,
	.conf_size = sizeof(struct conf), .run = run,
};
