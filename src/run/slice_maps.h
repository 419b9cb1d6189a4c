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

/* Before the object is loaded: gives the hash of maps what its values look like. 0 or -errno. */
int slice_maps_prepare(struct bpf_object *object, unsigned int max_procs);
/* After it: 0, or -ENOENT when the object has no slice-ext. */
int slice_maps_open(struct slice_maps *maps, struct bpf_object *object);

#endif
