/* SPDX-License-Identifier: GPL-2.0-only */
/* `roost top` drawn without a terminal: what stands where at 80x24, and that no machine or size breaks it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/rng.h"
#include "measure/topview.h"
#include "policy/waithist.h"
#include "run/counters.h"
#include "run/knobs.h"

struct fake {
	struct roost_machine m;
	struct roost_cpu *cpus;
	struct roost_llc *llcs;
	struct roost_llc_word *words;
	struct roost_knobs knobs;
	struct roost_stats since;
	struct top_data d;
};

/* Siblings are n and n + half, as firmware often numbers them. */
static void make(struct fake *f, u32 cpus, u32 llcs, u32 smt)
{
	u32 cores = cpus / smt, per_llc = cores / llcs, words = 0;

	memset(f, 0, sizeof(*f));
	f->cpus = calloc(cpus, sizeof(*f->cpus));
	f->llcs = calloc(llcs, sizeof(*f->llcs));
	f->words = calloc((size_t)llcs * ROOST_MAX_WORDS, sizeof(*f->words));
	for (u32 l = 0; l < llcs; l++) {
		f->llcs[l].first_word = words;
		f->llcs[l].node = l * 2 / (llcs > 1 ? llcs : 2);
		for (u32 w = 0; w < (cpus + 63) / 64; w++, f->llcs[l].nr_words++)
			f->words[words++].cpu_word = w;
	}
	for (u32 i = 0; i < cpus; i++) {
		u32 core = i % cores, llc = core / per_llc < llcs ? core / per_llc : llcs - 1;
		struct roost_cpu *c = &f->cpus[i];

		c->flags = ROOST_CPU_ONLINE;
		c->llc = llc;
		c->core = core;
		c->nr_siblings = smt;
		for (u32 s = 0; s < smt; s++)
			c->siblings[s] = (u16)(core + s * cores);
		c->word = f->llcs[llc].first_word + i / 64;
		f->words[c->word].idle |= 1ull << (i % 64);
	}
	f->m = (struct roost_machine){ .nr_cpu_ids = cpus, .nr_llcs = llcs, .nr_words = words, .nr_nodes = 2 };
	knobs_default(&f->knobs);
	f->d = (struct top_data){ .machine = &f->m, .cpus = f->cpus, .llcs = f->llcs, .words = f->words, .knobs = &f->knobs,
				  .since = &f->since, .interval_s = 2, .now_ns = 5000000, .kernel = "Linux 7.3.4", .writable = 1 };
}

static void unmake(struct fake *f)
{
	free(f->cpus);
	free(f->llcs);
	free(f->words);
}

static char *screen(const struct fake *f, int rows, int cols)
{
	struct top_canvas c;
	char *s = malloc((size_t)rows * (size_t)(cols + 1) + 1), *p = s;

	assert_int_equal(top_canvas_init(&c, rows, cols), 0);
	top_draw(&c, &f->d);
	for (int r = 0; r < rows; r++) {
		for (int k = 0; k < cols; k++)
			*p++ = c.cell[r * cols + k].c;
		*p++ = '\n';
	}
	*p = 0;
	top_canvas_free(&c);
	for (p = s; *p; p++)
		assert_true(*p == '\n' || (*p >= ' ' && *p < 127));
	return s;
}

static void busy(struct fake *f, u32 cpu, u32 runnable)
{
	f->cpus[cpu].nr_runnable = runnable;
	f->words[f->cpus[cpu].word].idle &= ~(1ull << (cpu % 64));
}

static void at_80x24(void **state)
{
	struct fake f;
	char *s;

	make(&f, 16, 4, 2);
	busy(&f, 0, 1);
	busy(&f, 8, 3);
	f.cpus[1].flags = 0;
	f.cpus[3].flags |= ROOST_CPU_RT_HELD;
	f.words[f.cpus[4].word].spin |= 1u << 4;
	f.knobs.idle_grace_ns = 1000000;
	busy(&f, 6, 1);
	f.cpus[6].idle_exit_ns = 4500000;
	busy(&f, 7, 1);
	f.cpus[7].idle_exit_ns = 3500000; /* grace is over */
	f.since.rule[ROOST_RULE_PREV_IDLE] = 30000;
	f.since.rule[ROOST_RULE_SCAN_CORE] = 10000;
	f.since.rule_distance[ROOST_RULE_PREV_IDLE][ROOST_DIST_SAME] = 30000;
	f.since.rule_distance[ROOST_RULE_SCAN_CORE][ROOST_DIST_FAR] = 10000;
	f.since.nr_wakeups = 40000;
	f.since.nr_switches = 1000;
	f.since.wait_hist[waithist_bucket(20000)] = 900;
	f.since.wait_hist[waithist_bucket(10000000)] = 100;
	s = screen(&f, 24, 80);
	assert_non_null(strstr(s, "roost: 4 of 15 CPUs busy, 4 LLCs, 2 nodes"));
	assert_non_null(strstr(s, "N0 L0   [#3][x.]"));
	assert_non_null(strstr(s, "N0 L1   [..][R.]"));
	assert_non_null(strstr(s, "N1 L2   [~.][..]"));
	assert_non_null(strstr(s, "N1 L3   [g.][#.]"));
	assert_non_null(strstr(s, "wakeups 20.0k/s"));
	assert_non_null(strstr(s, "none 15.0k/s 75%"));
	assert_non_null(strstr(s, "far 5000/s 25%"));
	assert_non_null(strstr(s, "waits: p50 20.5us p95 10.5ms"));
	assert_non_null(strstr(s, "prev-idle             15.0k  75.0% "));
	assert_non_null(strstr(s, "idle-grace            1ms"));
	assert_non_null(strstr(s, ">slice"));
	assert_non_null(strstr(s, "q quit"));
	free(s);
	f.d.edit = "2m";
	f.d.selected = (unsigned)knob_count - 1;
	s = screen(&f, 24, 80);
	assert_non_null(strstr(s, "2m")); /* the last knob scrolls into sight */
	assert_non_null(strstr(s, "Enter sets it"));
	free(s);
	f.d.message = "slice: 1s is out of range";
	s = screen(&f, 24, 80);
	assert_non_null(strstr(s, f.d.message));
	free(s);
	unmake(&f);
}

static void any_size_of_any_machine(void **state)
{
	static const u32 machines[][3] = { { 1, 1, 1 }, { 2, 1, 1 }, { 16, 4, 2 }, { 384, 24, 2 }, { 512, 2, 2 }, { 1024, 64, 4 },
					   { 8192, 512, 2 } };
	struct rng r = { 6 };

	for (unsigned i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct fake f;

		make(&f, machines[i][0], machines[i][1], machines[i][2]);
		memset(&f.since, 0xff, sizeof(f.since)); /* the widest numbers there can be */
		for (u32 k = 0; k < f.m.nr_cpu_ids; k += 3)
			busy(&f, k, (u32)rng_below(&r, 30));
		for (int rows = 1; rows < 70; rows += rows < 26 ? 1 : 9)
			for (int cols = 1; cols < 250; cols += cols < 90 ? 7 : 40) {
				f.d.selected = (unsigned)rng_below(&r, knob_count);
				free(screen(&f, rows, cols));
			}
		unmake(&f);
	}
}

/* The 2x96-core machine fits 80x24 with every CPU its own character. */
static void a_large_machine_at_80x24(void **state)
{
	struct fake f;
	char *s, last[4000];

	make(&f, 384, 24, 2);
	busy(&f, 191, 1);
	s = screen(&f, 24, 80);
	assert_non_null(strstr(s, "L23"));
	assert_non_null(strstr(s, "rule"));
	snprintf(last, sizeof(last), "%s", strstr(s, "L23"));
	*strchr(last, '\n') = 0;
	assert_non_null(strpbrk(last, "#1"));
	if (getenv("ROOST_TOP_SHOW"))
		print_message("%s", s);
	free(s);
	unmake(&f);
}

static void wait_buckets(void **state)
{
	struct roost_stats *s = calloc(1, sizeof(*s));
	struct rng r = { 2 };

	for (u32 b = 3; b < ROOST_WAIT_BUCKETS - 1; b++) {
		assert_true(waithist_low_ns(b) > waithist_low_ns(b - 1));
		assert_int_equal(waithist_bucket(waithist_low_ns(b)), b);
		assert_int_equal(waithist_bucket(waithist_low_ns(b) - 1), b == 3 ? 1 : b - 1);
	}
	assert_int_equal(waithist_bucket(0), 0);
	assert_int_equal(waithist_bucket(511), 0);
	assert_int_equal(waithist_bucket(512), 1);
	assert_int_equal(waithist_bucket(~0ull), ROOST_WAIT_BUCKETS - 2);
	for (int i = 0; i < 100000; i++)
		s->wait_hist[waithist_bucket(rng_below(&r, 1000000))]++;
	assert_in_range(counters_wait_quantile_ns(s, .5), 400000, 600000);
	assert_in_range(counters_wait_quantile_ns(s, .99), 800000, 1100000);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wait_buckets),
		cmocka_unit_test(at_80x24),
		cmocka_unit_test(any_size_of_any_machine),
		cmocka_unit_test(a_large_machine_at_80x24),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
