/* SPDX-License-Identifier: MIT */
/*
 * slot.h - the memory that a process and the scheduler share, and how the process comes by it.
 *
 * Each registered process has a map of its own, an array of slots, one cache line a thread. A thread claims
 * the slot whose number is its thread id modulo the size of the map, or one of the few that follow, by
 * writing its thread id (as its own PID namespace has it) into `owner`; the scheduler finds it the same way
 * and keeps no table. What a process writes here can spoil its own grants and nobody else's.
 *
 * Why plain stores are enough: the scheduler reads `request` and writes `granted` only on the CPU on which
 * the thread runs, when it is about to take that CPU away. To the thread this is an interrupt, so either its
 * store to `request` came first or the grant did, and no two CPUs ever race for a byte.
 *
 *	request  granted
 *	   0        0     outside
 *	   1        0     inside a section
 *	   1        1     inside, with an extension running
 *	   1        2     inside, the extension is used up: there is no other in this section
 *	   0       1, 2   leaving: the thread is about to see it
 */
#ifndef ROOST_SLICE_SLOT_H
#define ROOST_SLICE_SLOT_H

#define ROOST_SLICE_GRANTED 1
#define ROOST_SLICE_SPENT 2

#define ROOST_SLICE_SLOTS_MIN 64u
#define ROOST_SLICE_SLOTS_MAX 4096u
#define ROOST_SLICE_SLOTS_DEFAULT 256u
#define ROOST_SLICE_PROBES 16u          /* slots, from the thread's own on, that are looked at */

struct roost_slice_slot {
	/* the first two bytes are struct roost_slice_ctrl_ of roost/slice.h */
	unsigned char request;          /* thread */
	unsigned char granted;          /* scheduler sets, thread clears */
	unsigned short pad;
	unsigned int owner;             /* thread id; 0 = free */
	/* counted by the scheduler; they go on when the slot changes hands */
	unsigned long long asked;
	unsigned long long granted_nr;
	unsigned long long expired;
	unsigned long long preempted;
	/* counted by the thread */
	unsigned long long given_back;
	unsigned long long learned;     /* grants it saw, running or over; the stress test compares with granted_nr */
	unsigned long long pad2;
};
_Static_assert(sizeof(struct roost_slice_slot) == 64, "one line a thread");

/*
 * The socket (SOCK_SEQPACKET: a message comes whole or not at all). The client sends one request, the
 * server answers it once, with the descriptor of the map when `error` is 0. The connection stays open as
 * long as the process wants to be registered.
 */
#define ROOST_SLICE_SOCKET "/run/roost/slice.sock"
#define ROOST_SLICE_MAGIC 0x454c5352u   /* "RSLE" */
#define ROOST_SLICE_WIRE_VERSION 1

struct roost_slice_request {
	unsigned int magic;
	unsigned short version;
	unsigned short reserved;
	unsigned int nr_slots;          /* a power of two */
	unsigned int reserved2;
};
_Static_assert(sizeof(struct roost_slice_request) == 16, "on the wire");

struct roost_slice_reply {
	unsigned int magic;
	unsigned short version;
	unsigned short reserved;
	int error;                      /* 0 or a negative errno */
	unsigned int nr_slots;
};
_Static_assert(sizeof(struct roost_slice_reply) == 16, "on the wire");

#endif
