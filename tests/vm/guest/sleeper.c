/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sleeper SECONDS [COUNT]: processes that sleep a millisecond at a time and say how late they woke.
 * Prints "sleeper count N wakeups N mean_us N max_ms N min_wakeups N"; min_wakeups is that of the unluckiest.
 */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

struct tally {
	uint64_t wakeups, late_ns, max_ns;
};

int main(int argc, char **argv)
{
	uint64_t end, wakeups = 0, late = 0, max = 0, least = UINT64_MAX;
	struct tally *t;
	long count, i;

	if (argc < 2) {
		fprintf(stderr, "usage: sleeper SECONDS [COUNT]\n");
		return 2;
	}
	count = argc > 2 ? number(argv[2], 1) : 1;
	t = mmap(NULL, sizeof(*t) * (size_t)count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t == MAP_FAILED)
		die("mmap");
	end = now_ns() + (uint64_t)number(argv[1], 1) * NSEC_PER_SEC;
	for (i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid)
			continue;
		while (now_ns() < end) {
			struct timespec ms = { 0, NSEC_PER_MSEC };
			uint64_t due = now_ns() + NSEC_PER_MSEC, woke;

			nanosleep(&ms, NULL);
			woke = now_ns();
			t[i].wakeups++;
			if (woke > due) {
				t[i].late_ns += woke - due;
				if (woke - due > t[i].max_ns)
					t[i].max_ns = woke - due;
			}
		}
		_exit(0);
	}
	for (i = 0; i < count; i++)
		wait(NULL);
	for (i = 0; i < count; i++) {
		wakeups += t[i].wakeups;
		late += t[i].late_ns;
		if (t[i].max_ns > max)
			max = t[i].max_ns;
		if (t[i].wakeups < least)
			least = t[i].wakeups;
	}
	printf("sleeper count %ld wakeups %llu mean_us %llu max_ms %llu min_wakeups %llu\n", count,
	       (unsigned long long)wakeups, (unsigned long long)(wakeups ? late / wakeups / 1000 : 0),
	       (unsigned long long)(max / NSEC_PER_MSEC), (unsigned long long)least);
	return 0;
}
