/* SPDX-License-Identifier: GPL-2.0-only */
/* test_units.c - times, counts, percentages and sizes: the whole string or nothing; hints. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "run/units.h"

static const char *const never[] = {
	"", " ", "-1", "+1", " 1s", "1s ", "1 s", "10 apples", "s", "us", ".5s", "5.s", "1..5s", "1.5.5s", "0x10us",
	"1e3us", "1S", "1Ms", "1msec", "1us1us", "inf", "nan", "NULL", "1,5ms", "\xff", "1\xc2", "1\xc2\xb5", "1%",
};

static void time_is_exact(void **state)
{
	static const struct { const char *text; u64 ns; } ok[] = {
		{ "0", 0 }, { "0s", 0 }, { "0.0ms", 0 }, { "1ns", 1 }, { "50us", 50000 }, { "1.5ms", 1500000 },
		{ "1s", 1000000000 }, { "0.001us", 1 }, { "2min", 120000000000 }, { "1h", 3600000000000 },
		{ "007us", 7000 }, { "3\302\265s", 3000 }, { "3\316\274s", 3000 },
		{ "18446744073709551615ns", UINT64_MAX }, { "18446744073.709551615s", UINT64_MAX },
	};
	u64 ns;

	for (size_t i = 0; i < sizeof(ok) / sizeof(ok[0]); i++) {
		ns = 99;
		assert_int_equal(units_parse_time(ok[i].text, &ns), 0);
		assert_true(ns == ok[i].ns);
	}
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		if (units_parse_time(never[i], &ns) != -EINVAL)
			fail_msg("'%s' was taken as a time", never[i]);
	}
	assert_int_equal(units_parse_time("1", &ns), -EINVAL);          /* no unit */
	assert_int_equal(units_parse_time("0.5ns", &ns), -EINVAL);      /* not a whole nanosecond */
	assert_int_equal(units_parse_time("18446744073709551616ns", &ns), -ERANGE);
	assert_int_equal(units_parse_time("18446744074s", &ns), -ERANGE);
	assert_int_equal(units_parse_time("99999999999999999999999999s", &ns), -ERANGE);
}

static void counts_sizes_percentages(void **state)
{
	u64 n;
	double p;

	assert_int_equal(units_parse_count("18446744073709551615", &n), 0);
	assert_true(n == UINT64_MAX);
	assert_int_equal(units_parse_count("18446744073709551616", &n), -ERANGE);
	assert_int_equal(units_parse_count("1.0", &n), -EINVAL);
	assert_int_equal(units_parse_count("-1", &n), -EINVAL);
	assert_int_equal(units_parse_count("", &n), -EINVAL);
	assert_int_equal(units_parse_count("10 apples", &n), -EINVAL);

	assert_int_equal(units_parse_size("64K", &n), 0);
	assert_true(n == 65536);
	assert_int_equal(units_parse_size("1.5MiB", &n), 0);
	assert_true(n == 1572864);
	assert_int_equal(units_parse_size("16777216T", &n), -ERANGE);
	assert_int_equal(units_parse_size("1k", &n), -EINVAL);

	assert_int_equal(units_parse_percent("2.5%", &p), 0);
	assert_true(p > 2.4999 && p < 2.5001);
	assert_int_equal(units_parse_percent("3", &p), 0);
	assert_true(p == 3);
	assert_int_equal(units_parse_percent("%", &p), -EINVAL);
	assert_int_equal(units_parse_percent("3%%", &p), -EINVAL);
	assert_int_equal(units_parse_percent("nan", &p), -EINVAL);

	assert_int_equal(units_parse_bool("ON", &n), 0);
	assert_true(n == 1);
	assert_int_equal(units_parse_bool("false", &n), 0);
	assert_true(n == 0);
	assert_int_equal(units_parse_bool("2", &n), -EINVAL);
	assert_int_equal(units_parse_bool("", &n), -EINVAL);
}

/* What is printed parses back to the same value. */
static void printed_parses_back(void **state)
{
	char buf[UNITS_TEXT_MAX];
	u64 v = 1, back;

	assert_string_equal(units_format_time(0, buf), "0");
	assert_string_equal(units_format_time(750000, buf), "750us");
	assert_string_equal(units_format_time(3000000, buf), "3ms");
	assert_string_equal(units_format_time(1500000, buf), "1500us");
	assert_string_equal(units_format_time(90000000000ull, buf), "90s");
	assert_string_equal(units_format_size(65536, buf), "64K");
	for (int i = 0; i < 100000; i++) {
		/* any odd multiplier walks through all magnitudes once the high bits are cut at random */
		v = v * 6364136223846793005ull + 1442695040888963407ull;
		u64 x = (v >> (v & 63)) * (i % 3 ? 1 : 1000);

		assert_int_equal(units_parse_time(units_format_time(x, buf), &back), 0);
		assert_true(back == x);
		assert_int_equal(units_parse_size(units_format_size(x, buf), &back), 0);
		assert_true(back == x);
	}
	units_format_time(UINT64_MAX, buf);
	assert_int_equal(units_parse_time(buf, &back), 0);
	assert_true(back == UINT64_MAX);
}

static const char *hint_for(const char *typed)
{
	static const char *const names[] = { "idle-smt", "idle-grace", "util-fits", "bias-prev", "slice", "run" };
	struct units_hint h;

	units_hint_start(&h, typed);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		units_hint_offer(&h, names[i]);
	return units_hint_best(&h);
}

static void hints(void **state)
{
	char very_long[300];

	assert_string_equal(hint_for("idle-stm"), "idle-smt");
	assert_string_equal(hint_for("IDLE_GARCE"), "idle-grace");
	assert_string_equal(hint_for("utilfits"), "util-fits");
	assert_string_equal(hint_for("bias"), "bias-prev");
	assert_string_equal(hint_for("rnu"), "run");
	assert_null(hint_for("xyzzy"));
	assert_null(hint_for(""));
	memset(very_long, 'a', sizeof(very_long) - 1);
	very_long[sizeof(very_long) - 1] = '\0';
	assert_null(hint_for(very_long));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_exact),
		cmocka_unit_test(counts_sizes_percentages),
		cmocka_unit_test(printed_parses_back),
		cmocka_unit_test(hints),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
