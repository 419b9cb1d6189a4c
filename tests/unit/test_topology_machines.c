/* SPDX-License-Identifier: GPL-2.0-only */
/* Presets, machine and cost files, hwloc XML and synthetic descriptions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "topology/build.h"
#include "topology/topology.h"

static struct machine *must_open(const char *what)
{
	struct topo_error err = {0};
	struct machine *m = NULL;

	if (topology_open(what, &m, &err))
		print_error("%s: %s\n", what, err.text);
	assert_non_null(m);
	return m;
}

static void test_every_preset_loads(void **state)
{
	unsigned int n = 0;

	for (; topology_preset_name(n); n++) {
		struct machine *m = must_open(topology_preset_name(n));

		assert_string_equal(m->name, topology_preset_name(n));
		assert_true(m->has_costs);
		for (int i = 0; i < COST_NR; i++)
			assert_true(m->costs.set[i]);
		topology_free(m);
	}
	assert_true(n >= 6);
}

static void test_epyc(void **state)
{
	struct machine *m = must_open("epyc-9654x2");

	assert_int_equal(m->nr_online, 384);
	assert_int_equal(m->nr_cores, 192);
	assert_int_equal(m->nr_llcs, 24);
	assert_int_equal(m->nr_nodes, 2);
	assert_int_equal(m->llcs[0].count, 16);
	assert_int_equal(m->cpus[0].smt_next, 192);
	assert_int_equal(topology_distance(m, 0, 8), TOPO_NODE);
	assert_int_equal(topology_distance(m, 0, 96), TOPO_MACHINE);
	assert_int_equal(m->node_distance[1], 32);
	topology_free(m);
}

static void test_generic_costs_are_whole(void **state)
{
	struct costs c;

	costs_generic(&c);
	for (int i = 0; i < COST_NR; i++) {
		if (!c.set[i])
			print_error("generic.costs lacks %s\n", cost_infos[i].key);
		assert_true(c.set[i]);
	}
}

static void test_cost_overlay(void **state)
{
	static const char *const bad[] = {
		"context-switch = 1 ns | measured: x\n", "[costs]\ncontext-switch 5 ns\n",
		"[costs]\ncontext-switch = 5 ns\n", "[costs]\ncontext-switch = 5 ns | \n",
		"[costs]\ncontext-switch = 5 ns | hearsay: x\n", "[costs]\ncontext-switch = 5 us | measured: x\n",
		"[costs]\ncontext-switch = 5.5 ns | measured: x\n", "[costs]\ncontext-switch = -1 ns | measured: x\n",
		"[costs]\ncontext-switch = 99999999999999999999999 ns | measured: x\n",
		"[costs]\nno-such = 5 ns | measured: x\n", "[nothing]\n",
		"[costs]\nsyscall = 1 ns | measured: x\nsyscall = 2 ns | measured: x\n", "[topology]\n",
	};
	struct topo_error err = {0};
	struct costs c;

	costs_generic(&c);
	assert_int_equal(costs_overlay_text(&c, "# x\n[costs]\ncontext-switch = 77 ns | measured: here\n", "f", &err), 0);
	assert_int_equal(c.v[COST_SWITCH], 77);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memset(&err, 0, sizeof(err));
		assert_true(costs_overlay_text(&c, bad[i], "file.costs", &err) < 0);
		assert_non_null(strstr(err.text, "file.costs"));
		assert_null(strchr(err.text, '\n'));
	}
	assert_int_equal(c.v[COST_SWITCH], 77); /* a refused file changes nothing */
}

static void test_machine_file_limits(void **state)
{
	static const char topo[] = "[machine]\nname = x\n[topology]\nsockets = 64 count | assumed: x\n"
		"nodes-per-socket = 64 count | assumed: x\nllcs-per-node = 1 count | assumed: x\n"
		"cores-per-llc = 4 count | assumed: x\nthreads-per-core = 1 count | assumed: x\n"
		"siblings-last = 0 flag | assumed: x\nnode-distance-socket = 10 slit | assumed: x\n"
		"node-distance-remote = 20 slit | assumed: x\n[costs]\n";
	char text[16384];
	size_t n = (size_t)snprintf(text, sizeof(text), "%s", topo);
	struct topo_error err = {0};
	struct machine *m;

	assert_true(topo_parse_machine_text(text, "f", &m, &err) < 0);
	assert_non_null(strstr(err.text, "lacks"));
	for (int i = 0; i < COST_NR; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s = %lld %s | assumed: x\n", cost_infos[i].key,
				      (long long)cost_infos[i].min, cost_infos[i].unit);
	assert_true(topo_parse_machine_text(text, "f", &m, &err) < 0);
	assert_non_null(strstr(err.text, "8192"));
}

static void test_synthetic(void **state)
{
	static const char *const bad[] = { "pack:2 l3:4 core:8 pu:999999", "nonsense:", "pack:0 pu:2", ":", "pu:9000",
		"pack:100000 core:100000 pu:100000" };
	struct machine *m = must_open("pack:2 numa:1 l3:4 core:8 pu:2");

	assert_int_equal(m->nr_online, 128);
	assert_int_equal(m->nr_llcs, 8);
	assert_int_equal(m->nr_nodes, 2);
	assert_int_equal(m->smt_max, 2);
	assert_int_equal(m->cpus[0].smt_next, 1);
	assert_false(m->has_costs);
	topology_free(m);
	m = must_open("core:4 pu:1");
	assert_int_equal(m->nr_llcs, 1);
	topology_free(m);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct topo_error err = {0};

		if (!topology_from_synthetic(bad[i], &m, &err))
			print_error("%s was taken\n", bad[i]);
		assert_null(m);
		assert_true(err.text[0]);
	}
}

static void test_xml(void **state)
{
	char path[] = "/tmp/roost-topo-XXXXXX.xml", text[4096];
	struct topo_error err = {0};
	struct machine *m;
	int fd = mkstemps(path, 4), n;

	assert_true(fd >= 0);
	n = snprintf(text, sizeof(text),
		/* In lines as hwloc writes them: without its libxml plugin it reads no other. */
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
		"<object type=\"Machine\" os_index=\"0\" cpuset=\"0x00000303\" complete_cpuset=\"0x00000303\""
		" allowed_cpuset=\"0x00000303\" nodeset=\"0x1\" complete_nodeset=\"0x1\" allowed_nodeset=\"0x1\" gp_index=\"1\">"
		"<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x00000303\" complete_cpuset=\"0x00000303\""
		" nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"2\" local_memory=\"1000000\"/>");
	for (int l = 0; l < 2; l++) {
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			"<object type=\"L3Cache\" cpuset=\"0x%08x\" complete_cpuset=\"0x%08x\" nodeset=\"0x1\""
			" complete_nodeset=\"0x1\" gp_index=\"%d\" cache_size=\"1000\" depth=\"3\" cache_linesize=\"64\""
			" cache_associativity=\"8\" cache_type=\"0\">", 3 << 8 * l, 3 << 8 * l, 3 + l);
		for (int c = 0; c < 2; c++)
			n += snprintf(text + n, sizeof(text) - (size_t)n,
				"<object type=\"Core\" os_index=\"%d\" cpuset=\"0x%08x\" complete_cpuset=\"0x%08x\""
				" nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"%d\"><object type=\"PU\" os_index=\"%d\""
				" cpuset=\"0x%08x\" complete_cpuset=\"0x%08x\" nodeset=\"0x1\" complete_nodeset=\"0x1\""
				" gp_index=\"%d\"/></object>", 2 * l + c, 1 << (8 * l + c), 1 << (8 * l + c), 10 + 2 * l + c,
				8 * l + c, 1 << (8 * l + c), 1 << (8 * l + c), 20 + 2 * l + c);
		n += snprintf(text + n, sizeof(text) - (size_t)n, "</object>");
	}
	n += snprintf(text + n, sizeof(text) - (size_t)n, "</object></topology>\n");
	assert_int_equal(write(fd, text, (size_t)n), n);
	m = must_open(path);
	assert_int_equal(m->nr_cpu_ids, 10); /* CPUs 0, 1, 8, 9 */
	assert_int_equal(m->nr_online, 4);
	assert_int_equal(m->nr_llcs, 2);
	assert_int_equal(m->nr_nodes, 1);
	topology_free(m);
	assert_int_equal(ftruncate(fd, n / 2), 0);
	assert_true(topology_open(path, &m, &err) < 0);
	assert_non_null(strstr(err.text, path));
	close(fd);
	unlink(path);
	assert_true(topology_open(path, &m, &err) < 0);
}

static void test_unknown_names(void **state)
{
	struct topo_error err = {0};
	struct machine *m;

	assert_true(topology_open("no-such-machine", &m, &err) < 0);
	assert_non_null(strstr(err.text, "roost machines"));
	assert_true(topology_open("/nonexistent/x.machine", &m, &err) < 0);
	assert_true(topology_open("", &m, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_preset_loads),
		cmocka_unit_test(test_epyc),
		cmocka_unit_test(test_generic_costs_are_whole),
		cmocka_unit_test(test_cost_overlay),
		cmocka_unit_test(test_machine_file_limits),
		cmocka_unit_test(test_synthetic),
		cmocka_unit_test(test_xml),
		cmocka_unit_test(test_unknown_names),
	};

	return cmocka_run_group_tests_name("machines", tests, NULL, NULL) ? 1 : 0;
}
