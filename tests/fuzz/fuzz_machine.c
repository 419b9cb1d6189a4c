/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz_machine.c - machine files, cost files and synthetic descriptions. A machine that is taken nests its groups and
 * counts right; a refusal is one line that names the file, and a refused cost file changes nothing.
 */
#include <string.h>

#include "fuzz.h"
#include "topology/build.h"

static void sound(const struct machine *m)
{
	uint32_t online = 0;

	MUST(m->nr_cpu_ids && m->nr_cpu_ids <= TOPO_MAX_CPUS);
	for (uint32_t i = 0; i < m->nr_cpu_ids; i++) {
		const struct machine_cpu *c = &m->cpus[i];

		if (!c->online)
			continue;
		online++;
		MUST((uint32_t)c->core < m->nr_cores && (uint32_t)c->llc < m->nr_llcs && (uint32_t)c->node < m->nr_nodes);
		MUST(m->cores[c->core].parent == c->llc && m->llcs[c->llc].parent == c->node);
		MUST((uint32_t)c->smt_next < m->nr_cpu_ids && m->cpus[c->smt_next].core == c->core);
	}
	MUST(online == m->nr_online && online);
	for (uint32_t i = 0; i < m->nr_llcs; i++)
		MUST(m->llcs[i].count && m->llcs[i].first + m->llcs[i].count <= m->nr_online);
}

static void refused(const struct topo_error *err, const char *where)
{
	MUST(err->err < 0 && err->text[0] && !strchr(err->text, '\n'));
	MUST(strstr(err->text, where));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct topo_error err = { 0 };
	struct costs costs, before;
	struct machine *m;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (topo_parse_machine_text(text, "f.machine", &m, &err))
		refused(&err, "f.machine");
	else
		sound(m), topology_free(m);
	costs_generic(&costs);
	before = costs;
	memset(&err, 0, sizeof(err));
	if (costs_overlay_text(&costs, text, "f.costs", &err)) {
		refused(&err, "f.costs");
		MUST(!memcmp(&costs, &before, sizeof(costs)));
	} else {
		for (int i = 0; i < COST_NR; i++)
			MUST(costs.v[i] >= cost_infos[i].min && costs.v[i] <= cost_infos[i].max);
	}
	if (size < 100 && !strchr(text, '\n')) {
		memset(&err, 0, sizeof(err));
		if (!topology_from_synthetic(text, &m, &err))
			sound(m), topology_free(m);
		else
			MUST(err.err < 0 && !strchr(err.text, '\n'));
	}
	free(text);
	return 0;
}
