/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slice_server.c - see slice_server.h; the messages are in src/slice/slot.h.
 *
 * Terms: a *peer* is one connection. It has a second to send its one request; then it is registered and
 * sends nothing more, or it is dropped. Peers that have not asked yet are few: when their room is full the
 * oldest goes, so that a flood of silent connections cannot lock others out for longer than its own rate.
 */
#include "run/slice_server.h"
#include "slice/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define REQUEST_LIMIT_NS 1000000000ull
#define MAX_SILENT 64u          /* connections that have not asked yet */
#define BACKLOG 128

struct peer {
	struct peer *next, *prev;
	uint64_t since_ns;
	int sock, pidfd;        /* pidfd: -1 until it is registered */
	pid_t tgid;
	uid_t uid;
	int registered, dead;
};

struct slice_server {
	struct slice_server_config config;
	struct slice_server_ops ops;
	void *ctx;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int listen, epoll, wake;
	pthread_t thread;
	pthread_mutex_t lock;   /* of counts: all else is the thread's own */
	struct slice_server_counts counts;
	struct peer *peers;     /* newest first */
	unsigned int nr_silent;
	struct peer *dead;      /* freed when no event of this round can name them */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void count(struct slice_server *s, uint64_t *which, int by)
{
	pthread_mutex_lock(&s->lock);
	*which += (uint64_t)(int64_t)by;
	pthread_mutex_unlock(&s->lock);
}

void slice_server_defaults(struct slice_server_config *config)
{
	const struct group *g = getgrnam("roost");

	*config = (struct slice_server_config){ .path = ROOST_SLICE_SOCKET, .mode = g ? 0660 : 0600,
						.group = g ? g->gr_gid : (gid_t)-1, .max_total = 4096,
						.max_per_user = 512 };
}

static void drop(struct slice_server *s, struct peer *p)
{
	if (p->dead)
		return;
	if (p->registered) {
		s->ops.withdraw(s->ctx, p->tgid);
		count(s, &s->counts.nr_registered, -1);
	} else {
		s->nr_silent--;
	}
	/*
	 * Closing alone is not the end: a child of ours, between fork and exec, may hold the descriptor, and so
	 * keep it in the epoll set; a child of the peer may hold the connection.
	 */
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, p->sock, NULL);
	shutdown(p->sock, SHUT_RDWR);
	close(p->sock);
	if (p->pidfd >= 0) {
		epoll_ctl(s->epoll, EPOLL_CTL_DEL, p->pidfd, NULL);
		close(p->pidfd);
	}
	if (p->prev)
		p->prev->next = p->next;
	else
		s->peers = p->next;
	if (p->next)
		p->next->prev = p->prev;
	p->dead = 1;
	p->next = s->dead;
	s->dead = p;
}

static int watch(struct slice_server *s, int fd, void *what)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLRDHUP, .data.ptr = what };

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* The peer's process, by a descriptor that cannot come to mean another one. */
static int open_peer_pid(int sock, pid_t pid)
{
	int pidfd = -1;
	socklen_t size = sizeof(pidfd);

	if (!getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size))
		return pidfd;
	if (errno != ENOPROTOOPT)
		return -errno;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return pidfd < 0 ? -errno : pidfd;
}

/* 0, or -EUSERS and -ENOSPC for the limits. */
static int may_register(const struct slice_server *s, const struct peer *p)
{
	unsigned int total = 0, of_user = 0;

	for (const struct peer *q = s->peers; q; q = q->next) {
		total += q->registered != 0;
		of_user += q->registered && q->uid == p->uid;
	}
	if (total >= s->config.max_total)
		return -ENOSPC;
	return p->uid && of_user >= s->config.max_per_user ? -EUSERS : 0;
}

static int answer(const struct peer *p, int error, unsigned int nr_slots, int map_fd)
{
	struct roost_slice_reply reply = { .magic = ROOST_SLICE_MAGIC, .version = ROOST_SLICE_WIRE_VERSION,
					   .error = error, .nr_slots = nr_slots };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { &reply, sizeof(reply) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (!error) {
		struct cmsghdr *c = &control.align;

		memset(&control, 0, sizeof(control));
		msg.msg_control = control.room;
		msg.msg_controllen = sizeof(control.room);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &map_fd, sizeof(int));
	}
	return sendmsg(p->sock, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(reply) ? 0 : -EPIPE;
}

/* A process that execs, or lost its connection in a fork, asks again while its old peer is still here. */
static void drop_older(struct slice_server *s, const struct peer *p)
{
	struct peer *q = s->peers;

	while (q && !(q->registered && q->tgid == p->tgid))
		q = q->next;
	if (q)
		drop(s, q);
}

static int register_peer(struct slice_server *s, struct peer *p, unsigned int nr_slots)
{
	int map_fd, rc;

	drop_older(s, p);
	rc = may_register(s, p);
	if (rc)
		return rc;
	map_fd = s->ops.create(s->ctx, nr_slots);
	if (map_fd < 0)
		return map_fd;
	p->pidfd = open_peer_pid(p->sock, p->tgid);
	rc = p->pidfd < 0 ? p->pidfd : watch(s, p->pidfd, p);
	if (!rc)
		rc = s->ops.publish(s->ctx, p->tgid, map_fd);
	if (!rc) {
		p->registered = 1;
		s->nr_silent--;
		count(s, &s->counts.nr_registered, 1);
		count(s, &s->counts.registered, 1);
		rc = answer(p, 0, nr_slots, map_fd);
	}
	close(map_fd);          /* the scheduler's map and the peer hold it now */
	return rc;
}

static int acceptable(const struct roost_slice_request *r, ssize_t size)
{
	return size == sizeof(*r) && r->magic == ROOST_SLICE_MAGIC && r->version == ROOST_SLICE_WIRE_VERSION &&
	       !r->reserved && !r->reserved2 && r->nr_slots >= ROOST_SLICE_SLOTS_MIN &&
	       r->nr_slots <= ROOST_SLICE_SLOTS_MAX && !(r->nr_slots & (r->nr_slots - 1));
}

/* Something on a connection: its request, its end, or what it should not send. */
static void on_peer(struct slice_server *s, struct peer *p)
{
	struct roost_slice_request request[2];
	ssize_t got;
	int rc;

	/* No control buffer: descriptors sent along are closed by the kernel. */
	got = recv(p->sock, request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0 || p->registered || !acceptable(request, got)) {
		if (got > 0) {
			count(s, &s->counts.malformed, 1);
			if (!p->registered)
				answer(p, -EPROTO, 0, -1);
		}
		drop(s, p);
		return;
	}
	rc = register_peer(s, p, request->nr_slots);
	if (rc) {
		count(s, &s->counts.refused, 1);
		if (!p->registered)
			answer(p, rc, 0, -1);
		drop(s, p);
	}
}

static void on_listen(struct slice_server *s)
{
	for (int i = 0; i < BACKLOG; i++) {
		struct ucred cred;
		socklen_t size = sizeof(cred);
		int sock = accept4(s->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct peer *p;

		if (sock < 0) {
			/* Out of descriptors: the connection stays pending, and must not be spun for. */
			if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
				poll(NULL, 0, 10);
			return;
		}
		p = calloc(1, sizeof(*p));
		/* pid 0: a process of a namespace that cannot be seen from here, so the scheduler's number is unknown */
		if (!p || getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &size) || cred.pid <= 0) {
			count(s, &s->counts.refused, 1);
			free(p);
			close(sock);
			continue;
		}
		*p = (struct peer){ .since_ns = now_ns(), .sock = sock, .pidfd = -1, .tgid = cred.pid,
				    .uid = cred.uid, .next = s->peers };
		if (watch(s, sock, p)) {
			free(p);
			close(sock);
			continue;
		}
		if (s->peers)
			s->peers->prev = p;
		s->peers = p;
		if (++s->nr_silent > MAX_SILENT) {
			struct peer *oldest = p;

			for (struct peer *q = p; q; q = q->next)
				if (!q->registered)
					oldest = q;
			count(s, &s->counts.dropped, 1);
			drop(s, oldest);
		}
	}
}

/* Drops those that took too long; the milliseconds until the next may have. */
static int expire(struct slice_server *s)
{
	uint64_t now = now_ns(), next = UINT64_MAX;
	struct peer *p, *after;

	if (!s->nr_silent)
		return -1;
	for (p = s->peers; p; p = after) {
		after = p->next;
		if (p->registered)
			continue;
		if (now - p->since_ns >= REQUEST_LIMIT_NS) {
			count(s, &s->counts.timed_out, 1);
			drop(s, p);
		} else if (p->since_ns + REQUEST_LIMIT_NS - now < next) {
			next = p->since_ns + REQUEST_LIMIT_NS - now;
		}
	}
	return next == UINT64_MAX ? -1 : (int)(next / 1000000) + 1;
}

/* The descriptor of a process becomes readable when its last thread has ended. */
static int peer_has_gone(const struct peer *p)
{
	struct pollfd gone = { .fd = p->pidfd, .events = POLLIN };

	return p->pidfd >= 0 && poll(&gone, 1, 0) > 0;
}

static void *serve(void *arg)
{
	struct slice_server *s = arg;
	struct epoll_event events[64];

	for (;;) {
		int nr = epoll_wait(s->epoll, events, 64, expire(s));
		struct peer *p;

		for (int i = 0; i < nr; i++) {
			if (events[i].data.ptr == &s->wake)
				return NULL;
			if (events[i].data.ptr == &s->listen) {
				on_listen(s);
				continue;
			}
			p = events[i].data.ptr;
			if (!p->dead && peer_has_gone(p))
				drop(s, p);
			else if (!p->dead)
				on_peer(s, p);
		}
		while ((p = s->dead)) {
			s->dead = p->next;
			free(p);
		}
	}
}

/* The directory is made when it is not there: /run is empty after a boot. */
static void make_directory(const char *path)
{
	char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash && slash != dir) {
		*slash = 0;
		mkdir(dir, 0755);
	}
}

static int is_alive(const struct sockaddr_un *addr)
{
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), alive;

	if (sock < 0)
		return 1;
	alive = !connect(sock, (const struct sockaddr *)addr, sizeof(*addr)) || errno == EAGAIN;
	close(sock);
	return alive;
}

/* A registered process takes two descriptors; what cannot be had lowers the limit. */
static void fit_descriptors(struct slice_server *s)
{
	const rlim_t spare = 256 + MAX_SILENT;
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur == RLIM_INFINITY)
		return;
	if (r.rlim_cur < 2 * (rlim_t)s->config.max_total + spare) {
		r.rlim_cur = 2 * (rlim_t)s->config.max_total + spare;
		if (r.rlim_cur > r.rlim_max)
			r.rlim_cur = r.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &r))
			getrlimit(RLIMIT_NOFILE, &r);
	}
	if (r.rlim_cur < 2 * (rlim_t)s->config.max_total + spare)
		s->config.max_total = r.rlim_cur > spare ? (unsigned int)(r.rlim_cur - spare) / 2 : 1;
}

static int open_socket(struct slice_server *s, char *error, size_t error_size)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const char *path = s->config.path ? s->config.path : ROOST_SLICE_SOCKET, *what;
	mode_t mask;
	int rc;

	if (strlen(path) >= sizeof(addr.sun_path)) {
		snprintf(error, error_size, "slice-ext: socket path '%s' is too long: at most %zu characters", path,
			 sizeof(addr.sun_path) - 1);
		return -ENAMETOOLONG;
	}
	strcpy(s->path, path);
	strcpy(addr.sun_path, path);
	make_directory(path);
	what = "cannot make the socket";
	s->listen = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listen < 0)
		goto out;
	/* One left behind by a roost that was killed answers nobody and goes; one in use stays. */
	if (!access(path, F_OK) && !is_alive(&addr))
		unlink(path);
	/* Nobody may connect before mode and group are right. */
	mask = umask(0177);
	rc = bind(s->listen, (struct sockaddr *)&addr, sizeof(addr));
	umask(mask);
	what = "cannot bind the socket";
	if (rc)
		goto out;
	what = "cannot give the socket to its group";
	if (s->config.group != (gid_t)-1 && chown(path, (uid_t)-1, s->config.group))
		goto out;
	what = "cannot set the socket's mode";
	if (chmod(path, s->config.mode))
		goto out;
	what = "cannot listen on the socket";
	if (!listen(s->listen, BACKLOG))
		return 0;
out:
	rc = -errno;
	snprintf(error, error_size, "slice-ext: %s %s: %s", what, path, strerror(-rc));
	return rc;
}

int slice_server_start(struct slice_server **server, const struct slice_server_config *config,
		       const struct slice_server_ops *ops, void *ctx, char *error, size_t error_size)
{
	struct slice_server *s = calloc(1, sizeof(*s));
	int rc;

	if (!s) {
		snprintf(error, error_size, "slice-ext: no memory");
		return -ENOMEM;
	}
	s->config = *config;
	s->ops = *ops;
	s->ctx = ctx;
	s->listen = s->epoll = s->wake = -1;
	pthread_mutex_init(&s->lock, NULL);
	fit_descriptors(s);
	rc = open_socket(s, error, error_size);
	if (rc)
		goto out;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = s->epoll < 0 || s->wake < 0 ? -errno : 0;
	if (!rc)
		rc = watch(s, s->listen, &s->listen);
	if (!rc)
		rc = watch(s, s->wake, &s->wake);
	if (!rc)
		rc = -pthread_create(&s->thread, NULL, serve, s);
	if (!rc) {
		pthread_setname_np(s->thread, "roost-slice");
		*server = s;
		return 0;
	}
	snprintf(error, error_size, "slice-ext: cannot serve %s: %s", s->path, strerror(-rc));
	unlink(s->path);
out:
	if (s->listen >= 0)
		close(s->listen);
	if (s->epoll >= 0)
		close(s->epoll);
	if (s->wake >= 0)
		close(s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return rc;
}

void slice_server_stop(struct slice_server *s)
{
	const uint64_t one = 1;
	struct peer *p;

	if (!s)
		return;
	if (write(s->wake, &one, sizeof(one)) == sizeof(one))
		pthread_join(s->thread, NULL);
	while (s->peers)
		drop(s, s->peers);
	while ((p = s->dead)) {
		s->dead = p->next;
		free(p);
	}
	unlink(s->path);
	close(s->listen);
	close(s->epoll);
	close(s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void slice_server_counts(struct slice_server *s, struct slice_server_counts *counts)
{
	pthread_mutex_lock(&s->lock);
	*counts = s->counts;
	pthread_mutex_unlock(&s->lock);
}
