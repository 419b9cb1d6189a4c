/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * forkstorm TOTAL [AT_ONCE]: TOTAL short children, up to AT_ONCE of them alive, a third of which exec. Every one must be
 * reaped with the exit code it was given; a lost child hangs or fails the program.
 */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

static void child(long i)
{
	uint64_t end = now_ns() + (uint64_t)(i % 4) * 100000; /* 0 .. 0.3 ms */
	char code[8];

	while (now_ns() < end)
		;
	if (i % 3 == 0) {
		snprintf(code, sizeof(code), "%ld", i % 100);
		execl("/proc/self/exe", "forkstorm", "--exit", code, (char *)NULL);
		_exit(255);
	}
	_exit((int)(i % 100));
}

int main(int argc, char **argv)
{
	long total, at_once, started = 0, reaped = 0, sum = 0, want = 0, i;
	uint64_t begin = now_ns();

	if (argc == 3 && !strcmp(argv[1], "--exit"))
		return (int)number(argv[2], 0);
	if (argc < 2) {
		fprintf(stderr, "usage: forkstorm TOTAL [AT_ONCE]\n");
		return 2;
	}
	total = number(argv[1], 1);
	at_once = argc > 2 ? number(argv[2], 1) : 200;
	for (i = 0; i < total; i++)
		want += i % 100;
	while (reaped < total) {
		int status;

		while (started < total && started - reaped < at_once) {
			pid_t pid = fork();

			if (pid < 0 && errno == EAGAIN && started > reaped)
				break;
			if (pid < 0)
				die("fork");
			if (!pid)
				child(started);
			started++;
		}
		if (wait(&status) < 0)
			die("wait");
		if (!WIFEXITED(status)) {
			fprintf(stderr, "a child died of signal %d\n", WTERMSIG(status));
			return 1;
		}
		sum += WEXITSTATUS(status);
		reaped++;
	}
	printf("forkstorm total %ld reaped %ld codes %ld of %ld ms %llu\n", total, reaped, sum, want,
	       (unsigned long long)((now_ns() - begin) / NSEC_PER_MSEC));
	return sum == want ? 0 : 1;
}
