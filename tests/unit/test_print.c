/* SPDX-License-Identifier: GPL-2.0-only */
/* What goes into JSON and messages: any bytes a name may have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "cli/print.h"

#define NONE "\xef\xbf\xbd"

static void json_strings(void **state)
{
	static const struct {
		const char *bytes, *text;
	} cases[] = {
		{ "", "" },
		{ "plain \"\\\n", "plain \"\\\n" },
		{ "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x93 \xf4\x8f\xbf\xbf", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\x93 \xf4\x8f\xbf\xbf" },
		{ "\xffg.json", NONE "g.json" },
		{ "a\xe2\x82", "a" NONE NONE },			/* cut off */
		{ "\xc3(", NONE "(" },
		{ "\xc0\xaf", NONE NONE },			/* longer than need be */
		{ "\xe0\x9f\xbf", NONE NONE NONE },
		{ "\xf0\x8f\xbf\xbf", NONE NONE NONE NONE },
		{ "\xed\xa0\x80", NONE NONE NONE },		/* a surrogate */
		{ "\xf4\x90\x80\x80", NONE NONE NONE NONE },	/* past the last character */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *value = print_json_string(cases[i].bytes);

		assert_non_null(value);
		assert_string_equal(json_string_value(value), cases[i].text);
		json_decref(value);
	}
}

static void shown_text(void **state)
{
	static const struct {
		const char *bytes, *text;
	} cases[] = {
		{ "", "" },
		{ "plain 'text' \\", "plain 'text' \\" },
		{ "\xc3\xa4\xf0\x9f\x90\x93", "\xc3\xa4\xf0\x9f\x90\x93" },
		{ "a\nb\tc\r", "a\\nb\\tc\\x0d" },
		{ "\033[31m\x7f", "\\x1b[31m\\x7f" },
		{ "\xff\xc3", "\\xff\\xc3" },
		{ "\xc2\x9b\xc2\xa0", "\\xc2\\x9b\xc2\xa0" },	/* a control character of two bytes; a blank */
	};
	char text[64], small[8];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_shown(text, sizeof(text), cases[i].bytes);
		assert_string_equal(text, cases[i].text);
		assert_int_equal(print_is_plain(cases[i].bytes), !strcmp(cases[i].bytes, cases[i].text));
	}
	print_shown(small, sizeof(small), "abcde\033");	/* never half of an escape */
	assert_string_equal(small, "abcde");
	print_shown(small, sizeof(small), "abcdef\xc3\xa4");
	assert_string_equal(small, "abcdef");
	print_shown(small, sizeof(small), "abcdefgh");
	assert_string_equal(small, "abcdefg");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_strings),
		cmocka_unit_test(shown_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
