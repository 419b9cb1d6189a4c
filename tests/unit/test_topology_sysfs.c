/* SPDX-License-Identifier: GPL-2.0-only */
/* Machines read from made-up sysfs trees: holes, offline CPUs, missing files, nonsense, and 8192 CPUs. */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "topology/topology.h"

static char root[64];

static int setup(void **state)
{
	/* Thousands of small files: in memory where there is room for them, for a busy disk takes minutes. */
	snprintf(root, sizeof(root), "%s/roost-topo-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

static int teardown(void **state)
{
	return nftw(root, remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

/* Writes ROOT/sys/devices/system/NAME, making its directories. */
static void put(const char *text, const char *name, ...)
{
	char rel[128], path[256];
	va_list ap;
	FILE *f;

	va_start(ap, name);
	vsnprintf(rel, sizeof(rel), name, ap);
	va_end(ap);
	snprintf(path, sizeof(path), "%s/sys/devices/system/%s", root, rel);
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_cpu(int cpu, const char *core, int socket, const char *llc)
{
	char num[16];

	put(core, "cpu/cpu%d/topology/core_cpus_list", cpu);
	snprintf(num, sizeof(num), "%d\n", socket);
	put(num, "cpu/cpu%d/topology/physical_package_id", cpu);
	if (!llc)
		return;
	put("1\n", "cpu/cpu%d/cache/index0/level", cpu);
	put("Data\n", "cpu/cpu%d/cache/index0/type", cpu);
	put(core, "cpu/cpu%d/cache/index0/shared_cpu_list", cpu);
	put("3\n", "cpu/cpu%d/cache/index1/level", cpu);
	put("Unified\n", "cpu/cpu%d/cache/index1/type", cpu);
	put(llc, "cpu/cpu%d/cache/index1/shared_cpu_list", cpu);
}

static struct machine *must_read(void)
{
	struct topo_error err = {0};
	struct machine *m = NULL;
	int ret = topology_from_sysfs(root, &m, &err);

	if (ret)
		print_error("%s\n", err.text);
	assert_int_equal(ret, 0);
	assert_non_null(m);
	return m;
}

static void must_refuse(const char *part)
{
	struct topo_error err = {0};
	struct machine *m = (void *)1;
	int ret = topology_from_sysfs(root, &m, &err);

	assert_true(ret < 0);
	assert_null(m);
	assert_int_equal(ret, err.err);
	if (!strstr(err.text, part))
		print_error("\"%s\" does not say \"%s\"\n", err.text, part);
	assert_non_null(strstr(err.text, part));
	assert_null(strchr(err.text, '\n'));
}

/* 0-3,8-11 possible, SMT pairs (0,1) (2,3) (8,9) (10,11), two LLCs, two nodes, node 2 memory only. */
static void put_holes(void)
{
	static const char *const core[] = { "0-1\n", "2-3\n", "8-9\n", "10-11\n" };

	put("0-3,8-11\n", "cpu/possible");
	put("0-3,8-11\n", "cpu/present");
	put("0-3,8-11\n", "cpu/online");
	for (int i = 0; i < 4; i++) {
		put_cpu(i, core[i / 2], 0, "0-3\n");
		put_cpu(8 + i, core[2 + i / 2], 1, "8-11\n");
	}
	put("0-2\n", "node/online");
	put("0-3\n", "node/node0/cpulist");
	put("\n", "node/node1/cpulist");
	put("8-11\n", "node/node2/cpulist");
	put("10 15 32\n", "node/node0/distance");
	put("15 10 15\n", "node/node1/distance");
	put("32 15 10\n", "node/node2/distance");
}

static void test_holes(void **state)
{
	struct machine *m;

	put_holes();
	m = must_read();
	assert_int_equal(m->nr_cpu_ids, 12);
	assert_int_equal(m->nr_possible, 8);
	assert_int_equal(m->nr_online, 8);
	assert_int_equal(m->nr_cores, 4);
	assert_int_equal(m->nr_llcs, 2);
	assert_int_equal(m->nr_sockets, 2);
	assert_int_equal(m->smt_max, 2);
	assert_false(m->cpus[5].possible);
	assert_int_equal(m->cpus[5].llc, -1);
	assert_int_equal(m->cpus[9].llc, 1);
	assert_int_equal(m->cpus[8].smt_next, 9);
	assert_int_equal(m->cpus[9].smt_next, 8);
	assert_int_equal(m->llcs[1].count, 4);
	assert_int_equal(m->llc_cpus[m->llcs[1].first + 3], 11);
	assert_int_equal(topology_distance(m, 0, 1), TOPO_SMT);
	assert_int_equal(topology_distance(m, 0, 3), TOPO_LLC);
	assert_int_equal(topology_distance(m, 0, 8), TOPO_MACHINE);
	/* The memory-only node is left out; the numbers and distances of the others stay theirs. */
	assert_int_equal(m->nr_nodes, 2);
	assert_int_equal(m->nodes[1].id, 2);
	assert_int_equal(m->node_distance[1], 32);
	assert_int_equal(m->node_distance[3], 10);
	topology_free(m);
}

static void test_offline(void **state)
{
	struct machine *m;

	put("0-3\n", "cpu/possible");
	put("0-2\n", "cpu/present");
	put("0,2\n", "cpu/online");
	put_cpu(0, "0\n", 0, "0,2\n");
	put_cpu(2, "2\n", 0, "0,2\n");
	m = must_read();
	assert_int_equal(m->nr_cpu_ids, 4);
	assert_int_equal(m->nr_present, 3);
	assert_int_equal(m->nr_online, 2);
	assert_true(m->cpus[1].possible && !m->cpus[1].online);
	assert_int_equal(m->cpus[1].core, -1);
	assert_int_equal(m->cpus[1].smt_next, -1);
	assert_int_equal(m->cpus[2].smt_next, 2);
	assert_int_equal(m->llcs[0].count, 2);
	assert_false(topology_shares_llc(m, 1, 3));
	assert_int_equal(topology_distance(m, 0, 1), TOPO_MACHINE);
	topology_free(m);
}

static void test_no_cache_falls_back(void **state)
{
	struct machine *m;

	put("0-3\n", "cpu/possible");
	put("0-3\n", "cpu/online");
	for (int i = 0; i < 4; i++) {
		put_cpu(i, i < 2 ? "0-1\n" : "2-3\n", 0, NULL);
		put(i < 2 ? "0\n" : "1\n", "cpu/cpu%d/topology/die_id", i);
	}
	m = must_read();
	assert_int_equal(m->nr_llcs, 2); /* the dies */
	assert_int_equal(m->nr_nodes, 1);
	assert_int_equal(m->nodes[0].id, -1);
	topology_free(m);
}

static void test_bare_tree(void **state)
{
	struct machine *m;

	put("0-2\n", "cpu/possible");
	m = must_read();
	assert_int_equal(m->nr_online, 3);
	assert_int_equal(m->nr_cores, 3);
	assert_int_equal(m->nr_llcs, 1);
	assert_int_equal(m->cpus[2].capacity, 1024);
	topology_free(m);
}

static void test_capacity_and_instruction_cache(void **state)
{
	struct machine *m;

	put("0-1\n", "cpu/possible");
	put_cpu(0, "0\n", 0, "0-1\n");
	put_cpu(1, "1\n", 0, "0-1\n");
	put("446\n", "cpu/cpu1/cpu_capacity");
	/* A higher level that holds instructions only does not count. */
	put("4\n", "cpu/cpu0/cache/index2/level");
	put("Instruction\n", "cpu/cpu0/cache/index2/type");
	put("0\n", "cpu/cpu0/cache/index2/shared_cpu_list");
	m = must_read();
	assert_int_equal(m->cpus[1].capacity, 446);
	assert_int_equal(m->nr_llcs, 1);
	topology_free(m);
}

/* An LLC said to span nodes is split, and a core said to span LLCs too: groups nest, always. */
static void test_groups_nest(void **state)
{
	struct machine *m;

	put("0-3\n", "cpu/possible");
	for (int i = 0; i < 4; i++)
		put_cpu(i, "0-3\n", 0, "0-3\n");
	put("0-1\n", "node/online");
	put("0-1\n", "node/node0/cpulist");
	put("2-3\n", "node/node1/cpulist");
	m = must_read();
	assert_int_equal(m->nr_nodes, 2);
	assert_int_equal(m->nr_llcs, 2);
	assert_int_equal(m->nr_cores, 2);
	assert_int_equal(m->cores[1].parent, 1);
	assert_int_equal(topology_distance(m, 1, 2), TOPO_SOCKET);
	topology_free(m);
}

static void test_nonsense(void **state)
{
	static const struct {
		const char *file, *text;
	} bad[] = {
		{ "cpu/possible", "0-\n" }, { "cpu/possible", "3-1\n" }, { "cpu/possible", "0-9000\n" },
		{ "cpu/possible", "99999999999999999999\n" }, { "cpu/possible", "zero\n" },
		{ "cpu/possible", "\n" }, { "cpu/possible", "0-3,,8\n" }, { "cpu/possible", "0-3 4\n" },
		{ "cpu/online", "0-3,8-12\n" }, { "cpu/present", "\033[31m\n" },
		{ "cpu/cpu2/topology/core_cpus_list", "0-1\n" }, { "cpu/cpu2/topology/core_cpus_list", "" },
		{ "cpu/cpu2/topology/physical_package_id", "first\n" },
		{ "cpu/cpu2/topology/physical_package_id", "99999999999999999999\n" },
		{ "cpu/cpu2/topology/die_id", "0x10\n" }, { "cpu/cpu2/cpu_capacity", "0\n" },
		{ "cpu/cpu2/cpu_capacity", "1025\n" }, { "cpu/cpu2/cache/index1/level", "three\n" },
		{ "cpu/cpu2/cache/index1/shared_cpu_list", "4-7\n" }, { "node/online", "0-99999\n" },
		{ "node/node0/cpulist", "0-3,8\n" }, { "node/node2/distance", "10 20 far\n" },
		{ "node/node2/distance", "10 0 20\n" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		put_holes();
		put(bad[i].text, "%s", bad[i].file);
		if (!strcmp(bad[i].file, "node/node0/cpulist"))
			must_refuse("node/node2/cpulist"); /* named where the conflict shows */
		else
			must_refuse(bad[i].file);
		teardown(state);
		setup(state);
	}
}

static void test_missing_root(void **state)
{
	must_refuse("No such file");
	put("0\n", "node/online");
	must_refuse("cpu/possible");
}

static void test_every_byte_cut(void **state)
{
	/* Any prefix of a good file either parses or is refused; nothing crashes or hangs. */
	static const char text[] = "0-3,8-11\n";

	for (size_t n = 0; n < sizeof(text); n++) {
		struct topo_error err;
		struct machine *m;
		char cut[sizeof(text)];

		put_holes();
		memcpy(cut, text, n);
		cut[n] = '\0';
		put(cut, "cpu/possible");
		if (!topology_from_sysfs(root, &m, &err)) {
			assert_true(m->nr_online >= 1);
			topology_free(m);
		}
	}
}

static void test_8192_cpus(void **state)
{
	struct machine *m;
	char core[32], llc[32];

	put("0-8191\n", "cpu/possible");
	for (int i = 0; i < 8192; i++) {
		snprintf(core, sizeof(core), "%d,%d\n", i % 4096, i % 4096 + 4096);
		snprintf(llc, sizeof(llc), "%d-%d,%d-%d\n", i % 4096 / 8 * 8, i % 4096 / 8 * 8 + 7,
			 i % 4096 / 8 * 8 + 4096, i % 4096 / 8 * 8 + 4103);
		put(core, "cpu/cpu%d/topology/thread_siblings_list", i);
		put("3\n", "cpu/cpu%d/cache/index0/level", i);
		put(llc, "cpu/cpu%d/cache/index0/shared_cpu_list", i);
	}
	m = must_read();
	assert_int_equal(m->nr_online, 8192);
	assert_int_equal(m->nr_cores, 4096);
	assert_int_equal(m->nr_llcs, 512);
	assert_int_equal(m->llcs[511].count, 16);
	assert_int_equal(m->cpus[8191].smt_next, 4095);
	topology_free(m);
}

static void test_this_machine(void **state)
{
	struct topo_error err = {0};
	struct machine *m;

	assert_int_equal(topology_open("this", &m, &err), 0);
	assert_int_equal(m->nr_online, sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(m->nr_llcs >= 1 && m->nr_llcs <= m->nr_cores);
	topology_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_holes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_offline, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_cache_falls_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bare_tree, setup, teardown),
		cmocka_unit_test_setup_teardown(test_capacity_and_instruction_cache, setup, teardown),
		cmocka_unit_test_setup_teardown(test_groups_nest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nonsense, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing_root, setup, teardown),
		cmocka_unit_test_setup_teardown(test_every_byte_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(test_8192_cpus, setup, teardown),
		cmocka_unit_test(test_this_machine),
	};

	return cmocka_run_group_tests_name("topology from sysfs", tests, NULL, NULL) ? 1 : 0;
}
