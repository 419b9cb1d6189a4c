/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slice_stress.c - slice-ext under a real kernel, with roost running. One mode a run:
 *
 *	slice_stress stress SECONDS THREADS
 *		threads with sections of 0 to 200 us, others that sleep and wake and so preempt them. Each thread
 *		must learn of each of its grants once, in the section in which it got it, and give the CPU up only
 *		for one. Prints the sums; exit 1 when a rule was broken, 77 when nothing was granted.
 *	slice_stress greedy SECONDS bit|clear
 *		two threads on one CPU: one that wants more than its due and one that computes. "bit": its request
 *		is set for ever. "clear": it also clears the grant by itself, never gives anything back, and asks
 *		anew at once. Prints the greedy one's share of the two's CPU time in permille.
 *	slice_stress kernel SECONDS
 *		the kernel's own back end: two threads a CPU with sections of 0 to 20 us. Prints which back end it
 *		was, and what its statistics say, which must agree; exit 77 when the kernel's is not to be had.
 */
#include "guest.h"

#include "roost/slice.h"
#include "slice/slot.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static uint64_t end_ns;
static int failed;

struct totals {
	uint64_t sections, granted, learned, given_back, expired, asked, preempted, ends_that_gave;
};
static struct totals sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct roost_slice_slot *my_slot(void)
{
	return (struct roost_slice_slot *)(void *)roost_slice_self_;
}

static void broken(const char *what)
{
	fprintf(stderr, "slice_stress: %s\n", what);
	__atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void spin_ns(uint64_t ns)
{
	uint64_t until = now_ns() + ns;

	while (now_ns() < until)
		;
}

static void *stress(void *arg)
{
	uint64_t seed = 88172645463325252ull ^ (uint64_t)(uintptr_t)arg * 2654435761u;
	struct roost_slice_stats before, after;
	struct totals t = { 0 };
	int rc = roost_slice_register();

	if (rc || roost_slice_backend() != ROOST_SLICE_ROOST) {
		char why[256];

		roost_slice_why(why, sizeof(why));
		fprintf(stderr, "slice_stress: %s\n", why);
		exit(1);
	}
	roost_slice_thread_stats(&before);
	while (now_ns() < end_ns) {
		uint64_t in = next_random(&seed) % 200001, out = next_random(&seed) % 20001;
		uint64_t granted = my_slot()->granted_nr, learned = my_slot()->learned;
		int gave;

		roost_slice_begin();
		spin_ns(in);
		gave = roost_slice_end();
		t.sections++;
		t.ends_that_gave += (uint64_t)gave;
		granted = my_slot()->granted_nr - granted;
		learned = my_slot()->learned - learned;
		if (granted > 1)
			broken("two grants in one section");
		if (granted != learned)
			broken("a grant was not learned of in its section");
		if (gave && !granted)
			broken("the CPU was given up without a grant");
		if (my_slot()->granted)
			broken("a grant is left over after the section");
		spin_ns(out);
	}
	roost_slice_thread_stats(&after);
	t.granted = after.granted;
	t.given_back = after.given_back;
	t.expired = after.expired;
	t.asked = after.asked;
	t.preempted = after.preempted;
	t.learned = my_slot()->learned;
	if (t.ends_that_gave != after.given_back)
		broken("end() and the statistics disagree");
	roost_slice_unregister();
	pthread_mutex_lock(&lock);
	sum.sections += t.sections;
	sum.granted += t.granted;
	sum.given_back += t.given_back;
	sum.expired += t.expired;
	sum.asked += t.asked;
	sum.preempted += t.preempted;
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Wakes often, and preempts whoever runs. */
static void *waker(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg + 12345;

	while (now_ns() < end_ns) {
		usleep((useconds_t)(200 + next_random(&seed) % 2000));
		spin_ns(next_random(&seed) % 50000);
	}
	return NULL;
}

static int run_stress(long seconds, long nr)
{
	pthread_t threads[256];
	long i;

	if (nr > 128)
		nr = 128;
	end_ns = now_ns() + (uint64_t)seconds * NSEC_PER_SEC;
	for (i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, stress, (void *)(uintptr_t)(i + 1)))
			die("pthread_create");
	for (i = 0; i < nr / 2; i++)
		if (pthread_create(&threads[nr + i], NULL, waker, (void *)(uintptr_t)i))
			die("pthread_create");
	for (i = 0; i < nr + nr / 2; i++)
		pthread_join(threads[i], NULL);
	printf("sections %llu asked %llu granted %llu given_back %llu expired %llu preempted %llu\n",
	       (unsigned long long)sum.sections, (unsigned long long)sum.asked, (unsigned long long)sum.granted,
	       (unsigned long long)sum.given_back, (unsigned long long)sum.expired, (unsigned long long)sum.preempted);
	if (failed)
		return 1;
	return sum.granted ? 0 : 77;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set))
		die("pthread_setaffinity_np");
}

static int clears;
static uint64_t greedy_ns, plain_ns, greedy_grants;

static void *greedy(void *arg)
{
	volatile struct roost_slice_slot *slot;

	pin(0);
	if (roost_slice_register() || roost_slice_backend() != ROOST_SLICE_ROOST) {
		fprintf(stderr, "slice_stress: not registered with roost\n");
		exit(1);
	}
	slot = my_slot();
	while (now_ns() < end_ns) {
		slot->request = 1;
		if (clears && slot->granted)
			slot->granted = 0;
	}
	greedy_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	greedy_grants = slot->granted_nr;
	return NULL;
}

static void *plain(void *arg)
{
	pin(0);
	while (now_ns() < end_ns)
		;
	plain_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

static int run_greedy(long seconds)
{
	pthread_t a, b;

	end_ns = now_ns() + (uint64_t)seconds * NSEC_PER_SEC;
	if (pthread_create(&a, NULL, greedy, NULL) || pthread_create(&b, NULL, plain, NULL))
		die("pthread_create");
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("greedy_permille %llu grants %llu\n", (unsigned long long)(greedy_ns * 1000 / (greedy_ns + plain_ns + 1)),
	       (unsigned long long)greedy_grants);
	return 0;
}

/* Work that makes no system call, whatever the clock: one inside a section would end its extension. */
static uint64_t loops_per_us;

static void compute(uint64_t loops)
{
	while (loops--)
		__asm__ __volatile__("" ::: "memory");
}

static void calibrate(void)
{
	uint64_t loops = 1000, ns;

	do {
		uint64_t begin = now_ns();

		loops *= 2;
		compute(loops);
		ns = now_ns() - begin;
	} while (ns < 20 * NSEC_PER_MSEC);
	loops_per_us = loops * NSEC_PER_USEC / ns + 1;
}

static void *with_kernel(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg + 1;
	struct roost_slice_stats stats;
	struct totals t = { 0 };

	if (roost_slice_register() || roost_slice_backend() != ROOST_SLICE_KERNEL) {
		broken("a thread did not get the kernel's back end");
		return NULL;
	}
	while (now_ns() < end_ns) {
		for (int i = 0; i < 100; i++) {
			roost_slice_begin();
			compute(next_random(&seed) % 21 * loops_per_us);
			t.ends_that_gave += (uint64_t)roost_slice_end();
			t.sections++;
			if (roost_slice_self_->granted)
				broken("a grant is left over after the section");
		}
	}
	if (roost_slice_thread_stats(&stats) || stats.given_back != t.ends_that_gave || stats.granted < stats.given_back ||
	    stats.asked != ROOST_SLICE_NOT_COUNTED)
		broken("end() and the thread's statistics disagree");
	pthread_mutex_lock(&lock);
	sum.sections += t.sections;
	sum.granted += stats.granted;
	sum.given_back += stats.given_back;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static int run_kernel(long seconds)
{
	long nr = 2 * sysconf(_SC_NPROCESSORS_ONLN);
	struct roost_slice_stats stats;
	pthread_t threads[128];
	char why[256];

	setenv("ROOST_SLICE", "kernel", 1);
	if (roost_slice_register()) {
		roost_slice_why(why, sizeof(why));
		printf("%s\n", why);
		return 77;
	}
	roost_slice_why(why, sizeof(why));
	calibrate();
	if (nr > 128)
		nr = 128;
	end_ns = now_ns() + (uint64_t)seconds * NSEC_PER_SEC;
	for (long i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, with_kernel, (void *)(uintptr_t)i))
			die("pthread_create");
	for (long i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	roost_slice_process_stats(&stats);
	printf("%s sections %llu granted %llu given_back %llu\n", why, (unsigned long long)sum.sections,
	       (unsigned long long)sum.granted, (unsigned long long)sum.given_back);
	if (stats.granted != sum.granted || stats.given_back != sum.given_back || stats.asked != ROOST_SLICE_NOT_COUNTED)
		broken("the threads' statistics and the process's disagree");
	return failed;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "kernel"))
		return run_kernel(number(argv[2], 1));
	if (argc == 4 && !strcmp(argv[1], "stress"))
		return run_stress(number(argv[2], 1), number(argv[3], 1));
	if (argc == 4 && !strcmp(argv[1], "greedy")) {
		clears = !strcmp(argv[3], "clear");
		return run_greedy(number(argv[2], 1));
	}
	fprintf(stderr, "slice_stress: use: slice_stress stress SECONDS THREADS | greedy SECONDS bit|clear | kernel SECONDS\n");
	return 2;
}
