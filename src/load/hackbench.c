/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hackbench: G groups of F senders and F receivers. Each receiver owns one pipe or socket pair that all F
 * senders of its group write to; each sender, L times, writes one message of S bytes to each of the F
 * in turn; a receiver reads F*L messages. 2*F*G tasks, G*F*F*L messages. The clock runs from the start
 * signal to the last exit.
 *
 * Beside the time: the age of some messages when they are read. A sampled message carries the time it
 * was written; a receiver sees at most SAMPLES of them, so that the clock is rarely read.
 */
#include "load/load.h"
#include "load/util.h"
#include "measure/hist.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SAMPLES 255

struct conf {
	uint64_t groups, fds, loops, bytes, threads, process, pipe;
};

/* What a receiver saw, in memory that processes share with their parent. */
struct seen {
	uint64_t n;
	uint64_t age_ns[SAMPLES];
};

struct bench {
	const struct conf *conf;
	int ready[2], go[2];
	int (*chan)[2];		/* one a receiver: read end, write end */
	struct seen *seen;	/* one a receiver */
	uint64_t stride;	/* every stride-th message to a receiver is sampled; 0 = none */
};

struct task {
	struct bench *b;
	unsigned group, number;
	int is_sender;
	int rc;
	char *buf;
	pthread_t thread;
	pid_t pid;
};

static int move(int fd, char *buf, size_t len, int is_write)
{
	while (len) {
		ssize_t n = is_write ? write(fd, buf, len) : read(fd, buf, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EPIPE;
		buf += n;
		len -= (size_t)n;
	}
	return 0;
}

static int wait_for_start(struct bench *b)
{
	struct pollfd p = { b->go[0], POLLIN, 0 };
	int rc = move(b->ready[1], (char[]){ 1 }, 1, 1);

	while (!rc && poll(&p, 1, -1) < 0)
		if (errno != EINTR)
			rc = -errno;
	return rc;
}

static int send_all(struct bench *b, const struct task *t, char *buf)
{
	const struct conf *c = b->conf;
	uint64_t stamp;

	for (uint64_t l = 0; l < c->loops; l++) {
		int sampled = b->stride && (l * c->fds + t->number) % b->stride == 0;

		for (uint64_t r = 0; r < c->fds; r++) {
			int rc;

			if (b->stride) {
				stamp = sampled ? load_now_ns() : 0;
				memcpy(buf, &stamp, sizeof(stamp));
			}
			rc = move(b->chan[t->group * c->fds + r][1], buf, c->bytes, 1);
			if (rc)
				return rc;
		}
	}
	return 0;
}

static int receive_all(struct bench *b, const struct task *t, char *buf)
{
	const struct conf *c = b->conf;
	uint64_t id = t->group * c->fds + t->number;
	struct seen *s = &b->seen[id];
	uint64_t stamp;

	for (uint64_t left = c->fds * c->loops; left; left--) {
		int rc = move(b->chan[id][0], buf, c->bytes, 0);

		if (rc)
			return rc;
		if (!b->stride)
			continue;
		memcpy(&stamp, buf, sizeof(stamp));
		if (stamp && s->n < SAMPLES)
			s->age_ns[s->n++] = load_now_ns() - stamp;
	}
	return 0;
}

static void *task_main(void *arg)
{
	struct task *t = arg;

	t->rc = wait_for_start(t->b);
	if (!t->rc)
		t->rc = t->is_sender ? send_all(t->b, t, t->buf) : receive_all(t->b, t, t->buf);
	return NULL;
}

static int start(struct task *t, pid_t parent)
{
	t->buf = calloc(1, t->b->conf->bytes);
	if (!t->buf)
		return -ENOMEM;
	if (t->b->conf->threads)
		return load_thread(&t->thread, task_main, t);
	t->pid = fork();
	if (t->pid < 0)
		return -errno;
	if (t->pid)
		return 0;
	if (load_child_setup(parent))
		_exit(1);
	task_main(t);
	_exit(t->rc ? 1 : 0);
}

static void kill_rest(struct task *tasks, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (tasks[i].pid > 0)
			kill(tasks[i].pid, SIGKILL);
}

/*
 * Waits for one child, marks it as gone. The tasks feed each other: when one fails (killed for memory, say)
 * the others would wait for ever, so they are ended too.
 */
static int reap(struct task *tasks, unsigned n, int flags, int *reaped)
{
	int status;
	pid_t pid;

	do
		pid = waitpid(-1, &status, flags);
	while (pid < 0 && errno == EINTR);
	*reaped = pid > 0;
	if (pid <= 0)
		return pid ? -errno : 0;
	for (unsigned i = 0; i < n; i++)
		if (tasks[i].pid == pid)
			tasks[i].pid = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	kill_rest(tasks, n);
	return -EIO;
}

static int join_all(struct bench *b, struct task *tasks, unsigned n)
{
	int rc = 0, one, reaped;

	if (b->conf->threads) {
		for (unsigned i = 0; i < n; i++) {
			pthread_join(tasks[i].thread, NULL);
			rc = rc ? rc : tasks[i].rc;
		}
		return rc;
	}
	for (;;) {
		one = reap(tasks, n, 0, &reaped);
		if (one == -ECHILD)
			return rc;
		rc = rc ? rc : one;
	}
}

/* All of them stand at the start, or one died on the way there. */
static int wait_ready(struct bench *b, struct task *tasks, unsigned n)
{
	struct pollfd p = { b->ready[0], POLLIN, 0 };
	unsigned ready = 0;
	char buf[256];

	while (ready < n) {
		int rc, reaped, got = poll(&p, 1, 100);

		if (got > 0) {
			ssize_t k = read(b->ready[0], buf, sizeof(buf));

			ready += k > 0 ? (unsigned)k : 0;
		} else if (!b->conf->threads) {
			rc = reap(tasks, n, WNOHANG, &reaped);
			if (rc || reaped)
				return -EIO;
		}
	}
	return 0;
}

/* A task could not be started: end those that were. Threads stand in poll(), where they can be cancelled. */
static void give_up(struct bench *b, struct task *tasks, unsigned started)
{
	for (unsigned i = 0; i < started && b->conf->threads; i++)
		pthread_cancel(tasks[i].thread);
	kill_rest(tasks, started);
	join_all(b, tasks, started);
}

static int open_channels(struct bench *b)
{
	uint64_t n = b->conf->groups * b->conf->fds;

	for (uint64_t i = 0; i < n; i++)
		b->chan[i][0] = b->chan[i][1] = -1;
	for (uint64_t i = 0; i < n; i++) {
		int rc = b->conf->pipe ? pipe(b->chan[i]) : socketpair(AF_UNIX, SOCK_STREAM, 0, b->chan[i]);

		if (rc)
			return -errno;
	}
	return pipe(b->ready) || pipe(b->go) ? -errno : 0;
}

static void close_pair(int fd[2])
{
	if (fd[0] >= 0)
		close(fd[0]);
	if (fd[1] >= 0)
		close(fd[1]);
}

static int run_tasks(struct bench *b, struct task *tasks, unsigned n, uint64_t *elapsed_ns)
{
	pid_t me = getpid();
	uint64_t t0;
	int rc;

	for (unsigned i = 0; i < n; i++) {
		uint64_t per_group = 2 * b->conf->fds;

		tasks[i] = (struct task){ .b = b, .group = (unsigned)(i / per_group),
					  .number = (unsigned)(i % per_group % b->conf->fds),
					  .is_sender = i % per_group >= b->conf->fds };
		rc = start(&tasks[i], me);
		if (rc) {
			give_up(b, tasks, i);
			return rc;
		}
	}
	rc = wait_ready(b, tasks, n);
	if (rc) {
		give_up(b, tasks, n);
		return rc;
	}
	t0 = load_now_ns();
	rc = move(b->go[1], (char[]){ 1 }, 1, 1);
	if (rc)
		give_up(b, tasks, n);
	else
		rc = join_all(b, tasks, n);
	*elapsed_ns = load_now_ns() - t0;
	return rc;
}

static int run(const void *conf, json_t **out, char *err, size_t err_len)
{
	const struct conf *c = conf;
	struct bench b = { .conf = c, .ready = { -1, -1 }, .go = { -1, -1 } };
	uint64_t receivers = c->groups * c->fds, elapsed_ns = 0, messages = receivers * c->fds * c->loops;
	size_t seen_len = receivers * sizeof(struct seen);
	struct task *tasks = calloc(2 * receivers, sizeof(*tasks));
	struct hist *lat = malloc(sizeof(*lat));
	struct load_cost cost;
	int rc = -ENOMEM;

	b.chan = calloc(receivers, sizeof(*b.chan));
	b.seen = mmap(NULL, seen_len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!tasks || !b.chan || !lat || b.seen == MAP_FAILED)
		goto out;
	/* A message that could arrive in pieces between others' pieces carries no time. Odd: all senders. */
	if (c->bytes >= sizeof(uint64_t) && c->bytes <= PIPE_BUF)
		b.stride = (c->fds * c->loops / SAMPLES + 1) | 1;
	rc = load_need_files(2 * receivers + 64);
	if (rc) {
		snprintf(err, err_len, "hackbench: %llu descriptors are needed, more than this user may open "
			 "(ulimit -n); use fewer groups", (unsigned long long)(2 * receivers + 64));
		goto out;
	}
	rc = open_channels(&b);
	if (rc)
		goto out;
	load_cost_begin(&cost);
	rc = run_tasks(&b, tasks, (unsigned)(2 * receivers), &elapsed_ns);
	if (rc) {
		json_decref(load_json("hackbench", "messages", 0, 0, NULL, &cost));
		goto out;
	}
	hist_init(lat);
	for (uint64_t i = 0; i < receivers; i++)
		for (uint64_t k = 0; k < b.seen[i].n; k++)
			hist_add(lat, b.seen[i].age_ns[k]);
	*out = load_json("hackbench", "messages", messages, elapsed_ns, lat->count ? lat : NULL, &cost);
	json_object_set_new(*out, "tasks", json_integer((json_int_t)(2 * receivers)));
out:
	if (rc && !*err)
		snprintf(err, err_len, "hackbench: %s", strerror(-rc));
	for (uint64_t i = 0; tasks && i < 2 * receivers; i++)
		free(tasks[i].buf);
	for (uint64_t i = 0; b.chan && i < receivers; i++)
		close_pair(b.chan[i]);
	close_pair(b.ready);
	close_pair(b.go);
	if (b.seen != MAP_FAILED)
		munmap(b.seen, seen_len);
	free(lat);
	free(b.chan);
	free(tasks);
	return rc;
}

#define AT(field) offsetof(struct conf, field)
static const struct load_opt opts[] = {
	{ "groups", 'g', LOAD_COUNT, AT(groups), 1, 4096, 10, NULL, "groups of senders and receivers" },
	{ "fds", 'f', LOAD_COUNT, AT(fds), 1, 1000, 20, NULL, "senders, and receivers, in a group" },
	{ "loops", 'l', LOAD_COUNT, AT(loops), 1, 1000000000, 100, NULL, "messages from each sender to each receiver" },
	{ "datasize", 's', LOAD_COUNT, AT(bytes), 1, 1 << 20, 100, NULL, "bytes in a message" },
	{ "threads", 'T', LOAD_FLAG, AT(threads), 0, 1, 1, NULL, "threads instead of processes" },
	{ "process", 'P', LOAD_FLAG, AT(process), 0, 1, 1, NULL, "processes, which is the default" },
	{ "pipe", 'p', LOAD_FLAG, AT(pipe), 0, 1, 1, NULL, "pipes instead of socket pairs" },
	{ NULL },
};

const struct load load_hackbench = {
	.name = "hackbench", .what = "groups of senders and receivers that pass messages", .opts = opts,
	.conf_size = sizeof(struct conf), .run = run,
};
