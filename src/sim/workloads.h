/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ROOST_SIM_WORKLOADS_H
#define ROOST_SIM_WORKLOADS_H

#include "sim/sim.h"

extern const struct sim_workload sim_hackbench, sim_schbench, sim_pingpong, sim_lockfight, sim_memcache, sim_web, sim_file;

#endif
