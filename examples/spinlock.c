/* SPDX-License-Identifier: MIT */
/*
 * A spin lock whose holder is not preempted for a moment: roost/slice.h in use.
 *
 *	cc -O2 spinlock.c $(pkg-config --cflags --libs roost-slice) -lpthread -o spinlock
 *	./spinlock [THREADS [SECONDS [plain]]]          "plain" leaves the sections out, to compare
 *
 * Each thread takes the lock, moves a little money between two accounts, and lets go; the sum must not change.
 */
#include <roost/slice.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct lock {
	atomic_flag held;
};

static void lock(struct lock *l)
{
	for (;;) {
		roost_slice_begin();            /* before the lock is ours: no gap in which we could be preempted */
		if (!atomic_flag_test_and_set_explicit(&l->held, memory_order_acquire))
			return;
		roost_slice_end();              /* somebody else has it: waiting is no critical section */
		__asm__ __volatile__("" ::: "memory");
	}
}

static void unlock(struct lock *l)
{
	atomic_flag_clear_explicit(&l->held, memory_order_release);
	roost_slice_end();                      /* after the lock is free; yields if more time was granted */
}

static struct lock bank = { ATOMIC_FLAG_INIT };
static long accounts[2] = { 1000000, 1000000 };
static atomic_int stop;
static int plain;

static void *teller(void *arg)
{
	unsigned long *rounds = arg;
	struct roost_slice_stats stats;

	if (!plain)
		roost_slice_register();         /* when it fails, all goes on without */
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		lock(&bank);
		for (int i = 0; i < 50; i++) {
			accounts[i & 1] -= i;
			accounts[!(i & 1)] += i;
		}
		unlock(&bank);
		++*rounds;
	}
	if (!roost_slice_thread_stats(&stats) && stats.granted)
		fprintf(stderr, "granted %llu extensions, %llu given back in time\n", (unsigned long long)stats.granted,
			(unsigned long long)stats.given_back);
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 8, seconds = argc > 2 ? atoi(argv[2]) : 5;
	unsigned long rounds[256][8] = { { 0 } }, total = 0; /* a cache line each */
	pthread_t threads[256];
	char why[256];

	plain = argc > 3 && !strcmp(argv[3], "plain");
	if (nr < 1 || nr > 256 || seconds < 1) {
		fprintf(stderr, "spinlock: use: spinlock [THREADS (1 to 256) [SECONDS [plain]]]\n");
		return 2;
	}
	if (!plain)
		roost_slice_register();
	roost_slice_why(why, sizeof(why));
	fprintf(stderr, "slice-ext: %s\n", why);
	for (int i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, teller, rounds[i]))
			return 1;
	nanosleep(&(struct timespec){ .tv_sec = seconds }, NULL);
	atomic_store(&stop, 1);
	for (int i = 0; i < nr; i++) {
		pthread_join(threads[i], NULL);
		total += rounds[i][0];
	}
	printf("rounds %lu\n", total);
	return accounts[0] + accounts[1] == 2000000 ? 0 : 1;
}
