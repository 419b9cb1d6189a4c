/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * woken COUNT CPU [fifo]: how soon a task runs on a CPU that has been idle for a moment. A waker on CPU 0 wakes a sleeper,
 * pinned to CPU, every two milliseconds by a futex; the sleeper (SCHED_FIFO if asked for) reads the clock.
 * Prints "woken count N median_us N p90_us N max_us N", whole microseconds rounded up.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

static _Atomic uint32_t turn;           /* the wakeup that the sleeper may answer */
static _Atomic uint32_t answered;
static _Atomic uint64_t answered_ns;
static long cpu, fifo;
static uint32_t count;

static void pin(long where)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)where, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void *sleeper(void *arg)
{
	struct sched_param param = { .sched_priority = 10 };
	uint32_t seen;

	(void)arg;
	pin(cpu);
	if (fifo && sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
	for (uint32_t i = 1; i <= count; i++) {
		while ((seen = atomic_load(&turn)) != i)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		atomic_store(&answered_ns, now_ns());
		atomic_store(&answered, i);
	}
	return NULL;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	struct timespec pause = { 0, 2 * NSEC_PER_MSEC };
	pthread_t thread;
	uint64_t *took;

	if (argc < 3) {
		fprintf(stderr, "usage: woken COUNT CPU [fifo]\n");
		return 2;
	}
	count = (uint32_t)number(argv[1], 1);
	cpu = number(argv[2], 1);
	fifo = argc > 3;
	took = calloc(count, sizeof(*took));
	if (!took)
		die("memory");
	pin(0);
	if (pthread_create(&thread, NULL, sleeper, NULL))
		die("pthread_create");
	for (uint32_t i = 1; i <= count; i++) {
		uint64_t begin;

		/* the sleeper is asleep by then, and its CPU idles or spins */
		nanosleep(&pause, NULL);
		begin = now_ns();
		atomic_store(&turn, i);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		while (atomic_load(&answered) != i)
			__builtin_ia32_pause();
		took[i - 1] = atomic_load(&answered_ns) - begin;
	}
	pthread_join(thread, NULL);
	qsort(took, count, sizeof(*took), ascending);
	printf("woken count %u median_us %llu p90_us %llu max_us %llu\n", count, (unsigned long long)(took[count / 2] + 999) / 1000,
	       (unsigned long long)(took[count * 9 / 10] + 999) / 1000, (unsigned long long)(took[count - 1] + 999) / 1000);
	return 0;
}
