/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz_knobs.c - knob assignments, one a line of the input, as `roost set` takes them. A refusal changes nothing
 * and is one line; what is taken is in range, and its printed form gives the same knobs again.
 */
#include <string.h>

#include "fuzz.h"
#include "run/knobs.h"

#define ASSIGNMENTS_MAX 16

static void printed_gives_the_same(const struct roost_knobs *k)
{
	char text[KNOB_TEXT_MAX], line[128], refusal[KNOB_REFUSAL_MAX], *one[] = { line };
	struct roost_knobs again = *k;

	for (size_t i = 0; i < knob_count; i++) {
		u64 v = knob_get(k, &knob_table[i]);

		MUST(v >= knob_table[i].min && v <= knob_table[i].max);
		snprintf(line, sizeof(line), "%s=%s", knob_table[i].key, knob_format(&knob_table[i], v, text));
		MUST(knobs_parse(&again, one, 1, refusal) == 0);
	}
	MUST(memcmp(k, &again, sizeof(again)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text, *list[ASSIGNMENTS_MAX], refusal[KNOB_REFUSAL_MAX] = "";
	struct roost_knobs k, before;
	size_t nr = 0;

	MUST(text);
	memcpy(text, data, size);
	text[size] = '\0';
	while (nr < ASSIGNMENTS_MAX && (list[nr] = strsep(&rest, "\n")) != NULL)
		nr++;
	knobs_default(&k);
	before = k;
	if (knobs_assign(&k, list, nr, refusal)) {
		MUST(memcmp(&k, &before, sizeof(k)) == 0);
		MUST(*refusal && strlen(refusal) < KNOB_REFUSAL_MAX);
	} else {
		MUST(knobs_check(&k, refusal) == 0);
		printed_gives_the_same(&k);
	}
	free(text);
	return 0;
}
