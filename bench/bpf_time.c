/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bpf_time.c - the kernel's own account of the time that roost's BPF programs take, for bench/base: runs a
 * command with the statistics on (bpf_enable_stats) and prints, for each program, calls and nanoseconds a
 * call, and the sum a context switch.
 *
 *   bpf_time CMD ARG...
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/counters.h"
#include "run/run.h"

#define MOST 128

struct use {
	char name[32];
	unsigned long long calls, ns;
};

static size_t read_programs(struct use *use)
{
	unsigned int id = 0;
	size_t nr = 0;

	while (nr < MOST && !bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = { 0 };
		unsigned int len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_prog_get_info_by_fd(fd, &info, &len) && !strncmp(info.name, "roost_", 6)) {
			snprintf(use[nr].name, sizeof(use[nr].name), "%s", info.name);
			use[nr].calls = info.run_cnt;
			use[nr].ns = info.run_time_ns;
			nr++;
		}
		close(fd);
	}
	return nr;
}

int main(int argc, char **argv)
{
	static struct use before[MOST], after[MOST];
	unsigned long long ns = 0, switches;
	struct roost_stats s0, s1;
	struct roost_view *v;
	size_t nr, i;
	int stats, status = 0;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "bpf_time: usage: bpf_time CMD ARG...\n");
		return 2;
	}
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats < 0 || roost_find(&v, false)) {
		fprintf(stderr, "bpf_time: no running roost, or no statistics of BPF programs in this kernel\n");
		return 3;
	}
	counters_sum(&s0, v->stats, v->machine->nr_cpu_ids);
	nr = read_programs(before);
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
		fprintf(stderr, "bpf_time: the command failed\n");
	if (read_programs(after) != nr) {
		fprintf(stderr, "bpf_time: roost was loaded anew meanwhile\n");
		return 1;
	}
	counters_sum(&s1, v->stats, v->machine->nr_cpu_ids);
	switches = s1.nr_switches - s0.nr_switches;
	printf("%-22s %12s %10s %14s\n", "BPF program", "calls", "ns a call", "ns a switch");
	for (i = 0; i < nr; i++) {
		unsigned long long calls = after[i].calls - before[i].calls, spent = after[i].ns - before[i].ns;

		if (!calls || !switches)
			continue;
		ns += spent;
		printf("%-22s %12llu %10llu %14llu\n", after[i].name, calls, spent / calls, spent / switches);
	}
	printf("%-22s %12llu %10s %14llu\n", "in all, a switch", switches, "", switches ? ns / switches : 0);
	roost_close(v);
	close(stats);
	return status ? 1 : 0;
}
