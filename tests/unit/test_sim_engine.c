/* SPDX-License-Identifier: GPL-2.0-only */
/* The simulator's engine: order of events, what the checkers see, weights, affinity, refusals, memory. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/knobs.h"
#include "sim/engine.h"
#include "sim/file.h"
#include "sim/workloads.h"

/* Random sets, moves and removals against a plain array. */
static void test_event_queue_order(void **state)
{
	enum { SLOTS = 200 };
	uint64_t when[SLOTS], seq[SLOTS], next_seq = 0, rng = 1;
	struct evq q;

	memset(when, 0xff, sizeof(when));
	memset(seq, 0, sizeof(seq));
	assert_int_equal(evq_init(&q, SLOTS), 0);
	for (int step = 0; step < 200000; step++) {
		uint32_t slot, best = EVQ_NONE;

		rng = rng * 6364136223846793005u + 1442695040888963407u;
		slot = (uint32_t)(rng >> 40) % SLOTS;
		if (rng >> 62) {
			when[slot] = rng >> 55 & 63;
			seq[slot] = next_seq++;
			evq_set(&q, slot, when[slot]);
		} else {
			when[slot] = UINT64_MAX;
			evq_clear(&q, slot);
		}
		for (uint32_t i = 0; i < SLOTS; i++)
			if (when[i] != UINT64_MAX && (best == EVQ_NONE || when[i] < when[best] ||
						      (when[i] == when[best] && seq[i] < seq[best])))
				best = i;
		if (best == EVQ_NONE) {
			assert_int_equal(q.nr, 0);
			continue;
		}
		assert_int_equal(evq_slot_of(&q.heap[0]), best);
		if (step % 3 == 0) { /* fire it; half of them set themselves anew */
			assert_int_equal(evq_fire(&q), best);
			assert_false(evq_is_set(&q, best));
			when[best] = UINT64_MAX;
			if (step % 2) {
				when[best] = 70;
				seq[best] = next_seq++;
				evq_set(&q, best, 70);
			}
			evq_fired(&q, best);
			assert_int_equal(evq_is_set(&q, best), step % 2);
		}
	}
	evq_free(&q);
}

static void test_random_numbers(void **state)
{
	enum { N = 200000 };
	struct sim s = { .rng = 42 };
	double sum = 0, pareto = 0;
	uint64_t below = 0;

	for (int i = 0; i < N; i++) {
		uint64_t e = sim_rand_exp(&s, 1000000);

		sum += (double)e;
		below += e < 693147; /* the median of the law is mean * ln 2 */
		pareto += (double)sim_rand_pareto(&s, 16029200 * 10, 154971); /* 16029.2 ns */
	}
	assert_true(fabs(sum / N / 1000000 - 1) < 0.01);
	assert_true(fabs((double)below / N - 0.5) < 0.01);
	assert_true(fabs(pareto / N * (1 - 0.154971) / 16029.2 - 1) < 0.01);
}

/* ---- runs ---- */
static struct machine *machine_of(const char *what)
{
	struct topo_error err;
	struct machine *m = NULL;

	if (topology_open(what, &m, &err))
		print_error("%s\n", err.text);
	assert_non_null(m);
	return m;
}

static void (*turn_knobs)(struct roost_knobs *k);

static int run_file(const char *machine, const char *json, enum sim_pull pull, struct sim_figures *f, struct sim_error *err)
{
	struct machine *m = machine_of(machine);
	struct sim_file *file = NULL;
	struct sim_config c = { .machine = m, .costs = &m->costs, .workload = &sim_file, .pull = pull, .seed = 1,
				.check_every = 1000 };
	int ret = sim_file_parse_text(json, strlen(json), "test.json", &file, err);

	if (!ret) {
		knobs_default(&c.knobs);
		if (turn_knobs)
			turn_knobs(&c.knobs);
		c.workload_args = file;
		ret = sim_run(&c, f, err);
	}
	sim_file_free(file);
	topology_free(m);
	return ret;
}

static void must_run(const char *machine, const char *json, enum sim_pull pull, struct sim_figures *f)
{
	struct sim_error err;

	if (run_file(machine, json, pull, f, &err)) {
		print_error("%s\n", err.text);
		fail();
	}
}

static void must_refuse(const char *json, const char *part)
{
	struct sim_figures f;
	struct sim_error err = { "" };

	assert_int_equal(run_file("core:4 pu:1", json, SIM_PULL_ROOST, &f, &err), -EINVAL);
	if (!strstr(err.text, part))
		print_error("\"%s\" does not say \"%s\"\n", err.text, part);
	assert_non_null(strstr(err.text, part));
	assert_non_null(strstr(err.text, "test.json:"));
	assert_null(strchr(err.text, '\n'));
}

/* Alone on a CPU, 100 x 1 ms of work and as many sleeps: time is work, sleeps and what switching costs, no more. */
static void test_time_adds_up(void **state)
{
	struct sim_figures f;

	must_run("core:1 pu:1", "{\"tasks\":{\"a\":{\"loop\":100,\"run\":1000,\"sleep\":1000}}}", SIM_PULL_ROOST, &f);
	assert_int_equal(f.ops, 100);
	assert_true(f.user_ns > 99900000 && f.user_ns <= 100000000);
	assert_true(f.work_ns > 200000000 && f.work_ns < 202000000);
	assert_true(f.idle_ns > 98000000);
	assert_int_equal(f.migrations, 0);
}

/* nice 0 against nice 5 on one CPU: 1024 to 335, both in either mode. */
static void test_weights(void **state)
{
	for (int pull = 0; pull < 2; pull++) {
		static const char json[] = "{\"global\":{\"duration\":20},\"tasks\":{"
			"\"heavy\":{\"loop\":-1,\"run\":1000},\"light\":{\"loop\":-1,\"nice\":5,\"run\":1000}}}";
		struct machine *m = machine_of("core:1 pu:1");
		struct sim_file *file = NULL;
		struct sim_config c = { .machine = m, .costs = &m->costs, .workload = &sim_file, .pull = (enum sim_pull)pull };
		struct sim_figures f;
		struct sim_error err;
		uint64_t lat;

		assert_int_equal(sim_file_parse_text(json, strlen(json), "t", &file, &err), 0);
		knobs_default(&c.knobs);
		c.workload_args = file;
		assert_int_equal(sim_run(&c, &f, &err), 0);
		lat = f.ops;
		/* 20 s of 1 ms loops, nothing lost but switches */
		assert_true(lat > 19500 && lat <= 20000);
		sim_file_free(file);
		topology_free(m);
	}
}

struct share {
	uint64_t run[2];
};
static struct share last_share;

static void share_finish(struct sim *s, struct sim_figures *f)
{
	for (int i = 0; i < 2; i++)
		last_share.run[i] = s->tasks[i].run_ns;
}

static void test_weight_share(void **state)
{
	static const char json[] = "{\"global\":{\"duration\":20},\"tasks\":{"
		"\"heavy\":{\"loop\":-1,\"run\":1000},\"light\":{\"loop\":-1,\"nice\":5,\"run\":1000}}}";
	struct sim_workload w = sim_file;
	struct machine *m = machine_of("core:1 pu:1");
	struct sim_config c = { .machine = m, .costs = &m->costs, .workload = &w };
	struct sim_file *file = NULL;
	struct sim_figures f;
	struct sim_error err;
	double ratio;

	w.finish = share_finish;
	assert_int_equal(sim_file_parse_text(json, strlen(json), "t", &file, &err), 0);
	knobs_default(&c.knobs);
	c.workload_args = file;
	for (int pull = 0; pull < 2; pull++) {
		c.pull = (enum sim_pull)pull;
		assert_int_equal(sim_run(&c, &f, &err), 0);
		ratio = (double)last_share.run[0] / (double)last_share.run[1];
		if (fabs(ratio / (1024.0 / 335) - 1) > 0.05)
			print_error("pull %d: shares %.3f, weights %.3f\n", pull, ratio, 1024.0 / 335);
		assert_true(fabs(ratio / (1024.0 / 335) - 1) < 0.05);
	}
	sim_file_free(file);
	topology_free(m);
}

/* Eight tasks pinned to CPU 1 of four: it alone works, and no checker minds the idle others. */
static void test_affinity(void **state)
{
	struct sim_figures f;

	must_run("core:4 pu:1", "{\"tasks\":{\"a\":{\"instance\":8,\"loop\":20,\"run\":2000,\"sleep\":50,\"cpus\":[1]}}}",
		 SIM_PULL_ROOST, &f);
	assert_int_equal(f.migrations, 0);
	assert_true(f.work_ns > 8ull * 20 * 2000000);
	assert_true(f.rule[ROOST_RULE_PINNED] > 0);
}

/* Nine tasks that never sleep on eight CPUs: roost's slow balance shares them out, none runs twice as long as another. */
static void test_shares_out(void **state)
{
	struct sim_figures f;

	must_run("core:8 pu:1", "{\"global\":{\"duration\":4},\"tasks\":{\"a\":{\"instance\":9,\"loop\":-1,\"run\":500}}}",
		 SIM_PULL_ROOST, &f);
	assert_true(f.migrations > 10);
	assert_true((double)f.idle_ns < 0.01 * 8 * 4e9);
}

static void test_locks_and_barriers(void **state)
{
	struct sim_figures f;

	must_run("core:4 pu:2",
		 "{\"tasks\":{\"w\":{\"instance\":6,\"loop\":50,\"run\":100,\"lock\":\"m\",\"run1\":20,\"unlock\":\"m\",\"barrier\":\"b\"},"
		 "\"p\":{\"loop\":50,\"timer\":{\"ref\":\"t\",\"period\":500},\"lock\":\"q\",\"signal\":\"c\",\"unlock\":\"q\",\"resume\":\"s\"},"
		 "\"s\":{\"loop\":50,\"suspend\":\"s\",\"run\":10}}}",
		 SIM_PULL_ROOST, &f);
	assert_int_equal(f.ops, 6 * 50 + 50 + 50);
}

static void test_never_finishes(void **state)
{
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"suspend\":\"x\",\"resume\":\"y\"},\"b\":{\"loop\":1,\"suspend\":\"y\",\"resume\":\"x\"}}}",
		    "can never finish, as nobody gets as far as waking who waits: a (waits for \"x\"), b (waits for \"y\")");
	/* others that finish, or loop, do not hide them */
	must_refuse("{\"tasks\":{\"done\":{\"loop\":1,\"run\":1},\"a\":{\"loop\":1,\"suspend\":\"x\",\"resume\":\"y\"},"
		    "\"b\":{\"loop\":1,\"suspend\":\"y\",\"resume\":\"x\"}}}", "waits: a (waits for \"x\"), b (waits for \"y\")");
	must_refuse("{\"global\":{\"duration\":1},\"tasks\":{\"loops\":{\"loop\":-1,\"run\":5,\"resume\":\"z\"},"
		    "\"a\":{\"loop\":1,\"suspend\":\"z\",\"suspend1\":\"x\",\"resume\":\"y\"},"
		    "\"b\":{\"loop\":-1,\"suspend\":\"y\",\"resume\":\"x\"}}}", "waits: a (waits for \"x\"), b (waits for \"y\")");
	must_refuse("{\"tasks\":{\"done\":{\"loop\":1,\"run\":1},\"a\":{\"loop\":1,\"wait\":\"c\",\"resume\":\"y\"},"
		    "\"b\":{\"loop\":1,\"suspend\":\"y\",\"signal\":\"c\"}}}", "a (waits for \"c\"), b (waits for \"y\")");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"suspend\":\"\",\"resume\":\"a\"}}}", "a (waits for \"a\")");
	must_refuse("{\"global\":{\"duration\":1},\"tasks\":{\"b\":{\"phases\":{\"p\":{\"loop\":-1,\"run\":1},\"q\":{\"resume\":\"x\"}}},"
		    "\"a\":{\"loop\":1,\"suspend\":\"x\"}}}", "waits: a (waits for \"x\")");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"run\":1,\"suspend\":\"nobody\"}}}", "nobody resumes \"nobody\"");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"wait\":\"c\"}}}", "nobody signals \"c\"");
	must_refuse("{\"tasks\":{\"a\":{\"run\":1}}}", "no \"duration\"");
}

/* Two resumes by one loop of two, for two suspends: no circle. */
static void test_finishes(void **state)
{
	struct sim_figures f;

	must_run("core:2 pu:1", "{\"tasks\":{\"a\":{\"loop\":1,\"suspend\":\"x\",\"suspend1\":\"x\",\"resume\":\"y\"},"
		 "\"b\":{\"loop\":1,\"phases\":{\"p\":{\"loop\":2,\"run\":1,\"resume\":\"x\"},\"q\":{\"suspend\":\"y\"}}}}}", SIM_PULL_ROOST, &f);
	assert_int_equal(f.ops, 2);
	must_run("core:2 pu:1", "{\"tasks\":{\"b\":{\"loop\":3,\"run\":5,\"resume\":\"a\",\"suspend\":\"b\"},"
		 "\"a\":{\"loop\":3,\"suspend\":\"\",\"resume\":\"b\"},\"none\":{\"instance\":0,\"loop\":1,\"suspend\":\"a\"}}}", SIM_PULL_ROOST, &f);
	assert_int_equal(f.ops, 6);
}

static void long_slices(struct roost_knobs *k)
{
	k->slice_ns = 100000000;
	k->slice_min_ns = 5000000;
}

/*
 * A task that wakes every 100 us beside one that computes: it preempts, but not within the least slice, 5 ms here, which
 * ends between two ticks; the tick after it has to remember. At once were some 8000 times in this second, at the end of
 * a slice (50 ms) some 20.
 */
static void test_least_slice(void **state)
{
	struct sim_figures f;

	turn_knobs = long_slices;
	must_run("core:1 pu:1", "{\"tasks\":{\"hog\":{\"loop\":1,\"run\":1000000},\"b\":{\"loop\":100000,\"run\":20,\"sleep\":100}},"
		 "\"global\":{\"duration\":1}}", SIM_PULL_ROOST, &f);
	turn_knobs = NULL;
	assert_true(f.preemptions >= 100 && f.preemptions <= 200);
}

/* rt-app's delay: microseconds before a task begins; no part of its first loop. */
static void test_delay(void **state)
{
	struct sim_figures f;

	must_run("core:2 pu:1", "{\"tasks\":{\"a\":{\"loop\":1,\"delay\":50000,\"run\":1000}}}", SIM_PULL_ROOST, &f);
	assert_true(f.work_ns > 51000000 && f.work_ns < 51100000);
	assert_true(f.latency_max_ns > 1000000 && f.latency_max_ns < 1100000);
	must_run("core:2 pu:1", "{\"tasks\":{\"a\":{\"loop\":3,\"delay\":50000,\"timer\":{\"ref\":\"t\",\"period\":10000}}}}", SIM_PULL_ROOST, &f);
	assert_true(f.work_ns > 80000000 && f.work_ns < 80100000);
}

static void test_mutexes(void **state)
{
	struct sim_figures f;

	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"lock\":\"m\",\"run\":1,\"lock1\":\"m\"}}}", "a: locks \"m\" while it holds it");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":2,\"lock\":\"m\",\"run\":1}}}", "a: locks \"m\" while it holds it");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"phases\":{\"p\":{\"loop\":2,\"lock\":\"m\"}}}}}", "a: locks \"m\" while it holds it");
	must_refuse("{\"tasks\":{\"b\":{\"loop\":1,\"lock\":\"m\",\"unlock\":\"m\"},\"a\":{\"loop\":1,\"unlock\":\"m\"}}}",
		    "a: unlocks \"m\", which it does not hold");
	must_refuse("{\"tasks\":{\"b\":{\"loop\":1,\"signal\":\"c\"},\"a\":{\"loop\":1,\"wait\":{\"ref\":\"c\",\"mutex\":\"m\"}}}}",
		    "a: waits with the mutex \"m\", which it does not hold");
	must_run("core:2 pu:1", "{\"tasks\":{\"a\":{\"loop\":3,\"phases\":{\"p\":{\"lock\":\"m\"},\"q\":{\"loop\":4,\"run\":1,\"unlock\":\"m\",\"lock\":\"m\"},"
		 "\"r\":{\"unlock\":\"m\"}}}}}", SIM_PULL_ROOST, &f);
}

/* 50000 tasks with 15000 mutexes, and a chain of as many resumes with its end first: read in a moment, not in minutes. */
static void test_large_file(void **state)
{
	enum { N = 50000 };
	struct sim_file *file;
	struct sim_error err;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	fprintf(to, "{\"tasks\":{\"t0\":{\"loop\":1,\"suspend\":\"\"}");
	for (int i = 1; i < N; i++)
		fprintf(to, ",\"t%d\":{\"loop\":1,\"lock\":\"m%d\",\"unlock\":\"m%d\",%s\"resume\":\"t%d\"}", i, i % 15000, i % 15000,
			i == N - 1 ? "" : "\"suspend\":\"\",", i - 1);
	fprintf(to, "}}");
	fclose(to);
	alarm(60);
	assert_int_equal(sim_file_parse_text(text, size, "large.json", &file, &err), 0);
	alarm(0);
	assert_int_equal(file->nr_resources, N - 1 + 15000);
	sim_file_free(file);
	free(text);
}

static void test_bad_workload_files(void **state)
{
	must_refuse("", "");
	must_refuse("{", "");
	must_refuse("[]", "tasks");
	must_refuse("{\"tasks\":{}}", "at least one task");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1}}}", "without events");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"walk\":1}}}", "\"walk\"");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"run\":-1}}}", "whole number");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":0,\"run\":1}}}", "loop");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"run\":1,\"policy\":\"SCHED_FIFO\"}}}", "SCHED_OTHER");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"run\":1,\"instance\":1000001}}}", "instance");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"run\":1,\"instance\":600000},\"b\":{\"loop\":1,\"run\":1,\"instance\":600000}}}",
		    "1 to 1000000");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"run\":1,\"cpus\":[8192]}}}", "cpus");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"run\":1,\"cpus\":[0,500]}}}",
		    "test.json: a: cpus: machine synthetic has no CPU 500 online; it has 4");
	must_refuse("{\"global\":{\"duration\":1},\"tasks\":{\"a\":{\"loop\":-1,\"run\":0}}}", "a: loops for ever and takes no time");
	must_refuse("{\"global\":{\"duration\":1},\"tasks\":{\"a\":{\"loop\":-1,\"phases\":{\"p\":{\"run\":0},\"q\":{\"loop\":9,\"run\":0}}}}}",
		    "takes no time");
	must_refuse("{\"global\":{\"durations\":1},\"tasks\":{\"a\":{\"loop\":1,\"run\":1}}}", "no setting \"durations\"");
	must_refuse("{\"global\":{\"default_policy\":\"SCHED_FIFO\"},\"tasks\":{\"a\":{\"loop\":1,\"run\":1}}}", "SCHED_OTHER");
	must_refuse("{\"globals\":{},\"tasks\":{\"a\":{\"loop\":1,\"run\":1}}}", "\"globals\"");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"delay\":-1,\"run\":1}}}", "\"delay\" must be a whole number");
	must_refuse("{\"tasks\":{\"a\":{\"loop\":1,\"run\":1,\"phases\":{\"p\":{\"run\":1}}}}}", "\"run\" beside \"phases\"");
	must_refuse("{\"tasks\":{\"a\\nb\":{\"loop\":1}}}", "without events");
}

/* What cannot be seen beforehand is found when nothing can happen any more. */
static void test_deadlock_is_found(void **state)
{
	struct sim_figures f;
	struct sim_error err;

	assert_int_equal(run_file("core:2 pu:1",
				  "{\"tasks\":{\"a\":{\"loop\":1,\"lock\":\"m\",\"sleep\":10,\"lock1\":\"n\"},"
				  "\"b\":{\"loop\":1,\"lock\":\"n\",\"sleep\":10,\"lock1\":\"m\"}}}", SIM_PULL_ROOST, &f, &err), -EPROTO);
	assert_non_null(strstr(err.text, "waits for itself"));
}

/* ---- the checkers must be able to fail: a workload that breaks the state under them ---- */
static void (*sabotage)(struct sim *s);
static uint64_t sabotage_at;

static void sabotaging_step(struct sim *s, struct sim_task *t, struct sim_op *op)
{
	if (sabotage && s->events >= sabotage_at) {
		sabotage(s);
		sabotage = NULL;
	}
	sim_file.step(s, t, op);
}

static void lose_a_task(struct sim *s)
{
	for (uint32_t i = 0; i < s->nr_cpus; i++)
		if (s->cpus[i].nr_queue) {
			sim_queue_remove(s, i, &s->tasks[s->cpus[i].queue[0].task]);
			s->pcpu[i].nr_runnable--;
			s->pcpu[i].nr_queued--;
			return;
		}
}

static void miscount(struct sim *s)
{
	s->pcpu[0].nr_runnable += 7;
}

static void steal_time(struct sim *s)
{
	s->cpus[0].user_ns += 5;
}

static void leave_the_mask(struct sim *s)
{
	for (uint32_t i = 0; i < s->nr_tasks; i++)
		s->masks[1]->word[0] = UINT64_C(1) << 3;
}

static void idle_with_work(struct sim *s)
{
	for (uint32_t i = 0; i < s->nr_cpus; i++)
		if (s->cpus[i].curr) {
			s->cpus[i].idle = 1;
			return;
		}
}

static void sabotaged(void (*how)(struct sim *s), const char *json, const char *part)
{
	struct sim_workload w = sim_file;
	struct machine *m = machine_of("core:4 pu:1");
	struct sim_config c = { .machine = m, .costs = &m->costs, .workload = &w, .pull = SIM_PULL_ROOST, .check_every = 10 };
	struct sim_file *file = NULL;
	struct sim_figures f;
	struct sim_error err = { "" };

	w.step = sabotaging_step;
	sabotage = how;
	sabotage_at = 500;
	assert_int_equal(sim_file_parse_text(json, strlen(json), "t", &file, &err), 0);
	knobs_default(&c.knobs);
	c.workload_args = file;
	assert_int_equal(sim_run(&c, &f, &err), -EPROTO);
	if (!strstr(err.text, part))
		print_error("\"%s\" does not say \"%s\"\n", err.text, part);
	assert_non_null(strstr(err.text, part));
	sim_file_free(file);
	topology_free(m);
}

static void test_checkers_can_fail(void **state)
{
	static const char busy[] = "{\"global\":{\"duration\":1},\"tasks\":{\"a\":{\"instance\":9,\"loop\":-1,\"run\":100,\"sleep\":50}}}";
	static const char pinned[] = "{\"global\":{\"duration\":1},\"tasks\":{\"a\":{\"instance\":4,\"loop\":-1,\"run\":100,\"sleep\":50,"
				     "\"cpus\":[0,1]}}}";

	sabotaged(lose_a_task, busy, "lost or in two places");
	sabotaged(miscount, busy, "counts");
	sabotaged(steal_time, busy, "passed");
	sabotaged(leave_the_mask, pinned, "where it may not run");
	sabotaged(idle_with_work, busy, "idle");
}

static void test_memory(void **state)
{
	/* Task and queue entries, event slot included; CPU with its policy record and slots. */
	assert_true(sizeof(struct sim_task) + 2 * sizeof(struct sim_qent) + sizeof(struct evq_entry) + 4 < 1024);
	assert_true(sizeof(struct sim_cpu) + sizeof(struct roost_cpu) + 4 * (sizeof(struct evq_entry) + 4) < 65536);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_queue_order),
		cmocka_unit_test(test_random_numbers),
		cmocka_unit_test(test_time_adds_up),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_weight_share),
		cmocka_unit_test(test_affinity),
		cmocka_unit_test(test_shares_out),
		cmocka_unit_test(test_locks_and_barriers),
		cmocka_unit_test(test_never_finishes),
		cmocka_unit_test(test_finishes),
		cmocka_unit_test(test_least_slice),
		cmocka_unit_test(test_delay),
		cmocka_unit_test(test_mutexes),
		cmocka_unit_test(test_large_file),
		cmocka_unit_test(test_bad_workload_files),
		cmocka_unit_test(test_deadlock_is_found),
		cmocka_unit_test(test_checkers_can_fail),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests_name("simulator", tests, NULL, NULL) ? 1 : 0;
}
