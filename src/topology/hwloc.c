/* SPDX-License-Identifier: GPL-2.0-only */
/* Machines from hwloc: an XML file as lstopo writes it, or a synthetic description ("pack:2 l3:4 core:8 pu:2"). */
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "topology/build.h"

/* The nearest data or unified cache of the highest level above the PU. */
static hwloc_obj_t last_cache(hwloc_obj_t pu)
{
	hwloc_obj_t found = NULL;

	for (hwloc_obj_t o = pu->parent; o; o = o->parent)
		if (hwloc_obj_type_is_dcache(o->type))
			found = o;
	return found;
}

static int64_t key_of(hwloc_topology_t t, hwloc_obj_t pu, hwloc_obj_type_t type)
{
	hwloc_obj_t o = hwloc_get_ancestor_obj_by_type(t, type, pu);

	return o ? (int64_t)o->logical_index : -1;
}

static int read_pus(hwloc_topology_t t, struct topo_raw *raw)
{
	hwloc_obj_t pu = NULL, node = NULL;

	while ((pu = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, pu))) {
		hwloc_obj_t cache = last_cache(pu);
		int64_t core = key_of(t, pu, HWLOC_OBJ_CORE), die = key_of(t, pu, HWLOC_OBJ_DIE);
		struct topo_raw *r = &raw[pu->os_index];

		if (r->online)
			return -EEXIST;
		*r = (struct topo_raw){
			.possible = true, .present = true, .online = true, .capacity = TOPO_CAPACITY_FULL,
			.core = core >= 0 ? core : TOPO_KEY_NONE, .node = -1,
			.socket = key_of(t, pu, HWLOC_OBJ_PACKAGE),
		};
		/* Cache indices and die indices must not meet: they count different things. */
		if (cache)
			r->llc = (int64_t)cache->depth << 32 | cache->logical_index;
		else if (die >= 0)
			r->llc = (INT64_C(1) << 60) + die;
		else
			r->llc = TOPO_KEY_NONE;
	}
	/* A PU may be in several nodes (memory-side ones, HBM): the first, smallest one counts. */
	while ((node = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, node))) {
		int cpu;

		if (node->os_index >= TOPO_MAX_NODES)
			return -ERANGE;
		hwloc_bitmap_foreach_begin(cpu, node->cpuset)
			if (cpu < TOPO_MAX_CPUS && raw[cpu].online && raw[cpu].node < 0)
				raw[cpu].node = (int32_t)node->os_index;
		hwloc_bitmap_foreach_end();
	}
	return 0;
}

static int build(hwloc_topology_t t, const char *what, struct machine **out, struct topo_error *err)
{
	hwloc_obj_t pu = NULL;
	struct topo_raw *raw;
	uint32_t nr_ids = 0;
	int ret;

	while ((pu = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, pu))) {
		if (pu->os_index >= TOPO_MAX_CPUS)
			return topo_fail(err, -ERANGE, "%.100s: CPU %u is past the limit of %d CPUs", what, pu->os_index,
					 TOPO_MAX_CPUS);
		if (pu->os_index >= nr_ids)
			nr_ids = pu->os_index + 1;
	}
	if (!nr_ids)
		return topo_fail(err, -EINVAL, "%.100s: describes no CPU", what);
	raw = calloc(nr_ids, sizeof(*raw));
	if (!raw)
		return topo_fail(err, -ENOMEM, "not enough memory for %u CPUs", nr_ids);
	for (uint32_t i = 0; i < nr_ids; i++)
		raw[i].node = -1;
	ret = read_pus(t, raw);
	if (ret == -EEXIST)
		topo_fail(err, ret, "%.100s: two CPUs have the same number", what);
	else if (ret)
		topo_fail(err, ret, "%.100s: a node number past the limit of %d", what, TOPO_MAX_NODES - 1);
	else
		ret = topo_build(raw, nr_ids, NULL, 0, out, err);
	free(raw);
	return ret;
}

static int load(const char *path, const char *synthetic, struct machine **out, struct topo_error *err)
{
	const char *what = path ? path : synthetic;
	hwloc_topology_t t = NULL;
	int ret;

	*out = NULL;
	/* hwloc would print its own complaint about a bad description. */
	setenv("HWLOC_HIDE_ERRORS", "2", 0);
	if (hwloc_topology_init(&t))
		return topo_fail(err, -ENOMEM, "hwloc cannot start: %s", strerror(errno));
	ret = path ? hwloc_topology_set_xml(t, path) : hwloc_topology_set_synthetic(t, synthetic);
	if (ret) {
		ret = path ? topo_fail(err, -EINVAL, "%.100s: hwloc cannot read this as XML of its own", path)
			   : topo_fail(err, -EINVAL, "\"%.100s\": not an hwloc synthetic description such as"
				       " \"pack:2 l3:4 core:8 pu:2\"", synthetic);
		goto out;
	}
	if (hwloc_topology_load(t)) {
		ret = topo_fail(err, -EINVAL, "%.100s: hwloc cannot load this: %s", what, strerror(errno));
		goto out;
	}
	ret = build(t, what, out, err);
	if (!ret) {
		snprintf((*out)->name, sizeof((*out)->name), "%s", path ? "xml" : "synthetic");
		snprintf((*out)->about, sizeof((*out)->about), "%.150s", what);
	}
out:
	hwloc_topology_destroy(t);
	return ret;
}

int topology_from_hwloc_xml(const char *path, struct machine **out, struct topo_error *err)
{
	struct stat st;

	*out = NULL;
	if (stat(path, &st))
		return topo_fail(err, -errno, "%.200s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return topo_fail(err, -EISDIR, "%.200s: %s", path, strerror(EISDIR));
	if (!S_ISREG(st.st_mode) || st.st_size > (64 << 20))
		return topo_fail(err, -EINVAL, "%.200s: not a file of at most 64 MB", path);
	return load(path, NULL, out, err);
}

/* The levels' product, so that hwloc is not asked to build millions of CPUs; false when that cannot be told. */
static bool too_many(const char *text)
{
	uint64_t total = 1;
	int depth = 0; /* attributes stand in parentheses and may hold colons of their own */

	for (const char *p = text; *p; p++) {
		unsigned long v;

		depth += (*p == '(') - (*p == ')');
		if (*p != ':' || depth)
			continue;
		v = strtoul(p + 1, NULL, 10);
		if (v > TOPO_MAX_CPUS)
			return true;
		if (v > 1)
			total *= v;
		if (total > TOPO_MAX_CPUS)
			return true;
	}
	return false;
}

int topology_from_synthetic(const char *text, struct machine **out, struct topo_error *err)
{
	const char *minus;

	*out = NULL;
	/* "-1" would be read as four thousand millions */
	minus = strstr(text, ":-");
	if (minus)
		return topo_fail(err, -EINVAL, "\"%.100s\": \"%.20s\" is not how many there are: a whole number from 1, as in"
				 " \"pack:2 l3:4 core:8 pu:2\"", text, minus + 1);
	if (too_many(text))
		return topo_fail(err, -ERANGE, "\"%.100s\": more than %d CPUs", text, TOPO_MAX_CPUS);
	return load(NULL, text, out, err);
}
