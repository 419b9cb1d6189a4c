/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * costs - what the small operations of message passing cost on this machine, as a cost file for `roost sim --costs`:
 * the figures that bench/reality simulates this machine with. Nothing here runs the loads that are predicted.
 *
 * Measured: a null call, a pipe read or write that does not block, copying, a futex call that wakes nobody; a futex
 * ping-pong on one CPU, whose time less its calls is the way out of one task and into the other; the same on two CPUs,
 * whose time less that is what waking the other CPU takes, halted as it is by then. Each is the lowest tenth of many short runs.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RUNS 41
#define CALLS 2000
#define ROUNDS 400
#define SMALL 100
#define LARGE 4000

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The lowest tenth: what it costs when nobody else is about. */
static double typical(double (*run)(void))
{
	double v[RUNS];

	for (int i = 0; i < RUNS; i++)
		v[i] = run();
	qsort(v, RUNS, sizeof(*v), ascending);
	return v[RUNS / 10];
}

static int pipe_fds[2];
static char buffer[LARGE];

static double null_call(void)
{
	double start = now_ns();

	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	return (now_ns() - start) / CALLS;
}

static double pipe_calls(size_t bytes, int messages)
{
	double start = now_ns();

	for (int k = 0; k < CALLS / messages; k++) {
		for (int i = 0; i < messages; i++)
			if (write(pipe_fds[1], buffer, bytes) != (ssize_t)bytes)
				exit(1);
		for (int i = 0; i < messages; i++)
			if (read(pipe_fds[0], buffer, bytes) != (ssize_t)bytes)
				exit(1);
	}
	return (now_ns() - start) / (2.0 * (CALLS / messages) * messages);
}

static double pipe_small(void)
{
	return pipe_calls(SMALL, 10);
}

static double pipe_large(void)
{
	return pipe_calls(LARGE, 10);
}

static double futex_nobody(void)
{
	static _Atomic uint32_t word;
	double start = now_ns();

	for (int i = 0; i < CALLS; i++)
		syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	return (now_ns() - start) / CALLS;
}

/* ---- ping-pong by futex ---- */
static _Atomic uint32_t turn[2];
static int cpus[2];

static int pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static void play(int me)
{
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		if (me == 0) {
			atomic_store(&turn[1], round);
			syscall(SYS_futex, &turn[1], FUTEX_WAKE, 1, NULL, NULL, 0);
		}
		while (atomic_load(&turn[me]) != round)
			syscall(SYS_futex, &turn[me], FUTEX_WAIT, round - 1, NULL, NULL, 0);
		if (me == 1) {
			atomic_store(&turn[0], round);
			syscall(SYS_futex, &turn[0], FUTEX_WAKE, 1, NULL, NULL, 0);
		}
	}
}

static void *other_side(void *arg)
{
	if (pin(cpus[1]))
		exit(1);
	play(1);
	return NULL;
}

/* One way. */
static double ping_pong(void)
{
	pthread_t t;
	double start;

	atomic_store(&turn[0], 0);
	atomic_store(&turn[1], 0);
	if (pin(cpus[0]) || pthread_create(&t, NULL, other_side, NULL))
		exit(1);
	usleep(1000);
	start = now_ns();
	play(0);
	start = now_ns() - start;
	pthread_join(t, NULL);
	return start / (2.0 * ROUNDS);
}

/* Two CPUs this process may use. */
static int find_cpus(int out[2])
{
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		return -errno;
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &set))
			out[n++] = i;
	return n == 2 ? 0 : -ENODEV;
}

static bool in_a_guest(void)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	bool found = false;
	char line[4096];

	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, "flags", 5) && strstr(line, " hypervisor");
	if (f)
		fclose(f);
	return found;
}

static long base_slice(void)
{
	long cpus_here = sysconf(_SC_NPROCESSORS_ONLN), factor = 1;

	for (long n = cpus_here < 8 ? cpus_here : 8; n > 1; n /= 2)
		factor++;
	return 700000 * factor;
}

static long whole(double v)
{
	return v > 0 ? (long)(v + 0.5) : 0;
}

int main(void)
{
	double call, small, large, futex, one, two, switching, far;
	int found[2];

	if (find_cpus(found) || pipe(pipe_fds)) {
		fprintf(stderr, "costs: it takes a pipe and two CPUs\n");
		return 1;
	}
	pin(found[0]);
	call = typical(null_call);
	small = typical(pipe_small);
	large = typical(pipe_large);
	futex = typical(futex_nobody);
	cpus[0] = cpus[1] = found[0];
	one = typical(ping_pong);
	cpus[1] = found[1];
	two = typical(ping_pong);
	/* one way on one CPU: a wake call, a wait call, and the way from one task to the other */
	switching = one - 2 * futex;
	/* on two: the same calls, the waker's part of the wakeup, and then what it takes until the other runs */
	far = two - 2 * futex - switching / 4;
	printf("# SPDX-License-Identifier: GPL-2.0-only\n# made by bench/costs\n[costs]\n");
	printf("guest = %d flag | measured: flags of /proc/cpuinfo\nidle-mwait = 0 flag | assumed: as in a guest\n", in_a_guest());
	printf("syscall = %ld ns | measured: getppid\n", whole(call));
	printf("pipe-op = %ld ns | measured: %d bytes, ten in a row\n", whole(small), SMALL);
	printf("pipe-copy = %ld ns/KB | measured: %d bytes against %d\n", whole((large - small) * 1024 / (LARGE - SMALL)),
	       LARGE, SMALL);
	printf("futex-op = %ld ns | measured: wake with nobody waiting\n", whole(futex));
	printf("context-switch = %ld ns | measured: half of the %.0f ns from task to task on one CPU, by futex\n",
	       whole(switching / 2), switching);
	printf("wakeup = %ld ns | measured: a quarter of that\n", whole(switching / 4));
	printf("block = %ld ns | measured: a quarter of that\n", whole(switching / 4));
	printf("idle-switch = %ld ns | measured: half of the context switch\n", whole(switching / 4));
	printf("guest-wake = %ld ns | measured: %.0f ns one way between two CPUs, less the calls and the waker's part\n", whole(far),
	       two);
	printf("slice = %ld ns | kernel: base slice 0.7 ms times 1 + log2 of up to 8 CPUs, since 6.15\n", base_slice());
	/* what that time holds already is not counted again */
	printf("guest-halt-exit = 0 ns | measured: in guest-wake\nguest-ipi-exit = 0 ns | measured: in guest-wake\n"
	       "ipi-llc = 0 ns | measured: in guest-wake\nidle1-exit = 0 ns | measured: in guest-wake\n");
	return 0;
}
