/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_simargs.c - the options of the simulated workloads: the first byte picks one, words are separated by blanks. */
#include <string.h>

#include "fuzz.h"
#include "sim/workloads.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sim_error err = { "" };
	char text[512], *argv[64], *save = NULL;
	unsigned int n = 0;
	void *args = NULL;
	int argc = 0;

	if (size < 1 || size > sizeof(text))
		return 0;
	while (sim_workloads[n] && sim_workloads[n] != &sim_file)
		n++;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	for (char *w = strtok_r(text, " \n", &save); w && argc < 64; w = strtok_r(NULL, " \n", &save))
		argv[argc++] = w;
	n = data[0] % n;
	if (sim_workloads[n]->parse(argc, argv, &args, &err))
		MUST(err.text[0] && !strchr(err.text, '\n') && strstr(err.text, sim_workloads[n]->name));
	else
		sim_workloads[n]->free_args(args);
	return 0;
}
