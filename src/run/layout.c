/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * layout.c - see layout.h. CPUs that are online but in no LLC that is known get one LLC of their own each,
 * so that every online CPU can be chosen.
 */
#include "run/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void place_siblings(const struct machine *m, struct roost_cpu *cpus, u32 cpu)
{
	struct roost_cpu *c = &cpus[cpu];
	u32 i, nr = 0;

	for (i = 0; i < m->nr_cpu_ids && nr < ROOST_MAX_SIBLINGS; i++)
		if (m->cpus[i].online && m->cpus[cpu].core >= 0 && m->cpus[i].core == m->cpus[cpu].core)
			c->siblings[nr++] = (u16)i;
	if (!nr)
		c->siblings[nr++] = (u16)cpu;
	c->nr_siblings = nr;
	c->core = c->siblings[0];
}

/* Cores are listed with their members: no walk over all CPUs for each CPU of a known core. */
static int place_core(const struct machine *m, struct roost_cpu *cpus, const struct machine_group *core)
{
	const u32 *member = &m->core_cpus[core->first];
	u32 i, j;

	if (core->count > ROOST_MAX_SIBLINGS)
		return -E2BIG;
	for (i = 0; i < core->count; i++) {
		struct roost_cpu *c = &cpus[member[i]];

		for (j = 0; j < core->count; j++)
			c->siblings[j] = (u16)member[j];
		c->nr_siblings = core->count;
		c->core = member[0];
	}
	return 0;
}

static void place_llc(struct roost_layout *l, u32 index, s32 id, u32 node, const u32 *member, u32 count)
{
	struct roost_llc *llc = &l->llcs[index];
	struct roost_llc_word *w = NULL;
	u32 i;

	llc->id = id >= 0 ? (u32)id : index;
	llc->node = node;
	llc->first_word = l->machine.nr_words;
	llc->weight = count;
	llc->scan_depth = count;
	for (i = 0; i < count; i++) {
		struct roost_cpu *c = &l->cpus[member[i]];

		if (!w || w->cpu_word != member[i] / 64) {
			w = &l->words[l->machine.nr_words++];
			w->cpu_word = member[i] / 64;
			llc->nr_words++;
		}
		w->member |= 1ULL << (member[i] & 63);
		c->llc = index;
		c->node = node;
		c->word = l->machine.nr_words - 1;
		if (c->nr_siblings > 1)
			llc->smt = 1;
	}
}

static int fill(const struct machine *m, struct roost_layout *l)
{
	u32 i, index = 0;
	int err;

	for (i = 0; i < m->nr_cpu_ids; i++) {
		struct roost_cpu *c = &l->cpus[i];

		c->llc = ROOST_NOWHERE;
		c->word = ROOST_NOWHERE;
		c->pull_from = -1;
		c->capacity_max = m->cpus[i].capacity ? m->cpus[i].capacity : ROOST_CAPACITY;
		c->capacity = c->capacity_max;
		if (m->cpus[i].online)
			c->flags |= ROOST_CPU_ONLINE;
		c->siblings[0] = (u16)i;
		c->nr_siblings = 1;
		c->core = i;
	}
	for (i = 0; i < m->nr_cores; i++) {
		err = place_core(m, l->cpus, &m->cores[i]);
		if (err)
			return err;
		if (m->cores[i].count > 1)
			l->machine.smt = 1;
	}
	for (i = 0; i < m->nr_llcs; i++) {
		const struct machine_group *g = &m->llcs[i];

		if (g->count)
			place_llc(l, index++, g->id, g->parent >= 0 ? (u32)g->parent : 0, &m->llc_cpus[g->first], g->count);
	}
	for (i = 0; i < m->nr_cpu_ids; i++)
		if (m->cpus[i].online && l->cpus[i].llc == ROOST_NOWHERE) {
			place_siblings(m, l->cpus, i);
			place_llc(l, index++, -1, m->cpus[i].node >= 0 ? (u32)m->cpus[i].node : 0, &i, 1);
		}
	l->machine.nr_llcs = index;
	return index ? 0 : -EINVAL;
}

int roost_layout_make(const struct machine *m, struct roost_layout *out)
{
	struct roost_layout l = { 0 };
	int err = -ENOMEM;

	l.machine.abi_version = ROOST_ABI_VERSION;
	l.machine.nr_cpu_ids = m->nr_cpu_ids;
	l.machine.nr_possible = m->nr_possible;
	l.machine.nr_nodes = m->nr_nodes ? m->nr_nodes : 1;
	/* more than enough: each online CPU alone in an LLC and in a word */
	l.cpus = calloc(m->nr_cpu_ids ? m->nr_cpu_ids : 1, sizeof(*l.cpus));
	l.llcs = calloc(m->nr_llcs + m->nr_online + 1, sizeof(*l.llcs));
	l.words = calloc(m->nr_online + 1, sizeof(*l.words));
	if (!l.cpus || !l.llcs || !l.words)
		goto out;
	err = fill(m, &l);
	if (err)
		goto out;
	*out = l;
	return 0;
out:
	roost_layout_free(&l);
	return err;
}

void roost_layout_free(struct roost_layout *l)
{
	free(l->cpus);
	free(l->llcs);
	free(l->words);
	memset(l, 0, sizeof(*l));
}
