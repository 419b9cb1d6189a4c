/* SPDX-License-Identifier: GPL-2.0-only */
/* What goes into JSON: any bytes a name may have, as UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
