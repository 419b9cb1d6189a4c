/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * digest.c - every figure of a few runs, one a line: test_sim_same.sh compares what different compilers and levels of
 * optimisation make of it. No floating point on the way.
 */
#include <stdio.h>
#include <string.h>

#include "run/knobs.h"
#include "sim/sim.h"

static const struct {
	const char *machine, *args;
	enum sim_pull pull;
	const char *knobs;
} runs[] = {
	{ "epyc-9654x2", "hackbench -g 4 -f 20 -l 15 --pipe --threads", SIM_PULL_KERNEL, "idle-grace=1ms" },
	{ "epyc-9654x2", "hackbench -g 4 -f 20 -l 15 --pipe --threads", SIM_PULL_ROOST, "util-fits" },
	{ "skylake-8180x2", "memcache -d 2ms --rate 5000000", SIM_PULL_KERNEL, "idle-smt" },
	{ "skylake-8180x2", "memcache -d 2ms --rate 5000000 --pareto -t 300", SIM_PULL_ROOST, "bias-prev" },
	{ "guest-2", "pingpong -n 500 --work 20us", SIM_PULL_ROOST, "idle-spin=50us" },
	{ "desktop-8", "lockfight -d 10ms -t 12", SIM_PULL_KERNEL, "slice-ext=30us" },
	{ "zen3-64x2", "schbench -m 2 -t 40 -d 50ms", SIM_PULL_ROOST, "idle-smt" },
	{ "ice-lake-40x2", "web -d 60ms", SIM_PULL_ROOST, "idle-smt" },
};

static int one(unsigned int i)
{
	struct sim_config c = { .pull = runs[i].pull, .seed = 7 };
	char words[120], *argv[24], *save = NULL, refusal[KNOB_REFUSAL_MAX], *knob = (char *)runs[i].knobs;
	struct sim_figures f;
	struct topo_error terr;
	struct sim_error err;
	struct machine *m;
	uint64_t raw[sizeof(f) / 8];
	int argc = 0;

	snprintf(words, sizeof(words), "%s", runs[i].args);
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	knobs_default(&c.knobs);
	if (topology_preset(runs[i].machine, &m, &terr) || knobs_assign(&c.knobs, &knob, 1, refusal))
		return 1;
	c.machine = m;
	c.costs = &m->costs;
	c.workload = sim_workload_find(argv[0]);
	if (c.workload->parse(argc - 1, argv + 1, &c.workload_args, &err) || sim_run(&c, &f, &err)) {
		fprintf(stderr, "%s: %s\n", runs[i].args, err.text);
		return 1;
	}
	c.workload->free_args(c.workload_args);
	topology_free(m);
	f.wall_ns = 0;
	memcpy(raw, &f, sizeof(raw));
	printf("%s on %s:", runs[i].args, runs[i].machine);
	for (size_t k = 0; k < sizeof(raw) / 8; k++)
		printf(" %llx", (unsigned long long)raw[k]);
	printf("\n");
	return 0;
}

int main(void)
{
	int ret = 0;

	for (unsigned int i = 0; i < sizeof(runs) / sizeof(*runs); i++)
		ret |= one(i);
	return ret;
}
