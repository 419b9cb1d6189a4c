/* SPDX-License-Identifier: MIT */
/* map.c - roost's back end: ask the running roost for this process's map, and find a slot in it. */
#include "slice/client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int fail(struct slice_reason *why, const char *text, int error)
{
	*why = (struct slice_reason){ text, error };
	return error ? -error : -EPROTO;
}

/* The reply and, in *fd, the descriptor that came with it (-1: none). More than one is a liar's. */
static int receive(int sock, struct roost_slice_reply *reply, int *fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec iov = { reply, sizeof(*reply) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.room,
			      .msg_controllen = sizeof(control.room) };
	ssize_t got;

	*fd = -1;
	do {
		got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		size_t nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < nr; i++) {
			int one;

			memcpy(&one, CMSG_DATA(c) + i * sizeof(int), sizeof(one));
			if (*fd >= 0)
				close(one);
			else
				*fd = one;
		}
	}
	if (got != sizeof(*reply) || msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || reply->magic != ROOST_SLICE_MAGIC ||
	    reply->version != ROOST_SLICE_WIRE_VERSION)
		return got ? -EPROTO : -ECONNRESET;
	return 0;
}

static int dial(const char *path, struct slice_reason *why)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const struct timeval limit = { .tv_sec = 1 };
	int sock, error;

	if (strlen(path) >= sizeof(addr.sun_path))
		return fail(why, "the path of roost's socket is too long", ENAMETOOLONG);
	strcpy(addr.sun_path, path);
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return fail(why, "no socket", errno);
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (!connect(sock, (struct sockaddr *)&addr, sizeof(addr)))
		return sock;
	error = errno;
	close(sock);
	return fail(why, error == ENOENT || error == ECONNREFUSED ? "no roost runs here with slice-ext" :
		    error == EACCES ? "this user may not use roost's socket" : "roost's socket does not answer", error);
}

int slice_map_connect(const char *path, unsigned int nr_slots, struct slice_map **out, struct slice_reason *why)
{
	struct roost_slice_request request = { .magic = ROOST_SLICE_MAGIC, .version = ROOST_SLICE_WIRE_VERSION,
					       .nr_slots = nr_slots };
	struct roost_slice_reply reply;
	struct slice_map *map = NULL;
	int sock, fd = -1, rc;
	void *slots;

	sock = dial(path, why);
	if (sock < 0)
		return sock;
	if (send(sock, &request, sizeof(request), MSG_NOSIGNAL) != sizeof(request)) {
		rc = fail(why, "roost's socket does not answer", errno);
		goto out;
	}
	rc = receive(sock, &reply, &fd);
	if (rc) {
		fail(why, "roost's socket does not answer as it should", -rc);
		goto out;
	}
	if (reply.error) {
		rc = reply.error < 0 && reply.error > -4096 ? reply.error : -EPROTO;
		fail(why, rc == -EUSERS || rc == -ENOSPC ? "roost has as many processes registered as it may have" :
		     "roost refused this process", -rc);
		goto out;
	}
	rc = -EPROTO;
	if (fd < 0 || reply.nr_slots != nr_slots) {
		fail(why, "roost's socket does not answer as it should", EPROTO);
		goto out;
	}
	map = calloc(1, sizeof(*map));
	slots = mmap(NULL, nr_slots * sizeof(*map->slots), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!map || slots == MAP_FAILED) {
		rc = fail(why, "roost's map cannot be mapped", map ? errno : ENOMEM);
		if (slots != MAP_FAILED)
			munmap(slots, nr_slots * sizeof(*map->slots));
		free(map);
		goto out;
	}
	*map = (struct slice_map){ .slots = slots, .nr_slots = nr_slots, .sock = sock };
	*out = map;
	close(fd);              /* the mapping keeps the memory */
	return 0;
out:
	if (fd >= 0)
		close(fd);
	close(sock);
	return rc;
}

void slice_map_destroy(struct slice_map *map)
{
	close(map->sock);
	munmap(map->slots, map->nr_slots * sizeof(*map->slots));
	free(map);
}

int slice_map_is_dead(struct slice_map *map)
{
	struct pollfd p = { .fd = map->sock, .events = POLLIN | POLLRDHUP };

	/* After its one reply the server sends nothing: whatever there is to read is its end. */
	return poll(&p, 1, 0) > 0;
}

static int try_claim(struct roost_slice_slot *slot, unsigned int expected, unsigned int tid)
{
	if (!__atomic_compare_exchange_n(&slot->owner, &expected, tid, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return 0;
	*(volatile unsigned char *)&slot->request = 0;
	*(volatile unsigned char *)&slot->granted = 0;
	return 1;
}

struct roost_slice_slot *slice_map_claim(struct slice_map *map, unsigned int tid)
{
	unsigned int mask = map->nr_slots - 1;

	/* Our own number there is that of a dead thread: numbers are used again. */
	for (unsigned int i = 0; i < ROOST_SLICE_PROBES; i++) {
		struct roost_slice_slot *slot = &map->slots[(tid + i) & mask];

		if (__atomic_load_n(&slot->owner, __ATOMIC_RELAXED) == tid && try_claim(slot, tid, tid))
			return slot;
	}
	for (unsigned int i = 0; i < ROOST_SLICE_PROBES; i++) {
		struct roost_slice_slot *slot = &map->slots[(tid + i) & mask];

		if (try_claim(slot, 0, tid))
			return slot;
	}
	/* Full. A thread that ended without a word (a bare exit system call) may have left a slot behind. */
	for (unsigned int i = 0; i < ROOST_SLICE_PROBES; i++) {
		struct roost_slice_slot *slot = &map->slots[(tid + i) & mask];
		unsigned int owner = __atomic_load_n(&slot->owner, __ATOMIC_RELAXED);

		if (owner && syscall(SYS_tgkill, getpid(), owner, 0) && errno == ESRCH && try_claim(slot, owner, tid))
			return slot;
	}
	return NULL;
}
