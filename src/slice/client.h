/* SPDX-License-Identifier: MIT */
/* client.h - what the files of libroost-slice share; not installed. */
#ifndef ROOST_SLICE_CLIENT_H
#define ROOST_SLICE_CLIENT_H

#include "roost/slice.h"
#include "slice/slot.h"

#include <stdint.h>

/* Why a back end cannot be used: a sentence without its end, and the errno behind it (0: none). */
struct slice_reason {
	const char *text;
	int error;
};

/* The kernel's back end, for the calling thread. On success *ctrl is what begin and end write to. */
int slice_kernel_attach(struct roost_slice_ctrl_ **ctrl, struct slice_reason *why);
void slice_kernel_detach(void);
/* In the child of a fork(): the registration went with it, the thread is not in a section. */
void slice_kernel_forked(void);
/* 1: the CPU was given up within the extension; 0: the kernel had ended it before. */
int slice_kernel_yield(void);

/* roost's back end: one of these for a connection, shared by the threads that registered over it. */
struct slice_map {
	struct roost_slice_slot *slots;
	unsigned int nr_slots;
	unsigned int nr_users;          /* threads with a slot, under the library's lock */
	int sock;
	struct slice_map *next;
};

int slice_map_connect(const char *path, unsigned int nr_slots, struct slice_map **out, struct slice_reason *why);
void slice_map_destroy(struct slice_map *map);
/* Has roost gone away? Then the map stays as it is and nobody grants anything. */
int slice_map_is_dead(struct slice_map *map);
struct roost_slice_slot *slice_map_claim(struct slice_map *map, unsigned int tid);

#endif
