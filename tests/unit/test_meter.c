/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine's counters, on a made-up /proc and /sys and on the machine the test runs on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "measure/meter.h"

static char root[64];

static void put(const char *path, const char *text)
{
	char full[300];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = strchr(full + strlen(root) + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void a_known_machine(void **state)
{
	struct meter_sample a, b, d;
	struct meter *m;
	char line[300];

	strcpy(root, "/tmp/roost-meter.XXXXXX");
	assert_non_null(mkdtemp(root));
	put("/sys/devices/system/cpu/possible", "0-1\n");
	put("/proc/stat", "cpu  100 50 30 900 1 2 3 0 0 0\ncpu0 1 1 1 1 1 1 1 0 0 0\nctxt 1000\n");
	put("/proc/schedstat", "version 17\ntimestamp 1\ncpu0 0 0 0 0 0 0 5000000000 1000000000 7\ndomain0 x\n"
	    "cpu1 0 0 0 0 0 0 1000000000 500000000 7\n");
	put("/sys/devices/system/cpu/cpu0/cpuidle/state0/usage", "10\n");
	put("/sys/devices/system/cpu/cpu0/cpuidle/state1/usage", "20\n");
	put("/sys/devices/system/cpu/cpu1/cpuidle/state0/usage", "5\n");
	put("/sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
	put("/sys/class/powercap/intel-rapl:1/energy_uj", "2000000\n");
	put("/sys/class/powercap/intel-rapl:0:0/energy_uj", "700000\n"); /* part of package 0 */
	m = meter_open(root);
	meter_read(m, &a);
	put("/proc/stat", "cpu  200 50 60 900 1 2 13 0 0 0\nctxt 1500\n");
	put("/proc/schedstat", "version 17\ncpu0 0 0 0 0 0 0 6000000000 1000000000 7\ncpu1 0 0 0 0 0 0 1500000000 750000000 7\n");
	put("/sys/devices/system/cpu/cpu1/cpuidle/state0/usage", "12\n");
	put("/sys/class/powercap/intel-rapl:1/energy_uj", "5000000\n");
	meter_read(m, &b);
	meter_delta(m, &a, &b, &d);
	assert_true(fabs(d.v[METER_BUSY_S] - 1.5) < 1e-9);
	assert_true(fabs(d.v[METER_RUN_DELAY_S] - 0.25) < 1e-9);
	assert_true(fabs(d.v[METER_USER_S] - 1.0) < 1e-9);
	assert_true(fabs(d.v[METER_SYSTEM_S] - 0.4) < 1e-9);
	assert_true(d.v[METER_SWITCHES] == 500 && d.v[METER_IDLE_WAKEUPS] == 7);
	assert_true(fabs(d.v[METER_ENERGY_J] - 3) < 1e-9);
	assert_null(meter_why_not(m, METER_ENERGY_J));
	assert_non_null(meter_why_not(m, METER_MEMORY_BYTES));
	/* the counter began anew: no figure is better than a wrong one */
	put("/sys/class/powercap/intel-rapl:1/energy_uj", "5\n");
	meter_read(m, &b);
	meter_delta(m, &a, &b, &d);
	assert_true(isnan(d.v[METER_ENERGY_J]));
	meter_close(m);
	snprintf(line, sizeof(line), "rm -r %s", root);
	assert_int_equal(system(line), 0);
}

static void nothing_to_count(void **state)
{
	struct meter *m = meter_open("/nonexistent");
	struct meter_sample s;

	meter_read(m, &s);
	for (unsigned i = 0; i < METER_VALUES; i++) {
		assert_true(isnan(s.v[i]));
		if (i != METER_BUSY_S)
			assert_non_null(meter_why_not(m, i));
	}
	meter_close(m);
}

static void this_machine(void **state)
{
	struct meter *m = meter_open("");
	struct meter_sample a, b, d;

	meter_read(m, &a);
	for (volatile long i = 0; i < 300000000; i++)
		;
	usleep(20000);
	meter_read(m, &b);
	meter_delta(m, &a, &b, &d);
	for (unsigned i = 0; i < METER_VALUES; i++)
		if (i != METER_BUSY_S)
			assert_true(meter_why_not(m, i) ? 1 : d.v[i] >= 0);
	assert_true(d.v[METER_USER_S] > 0.02 && d.v[METER_SWITCHES] >= 1);
	meter_close(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_known_machine),
		cmocka_unit_test(nothing_to_count),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
