/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a machine looks like to a scheduler: which CPUs share a core, a last-level cache, a node and a socket.
 *
 * A machine comes from sysfs (below any root, so that a copied or made-up tree works), from an hwloc XML file
 * or synthetic description, or from a preset (machines/NAME.machine, embedded in the program; such files can
 * also be read from a path). Everything is indexed by possible CPU id: ids may have holes, and a CPU that is
 * possible may be offline, in which case where it sits is unknown (-1) until it comes online.
 *
 * Cores lie inside LLCs and LLCs inside nodes, always: where the firmware says otherwise the group is split, as
 * the kernel's own scheduling domains do. A socket may hold several nodes and, on machines without NUMA
 * information, a node may hold several sockets. Nodes without CPUs are left out; `nodes[].id` keeps the number.
 *
 * Nothing here prints or exits. A function that fails returns a negative errno and says in *err, in one line,
 * what is wrong and where.
 */
#ifndef ROOST_TOPOLOGY_H
#define ROOST_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "topology/costs.h"

#define TOPO_MAX_CPUS 8192
#define TOPO_MAX_NODES 1024
#define TOPO_CAPACITY_FULL 1024

/* How far apart two CPUs are, nearest first. */
enum topo_distance {
	TOPO_SELF,
	TOPO_SMT,     /* the same core */
	TOPO_LLC,     /* the same last-level cache */
	TOPO_NODE,    /* the same NUMA node */
	TOPO_SOCKET,  /* the same socket */
	TOPO_MACHINE, /* another socket */
	TOPO_NR_DISTANCES,
};

struct machine_cpu {
	int32_t core, llc, node, socket; /* dense indices; -1: unknown (offline) or not possible */
	int32_t smt_next;                /* ring through the online siblings; itself when alone; -1: unknown */
	uint16_t capacity;               /* of TOPO_CAPACITY_FULL */
	uint8_t possible, present, online;
	uint8_t pad_[7];
};

/* CPUs of one core, LLC, node or socket: members[first .. first + count) of the machine, ascending ids. */
struct machine_group {
	uint32_t first, count;
	int32_t id;     /* the kernel's or hwloc's number for it; -1 where it has none */
	int32_t parent; /* core: its LLC; LLC: its node; node: its first CPU's socket; socket: -1 */
};

struct machine {
	char name[64];
	char about[160];
	uint32_t nr_cpu_ids; /* highest possible id + 1 */
	uint32_t nr_possible, nr_present, nr_online;
	uint32_t nr_cores, nr_llcs, nr_nodes, nr_sockets;
	uint32_t smt_max; /* most online siblings a core has; 1: no SMT */
	struct machine_cpu *cpus;
	struct machine_group *cores, *llcs, *nodes, *sockets;
	uint32_t *core_cpus, *llc_cpus, *node_cpus, *socket_cpus; /* nr_online ids each */
	uint8_t *node_distance; /* nr_nodes x nr_nodes, 10 = local; made up (10/20) where the source has none */
	bool has_costs;         /* costs below are this machine's own, not the generic ones */
	struct costs costs;
};

struct topo_error {
	int err; /* negative errno */
	char text[300];
};

/* root: the directory that holds sys/; "/" or "" for this machine. */
int topology_from_sysfs(const char *root, struct machine **out, struct topo_error *err);
int topology_from_hwloc_xml(const char *path, struct machine **out, struct topo_error *err);
int topology_from_synthetic(const char *text, struct machine **out, struct topo_error *err);
/* A preset's name, or the path of a .machine file (whatever holds a '/' or ends in .machine). */
int topology_preset(const char *name, struct machine **out, struct topo_error *err);
/* Whatever a user may write after --machine: "this", a preset, a .machine or .xml file, a synthetic string. */
int topology_open(const char *what, struct machine **out, struct topo_error *err);
void topology_free(struct machine *m);

/* The presets built in, in alphabetical order; NULL past the last. */
const char *topology_preset_name(unsigned int i);
const char *topology_preset_text(unsigned int i);

enum topo_distance topology_distance(const struct machine *m, uint32_t a, uint32_t b);
const char *topology_distance_name(enum topo_distance d);

static inline bool topology_shares_llc(const struct machine *m, uint32_t a, uint32_t b)
{
	return m->cpus[a].llc >= 0 && m->cpus[a].llc == m->cpus[b].llc;
}

#endif
