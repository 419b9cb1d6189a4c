/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The server of slice-ext under attack: random bytes, messages of every length, descriptors sent along, peers
 * that die at any moment, silent crowds, processes that fork with the connection open. All the while a good
 * client must get its map, and in the end nothing may be left: no map published, no descriptor, no peer.
 *
 *	slice_server [SECONDS [SEED]]           3 seconds and a fixed seed by default
 *
 * A failure prints the seed, which gives the same messages again (though not the same timing).
 */
#include "measure/rng.h"
#include "roost/slice.h"
#include "run/slice_server.h"
#include "slice/slot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char path[100];
static int published;           /* maps out, of the fake scheduler */
static int twice;               /* a process published again without having been withdrawn */
static pid_t who[4096];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static int create(void *ctx, unsigned int nr_slots)
{
	int fd = memfd_create("slots", MFD_CLOEXEC);

	if (fd >= 0 && ftruncate(fd, nr_slots * 64)) {
		close(fd);
		return -ENOMEM;
	}
	return fd < 0 ? -errno : fd;
}

static int publish(void *ctx, pid_t tgid, int fd)
{
	for (int i = 0; i < published; i++)
		twice |= who[i] == tgid;
	if (published == 4096)
		return -ENOSPC;
	who[published++] = tgid;
	return 0;
}

static void withdraw(void *ctx, pid_t tgid)
{
	for (int i = 0; i < published; i++) {
		if (who[i] == tgid) {
			who[i] = who[--published];
			return;
		}
	}
	twice = 1;
}

static int connect_to(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strcpy(a.sun_path, path);
	if (s >= 0 && connect(s, (struct sockaddr *)&a, sizeof(a))) {
		close(s);
		return -1;
	}
	return s;
}

static void send_with_fds(int s, const void *data, size_t size, int nr_fds)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(8 * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)data, size };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[8] = { 0, 1, 2, s, s, s, 0, 0 };

	if (nr_fds) {
		m.msg_control = control.room;
		m.msg_controllen = CMSG_SPACE((size_t)nr_fds * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN((size_t)nr_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.align), fds, (size_t)nr_fds * sizeof(int));
	}
	if (sendmsg(s, &m, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return;
}

/* A message: right, nearly right, or noise. */
static size_t make_message(struct rng *r, unsigned char buf[600])
{
	struct roost_slice_request q = { .magic = ROOST_SLICE_MAGIC, .version = ROOST_SLICE_WIRE_VERSION, .nr_slots = 64 };
	size_t size = sizeof(q);

	switch (rng_below(r, 4)) {
	case 0:
		size = rng_below(r, 600);
		for (size_t i = 0; i < size; i++)
			buf[i] = (unsigned char)rng_u64(r);
		return size;
	case 1:         /* one bit of a right one is wrong */
		memcpy(buf, &q, sizeof(q));
		buf[rng_below(r, sizeof(q))] ^= (unsigned char)(1u << rng_below(r, 8));
		return size;
	case 2:         /* too short or too long */
		memset(buf, 0, 600);
		memcpy(buf, &q, sizeof(q));
		return rng_below(r, 40);
	default:
		q.nr_slots = 1u << rng_below(r, 16);
		memcpy(buf, &q, sizeof(q));
		return size;
	}
}

/* A process that does as it likes for a while, and may die in the middle. */
static void attack(uint64_t seed)
{
	struct rng r = { seed };
	int socks[100], nr = 0;
	unsigned char buf[600];

	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 200; i++) {
		int s = nr ? socks[rng_below(&r, (uint64_t)nr)] : -1;

		switch (rng_below(&r, 8)) {
		case 0:
		case 1:
			if (nr < 100 && (s = connect_to()) >= 0)
				socks[nr++] = s;
			break;
		case 2:         /* a crowd that says nothing */
			while (nr < 100 && rng_below(&r, 30) && (s = connect_to()) >= 0)
				socks[nr++] = s;
			break;
		case 3:
		case 4:
			if (s >= 0)
				send_with_fds(s, buf, make_message(&r, buf), rng_below(&r, 3) ? 0 : (int)rng_below(&r, 8) + 1);
			break;
		case 5:
			if (s >= 0)
				(void)!recv(s, buf, rng_below(&r, sizeof(buf)), MSG_DONTWAIT);
			break;
		case 6:
			if (nr && rng_below(&r, 2)) {
				s = socks[--nr];
				if (rng_below(&r, 2))
					shutdown(s, (int)rng_below(&r, 3));
				close(s);
			}
			break;
		default:
			if (!rng_below(&r, 60)) {
				if (!fork())
					usleep((useconds_t)rng_below(&r, 20000));
				if (rng_below(&r, 2))
					kill(getpid(), SIGKILL);
			}
		}
	}
	_exit(0);
}

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* A new process must get its map, whatever goes on; a flood may cost it a few tries. */
static void good_client(void)
{
	for (int i = 0; i < 50; i++) {
		int rc = roost_slice_register();

		if (!rc) {
			roost_slice_begin();
			roost_slice_end();
			_exit(roost_slice_backend() == ROOST_SLICE_ROOST ? 0 : 1);
		}
		/* dropped as the oldest of a silent crowd, or the listener's queue was full for a second */
		if (rc != -ECONNRESET && rc != -EAGAIN && rc != -EPIPE && rc != -ETIMEDOUT)
			_exit(100);
		usleep(1000);
	}
	_exit(2);
}

static int wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 3;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, until, started = 0, good = 0;
	const struct slice_server_ops ops = { create, publish, withdraw };
	struct slice_server_config config = { .path = path, .mode = 0600, .group = (gid_t)-1, .max_total = 500,
					      .max_per_user = 400 };
	struct slice_server_counts counts;
	struct slice_server *server;
	char dir[] = "/tmp/roost-fuzz-XXXXXX", error[256];
	struct rng r = { seed };
	int fds, failed = 0;
	pid_t attackers[6] = { 0 };

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/slice.sock", dir);
	setenv("ROOST_SLICE_SOCKET", path, 1);
	setenv("ROOST_SLICE", "roost", 1);
	if (slice_server_start(&server, &config, &ops, NULL, error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	fds = count_fds();
	until = now_ns() + (uint64_t)(seconds * 1e9);
	while (now_ns() < until && !failed) {
		unsigned which = (unsigned)rng_below(&r, 6);
		uint64_t its = rng_u64(&r);
		pid_t pid;

		if (attackers[which])
			wait_for(attackers[which]);
		attackers[which] = fork();
		if (!attackers[which])
			attack(its);
		started++;
		if (rng_below(&r, 4))
			continue;
		pid = fork();
		if (!pid)
			good_client();
		failed = wait_for(pid);
		good++;
	}
	for (int i = 0; i < 6; i++)
		if (attackers[i])
			wait_for(attackers[i]);
	/* The children of attackers live 20 ms at most; silent connections of the living, a second. */
	for (int i = 0; i < 300; i++) {
		slice_server_counts(server, &counts);
		if (!counts.nr_registered && count_fds() == fds)
			break;
		usleep(10000);
	}
	slice_server_counts(server, &counts);
	if (counts.nr_registered || count_fds() != fds) {
		fprintf(stderr, "slice_server: left behind: %llu peers, %d descriptors\n",
			(unsigned long long)counts.nr_registered, count_fds() - fds);
		failed = 1;
	} else if (failed) {
		fprintf(stderr, "slice_server: a good client got no map (%d)\n", failed);
	}
	slice_server_stop(server);
	if (published || twice) {
		fprintf(stderr, "slice_server: %d maps still published, %s\n", published, twice ? "one twice" : "none twice");
		failed = 1;
	}
	rmdir(dir);
	printf("slice_server: %llu attackers, %llu good clients, registered %llu, refused %llu, malformed %llu, timed out "
	       "%llu, dropped %llu%s\n", (unsigned long long)started, (unsigned long long)good,
	       (unsigned long long)counts.registered, (unsigned long long)counts.refused,
	       (unsigned long long)counts.malformed, (unsigned long long)counts.timed_out,
	       (unsigned long long)counts.dropped, failed ? ": FAILED" : "");
	if (failed)
		fprintf(stderr, "slice_server: again with: %s %g %llu\n", argv[0], seconds, (unsigned long long)seed);
	return failed != 0;
}
