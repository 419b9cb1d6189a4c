/* SPDX-License-Identifier: GPL-2.0-only */
/* A workload file once it is read; file.c says what it may hold. */
#ifndef ROOST_SIM_FILE_H
#define ROOST_SIM_FILE_H

#include "sim/sim.h"

enum sim_file_kind {
	SIM_FILE_RUN, SIM_FILE_SLEEP, SIM_FILE_TIMER, SIM_FILE_SUSPEND, SIM_FILE_RESUME, SIM_FILE_LOCK, SIM_FILE_UNLOCK,
	SIM_FILE_WAIT, SIM_FILE_SIGNAL, SIM_FILE_BROADCAST, SIM_FILE_BARRIER, SIM_FILE_YIELD,
};

struct sim_file_event {
	enum sim_file_kind kind;
	uint32_t ref, mutex; /* resources; SIM_NONE */
	uint64_t ns;
};

struct sim_file_phase {
	uint32_t loops; /* 0: for ever */
	uint32_t nr_events;
	struct sim_file_event *events;
};

struct sim_file_task {
	char name[48];
	uint32_t instances, loops, nr_phases, nr_cpus, footprint;
	uint64_t delay_ns;
	int nice;
	bool batch, idle_class;
	uint16_t *cpus;
	struct sim_file_phase *phases;
};

struct sim_file {
	const char *where; /* the file's name for refusals: the caller's, who keeps it */
	uint64_t duration_ns;
	uint32_t nr_tasks, nr_instances, nr_resources;
	struct sim_file_task *tasks;
	uint32_t *barrier_size; /* by resource */
	char (*resource_names)[48];
};

int sim_file_parse(int argc, char **argv, void **out, struct sim_error *err);
/* The same over text in memory; `where` stands for the file in refusals. */
int sim_file_parse_text(const char *text, size_t len, const char *where, struct sim_file **out, struct sim_error *err);
void sim_file_free(void *file);

#endif
