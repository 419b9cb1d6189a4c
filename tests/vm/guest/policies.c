/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policies SECONDS TASKS: busy and sleeping processes that are moved at random between all of the kernel's scheduling
 * policies, SCHED_EXT and SCHED_DEADLINE among them, with random niceness and now and then another CPU mask.
 * Prints "policies tasks N changes N refused N stalled N"; a task that made no progress at the end, when all are back to
 * SCHED_OTHER, has stalled.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

/* struct sched_attr of the kernel's first version; older C libraries do not declare it. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

enum { OTHER, FIFO, RR, BATCH, IDLE = 5, DEADLINE, EXT };

static long set_policy(pid_t pid, uint32_t policy, unsigned *seed)
{
	struct attr a = { .size = sizeof(a), .policy = policy };

	if (policy == OTHER || policy == BATCH || policy == EXT)
		a.nice = rand_r(seed) % 40 - 20;
	if (policy == FIFO || policy == RR)
		a.priority = 1 + (uint32_t)rand_r(seed) % 10;
	if (policy == DEADLINE) {
		a.runtime = 2 * NSEC_PER_MSEC;
		a.deadline = a.period = 40 * NSEC_PER_MSEC;
	}
	return syscall(SYS_sched_setattr, pid, &a, 0);
}

static void work(volatile uint64_t *rounds, long index)
{
	struct timespec ms = { 0, NSEC_PER_MSEC };

	for (;;) {
		uint64_t until = now_ns() + NSEC_PER_MSEC;

		while (now_ns() < until)
			;
		++*rounds;
		if (index % 2)
			nanosleep(&ms, NULL);
		else if (index % 3 == 0)
			sched_yield();
	}
}

int main(int argc, char **argv)
{
	static const uint32_t policies[] = { OTHER, FIFO, RR, BATCH, IDLE, DEADLINE, EXT };
	uint64_t end, changes = 0, refused = 0, *rounds, *before;
	unsigned seed = 1;
	long tasks, i, stalled = 0;
	pid_t *pids;
	cpu_set_t all;

	if (argc != 3) {
		fprintf(stderr, "usage: policies SECONDS TASKS\n");
		return 2;
	}
	tasks = number(argv[2], 1);
	rounds = mmap(NULL, sizeof(*rounds) * (size_t)tasks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pids = calloc((size_t)tasks, sizeof(*pids));
	before = calloc((size_t)tasks, sizeof(*before));
	if (rounds == MAP_FAILED || !pids || !before)
		die("memory");
	if (sched_getaffinity(0, sizeof(all), &all))
		die("sched_getaffinity");
	for (i = 0; i < tasks; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork");
		if (!pids[i])
			work(&rounds[i], i);
	}
	/* Above all it moves, or a FIFO task could keep it from ever taking that back. */
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 90 }))
		die("sched_setscheduler");
	end = now_ns() + (uint64_t)number(argv[1], 1) * NSEC_PER_SEC;
	while (now_ns() < end) {
		pid_t pid = pids[rand_r(&seed) % (unsigned)tasks];
		unsigned kind = (unsigned)rand_r(&seed) % (sizeof(policies) / sizeof(policies[0]));

		if (rand_r(&seed) % 8 == 0) {
			cpu_set_t set;
			int cpu;

			CPU_ZERO(&set);
			for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
				if (CPU_ISSET((size_t)cpu, &all) && rand_r(&seed) % 2)
					CPU_SET((size_t)cpu, &set);
			/* A deadline task may not be confined; an empty set is refused as well. */
			if (sched_setaffinity(pid, sizeof(set), CPU_COUNT(&set) ? &set : &all))
				refused++;
		}
		if (set_policy(pid, policies[kind], &seed)) {
			if (errno != EBUSY && errno != EPERM)
				die("sched_setattr");
			refused++; /* no deadline bandwidth left, or a mask that forbids it */
		}
		changes++;
		usleep(1000);
	}
	for (i = 0; i < tasks; i++) {
		if (set_policy(pids[i], OTHER, &seed) || setpriority(PRIO_PROCESS, (id_t)pids[i], 0) ||
		    sched_setaffinity(pids[i], sizeof(all), &all))
			die("going back to SCHED_OTHER");
		before[i] = rounds[i];
	}
	sleep(3);
	for (i = 0; i < tasks; i++) {
		if (rounds[i] == before[i])
			stalled++;
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	printf("policies tasks %ld changes %llu refused %llu stalled %ld\n", tasks, (unsigned long long)changes,
	       (unsigned long long)refused, stalled);
	return stalled ? 1 : 0;
}
