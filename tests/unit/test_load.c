/* SPDX-License-Identifier: GPL-2.0-only */
/* The built-in loads: option tables, refusals, and each one run for a moment with its counts checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load/load.h"

#define ARGS_MAX 24

static json_t *run_load(const char *line, char err[300], int *rc)
{
	char copy[300], *argv[ARGS_MAX], *save;
	const struct load *l;
	json_t *out = NULL;
	void *conf;
	int argc = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok_r(copy, " ", &save); w && argc < ARGS_MAX; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	l = load_find(argv[0]);
	assert_non_null(l);
	conf = malloc(l->conf_size);
	err[0] = 0;
	*rc = load_parse(l, argc, argv, conf, err, 300);
	if (!*rc)
		*rc = l->run(conf, &out, err, 300);
	free(conf);
	return out;
}

static json_int_t num(json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static unsigned descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* No child, thread or descriptor is left behind. */
static void assert_clean(unsigned fds)
{
	DIR *d = opendir("/proc/self/task");
	unsigned threads = 0;

	while (readdir(d))
		threads++;
	closedir(d);
	assert_int_equal(threads, 3); /* ".", "..", main */
	assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
	assert_int_equal(descriptors(), fds);
}

static void hackbench_passes_every_message(void **state)
{
	static const char *const lines[] = {
		"hackbench -g 2 -f 3 -l 50 -s 100", "hackbench -g 2 -f 3 -l 50 -s 100 --pipe",
		"hackbench -g 2 -f 3 -l 50 -s 100 --threads", "hackbench -g2 -f3 -l50 -s100 --pipe -T",
		"hackbench --groups=2 --fds=3 --loops=50 --datasize=70000 --pipe",
	};
	unsigned fds = descriptors();

	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char err[300];
		int rc;
		json_t *o = run_load(lines[i], err, &rc), *lat;

		assert_int_equal(rc, 0);
		assert_int_equal(num(o, "ops"), 2 * 3 * 3 * 50);
		assert_int_equal(num(o, "tasks"), 12);
		assert_true(json_real_value(json_object_get(o, "seconds")) > 0);
		lat = json_object_get(o, "latency_ns");
		if (i < 4)
			assert_true(num(lat, "count") >= 6 * 3 && num(lat, "p99") > 0);
		else
			assert_null(lat);
		json_decref(o);
		assert_clean(fds);
	}
}

static void pingpong_counts_every_round(void **state)
{
	static const char *const how[] = { "pipe", "futex", "socket", "pipe --process", "futex -P", "socket -P" };
	unsigned fds = descriptors();

	for (unsigned i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		char line[200], err[300];
		json_t *o;
		int rc;

		snprintf(line, sizeof(line), "pingpong -l 300 --warmup 10 --how %s", how[i]);
		o = run_load(line, err, &rc);
		assert_int_equal(rc, 0);
		assert_int_equal(num(o, "ops"), 300);
		assert_int_equal(num(json_object_get(o, "latency_ns"), "count"), 300);
		json_decref(o);
		assert_clean(fds);
	}
}

static void schbench_serves(void **state)
{
	unsigned fds = descriptors();
	char err[300];
	int rc;
	json_t *o = run_load("schbench -m 2 -t 2 -r 200ms -n 1 -F 16", err, &rc);

	assert_int_equal(rc, 0);
	assert_true(num(o, "ops") > 20);
	assert_true(num(json_object_get(o, "latency_ns"), "count") > 20);
	/* A request holds the 100 us sleep. */
	assert_true(num(json_object_get(o, "request_latency_ns"), "min") >= 100000);
	json_decref(o);
	o = run_load("schbench -m 1 -t 4 -r 500ms -n 1 -F 16 -R 400", err, &rc);
	assert_int_equal(rc, 0);
	assert_in_range(num(o, "ops"), 100, 250);
	json_decref(o);
	assert_clean(fds);
}

static void lockfight_excludes(void **state)
{
	unsigned fds = descriptors();
	char err[300];
	int rc;
	json_t *o = run_load("lockfight -t 6 -r 300ms", err, &rc);

	assert_int_equal(rc, 0);
	assert_true(num(o, "ops") > 4); /* on a busy machine every round costs a time slice */
	assert_int_equal(num(json_object_get(o, "latency_ns"), "count"), num(o, "ops"));
	assert_true(json_real_value(json_object_get(o, "total_wait_seconds")) > 0);
	json_decref(o);
	/* Holders that stay for longer than a slice must be seen to be preempted. */
	o = run_load("lockfight -t 6 -r 500ms --hold 20ms", err, &rc);
	assert_int_equal(rc, 0);
	if (!json_is_null(json_object_get(o, "preempted_holding")))
		assert_true(num(o, "preempted_holding") > 0);
	json_decref(o);
	assert_clean(fds);
}

static void memcache_answers_what_is_offered(void **state)
{
	unsigned fds = descriptors();
	static const char *const dist[] = { "exponential", "pareto" };

	for (int i = 0; i < 2; i++) {
		char line[200], err[300];
		json_t *o;
		int rc;

		snprintf(line, sizeof(line), "memcache -t 2 -T 1 -c 10 -q 2000 -r 500ms -w 50ms --iadist %s", dist[i]);
		o = run_load(line, err, &rc);
		assert_int_equal(rc, 0);
		assert_in_range(num(o, "ops") + num(o, "not_sent"), 700, 1300);
		assert_int_equal(num(json_object_get(o, "latency_ns"), "count"), num(o, "ops"));
		json_decref(o);
		assert_clean(fds);
	}
}

static void web_serves(void **state)
{
	unsigned fds = descriptors();
	char err[300];
	int rc;
	json_t *o = run_load("web -t 4 -c 8 -r 400ms -w 50ms --min 1ms --max 2ms", err, &rc);

	assert_int_equal(rc, 0);
	assert_true(num(o, "ops") > 10);
	/* Four stages, three pauses, more than a millisecond of work: nothing can be faster than that. */
	assert_true(num(json_object_get(o, "latency_ns"), "min") > 500000);
	json_decref(o);
	assert_clean(fds);
}

static void wrong_options_are_refused(void **state)
{
	static const struct { const char *line, *says; } bad[] = {
		{ "hackbench -g 0", "--groups" }, { "hackbench -g 4x", "'4x'" }, { "hackbench -g", "needs a value" },
		{ "hackbench --gruops 4", "--gruops" }, { "hackbench --pipe=1", "no value" },
		{ "hackbench -g -1", "'-1'" }, { "hackbench -g 0x10", "'0x10'" }, { "hackbench -g 1.5", "'1.5'" },
		{ "hackbench -g nan", "'nan'" }, { "hackbench -g 1e400", "1e400" },
		{ "pingpong --how mail", "pipe|futex|socket" }, { "pingpong --how pip", "'pip'" },
		{ "pingpong --cpus 1", "'1'" }, { "pingpong --cpus 1,2,3", "1,2,3" },
		{ "pingpong --cpus 0,9000", "9000" }, { "schbench -r 5h", "'5h'" }, { "schbench -s 100KB", "100KB" },
		{ "lockfight --slice maybe", "maybe" }, { "web --min 3ms --max 2ms", "--min" },
	};
	unsigned fds = descriptors();

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char err[300];
		int rc;
		json_t *o = run_load(bad[i].line, err, &rc);

		if (!strstr(err, bad[i].says))
			print_error("%s: '%s'\n", bad[i].line, err);
		assert_non_null(strstr(err, bad[i].says));
		assert_true(rc < 0);
		assert_null(o);
		assert_null(strchr(err, '\n'));
	}
	assert_clean(fds);
	assert_null(load_find("hack"));
}

static void every_option_is_in_the_help(void **state)
{
	for (unsigned i = 0; load_all[i]; i++) {
		char buf[4096];

		load_help(load_all[i], buf, sizeof(buf));
		assert_true(strlen(buf) < sizeof(buf) - 1);
		for (const struct load_opt *o = load_all[i]->opts; o->name; o++)
			assert_non_null(strstr(buf, o->name));
		/* what a bare number is differs from option to option, as in the tools the loads are named after */
		for (char *line = strtok(buf, "\n"); line; line = strtok(NULL, "\n"))
			assert_true(!strstr(line, " TIME ") || strstr(line, "; a bare number is s)") ||
				    strstr(line, "; a bare number is us)"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hackbench_passes_every_message),
		cmocka_unit_test(pingpong_counts_every_round),
		cmocka_unit_test(schbench_serves),
		cmocka_unit_test(lockfight_excludes),
		cmocka_unit_test(memcache_answers_what_is_offered),
		cmocka_unit_test(web_serves),
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(every_option_is_in_the_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
