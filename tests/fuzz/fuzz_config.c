/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_config.c - configuration files. A refusal changes nothing, names the file, and is one line. */
#include <string.h>

#include "fuzz.h"
#include "run/knobs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char refusal[KNOB_REFUSAL_MAX] = "";
	struct roost_knobs k, before;

	knobs_default(&k);
	before = k;
	if (knobs_config_text(&k, "f.conf", (const char *)data, size, NULL, refusal)) {
		MUST(memcmp(&k, &before, sizeof(k)) == 0);
		MUST(strncmp(refusal, "f.conf:", 7) == 0);
		MUST(!strchr(refusal, '\n'));
	} else {
		MUST(knobs_check(&k, refusal) == 0);
		for (size_t i = 0; i < knob_count; i++)
			MUST(knob_get(&k, &knob_table[i]) >= knob_table[i].min &&
			     knob_get(&k, &knob_table[i]) <= knob_table[i].max);
	}
	return 0;
}
