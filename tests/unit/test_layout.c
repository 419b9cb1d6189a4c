/* SPDX-License-Identifier: GPL-2.0-only */
/* Machines as the policy's records (run/layout.h): holes in the numbers, CPUs offline since boot, LLCs across CPU words. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "run/layout.h"

/* What must hold on any machine. */
static void check_layout(const struct machine *m, const struct roost_layout *l)
{
	u32 members = 0, weight = 0, words = 0;

	assert_int_equal(l->machine.nr_cpu_ids, m->nr_cpu_ids);
	for (u32 i = 0; i < l->machine.nr_llcs; i++) {
		const struct roost_llc *llc = &l->llcs[i];
		u32 mine = 0;

		assert_int_equal(llc->first_word, words);
		for (u32 w = 0; w < llc->nr_words; w++) {
			const struct roost_llc_word *word = &l->words[llc->first_word + w];

			assert_true(word->member != 0);
			if (w)
				assert_true(word->cpu_word > word[-1].cpu_word);
			for (u32 b = 0; b < 64; b++)
				if (word->member >> b & 1) {
					const struct roost_cpu *c = &l->cpus[word->cpu_word * 64 + b];

					assert_true(c->flags & ROOST_CPU_ONLINE);
					assert_int_equal(c->llc, i);
					assert_int_equal(c->word, llc->first_word + w);
					assert_int_equal(c->node, llc->node);
					mine++;
				}
		}
		assert_int_equal(llc->weight, mine);
		words += llc->nr_words;
		members += mine;
		weight += llc->weight;
	}
	assert_int_equal(words, l->machine.nr_words);
	assert_int_equal(members, m->nr_online);
	for (u32 i = 0; i < m->nr_cpu_ids; i++) {
		const struct roost_cpu *c = &l->cpus[i];
		bool self = false;

		assert_in_range(c->nr_siblings, 1, ROOST_MAX_SIBLINGS);
		for (u32 s = 0; s < c->nr_siblings; s++) {
			self |= c->siblings[s] == i;
			if (s)
				assert_true(c->siblings[s] > c->siblings[s - 1]);
			if (m->cpus[i].online) {
				assert_int_equal(l->cpus[c->siblings[s]].core, c->core);
				assert_int_equal(l->cpus[c->siblings[s]].llc, c->llc);
			}
		}
		assert_true(self);
		assert_int_equal(c->core, c->siblings[0]);
		assert_int_equal(c->pull_from, -1);
		assert_int_equal(!!(c->flags & ROOST_CPU_ONLINE), m->cpus[i].online);
		if (!m->cpus[i].online)
			assert_int_equal(c->word, ROOST_NOWHERE);
	}
}

static void any_synthetic_machine(void **state)
{
	static const char *const texts[] = {
		"node:1 core:1 pu:1", "node:1 l3:1 core:2 pu:1", "pack:2 node:1 l3:2 core:3 pu:2", "pack:2 node:1 l3:1 core:50 pu:2",
		"pack:2 node:2 l3:3 core:16 pu:4",
	};
	u32 tried = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct topo_error err;
		struct roost_layout l;
		struct machine *m;

		if (topology_from_synthetic(texts[i], &m, &err))
			fail_msg("%s: %s", texts[i], err.text);
		assert_int_equal(roost_layout_make(m, &l), 0);
		check_layout(m, &l);
		assert_int_equal(l.machine.smt, m->smt_max > 1);
		assert_int_equal(l.machine.nr_llcs, m->nr_llcs);
		roost_layout_free(&l);
		topology_free(m);
		tried++;
	}
	assert_int_equal(tried, sizeof(texts) / sizeof(texts[0]));
}

/*
 * By hand: numbers 0 1 . . 4 5 . . 70 71 130; core {0,70} {1,71} in LLC 0, {4,5} in LLC 1, 130 online in no known LLC, 6
 * possible and offline since boot.
 */
static struct machine_cpu cpus[131];
static struct machine_group cores[3], llcs[3];
static u32 core_cpus[] = { 0, 70, 1, 71, 4, 5 }, llc_cpus[] = { 0, 1, 70, 71, 4, 5 };

static struct machine holes(void)
{
	struct machine m = { .nr_cpu_ids = 131, .nr_possible = 8, .nr_present = 7, .nr_online = 7, .nr_cores = 3, .nr_llcs = 3,
			     .nr_nodes = 2, .nr_sockets = 1, .smt_max = 2, .cpus = cpus, .cores = cores, .llcs = llcs,
			     .core_cpus = core_cpus, .llc_cpus = llc_cpus };
	static const u32 online[] = { 0, 1, 4, 5, 70, 71, 130 };

	for (u32 i = 0; i < 131; i++)
		cpus[i] = (struct machine_cpu){ .core = -1, .llc = -1, .node = -1, .socket = -1, .smt_next = -1 };
	for (size_t i = 0; i < sizeof(online) / sizeof(online[0]); i++)
		cpus[online[i]].possible = cpus[online[i]].present = cpus[online[i]].online = 1;
	cpus[6].possible = 1;
	for (u32 i = 0; i < 6; i++) {
		cpus[core_cpus[i]].core = (s32)i / 2;
		cpus[llc_cpus[i]].llc = i < 4 ? 0 : 2;
		cpus[llc_cpus[i]].node = i < 4 ? 0 : 1;
	}
	cpus[5].capacity = 512;
	for (u32 i = 0; i < 3; i++)
		cores[i] = (struct machine_group){ .first = 2 * i, .count = 2, .id = (s32)i, .parent = i < 2 ? 0 : 2 };
	llcs[0] = (struct machine_group){ .first = 0, .count = 4, .id = 0, .parent = 0 };
	llcs[1] = (struct machine_group){ .first = 4, .count = 0, .id = 7, .parent = 0 };       /* nothing online in it */
	llcs[2] = (struct machine_group){ .first = 4, .count = 2, .id = 9, .parent = 1 };
	return m;
}

static void numbers_with_holes(void **state)
{
	struct machine m = holes();
	struct roost_layout l;

	assert_int_equal(roost_layout_make(&m, &l), 0);
	check_layout(&m, &l);
	assert_int_equal(l.machine.nr_llcs, 3);         /* the empty one left out, one for CPU 130 alone */
	assert_int_equal(l.machine.nr_words, 4);
	assert_int_equal(l.machine.nr_possible, 8);
	assert_int_equal(l.machine.smt, 1);
	assert_int_equal(l.llcs[0].nr_words, 2);        /* {0,1} and {70,71} are in two CPU words */
	assert_int_equal(l.llcs[0].weight, 4);
	assert_int_equal(l.llcs[1].id, 9);
	assert_int_equal(l.cpus[70].core, 0);
	assert_int_equal(l.cpus[70].siblings[0], 0);
	assert_int_equal(l.cpus[70].siblings[1], 70);
	assert_int_equal(l.cpus[5].capacity, 512);
	assert_int_equal(l.cpus[4].capacity, 1024);
	assert_int_equal(l.cpus[4].node, 1);
	/* online and in no LLC that is known: it can still be chosen */
	assert_int_equal(l.cpus[130].llc, 2);
	assert_int_equal(l.words[l.cpus[130].word].member, 1ULL << 2);
	assert_int_equal(l.words[l.cpus[130].word].cpu_word, 2);
	/* not there, or not yet: nowhere */
	assert_int_equal(l.cpus[2].llc, ROOST_NOWHERE);
	assert_int_equal(l.cpus[6].llc, ROOST_NOWHERE);
	roost_layout_free(&l);
}

static void refusals(void **state)
{
	struct machine m = holes();
	struct roost_layout l;

	cores[0].count = ROOST_MAX_SIBLINGS + 1;
	assert_int_equal(roost_layout_make(&m, &l), -E2BIG);
	m = holes();
	for (u32 i = 0; i < m.nr_cpu_ids; i++)
		cpus[i].online = 0;
	m.nr_online = m.nr_cores = m.nr_llcs = 0;
	assert_int_equal(roost_layout_make(&m, &l), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_synthetic_machine),
		cmocka_unit_test(numbers_with_holes),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
