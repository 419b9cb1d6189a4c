/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * affinity THREADS SECONDS: busy threads (some that also sleep) whose masks change at random all the time. Checked:
 * every thread is seen only on CPUs of a mask it has or had in the last instant, and every thread keeps running.
 * Prints "affinity threads N changes N outside N stalled N longest_ms N".
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

#define THREADS_MAX 1024
#define STALL_NS (5 * NSEC_PER_SEC)

struct worker {
	pthread_t thread;
	_Atomic pid_t tid;
	_Atomic uint64_t rounds;
	_Atomic uint64_t changing; /* odd: the mask is being changed */
	cpu_set_t mask;            /* valid while changing is even */
	_Atomic uint64_t outside;
};

static struct worker workers[THREADS_MAX];
static atomic_bool stop;

static void *work(void *arg)
{
	struct worker *w = arg;
	long index = w - workers;
	uint64_t n = 0;

	w->tid = (pid_t)syscall(SYS_gettid);
	while (!stop) {
		uint64_t before = w->changing;
		int cpu = sched_getcpu();
		/* A copy, for the mask may change while it is read; then the second look at `changing` throws it away. */
		cpu_set_t mask = w->mask;

		atomic_thread_fence(memory_order_seq_cst);
		if (!(before & 1) && before && w->changing == before && cpu >= 0 && !CPU_ISSET((size_t)cpu, &mask))
			w->outside++;
		w->rounds++;
		if (index % 4 == 0 && ++n % 256 == 0)
			usleep(500);
	}
	return NULL;
}

/* A random part of the online CPUs, never empty; every fourth time just one of them. */
static void random_mask(const cpu_set_t *online, unsigned *seed, cpu_set_t *mask)
{
	int cpu, count = CPU_COUNT(online), only = rand_r(seed) % count, one = rand_r(seed) % 4 == 0, seen = 0;

	CPU_ZERO(mask);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, online))
			continue;
		if (seen == only || (!one && rand_r(seed) % 2))
			CPU_SET((size_t)cpu, mask);
		seen++;
	}
}

int main(int argc, char **argv)
{
	uint64_t end, changes = 0, outside = 0, longest = 0, last_round[THREADS_MAX] = { 0 }, last_move[THREADS_MAX];
	unsigned seed = 1;
	int threads, i, stalled = 0;
	cpu_set_t online;

	if (argc != 3) {
		fprintf(stderr, "usage: affinity THREADS SECONDS\n");
		return 2;
	}
	threads = (int)number(argv[1], 1);
	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	if (sched_getaffinity(0, sizeof(online), &online))
		die("sched_getaffinity");
	for (i = 0; i < threads; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("pthread_create");
	end = now_ns() + (uint64_t)number(argv[2], 1) * NSEC_PER_SEC;
	for (i = 0; i < threads; i++)
		last_move[i] = now_ns();
	while (now_ns() < end) {
		for (i = 0; i < threads; i++) {
			struct worker *w = &workers[i];
			uint64_t now = now_ns(), rounds = w->rounds;

			if (rounds != last_round[i]) {
				last_round[i] = rounds;
				last_move[i] = now;
			} else if (now - last_move[i] > longest) {
				longest = now - last_move[i];
			}
			if (w->tid && rand_r(&seed) % 3 == 0) {
				cpu_set_t mask;

				random_mask(&online, &seed, &mask);
				w->changing++;
				if (sched_setaffinity(w->tid, sizeof(mask), &mask))
					die("sched_setaffinity");
				w->mask = mask;
				w->changing++;
				changes++;
			}
		}
		usleep(2000);
	}
	for (i = 0; i < threads; i++)
		if (now_ns() - last_move[i] > STALL_NS)
			stalled++;
	stop = true;
	for (i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		outside += workers[i].outside;
	}
	printf("affinity threads %d changes %llu outside %llu stalled %d longest_ms %llu\n", threads,
	       (unsigned long long)changes, (unsigned long long)outside, stalled, (unsigned long long)(longest / NSEC_PER_MSEC));
	return outside || stalled ? 1 : 0;
}
