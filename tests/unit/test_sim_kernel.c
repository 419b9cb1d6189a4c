/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulator's kernel mode: what the fair class of the published results does and a later one does not. Each test wants
 * a mechanism to be seen from outside, and to go away with the figure that switches it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "run/knobs.h"
#include "sim/hackbench.c"
#include "sim/file.h"

static void run_with(const char *machine, enum cost_id id, int64_t value, const struct sim_workload *w, void *args,
		     struct sim_figures *f)
{
	struct topo_error terr;
	struct sim_error err;
	struct machine *m = NULL;
	struct sim_config c = { .workload = w, .workload_args = args, .pull = SIM_PULL_KERNEL, .seed = 1, .check_every = 10000 };

	assert_int_equal(topology_open(machine, &m, &terr), 0);
	m->costs.v[id] = value;
	c.machine = m;
	c.costs = &m->costs;
	knobs_default(&c.knobs);
	if (sim_run(&c, f, &err)) {
		print_error("%s\n", err.text);
		fail();
	}
	topology_free(m);
}

/* Every move of a task writes the group's load sum, unless the kernel bounds that: then much less is waited for it. */
static void test_load_sum(void **state)
{
	struct args a = { .groups = 32, .pairs = 20, .loops = 100, .bytes = 100, .threads = true, .pipe = true };
	struct sim_figures unbound, bound;

	run_with("sapphire-rapids-56x2", COST_LOADAVG_NS, 0, &sim_hackbench, &a, &unbound);
	run_with("sapphire-rapids-56x2", COST_LOADAVG_NS, 1000000, &sim_hackbench, &a, &bound);
	assert_int_equal(unbound.ops, 32 * 20 * 20 * 100);
	assert_int_equal(bound.ops, unbound.ops);
	assert_true(unbound.migrations > 1000);
	assert_true(unbound.load_sum_ns > 2 * bound.load_sum_ns);
	assert_true(bound.load_sum_ns > 0);
}

/* A sleeper beside a hog: up to 6.5 its lead preempts; since 6.6 the hog has its slice first, and slices end at ticks. */
static void test_sleeper_beside_hog(void **state)
{
	static const char json[] = "{\"global\":{\"duration\":2},\"tasks\":{\"hog\":{\"loop\":-1,\"cpus\":[0],\"run\":500},"
				   "\"sleeper\":{\"loop\":-1,\"cpus\":[0],\"sleep\":20300,\"run\":100}}}";
	struct sim_figures before, since;
	struct sim_file *file;
	struct sim_error err;

	assert_int_equal(sim_file_parse_text(json, strlen(json), "test", &file, &err), 0);
	run_with("core:2 pu:1", COST_LATENCY, 24000000, &sim_file, file, &before);
	run_with("core:2 pu:1", COST_LATENCY, 0, &sim_file, file, &since);
	sim_file_free(file);
	assert_true(before.wake_latency_ns[0] < 100000);
	assert_true(since.wake_latency_ns[0] > 500000);
	assert_true(since.wake_latency_ns[0] < 8000000);
}

/* Sixteen pages of forty messages. Full is when the last page is begun; it can be filled up all the same. */
static void test_pipe(void **state)
{
	struct state st = { .pages = PIPE_PAGES, .per_page = 40 };
	struct pipe p = { .head = 0 };
	int i;

	for (i = 0; i < 15 * 40; i++) {
		assert_true(put_message(&st, &p, false));
		assert_false(is_full(&st, &p));
	}
	assert_true(put_message(&st, &p, false));
	assert_true(is_full(&st, &p));
	assert_false(put_message(&st, &p, true)); /* one that waited wants a page of its own */
	for (i = 1; i < 40; i++)
		assert_true(put_message(&st, &p, false));
	assert_false(put_message(&st, &p, false));
	for (i = 0; i < 39; i++) {
		take_message(&st, &p);
		assert_true(is_full(&st, &p));
	}
	take_message(&st, &p);
	assert_false(is_full(&st, &p));
	assert_true(put_message(&st, &p, true));
	assert_true(is_full(&st, &p));
	for (i = 0; i < 15 * 40 + 1; i++) {
		assert_false(is_empty(&p));
		take_message(&st, &p);
	}
	assert_true(is_empty(&p));
	assert_true(put_message(&st, &p, false)); /* a page read empty is not written on */
	assert_int_equal(p.head - p.tail, 1);
}

/* A call is not taken the CPU in its middle; computing is. */
static void test_calls_are_not_interrupted(void **state)
{
	struct args a = { .groups = 1, .pairs = 4, .loops = 5, .bytes = 100, .threads = true, .pipe = true };
	struct sim_figures f;

	run_with("core:2 pu:1", COST_PIPE_OP, 20000000, &sim_hackbench, &a, &f);
	/* a message is two calls of 20 ms, as long as five ticks: tasks change where calls end, and not more often */
	assert_int_equal(f.ops, 4 * 4 * 5);
	assert_true(f.switches < 2 * f.ops + 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load_sum), cmocka_unit_test(test_sleeper_beside_hog), cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_calls_are_not_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
