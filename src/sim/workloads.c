/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of workloads. */
#include <stddef.h>
#include <string.h>

#include "sim/workloads.h"

const struct sim_workload *const sim_workloads[] = {
	&sim_hackbench, &sim_schbench, &sim_pingpong, &sim_lockfight, &sim_memcache, &sim_web, &sim_file, NULL,
};

const struct sim_workload *sim_workload_find(const char *name)
{
	for (int i = 0; sim_workloads[i]; i++)
		if (!strcmp(sim_workloads[i]->name, name))
			return sim_workloads[i];
	return NULL;
}
