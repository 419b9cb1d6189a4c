/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hog: processes that only compute, and say afterwards how much CPU each got and the longest it was kept off it.
 *
 *   hog SECONDS [GROUP]...      GROUP = COUNT[:nice=N][:policy=other|batch|idle|ext|fifo|rr][:cpu=N][:turn]
 *
 * They all run for a second before they count. Those of a group that turns are then made SCHED_OTHER of nice 0.
 * One line a process: "hog GROUP INDEX cpu_ms N max_gap_ms N". The gap is the longest stretch between two readings of
 * the clock in its loop: what a waiting task sees, whatever the kernel's counters say.
 */
#include <sched.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

#ifndef SCHED_EXT
#define SCHED_EXT 7
#endif
#define HOGS_MAX 4096

struct outcome {
	uint64_t cpu_ns;
	uint64_t max_gap_ns;
	int group, index;
	pid_t turns;            /* 0: it does not */
};

struct group {
	long count, nice, cpu;
	int policy, priority;
	bool turns;
};

static const struct {
	const char *name;
	int policy, priority;
} policies[] = {
	{ "other", SCHED_OTHER, 0 }, { "batch", SCHED_BATCH, 0 }, { "idle", SCHED_IDLE, 0 },
	{ "ext", SCHED_EXT, 0 },     { "fifo", SCHED_FIFO, 10 },  { "rr", SCHED_RR, 10 },
};

static void parse(char *text, struct group *g)
{
	char *word = strtok(text, ":");
	size_t i;

	*g = (struct group){ .cpu = -1, .count = number(word, 1) };
	while ((word = strtok(NULL, ":"))) {
		if (!strncmp(word, "nice=", 5)) {
			g->nice = number(word + 5, -20);
		} else if (!strncmp(word, "cpu=", 4)) {
			g->cpu = number(word + 4, 0);
		} else if (!strncmp(word, "policy=", 7)) {
			for (i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
				if (!strcmp(word + 7, policies[i].name))
					break;
			if (i == sizeof(policies) / sizeof(policies[0])) {
				fprintf(stderr, "no policy '%s'\n", word + 7);
				exit(2);
			}
			g->policy = policies[i].policy;
			g->priority = policies[i].priority;
		} else if (!strcmp(word, "turn")) {
			g->turns = true;
		} else {
			fprintf(stderr, "'%s' is not nice=, policy=, cpu= or turn\n", word);
			exit(2);
		}
	}
}

static void become(const struct group *g)
{
	struct sched_param param = { .sched_priority = g->priority };
	cpu_set_t set;

	if (g->cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET((size_t)g->cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			die("sched_setaffinity");
	}
	if (g->nice && setpriority(PRIO_PROCESS, 0, (int)g->nice))
		die("setpriority");
	if (g->policy != SCHED_OTHER && sched_setscheduler(0, g->policy, &param))
		die("sched_setscheduler");
}

/* CPU time counts from @start on, when all of them run; what came before is not part of the share. */
static void burn(struct outcome *o, uint64_t start, uint64_t end)
{
	uint64_t last = now_ns(), now, cpu0;

	while ((now = now_ns()) < start)
		last = now;
	cpu0 = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	last = start;
	do {
		now = now_ns();
		if (now - last > o->max_gap_ns)
			o->max_gap_ns = now - last;
		last = now;
	} while (now < end);
	o->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu0;
}

int main(int argc, char **argv)
{
	struct outcome *all;
	uint64_t start, end;
	int n = 0, i, status, bad = 0;
	long k;

	if (argc < 3) {
		fprintf(stderr, "usage: hog SECONDS COUNT[:nice=N][:policy=P][:cpu=N][:turn]...\n");
		return 2;
	}
	all = mmap(NULL, sizeof(*all) * HOGS_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED)
		die("mmap");
	start = now_ns() + NSEC_PER_SEC;
	end = start + (uint64_t)number(argv[1], 1) * NSEC_PER_SEC;
	for (i = 2; i < argc; i++) {
		struct group g;

		parse(argv[i], &g);
		for (k = 0; k < g.count && n < HOGS_MAX; k++, n++) {
			pid_t pid = fork();

			all[n].group = i - 2;
			all[n].index = (int)k;
			if (pid < 0)
				die("fork");
			if (!pid) {
				become(&g);
				burn(&all[n], start, end);
				_exit(0);
			}
			if (g.turns)
				all[n].turns = pid;
		}
	}
	while (now_ns() < start)
		usleep(1000);
	for (i = 0; i < n; i++)
		if (all[i].turns && (sched_setscheduler(all[i].turns, SCHED_OTHER, &(struct sched_param){ 0 }) ||
				     setpriority(PRIO_PROCESS, (id_t)all[i].turns, 0)))
			die("back to SCHED_OTHER");
	for (i = 0; i < n; i++)
		if (wait(&status) < 0 || status)
			bad++;
	for (i = 0; i < n; i++)
		printf("hog %d %d cpu_ms %llu max_gap_ms %llu\n", all[i].group, all[i].index,
		       (unsigned long long)(all[i].cpu_ns / NSEC_PER_MSEC),
		       (unsigned long long)(all[i].max_gap_ns / NSEC_PER_MSEC));
	if (bad)
		fprintf(stderr, "%d of %d hogs did not end well\n", bad, n);
	return bad ? 1 : 0;
}
