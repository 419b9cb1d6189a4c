/* SPDX-License-Identifier: GPL-2.0-only */
/* test_knobs.c - knobs by name: assignments, all or nothing, profiles, configuration files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "run/knobs.h"

static char refusal[KNOB_REFUSAL_MAX];

static int set1(struct roost_knobs *k, const char *a)
{
	char *list[] = { (char *)a };

	refusal[0] = '\0';
	return knobs_assign(k, list, 1, refusal);
}

static void the_table_makes_sense(void **state)
{
	struct roost_knobs k;

	for (size_t i = 0; i < knob_count; i++) {
		const struct knob *a = &knob_table[i];

		assert_true(a->min <= a->def && a->def <= a->max);
		assert_ptr_equal(knob_find(a->key), a);
		if (*a->alias)
			assert_ptr_equal(knob_find(a->alias), a);
		assert_int_equal(a->offset, i * sizeof(u64));
		assert_true(strlen(a->help) > 10);
	}
	knobs_default(&k);
	assert_int_equal(knobs_check(&k, refusal), 0);
}

/* Every knob's printed form is an assignment that gives the same value back: bounds and default. */
static void printed_is_an_assignment(void **state)
{
	struct roost_knobs k;
	char text[KNOB_TEXT_MAX], line[128];

	for (size_t i = 0; i < knob_count; i++) {
		const struct knob *a = &knob_table[i];
		const u64 values[] = { a->min, a->def, a->max };

		for (int j = 0; j < 3; j++) {
			knobs_default(&k);
			k.slice_min_ns = a->offset == offsetof(struct roost_knobs, slice_ns) ? 100000 : k.slice_min_ns;
			k.slice_ns = a->offset == offsetof(struct roost_knobs, slice_min_ns) ? 100000000 : k.slice_ns;
			snprintf(line, sizeof(line), "%s=%s", a->key, knob_format(a, values[j], text));
			assert_int_equal(set1(&k, line), 0);
			assert_true(knob_get(&k, a) == values[j]);
		}
	}
}

static void names(void **state)
{
	struct roost_knobs k;

	knobs_default(&k);
	assert_int_equal(set1(&k, "idle-smt"), 0);
	assert_true(k.idle_smt == 1);
	assert_int_equal(set1(&k, "NO_SELECT_IDLE_SMT"), 0);
	assert_true(k.idle_smt == 0);
	assert_int_equal(set1(&k, "select_idle_smt=yes"), 0);
	assert_true(k.idle_smt == 1);
	assert_int_equal(set1(&k, "no-idle-smt"), 0);
	assert_true(k.idle_smt == 0);
	assert_int_equal(set1(&k, "Util_Fits_Capacity"), 0);
	assert_true(k.util_fits == 1);
	assert_int_equal(set1(&k, "IDLE_GRACE=1ms"), 0);
	assert_true(k.idle_grace_ns == 1000000);
	assert_int_equal(set1(&k, "NO_IDLE_GRACE"), 0);
	assert_true(k.idle_grace_ns == 0);
	assert_int_equal(set1(&k, "idle-spin=off"), 0);
	assert_int_equal(set1(&k, "idle-spin-backend=Spinner"), 0);
	assert_true(k.idle_spin_backend == ROOST_BACKEND_SPINNER);
	assert_int_equal(set1(&k, "idle-spin-budget=35%"), 0);
	assert_true(k.idle_spin_budget_pct == 35);
}

static void refusals_change_nothing(void **state)
{
	static const struct { const char *text, *says; } bad[] = {
		{ "", "unknown knob" },
		{ "=", "unknown knob" },
		{ "=1ms", "unknown knob" },
		{ "idle-stm=on", "did you mean 'idle-smt'" },
		{ "NO_SELECT_IDLE_STM", "did you mean 'SELECT_IDLE_SMT'" },
		{ "idle-smt=", "on|off" },
		{ "idle-smt=maybe", "on|off" },
		{ "idle-grace", "needs a value" },
		{ "idle-grace=1", "unit" },
		{ "idle-grace=-1", "0..1s" },
		{ "idle-spin=1000001us", "0..1s" },
		{ "idle-spin=10 apples", "0..1s" },
		{ "idle-spin=99999999999999999999999s", "0..1s" },
		{ "idle-grace-max-queued=65536", "0..65535" },
		{ "idle-spin-budget=101", "0%..100%" },
		{ "idle-spin-budget=2.5%", "whole" },
		{ "idle-spin-backend=3", "auto|haltpoll|spinner" },
		{ "NO_slice", "cannot be switched off" },
		{ "NO_idle-spin-backend", "cannot be switched off" },
		{ "NO_idle-smt=1", "takes no value" },
		{ "slice=99us", "100us..100ms" },
		{ "slice=off", "100us..100ms" },
		{ "slice=200us", "slice-min=750us is longer" },
	};
	struct roost_knobs k, before;

	knobs_default(&k);
	before = k;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(set1(&k, bad[i].text), -EINVAL);
		if (!strstr(refusal, bad[i].says))
			fail_msg("'%s' was refused with: %s", bad[i].text, refusal);
		assert_null(strchr(refusal, '\n'));
		assert_memory_equal(&k, &before, sizeof(k));
	}
}

static void all_or_nothing(void **state)
{
	char *bad[] = { "idle-smt", "util-fits=on", "idle-grace=2s" };
	char *good[] = { "slice=200us", "slice-min=100us", "bias-prev" };
	struct roost_knobs k, before;

	knobs_default(&k);
	before = k;
	assert_int_equal(knobs_assign(&k, bad, 3, refusal), -EINVAL);
	assert_memory_equal(&k, &before, sizeof(k));
	/* neither order of the two slices may matter */
	assert_int_equal(knobs_assign(&k, good, 3, refusal), 0);
	assert_true(k.slice_ns == 200000 && k.slice_min_ns == 100000 && k.bias_prev == 1);
}

static void profiles(void **state)
{
	struct roost_knobs k;

	memset(&k, 0xff, sizeof(k));
	assert_int_equal(knobs_profile(&k, "mainline", NULL, refusal), 0);
	assert_true(k.idle_smt == 1 && k.util_fits == 0 && k.bias_prev == 0 && k.idle_grace_ns == 0);
	assert_true(k.idle_spin_ns == 0 && k.slice_ext_ns == 0 && k.slice_ns == 3000000);
	assert_int_equal(knobs_profile(&k, "pre-5.13", NULL, refusal), 0);
	assert_true(k.idle_smt == 0 && k.slice_ext_ns == 0);
	for (size_t i = 0; i < knob_profile_count; i++)
		assert_int_equal(knobs_profile(&k, knob_profiles[i].name, NULL, refusal), 0);
	assert_int_equal(knobs_profile(&k, "manline", NULL, refusal), -EINVAL);
	assert_non_null(strstr(refusal, "did you mean 'mainline'"));
	assert_int_equal(knobs_profile(&k, "../../etc/passwd", "/etc", refusal), -EINVAL);
	assert_int_equal(knobs_profile(&k, "", "/etc", refusal), -EINVAL);
}

static int config(struct roost_knobs *k, const char *text)
{
	refusal[0] = '\0';
	return knobs_config_text(k, "f.conf", text, strlen(text), NULL, refusal);
}

static void config_files(void **state)
{
	static const struct { const char *text, *says; } bad[] = {
		{ "idle-smt\nidle-grace = 2s\n", "f.conf:2: idle-grace=2s" },
		{ "\n\n# x\nfrob=1", "f.conf:4: unknown knob 'frob'" },
		{ "idle-smt\nprofile=warm", "f.conf:2: profile comes first" },
		{ "profile=wram", "f.conf:1: unknown profile 'wram'; did you mean 'warm'?" },
		{ "idle-smt=on\nNO_SELECT_IDLE_SMT", "f.conf:2: idle-smt is already set in line 1" },
		{ "slice=200us\n", "f.conf: slice-min=750us is longer" },
		{ "idle smt=on", "f.conf:1: unknown knob" },
	};
	struct roost_knobs k, before;
	char line[500];

	knobs_default(&k);
	assert_int_equal(config(&k, "# my machine\n  profile = mainline \n\n\tutil-fits = on # why not\r\n"
				    "slice=200us\nslice-min=100us\nIDLE_GRACE=1ms"), 0);
	assert_true(k.idle_smt && k.util_fits && k.idle_grace_ns == 1000000 && k.slice_ext_ns == 0);
	assert_true(k.slice_ns == 200000 && k.slice_min_ns == 100000);
	before = k;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		knobs_default(&k);
		before = k;
		assert_int_equal(config(&k, bad[i].text), -EINVAL);
		if (!strstr(refusal, bad[i].says))
			fail_msg("config %zu was refused with: %s", i, refusal);
		assert_memory_equal(&k, &before, sizeof(k));
	}
	assert_int_equal(knobs_config_text(&k, "f.conf", "a\0b", 3, NULL, refusal), -EINVAL);
	assert_non_null(strstr(refusal, "f.conf:1: not a text file"));
	memset(line, 'x', sizeof(line));
	assert_int_equal(knobs_config_text(&k, "f.conf", line, sizeof(line), NULL, refusal), -EINVAL);
	assert_non_null(strstr(refusal, "longer than"));
	assert_int_equal(config(&k, ""), 0);
	assert_memory_equal(&k, &before, sizeof(k));
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void profiles_of_the_user(void **state)
{
	char dir[] = "/tmp/roost-test-XXXXXX", path[256];
	struct roost_knobs k;

	assert_non_null(mkdtemp(dir));
	write_file(dir, "mine.conf", "profile=warm\nidle-grace=2ms\n");
	write_file(dir, "loop.conf", "profile=loop\n");
	knobs_default(&k);
	assert_int_equal(knobs_profile(&k, "mine", dir, refusal), 0);
	assert_true(k.idle_grace_ns == 2000000 && k.bias_prev == 1);
	/* a profile builds on built-in ones only, so none can name itself for ever */
	assert_int_equal(knobs_profile(&k, "loop", dir, refusal), -EINVAL);
	assert_non_null(strstr(refusal, "loop.conf:1:"));
	assert_int_equal(knobs_profile(&k, "absent", dir, refusal), -EINVAL);
	assert_non_null(strstr(refusal, "unknown profile 'absent'"));
	snprintf(path, sizeof(path), "%s/none.conf", dir);
	assert_int_equal(knobs_config(&k, path, dir, refusal), -EINVAL);
	assert_non_null(strstr(refusal, "No such file"));
	assert_int_equal(knobs_config(&k, dir, dir, refusal), -EINVAL);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, i ? "mine.conf" : "loop.conf");
		unlink(path);
	}
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_makes_sense),
		cmocka_unit_test(printed_is_an_assignment),
		cmocka_unit_test(names),
		cmocka_unit_test(refusals_change_nothing),
		cmocka_unit_test(all_or_nothing),
		cmocka_unit_test(profiles),
		cmocka_unit_test(config_files),
		cmocka_unit_test(profiles_of_the_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
