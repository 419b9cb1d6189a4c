/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz_workload.c - workload files. What is refused is refused in one line with the file's name and a line number; what
 * is taken runs for a while on a small machine, and no checker finds anything but a workload that waits for itself.
 */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "run/knobs.h"
#include "sim/file.h"
#include "sim/workloads.h"

static struct machine *machine;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sim_config c = { .workload = &sim_file, .seed = 1, .end_ns = 3000000, .check_every = 500 };
	struct sim_error err = { "" };
	struct sim_file *f;
	struct topo_error terr;
	struct sim_figures out;
	char *text = malloc(size + 1);
	int ret;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!machine && topology_from_synthetic("l3:2 core:2 pu:2", &machine, &terr))
		abort();
	ret = sim_file_parse_text(text, size, "f.json", &f, &err);
	if (ret) {
		MUST(ret == -EINVAL && !strncmp(err.text, "f.json:", 7) && !strchr(err.text, '\n'));
	} else if (f->nr_instances <= 64) {
		c.machine = machine;
		c.costs = &machine->costs;
		c.workload_args = f;
		knobs_default(&c.knobs);
		c.pull = size % 2 ? SIM_PULL_KERNEL : SIM_PULL_ROOST;
		ret = sim_run(&c, &out, &err);
		/* CPUs that the machine has not are refused when the run begins. */
		MUST(!ret || strstr(err.text, "waits for itself") || (ret == -EINVAL && strstr(err.text, "cpus:")));
	}
	if (!*err.text || f)
		sim_file_free(f);
	free(text);
	return 0;
}
