/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slice_server.h - hands each process that asks the map in which it and the scheduler talk (slice-ext).
 *
 * A thread of its own serves the socket, so that whatever happens there cannot hold the scheduler's own loop
 * up. Whose map it is follows from who connected (peer credentials), never from what was sent. A map lives
 * until the connection is closed or the process has gone, whichever comes first.
 */
#ifndef ROOST_RUN_SLICE_SERVER_H
#define ROOST_RUN_SLICE_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where the maps come from: BPF in the program (slice_maps.c), plain memory in the tests. */
struct slice_server_ops {
	/* A new map of nr_slots slots, all zero: its descriptor, or -errno. */
	int (*create)(void *ctx, unsigned int nr_slots);
	/* Makes it the map of that process for the scheduler. 0 or -errno. */
	int (*publish)(void *ctx, pid_t tgid, int map_fd);
	void (*withdraw)(void *ctx, pid_t tgid);
};

struct slice_server_config {
	const char *path;               /* NULL: ROOST_SLICE_SOCKET */
	mode_t mode;                    /* of the socket */
	gid_t group;                    /* (gid_t)-1: leave it */
	unsigned int max_total;         /* processes, in all */
	unsigned int max_per_user;      /* root is bound by max_total only */
};

/* Group roost and mode 0660 when there is such a group, else root's alone. */
void slice_server_defaults(struct slice_server_config *config);

struct slice_server_counts {
	uint64_t nr_registered;         /* now */
	uint64_t registered, refused, malformed, timed_out, dropped; /* since the start */
};

struct slice_server;

/* 0 or -errno, and then one line in error that says what is wrong and where. */
int slice_server_start(struct slice_server **server, const struct slice_server_config *config,
		       const struct slice_server_ops *ops, void *ctx, char *error, size_t error_size);
/* Withdraws every map and removes the socket. */
void slice_server_stop(struct slice_server *server);
void slice_server_counts(struct slice_server *server, struct slice_server_counts *counts);

#endif
