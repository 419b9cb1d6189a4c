/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wakewhere: where a task wakes whose CPU is busy. Machine: 4 CPUs, two cores of two threads, siblings 0 and 1, 2 and 3.
 *
 *   wakewhere TIMES [fresh]
 *
 * CPU 0 is kept busy by two hogs; a waker keeps CPU 2 busy and wakes the wakee, whose previous CPU is 0 and which may run
 * anywhere (while it is awake it may not: an idle CPU would take it away from CPU 0). So no core is idle, the previous CPU is not,
 * its sibling 1 is, and so is the waker's sibling 3. With "fresh" there are no hogs, and the waker sleeps on CPU 0 itself: whenever
 * it wakes the wakee, the previous CPU is busy and has only just left idle. One line: "woken TIMES cpu0 N cpu1 N cpu2 N cpu3 N".
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

static atomic_uint turn;        /* the futex: odd while the wakee sleeps */
static atomic_bool over;
static bool fresh;
static atomic_int wakee_tid;
static unsigned long woken_on[4];

static void bind(pid_t tid, long first, long last)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (long cpu = first; cpu <= last; cpu++)
		CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set))
		die("sched_setaffinity");
}

static void compute_ns(uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		;
}

static void *wakee(void *arg)
{
	atomic_store(&wakee_tid, (int)syscall(SYS_gettid));
	for (;;) {
		unsigned int seen;

		if (!fresh)
			bind(0, 2, 2);  /* a busy one for its recent CPU: that would come before the sibling */
		bind(0, 0, 0);
		seen = atomic_fetch_add(&turn, 1) + 1;
		while (atomic_load(&turn) == seen)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		if (atomic_load(&over))
			return NULL;
		woken_on[sched_getcpu() & 3]++;
	}
}

int main(int argc, char **argv)
{
	long times = argc >= 2 ? number(argv[1], 1) : 0;
	pthread_t thread;
	pid_t hogs[2] = { 0 };

	fresh = argc == 3 && !strcmp(argv[2], "fresh");
	if (!times || argc > 3 || (argc == 3 && !fresh)) {
		fprintf(stderr, "wakewhere: usage: wakewhere TIMES [fresh]\n");
		return 2;
	}
	for (int i = 0; i < 2 && !fresh; i++) {
		hogs[i] = fork();
		if (hogs[i] < 0)
			die("fork");
		if (!hogs[i]) {
			bind(0, 0, 0);
			for (;;)
				;
		}
	}
	bind(0, fresh ? 0 : 2, fresh ? 0 : 2);
	if (pthread_create(&thread, NULL, wakee, NULL))
		die("pthread_create");
	for (long i = 0; i <= times; i++) {
		while (!(atomic_load(&turn) & 1))
			if (fresh)
				usleep(100);
		/* long enough for the wakee to sleep, and for the waker's record to settle */
		if (fresh)
			usleep(5000);
		else
			compute_ns(5000000);
		bind(atomic_load(&wakee_tid), 0, 3);
		if (i == times)
			atomic_store(&over, true);
		atomic_fetch_add(&turn, 1);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		if (fresh)
			compute_ns(200000);
	}
	pthread_join(thread, NULL);
	for (int i = 0; i < 2 && !fresh; i++) {
		kill(hogs[i], SIGKILL);
		waitpid(hogs[i], NULL, 0);
	}
	printf("woken %ld cpu0 %lu cpu1 %lu cpu2 %lu cpu3 %lu\n", times, woken_on[0], woken_on[1], woken_on[2], woken_on[3]);
	return 0;
}
