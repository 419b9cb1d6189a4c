/* SPDX-License-Identifier: GPL-2.0-only */
/* slice_maps.h - the maps of slice-ext as the loaded BPF object has them, for slice_server.h. */
#ifndef ROOST_RUN_SLICE_MAPS_H
#define ROOST_RUN_SLICE_MAPS_H

#include "run/slice_server.h"

struct bpf_object;

struct slice_maps {
	int procs_fd;           /* map roost_ext_procs: process -> its slots */
	int state_fd;           /* map roost_ext_state */
	unsigned int nr_procs;
};

extern const struct slice_server_ops slice_maps_ops;

/* The most processes that can be registered at a time; the server's own limits may be lower. */
#define SLICE_MAPS_MAX_PROCS 4096u

/* Before the object is loaded: sizes the maps. 0 or -errno; -ENOENT when the object has no slice-ext. */
int slice_maps_prepare(struct bpf_object *object, unsigned int nr_cpu_ids);
/* After it. */
int slice_maps_open(struct slice_maps *maps, struct bpf_object *object);

#endif
