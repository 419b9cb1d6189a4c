/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The comparison with a fake scheduler and a fake command: order, stopping, failures, ejection, Ctrl-C; the verdict,
 * table, CSV and JSON that come of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"
#include "measure/plan.h"
#include "measure/rng.h"

struct fake {
	struct rng rng;
	double factor[4], noise;
	unsigned runs, activations, restores, active;
	int fail_every, eject_variant, eject_at, no_load_variant, exec_error;
	volatile sig_atomic_t stop;
	unsigned stop_after;
	unsigned first[4];	/* how often each variant came first */
	unsigned last_round_first;
};

static int fake_activate(void *ctx, unsigned variant, char *why, size_t len)
{
	struct fake *f = ctx;

	f->activations++;
	if ((int)variant == f->no_load_variant) {
		snprintf(why, len, "the verifier said no");
		return -EACCES;
	}
	f->active = variant;
	return 0;
}

static int fake_run(void *ctx, struct study_run *r)
{
	struct fake *f = ctx;

	if (f->exec_error)
		return f->exec_error;
	assert_int_equal(f->active, r->variant);
	f->runs++;
	if (!r->position)
		f->first[r->variant]++;
	if (f->fail_every && f->runs % (unsigned)f->fail_every == 0) {
		r->outcome = RUN_FAILED;
		snprintf(r->note, sizeof(r->note), "exit code 3");
		r->value[M_TIME] = 0.001;
		return 0;
	}
	r->value[M_TIME] = f->factor[r->variant] * exp(f->noise * rng_normal(&f->rng));
	r->value[M_MIGRATIONS] = 1000 * f->factor[r->variant];
	r->has_rules = r->variant > 0;
	r->rules[ROOST_RULE_PREV_IDLE] = 75;
	r->rules[ROOST_RULE_SCAN_CPU] = 25;
	if (f->stop_after && f->runs >= f->stop_after)
		f->stop = 1;
	return 0;
}

static int fake_ejected(void *ctx, unsigned variant, char *why, size_t len)
{
	struct fake *f = ctx;

	if ((int)variant != f->eject_variant || (int)f->runs < f->eject_at)
		return 0;
	snprintf(why, len, "runnable task stall (cc1[123] failed to run for 30.1s)");
	return 1;
}

static void fake_restore(void *ctx)
{
	((struct fake *)ctx)->restores++;
}

static struct fake fresh(void)
{
	return (struct fake){ .rng = { 9 }, .factor = { 1, 0.8, 1, 1 }, .noise = 0.02, .eject_variant = -1,
			      .no_load_variant = -1 };
}

static int execute(struct fake *f, struct study *s, const char *const *names, unsigned n, struct plan p)
{
	struct plan_host h = { f, fake_activate, fake_run, fake_ejected, fake_restore, NULL };
	int rc;

	study_init(s);
	s->command = strdup("sleep 1");
	s->repeat = strdup("roost compare -- sleep 1");
	for (unsigned i = 0; i < n; i++)
		study_add_variant(s, names[i], i ? "idle-smt=on" : "");
	p.stop = &f->stop;
	rc = plan_execute(&p, &h, s);
	assert_int_equal(f->restores, 1);
	return rc;
}

static const char *const two[] = { "kernel", "warm" }, *const same[] = { "kernel", "kernel" };

static char *text_of(const struct study *s, void (*print)(const struct study *, FILE *))
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	print(s, f);
	fclose(f);
	return text;
}

static void table(const struct study *s, FILE *f)
{
	study_table(s, f, 0);
}

static void a_difference_is_found(void **state)
{
	struct fake f = fresh();
	struct study s;
	struct stat_ratio q;
	char verdict[1200], *t;

	assert_int_equal(execute(&f, &s, two, 2, (struct plan){ .rounds = 10, .warmup = 2, .seed = 1 }), 0);
	assert_int_equal(f.runs, 24);
	assert_int_equal(s.n_runs, 20);
	assert_int_equal(study_compare(&s, 1, M_TIME, &q), 0);
	assert_true(q.ratio > 0.77 && q.ratio < 0.83 && q.call == STAT_LESS && q.rounds == 10);
	study_verdict(&s, 1, verdict, sizeof(verdict));
	assert_non_null(strstr(verdict, "warm takes 2"));
	assert_non_null(strstr(verdict, "less time than kernel"));
	assert_non_null(strstr(verdict, "it helps"));
	assert_non_null(strstr(verdict, "migrations: 20 % less"));
	t = text_of(&s, table);
	assert_non_null(strstr(t, "less, better"));
	assert_non_null(strstr(t, "rules of warm: prev-idle 75.0 %, scan-cpu 25.0 %"));
	assert_null(strstr(t, "rules of kernel"));
	for (char *line = strtok(t, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 90 || strstr(line, "interval"));
	free(t);
	study_free(&s);
}

/* Several variants: a column each in one table, no line wider than a wide terminal or with blanks at its end. */
static void several_variants_have_a_column_each(void **state)
{
	static const char *const names[] = { "kernel", "pre-5.13", "mainline", "warm" };
	struct fake f = fresh();
	struct study s;
	unsigned tables = 0;
	char *t;

	f.factor[2] = 1.3;
	assert_int_equal(execute(&f, &s, names, 4, (struct plan){ .rounds = 10, .seed = 1 }), 0);
	t = text_of(&s, table);
	for (char *line = strtok(t, "\n"); line; line = strtok(NULL, "\n")) {
		double ratio[3];

		assert_true(strlen(line) <= 120 || strstr(line, "interval"));
		assert_true(line[strlen(line) - 1] != ' ');
		if (strstr(line, "median of the runs")) {
			tables++;
			assert_non_null(strstr(strstr(strstr(line, "pre-5.13"), "mainline"), "warm"));
		}
		if (strncmp(line, "  time ", 7))
			continue;
		assert_int_equal(sscanf(line, "  time %*s %*s %*s %*s %lf* %*s %*s %lf* %*s %*s %lf", &ratio[0], &ratio[1], &ratio[2]), 3);
		assert_true(ratio[0] > 0.77 && ratio[0] < 0.83);
		assert_true(ratio[1] > 1.25 && ratio[1] < 1.35);
		assert_true(ratio[2] > 0.97 && ratio[2] < 1.03);
	}
	assert_int_equal(tables, 1);
	free(t);
	study_free(&s);
}

/* As bench/features reads it: four rounds are enough for a star; two of the same count are not. */
static void few_rounds_have_stars_too(void **state)
{
	static const char *const names[] = { "base", "idle-smt", "warm" };
	struct fake f = fresh();
	struct study s;
	bool starred, plain;
	char *t;

	for (unsigned rounds = 2; rounds <= 4; rounds += 2) {
		f = fresh();
		execute(&f, &s, names, 3, (struct plan){ .rounds = rounds, .seed = 1 });
		t = text_of(&s, table);
		starred = plain = false;
		for (char *line = strtok(t, "\n"); line; line = strtok(NULL, "\n"))
			if (!strncmp(line, "  migrations", 12)) {
				starred = starred || strstr(line, " 0.800*");
				plain = plain || strstr(line, " 0.800 ");
			}
		assert_int_equal(starred, rounds == 4);
		assert_int_equal(plain, rounds == 2);
		free(t);
		study_free(&s);
	}
}

static void the_same_twice_is_no_difference(void **state)
{
	struct fake f = fresh();
	struct study s;
	char verdict[1200];

	f.factor[1] = 1;
	assert_int_equal(execute(&f, &s, same, 2, (struct plan){ .rounds = 12, .seed = 4 }), 0);
	assert_string_equal(s.variant[1].name, "kernel#2");
	study_verdict(&s, 1, verdict, sizeof(verdict));
	assert_non_null(strstr(verdict, "No difference shown between kernel#2 and kernel in time"));
	study_free(&s);
}

/* The order is drawn anew in each round, and the seed repeats it. */
static void order_is_random_and_repeats(void **state)
{
	struct fake f = fresh(), g = fresh();
	struct study s, t;

	execute(&f, &s, two, 2, (struct plan){ .rounds = 100, .seed = 5 });
	execute(&g, &t, two, 2, (struct plan){ .rounds = 100, .seed = 5 });
	assert_in_range(f.first[0], 35, 65);
	assert_int_equal(f.first[0] + f.first[1], 100);
	for (unsigned i = 0; i < s.n_runs; i++)
		assert_int_equal(s.run[i].variant, t.run[i].variant);
	study_free(&s);
	study_free(&t);
}

static void until_stops_when_tight(void **state)
{
	struct fake f = fresh();
	struct study s;

	execute(&f, &s, two, 2, (struct plan){ .rounds = 500, .until = 0.03, .seed = 1 });
	assert_in_range(s.rounds, 8, 30);
	study_free(&s);
	f = fresh();
	f.noise = 0.3;
	execute(&f, &s, two, 2, (struct plan){ .rounds = 20, .until = 0.03, .seed = 1 });
	assert_int_equal(s.rounds, 20);
	study_free(&s);
}

static void failing_runs_do_not_count(void **state)
{
	struct fake f = fresh();
	struct study s;
	struct stat_ratio q;
	char *t;

	f.fail_every = 7;
	assert_int_equal(execute(&f, &s, two, 2, (struct plan){ .rounds = 10, .seed = 1 }), 0);
	assert_int_equal(study_count(&s, 0, RUN_FAILED) + study_count(&s, 1, RUN_FAILED), 2);
	study_compare(&s, 1, M_TIME, &q);
	assert_int_equal(q.rounds, 8);
	assert_true(q.lo > 0.5); /* the 1 ms of a failed run is nowhere */
	t = text_of(&s, table);
	assert_non_null(strstr(t, "failed: exit code 3"));
	free(t);
	study_free(&s);
	/* Nothing but failures: three rounds are enough to see that. */
	f = fresh();
	f.fail_every = 1;
	execute(&f, &s, two, 2, (struct plan){ .rounds = 50, .seed = 1 });
	assert_int_equal(f.runs, 6);
	study_free(&s);
}

static void an_ejected_variant_is_dropped(void **state)
{
	static const char *const three[] = { "kernel", "warm", "base" };
	struct fake f = fresh();
	struct study s;
	struct stat_ratio q;
	char *t;

	f.eject_variant = 1;
	f.eject_at = 8;
	assert_int_equal(execute(&f, &s, three, 3, (struct plan){ .rounds = 10, .seed = 1 }), 0);
	assert_int_equal(study_count(&s, 1, RUN_EJECTED), 1);
	assert_true(study_count(&s, 1, RUN_OK) < 4);
	assert_int_equal(study_count(&s, 2, RUN_OK), 10); /* the others go on */
	assert_int_equal(study_compare(&s, 2, M_TIME, &q), 0);
	t = text_of(&s, table);
	assert_non_null(strstr(t, "of warm: ejected: runnable task stall"));
	assert_non_null(strstr(t, "warm cannot be compared with kernel"));
	free(t);
	study_free(&s);

	/* One that cannot even be loaded leaves nothing to compare: stop at once. */
	f = fresh();
	f.no_load_variant = 1;
	execute(&f, &s, two, 2, (struct plan){ .rounds = 10, .seed = 1 });
	assert_true(f.runs <= 1);
	t = text_of(&s, table);
	assert_non_null(strstr(t, "not loaded: the verifier said no"));
	free(t);
	study_free(&s);
}

static void ctrl_c_leaves_a_partial_table(void **state)
{
	struct fake f = fresh();
	struct study s;
	char *t;

	f.stop_after = 13;
	assert_int_equal(execute(&f, &s, two, 2, (struct plan){ .rounds = 50, .seed = 1 }), -ECANCELED);
	assert_true(s.partial);
	assert_int_equal(f.runs, 13);
	assert_int_equal(study_count(&s, 0, RUN_OK) + study_count(&s, 1, RUN_OK), 12);
	t = text_of(&s, table);
	assert_non_null(strstr(t, "interrupted: 7 rounds were begun"));
	free(t);
	study_free(&s);
}

static void a_missing_command_ends_it(void **state)
{
	struct fake f = fresh();
	struct study s;

	f.exec_error = -ENOENT;
	assert_int_equal(execute(&f, &s, two, 2, (struct plan){ .rounds = 50, .seed = 1 }), -ENOENT);
	assert_int_equal(f.activations, 1);
	study_free(&s);
}

static void csv_and_json_say_the_same(void **state)
{
	struct fake f = fresh();
	struct study s;
	json_t *j, *m;
	char *csv, *p;
	unsigned lines = 0;

	f.fail_every = 7;
	execute(&f, &s, two, 2, (struct plan){ .rounds = 6, .seed = 1 });
	snprintf(s.run[0].note, sizeof(s.run[0].note), "a \"quoted\", note");
	snprintf(s.metric[M_L2].why_not, sizeof(s.metric[0].why_not), "no counter");
	csv = text_of(&s, study_csv);
	for (p = csv; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, 13);
	assert_non_null(strstr(csv, "\"a \"\"quoted\"\", note\""));
	free(csv);
	j = compare_json(&s);
	assert_int_equal(json_array_size(json_object_get(j, "runs")), 12);
	m = json_array_get(json_object_get(j, "metrics"), M_TIME);
	assert_string_equal(json_string_value(json_object_get(m, "name")), "time");
	assert_true(json_number_value(json_object_get(json_array_get(json_object_get(m, "variants"), 1), "ratio")) < 0.9);
	m = json_array_get(json_object_get(j, "metrics"), M_L2);
	assert_string_equal(json_string_value(json_object_get(m, "not_counted_here")), "no counter");
	json_decref(j);
	study_free(&s);
}

static void numbers_in_output(void **state)
{
	static const struct { const char *pattern, *text; double want; } t[] = {
		{ "([0-9.]+) requests/s", "a 10 requests/s\nb 12.5 requests/s\n", 12.5 },
		{ "rps=^RPS: ([0-9,]+)$", "RPS: 1,234\n", 1234 },
		{ "^x([0-9]*)", "ax1\nx2\n", 2 },
		{ "p99 *([^ ]+)", "p99 n/a\n", NAN },
		{ "none ([0-9]+)", "text", NAN },
		{ "([0-9]*)", "abc", NAN },
	};
	static const char *const bad[] = { "[0-9]+", "([0-9]+) ([0-9]+)", "(", "a=[", "" };
	struct pattern p;
	char err[300];

	for (unsigned i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		double v;

		assert_int_equal(pattern_compile(&p, t[i].pattern, err, sizeof(err)), 0);
		v = pattern_find(&p, t[i].text);
		assert_true(isnan(t[i].want) ? isnan(v) : v == t[i].want);
		pattern_free(&p);
	}
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(pattern_compile(&p, bad[i], err, sizeof(err)), -EINVAL);
		assert_non_null(strstr(err, "--metric"));
	}
	assert_int_equal(pattern_compile(&p, "p99-=p99 ([0-9]+)", err, sizeof(err)), 0);
	assert_string_equal(p.name, "p99");
	assert_int_equal(p.better, BETTER_LESS);
	pattern_free(&p);
}

static void the_loads_own_line(void **state)
{
	struct load_line l;

	load_line_find(&l, "noise\n{\"load\":\"web\",\"unit\":\"requests\",\"ops_per_second\":12.5,\"latency_ns\":"
		       "{\"p50\":1000,\"p95\":2000,\"p99\":3000,\"cdf\":[[0,10],[0.5,1000],[1,4000]]}}\nmore\n");
	assert_true(l.found && l.ops_per_second == 12.5 && l.points == 3);
	assert_true(fabs(l.p99_s - 3e-6) < 1e-15 && fabs(l.latency_s[1] - 1e-6) < 1e-15);
	load_line_find(&l, "{\"load\": broken\n{\"load\":3}\n");
	assert_false(l.found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_difference_is_found),
		cmocka_unit_test(several_variants_have_a_column_each),
		cmocka_unit_test(few_rounds_have_stars_too),
		cmocka_unit_test(the_same_twice_is_no_difference),
		cmocka_unit_test(order_is_random_and_repeats),
		cmocka_unit_test(until_stops_when_tight),
		cmocka_unit_test(failing_runs_do_not_count),
		cmocka_unit_test(an_ejected_variant_is_dropped),
		cmocka_unit_test(ctrl_c_leaves_a_partial_table),
		cmocka_unit_test(a_missing_command_ends_it),
		cmocka_unit_test(csv_and_json_say_the_same),
		cmocka_unit_test(numbers_in_output),
		cmocka_unit_test(the_loads_own_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
