/* SPDX-License-Identifier: MIT */
/*
 * A program that knows nothing of roost: workers take jobs from one queue under a pthread spin lock, and put
 * finished ones back. It is here to be run as it is under the shim:
 *
 *	cc -O2 spinqueue.c -lpthread -o spinqueue
 *	./spinqueue THREADS SECONDS
 *	LD_PRELOAD=libroost-spin.so ./spinqueue THREADS SECONDS
 *
 * Prints how many jobs were done, and how long taking one took at worst.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define JOBS 1024

static pthread_spinlock_t lock;
static uint32_t ring[JOBS], head, tail;
static atomic_int stop;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct worker {
	pthread_t thread;
	uint64_t jobs, worst_ns, sum;
	char pad[32];
};

static void *work(void *arg)
{
	struct worker *me = arg;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		uint64_t began = now_ns(), took;
		uint32_t job = 0, best;

		pthread_spin_lock(&lock);
		/* a scan, as queues with priorities do: a few microseconds with the lock held */
		for (uint32_t i = 0; i < 64; i++)
			if (ring[(head + i) % JOBS] > ring[(head + job) % JOBS])
				job = i;
		best = (head + job) % JOBS;
		job = ring[best];
		ring[best] = ring[head++ % JOBS];
		ring[tail++ % JOBS] = job * 2654435761u >> 8;
		pthread_spin_unlock(&lock);
		took = now_ns() - began;
		if (took > me->worst_ns)
			me->worst_ns = took;
		for (volatile int i = 0; i < 200; i++)
			me->sum += job;
		me->jobs++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 8, seconds = argc > 2 ? atoi(argv[2]) : 5;
	struct worker *workers = nr > 0 ? calloc((size_t)nr, sizeof(*workers)) : NULL;
	uint64_t jobs = 0, worst = 0;

	if (!workers || seconds < 1) {
		fprintf(stderr, "spinqueue: use: spinqueue [THREADS [SECONDS]]\n");
		return 2;
	}
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	for (uint32_t i = 0; i < JOBS; i++)
		ring[i] = i * 2654435761u >> 8;
	tail = JOBS;
	for (int i = 0; i < nr; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 1;
	nanosleep(&(struct timespec){ .tv_sec = seconds }, NULL);
	atomic_store(&stop, 1);
	for (int i = 0; i < nr; i++) {
		pthread_join(workers[i].thread, NULL);
		jobs += workers[i].jobs;
		if (workers[i].worst_ns > worst)
			worst = workers[i].worst_ns;
	}
	printf("jobs %llu worst_us %llu\n", (unsigned long long)jobs, (unsigned long long)worst / 1000);
	free(workers);
	return 0;
}
