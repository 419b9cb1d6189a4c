/* SPDX-License-Identifier: GPL-2.0-only */
/* machines.c - `roost machines`: the machines a simulation can have; with a name, all of its figures and their sources. */
#include "cli/cli.h"

#include <string.h>

#include "cli/print.h"
#include "topology/topology.h"

static json_t *machine_json(const struct machine *m, bool figures)
{
	json_t *o = json_pack("{s:o,s:o,s:i,s:i,s:i,s:i,s:i,s:i}", "name", print_json_string(m->name), "about",
			      print_json_string(m->about), "cpus", (int)m->nr_online, "cores", (int)m->nr_cores,
			      "llcs", (int)m->nr_llcs, "nodes", (int)m->nr_nodes, "sockets", (int)m->nr_sockets,
			      "threads_a_core", (int)m->smt_max);
	json_t *costs = json_object();

	for (int i = 0; figures && i < COST_NR; i++)
		json_object_set_new(costs, cost_infos[i].key,
				    json_pack("{s:I,s:s,s:o}", "value", (json_int_t)m->costs.v[i], "unit", cost_infos[i].unit,
					      "source", print_json_string(m->costs.source[i])));
	if (figures)
		json_object_set(o, "costs", costs);
	json_decref(costs);
	return o;
}

static void print_machine(const struct machine *m)
{
	printf("%s: %s\n%u CPUs, %u cores, %u LLCs, %u nodes, %u sockets, %u threads a core\n", m->name, m->about,
	       m->nr_online, m->nr_cores, m->nr_llcs, m->nr_nodes, m->nr_sockets, m->smt_max);
	if (!m->has_costs)
		printf("no figures of its own: those of machines/generic.costs\n");
	for (int i = 0; i < COST_NR; i++) {
		printf("  %-20s %12lld %-9s %s\n", cost_infos[i].key, (long long)m->costs.v[i], cost_infos[i].unit,
		       cost_infos[i].help);
		printf("  %-20s %12s %-9s %s\n", "", "", "", m->costs.source[i]);
	}
}

int cmd_machines(struct cli *cli)
{
	json_t *list = json_array();
	struct topo_error err;
	struct machine *m;

	if (cli->nr_args) {
		json_decref(list);
		if (topology_open(cli->args[0], &m, &err))
			return cli_refuse(cli, "%s", err.text);
		if (opt_flag(cli, OPT_JSON)) {
			int ret = cli_print_json(cli, machine_json(m, true));

			topology_free(m);
			return ret;
		}
		print_machine(m);
		topology_free(m);
		return CLI_DONE;
	}
	for (unsigned int i = 0; topology_preset_name(i); i++) {
		if (topology_preset(topology_preset_name(i), &m, &err)) {
			json_decref(list);
			return cli_fail(cli, "%s", err.text);
		}
		if (opt_flag(cli, OPT_JSON))
			json_array_append_new(list, machine_json(m, false));
		else
			printf("%-22s %s\n", m->name, m->about);
		topology_free(m);
	}
	if (opt_flag(cli, OPT_JSON))
		return cli_print_json(cli, list);
	json_decref(list);
	printf("%-22s %s\n", "this", "the machine roost runs on, with general figures");
	printf("%-22s %s\n", "FILE.machine", "a file of the same kind; FILE.xml: hwloc's, as lstopo writes it");
	printf("%-22s %s\n", "\"pack:2 l3:4 core:8 pu:2\"", "an hwloc synthetic description");
	return CLI_DONE;
}
