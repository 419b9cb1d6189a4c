/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * migdis SECONDS COUNT OBJECT: processes that spend their time inside a BPF program, where the kernel forbids migration
 * but not preemption: they are preempted and queued again while migration is disabled.
 * Prints "migdis count N rounds N min_rounds N max_round_ms N".
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"

struct tally {
	uint64_t rounds, max_ns;
};

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_program *program;
	uint64_t end, rounds = 0, least = UINT64_MAX, max = 0;
	struct tally *t;
	long count, i;
	int fd, status, bad = 0;

	if (argc != 4) {
		fprintf(stderr, "usage: migdis SECONDS COUNT OBJECT\n");
		return 2;
	}
	count = number(argv[2], 1);
	object = bpf_object__open(argv[3]);
	if (!object || bpf_object__load(object))
		die(argv[3]);
	program = bpf_object__find_program_by_name(object, "compute");
	fd = program ? bpf_program__fd(program) : -1;
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
			LIBBPF_OPTS(bpf_test_run_opts, opts);
			uint64_t begin = now_ns();

			if (bpf_prog_test_run_opts(fd, &opts))
				die("BPF_PROG_TEST_RUN");
			if (now_ns() - begin > t[i].max_ns)
				t[i].max_ns = now_ns() - begin;
			t[i].rounds++;
		}
		_exit(0);
	}
	for (i = 0; i < count; i++)
		if (wait(&status) < 0 || status)
			bad++;
	for (i = 0; i < count; i++) {
		rounds += t[i].rounds;
		if (t[i].rounds < least)
			least = t[i].rounds;
		if (t[i].max_ns > max)
			max = t[i].max_ns;
	}
	printf("migdis count %ld rounds %llu min_rounds %llu max_round_ms %llu\n", count, (unsigned long long)rounds,
	       (unsigned long long)least, (unsigned long long)(max / NSEC_PER_MSEC));
	return bad ? 1 : 0;
}
