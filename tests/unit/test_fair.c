/* SPDX-License-Identifier: GPL-2.0-only */
/* The features of the kernel's own fair class: parsed, read, written and put back, on a tree of files. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/compare.h"
#include "run/fair.h"

static char root[64];

static void put(const char *file, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, file);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static const char *get(const char *file)
{
	static char text[512];
	char path[256];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s%s", root, file);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	fclose(f);
	return text;
}

#define FEATURES "/sys/kernel/debug/sched/features"
#define GRACE "/sys/kernel/debug/sched/idle_grace_ns"
#define QUEUED "/sys/kernel/debug/sched/idle_grace_max_queued"
#define SPIN "/sys/kernel/sched/idle_spin"

static int setup(void **state)
{
	static const char *const dirs[] = { "", "/sys", "/sys/kernel", "/sys/kernel/debug", "/sys/kernel/debug/sched", "/sys/kernel/sched" };
	char path[256];

	(void)state;
	strcpy(root, "/tmp/roost-fair.XXXXXX");
	assert_non_null(mkdtemp(root));
	for (size_t i = 1; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(path, sizeof(path), "%s%s", root, dirs[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	put(FEATURES, "PLACE_LAG NO_SELECT_BIAS_PREV NO_UTIL_FITS_CAPACITY SELECT_IDLE_SMT NO_IDLE_GRACE NO_MY_IDLE_GRACE\n");
	put(GRACE, "1000000\n");
	put(QUEUED, "0\n");
	put(SPIN, "50\n");
	return 0;
}

static int teardown(void **state)
{
	char cmd[128];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	return system(cmd);
}

static void reads(void **state)
{
	struct fair_settings s;

	(void)state;
	assert_int_equal(fair_read(root, &s), 0);
	for (int i = 0; i < FAIR_COUNT; i++)
		assert_true(s.set[i]);
	assert_int_equal(s.value[FAIR_BIAS_PREV], 0);
	assert_int_equal(s.value[FAIR_IDLE_SMT], 1);
	assert_int_equal(s.value[FAIR_IDLE_GRACE], 0);
	assert_int_equal(s.grace_ns, 1000000);
	assert_int_equal(s.value[FAIR_IDLE_SPIN], 50000);
	put(FEATURES, "SELECT_BIAS_PREV IDLE_GRACE");
	assert_int_equal(fair_read(root, &s), 0);
	assert_int_equal(s.value[FAIR_BIAS_PREV], 1);
	assert_int_equal(s.value[FAIR_IDLE_GRACE], 1000000);
	assert_false(s.set[FAIR_UTIL_FITS]);
}

static void parses(void **state)
{
	char *good[] = { "SELECT_BIAS_PREV=on", "NO_idle-smt", "idle-grace=2ms", "idle-spin=20us", "util-fits" };
	char *unknown[] = { "slice=1ms" }, *bad[] = { "idle-grace=2parsecs" }, *fine[] = { "idle-spin=1500ns" };
	char why[KNOB_REFUSAL_MAX];
	struct fair_settings s = { .set = { [FAIR_BIAS_PREV] = true } }, was = s;

	(void)state;
	assert_int_equal(fair_parse(&s, unknown, 1, why), -EINVAL);
	assert_non_null(strstr(why, "slice=1ms"));
	assert_int_equal(fair_parse(&s, bad, 1, why), -EINVAL);
	assert_int_equal(fair_parse(&s, fine, 1, why), -EINVAL);
	assert_memory_equal(&s, &was, sizeof(s));
	assert_int_equal(fair_parse(&s, good, 5, why), 0);
	assert_true(s.set[FAIR_BIAS_PREV] && s.value[FAIR_BIAS_PREV] == 1);
	assert_true(s.set[FAIR_IDLE_SMT] && s.value[FAIR_IDLE_SMT] == 0);
	assert_true(s.set[FAIR_UTIL_FITS] && s.value[FAIR_UTIL_FITS] == 1);
	assert_int_equal(s.value[FAIR_IDLE_GRACE], 2000000);
	assert_int_equal(s.value[FAIR_IDLE_SPIN], 20000);
	assert_false(s.set[FAIR_IDLE_GRACE_MAX_QUEUED]);
}

static void writes_and_restores(void **state)
{
	char *one[] = { "idle-spin=20us", "idle-grace-max-queued=4" }, *grace[] = { "idle-grace=2ms" };
	struct fair_settings was, s;
	char why[KNOB_REFUSAL_MAX];

	(void)state;
	assert_int_equal(fair_read(root, &was), 0);
	assert_int_equal(fair_parse(&s, one, 2, why), 0);
	assert_int_equal(fair_write(root, &s, why), 0);
	assert_string_equal(get(SPIN), "20");
	assert_string_equal(get(QUEUED), "4");
	assert_string_equal(get(GRACE), "1000000\n");
	assert_int_equal(fair_parse(&s, grace, 1, why), 0);
	assert_int_equal(fair_write(root, &s, why), 0);
	assert_string_equal(get(GRACE), "2000000");
	/* the kernel takes one word at a time; a plain file keeps the last */
	assert_string_equal(get(FEATURES), "IDLE_GRACE");
	put(FEATURES, "NO_SELECT_BIAS_PREV NO_UTIL_FITS_CAPACITY SELECT_IDLE_SMT IDLE_GRACE");
	assert_int_equal(fair_write(root, &was, why), 0);
	assert_string_equal(get(GRACE), "1000000");
	assert_string_equal(get(FEATURES), "NO_IDLE_GRACE");
	assert_string_equal(get(SPIN), "50");
	assert_string_equal(get(QUEUED), "0");
}

static void refuses_what_is_not_there(void **state)
{
	char *two[] = { "idle-spin=20us", "bias-prev=on" };
	struct fair_settings s;
	char why[KNOB_REFUSAL_MAX];

	(void)state;
	assert_int_equal(fair_parse(&s, two, 2, why), 0);
	put(FEATURES, "PLACE_LAG\n");
	assert_int_equal(fair_write(root, &s, why), -ENOTSUP);
	assert_non_null(strstr(why, "bias-prev"));
	assert_string_equal(get(SPIN), "50\n");
}

/* As `roost compare --variants` has them. */
static void variants_of_compare(void **state)
{
	struct compare_variant v[STUDY_VARIANTS_MAX];
	char why[1000];
	unsigned n;

	(void)state;
	assert_int_equal(compare_parse_variants("kernel,kernel:bias-prev=on,idle-spin=50us,mine:util-fits=on", v, &n, why, sizeof(why)), 0);
	assert_int_equal(n, 3);
	assert_true(v[0].kernel && v[1].kernel && !v[2].kernel);
	assert_string_equal(v[0].name, "kernel");
	assert_string_equal(v[1].name, "kernel:bias-prev=on+idle-spin=50us");
	assert_false(v[0].fair.set[FAIR_BIAS_PREV]);
	assert_true(v[1].fair.set[FAIR_BIAS_PREV] && v[1].fair.value[FAIR_IDLE_SPIN] == 50000);
	assert_int_equal(compare_parse_variants("kernel:slice=1ms", v, &n, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "slice=1ms"));
	assert_int_equal(compare_parse_variants("kernel:", v, &n, why, sizeof(why)), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads, setup, teardown),
		cmocka_unit_test_setup_teardown(parses, setup, teardown),
		cmocka_unit_test_setup_teardown(writes_and_restores, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_what_is_not_there, setup, teardown),
		cmocka_unit_test(variants_of_compare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
